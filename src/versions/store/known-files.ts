import type { ContentFile } from '../files/build-version.js'
import type { OpenedFile } from '../opener.js'
import type { Manifest, Origin } from './manifest.js'

const entriesMax = 400_000

type KnownManifest = Pick<Manifest, 'files' | 'boundsOf' | 'isCurrent'>

/** A cache of hashes and opened files: known content is neither hashed nor opened again. */
export class KnownFiles {
  readonly #hashes = new Map<string, string>()
  readonly #opened = new Map<string, OpenedFile>()

  /**
   * Content hashes, by identity, of files whose published copy has other content. Such a file is
   * read again to find out if it is damaged, too.
   */
  readonly doubted = new Map<string, string>()

  /** Content hashes by identity. */
  get hashes(): ReadonlyMap<string, string> {
    return this.#hashes
  }

  /** The opened file for this content and these columns' bounds; undefined if not known. */
  opened(contentHash: string, boundsOf: readonly string[]): OpenedFile | undefined {
    return this.#opened.get(openedKey(contentHash, boundsOf))
  }

  /** Adds the files of a published folder; those of an earlier build are opened again. */
  addManifest({ files, boundsOf, isCurrent }: KnownManifest): void {
    if (isCurrent) this.addFiles(files, boundsOf)
    else this.addHashes(files.map(({ source }) => source))
  }

  addFiles(files: readonly ContentFile[], boundsOf: readonly string[]): void {
    this.addHashes(files.map(({ source }) => source))
    for (const { source, opened } of files) {
      add(this.#opened, openedKey(source.contentHash, boundsOf), opened)
    }
  }

  /** Marks files to be read again, because another content was found than their hash. */
  doubt(files: readonly Origin[]): void {
    for (const { identity, contentHash } of files) {
      if (this.#hashes.get(identity) === contentHash) this.doubted.set(identity, contentHash)
    }
  }

  /** Accepts the present content of doubted files. */
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

/** Drops the oldest entry when the map is full. */
function add<T>(map: Map<string, T>, key: string, value: T): void {
  const [oldest] = map.keys()
  if (map.size >= entriesMax && oldest !== undefined) map.delete(oldest)
  map.set(key, value)
}
