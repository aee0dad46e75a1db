import type { ContentFile } from '../files/build-version.js'
import type { OpenedFile } from '../opener.js'
import type { Manifest, Origin } from './manifest.js'

const entriesMax = 400_000

/**
 * What was read of a dataset's files before, so that a file which comes again, alone or among
 * thousands of others, is neither hashed nor opened anew. A memory and nothing more: without it
 * files are read again.
 */
export class KnownFiles {
  readonly #hashes = new Map<string, string>()
  readonly #opened = new Map<string, OpenedFile>()

  /**
   * What identities stand for of which another content was found. The next reading of such a file
   * says whether it is damaged, or only its copy was.
   */
  readonly doubted = new Map<string, string>()

  /** Content hashes by identity. */
  get hashes(): ReadonlyMap<string, string> {
    return this.#hashes
  }

  /** What the engine found in this content, with these columns' bounds; undefined = not known. */
  opened(contentHash: string, boundsOf: readonly string[]): OpenedFile | undefined {
    return this.#opened.get(openedKey(contentHash, boundsOf))
  }

  /** Remembers the files of a published folder. */
  addManifest({ files, origins, boundsOf }: Manifest): void {
    this.addFiles(files, boundsOf)
    if (origins) this.addHashes(origins)
  }

  addFiles(files: readonly ContentFile[], boundsOf: readonly string[]): void {
    this.addHashes(files.map(({ source }) => source))
    for (const { source, opened } of files) {
      add(this.#opened, openedKey(source.contentHash, boundsOf), opened)
    }
  }

  /** Another content was found than these files had: they are read again before they are used. */
  doubt(files: readonly Origin[]): void {
    for (const { identity, contentHash } of files) {
      if (this.#hashes.get(identity) === contentHash) this.doubted.set(identity, contentHash)
    }
  }

  /** Takes files in doubt for whatever they hold. */
  acceptDoubted(): void {
    for (const identity of this.doubted.keys()) this.#hashes.delete(identity)
    this.doubted.clear()
  }

  addHashes(files: readonly Origin[]): void {
    for (const { identity, contentHash } of files) add(this.#hashes, identity, contentHash)
  }
}

function openedKey(contentHash: string, boundsOf: readonly string[]): string {
  return JSON.stringify([contentHash, ...boundsOf])
}

/** The oldest entries go first. */
function add<T>(map: Map<string, T>, key: string, value: T): void {
  const [oldest] = map.keys()
  if (map.size >= entriesMax && oldest !== undefined) map.delete(oldest)
  map.set(key, value)
}
