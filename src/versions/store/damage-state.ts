import type { ContentFile } from '../files/build-version.js'
import { allFiles } from '../version.js'
import type { Version } from '../version.js'
import type { CheckedFile, Verdict } from './file-checks.js'
import { foldersOf } from './manifest.js'
import type { Content, Origin } from './manifest.js'

/** A version, or its dropped files: withdrawn because a stored file has other content. */
export interface LostVersion {
  readonly dataset: string
  readonly version: string
  /** Relative to the registry, or within the packed copy. */
  readonly file: string
  readonly verdict: Verdict
  /** Without its dropped files, a packed version is still served. */
  readonly form: 'version' | 'dropped files'
}

/** The damage that this process found in one dataset's stored files. */
export class DamageState {
  readonly #folders = new Set<string>()
  readonly #onDisk = new Set<string>()
  /** Damaged packed copies, which are made again at the same place. */
  readonly #copies = new Set<string>()
  #current: { readonly reason: string; readonly isPacked: boolean } | null = null

  /** Folders that are not used again, because the engine may have cached their content. */
  get folders(): ReadonlySet<string> {
    return this.#folders
  }

  /** Whether content is in one of them. */
  isIn(content: Content): boolean {
    return foldersOf(content).some((folder) => this.#folders.has(folder))
  }

  /** Those not removed yet: their manifests have the hashes of the source files. */
  get onDisk(): ReadonlySet<string> {
    return this.#onDisk
  }

  /** Whether a folder held a damaged packed copy, which is to be made again. */
  isCopy(folder: string): boolean {
    return this.#copies.has(folder)
  }

  /** The damage that is not repaired yet, for the owner; null without one. */
  get reason(): string | null {
    return this.#current?.reason ?? null
  }

  /**
   * Records the verdict on a stored file. Returns the source files that may be damaged, too: those
   * of which a packed copy is made are hashed by themselves.
   */
  note(
    { folder, origins }: Pick<Content, 'folder' | 'origins'>,
    file: ContentFile | undefined,
    verdict: Verdict,
    reason: string,
  ): readonly Origin[] {
    if (verdict !== 'damaged') return []
    if (folder !== null) {
      this.#folders.add(folder)
      this.#onDisk.add(folder)
      if (origins !== null) this.#copies.add(folder)
    }
    this.#current = { reason, isPacked: origins !== null }
    return origins === null && file ? [file.source] : []
  }

  /** Records a damaged source file, on which the served version does not depend. */
  addSource(reason: string): void {
    this.#current = { reason, isPacked: false }
  }

  /** Records that intact content is served. Returns the damaged folders, which must be removed. */
  heal(isToBePacked: boolean): readonly string[] {
    if (!this.#current?.isPacked || !isToBePacked) this.#current = null
    if (!isToBePacked) this.#copies.clear()
    const folders = [...this.#onDisk]
    this.#onDisk.clear()
    for (const each of this.#copies) this.#folders.delete(each)
    return folders
  }
}

/** The reason for withdrawing a version, for the owner. */
export function damageText(file: string, verdict: Verdict, isPacked: boolean): string {
  if (verdict === 'gone') return `${file} is gone from the versions folder`
  if (verdict === 'replaced') {
    return `${file} was overwritten in place; write files whole, then rename them`
  }
  if (!isPacked) return `${file} is damaged: its content is not what it was published with`
  const sources = 'the files it was made from are served and packed again'
  return `the packed copy is damaged (${file}); ${sources}`
}

/** Whether both are the same content at the same path. */
export function isSameFile(left: CheckedFile, right: CheckedFile): boolean {
  return left.path === right.path && left.hash === right.hash
}

/**
 * The version without its dropped files if this is one of them; null if it is another of its files.
 */
export function withoutFile(version: Version, file: CheckedFile): Version | null {
  const isThis = (each: CheckedFile) => isSameFile(each, file)
  if (version.files.some(isThis) || version.search.some(isThis)) return null
  return version.dropped.some(isThis) ? Object.freeze({ ...version, dropped: [] }) : version
}

/** The versions that lose a file, for the log. */
export function lostVersions(
  versions: readonly (Version | null)[],
  file: CheckedFile,
  verdict: Verdict,
): readonly LostVersion[] {
  return versions.flatMap((version) => {
    const lost = version && allFiles(version).find((each) => isSameFile(each, file))
    if (!version || !lost) return []
    const form = withoutFile(version, file) === null ? 'version' : 'dropped files'
    return [{ dataset: version.dataset, version: version.id, file: lost.name, verdict, form }]
  })
}
