import type { Version } from '../version.js'
import type { Content } from './content.js'
import type { CheckedFile, Verdict } from './file-checks.js'

/** A stored file that is not what its version was published with. */
export interface LostVersion {
  readonly dataset: string
  /** The version that is served no more. */
  readonly version: string
  /** Relative to the registry, or within the packed copy. */
  readonly file: string
  readonly verdict: Verdict
}

/** The damage found in one dataset's stored files by this process. */
export class DamageState {
  readonly #folders = new Set<string>()
  readonly #onDisk = new Set<string>()
  #current: { readonly reason: string; readonly isPacked: boolean } | null = null

  /** Folders that are not used again: the engine may remember what they held. */
  get folders(): ReadonlySet<string> {
    return this.#folders
  }

  /** Those that are still there: their manifests say what the files at the source held. */
  get onDisk(): ReadonlySet<string> {
    return this.#onDisk
  }

  /** What is not healed yet, in words for the owner; null where nothing is damaged. */
  get reason(): string | null {
    return this.#current?.reason ?? null
  }

  add({ folder, origins }: Content, reason: string): void {
    if (folder !== null) {
      this.#folders.add(folder)
      this.#onDisk.add(folder)
    }
    this.#current = { reason, isPacked: origins !== null }
  }

  /** A file at its source is damaged; what is served does not depend on it. */
  addSource(reason: string): void {
    this.#current = { reason, isPacked: false }
  }

  /**
   * Sound content is served, and its form waits to be packed again or not. Gives the folders that
   * are of no use any more.
   */
  heal(isToBePacked: boolean): readonly string[] {
    if (!this.#current?.isPacked || !isToBePacked) this.#current = null
    const folders = [...this.#onDisk]
    this.#onDisk.clear()
    return folders
  }

  /** A folder was made again from its sources, every file with another time of writing. */
  renew(folder: string): void {
    this.#folders.delete(folder)
    this.#onDisk.delete(folder)
  }
}

/** Why a version is withdrawn, for the owner. */
export function damageText(file: string, verdict: Verdict, isPacked: boolean): string {
  if (verdict === 'gone') return `${file} is gone from the versions folder`
  if (verdict === 'replaced') {
    return `${file} was overwritten in place; write files whole, then rename them`
  }
  if (!isPacked) return `${file} is damaged: its content is not what it was published with`
  return `the packed copy is damaged (${file}); the files it was made from are served and packed again`
}

/** Whether both stand for the same content at the same place. */
export function isSameFile(left: CheckedFile, right: CheckedFile): boolean {
  return left.path === right.path && left.hash === right.hash
}

/** Whether a version is served from this very file. */
export function isServedFrom({ files }: Version, file: CheckedFile): boolean {
  return files.some((each) => isSameFile(each, file))
}

/** What becomes of versions, for the log, when a file of theirs is not what it was. */
export function lostVersions(
  versions: readonly (Version | null)[],
  file: CheckedFile,
  verdict: Verdict,
): readonly LostVersion[] {
  return versions.flatMap((version) => {
    const lost = version?.files.find((each) => isSameFile(each, file))
    if (!version || !lost) return []
    return [{ dataset: version.dataset, version: version.id, file: lost.name, verdict }]
  })
}
