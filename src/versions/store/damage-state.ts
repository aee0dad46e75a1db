import type { ContentFile } from '../files/build-version.js'
import { withoutForm } from '../forms/attach-forms.js'
import { allFiles } from '../version.js'
import type { Version } from '../version.js'
import type { CheckedFile, Verdict } from './file-checks.js'
import type { Content, Origin } from './manifest.js'

/** A version, or a form of it: withdrawn because a stored file has other content. */
export interface LostVersion {
  readonly dataset: string
  readonly version: string
  /** Relative to the registry, or in the folder of forms. */
  readonly file: string
  readonly verdict: Verdict
  /** Without a form, the version is still served. */
  readonly lost: 'version' | 'form'
}

/** The damage that this process found in one dataset's stored files. */
export class DamageState {
  readonly #folders = new Set<string>()
  readonly #onDisk = new Set<string>()
  #reason: string | null = null

  /** Folders that are not used again, because the engine may have cached their content. */
  get folders(): ReadonlySet<string> {
    return this.#folders
  }

  /** Whether content is in one of them. */
  isIn({ folder }: Content): boolean {
    return folder !== null && this.#folders.has(folder)
  }

  /** Those not removed yet: their manifests have the hashes of the source files. */
  get onDisk(): ReadonlySet<string> {
    return this.#onDisk
  }

  /** The damage that is not repaired yet, for the owner; null without one. */
  get reason(): string | null {
    return this.#reason
  }

  /** Records the verdict on a stored file. Returns the source files that may be damaged, too. */
  note(
    { folder }: Pick<Content, 'folder'>,
    { source }: ContentFile,
    verdict: Verdict,
    reason: string,
  ): readonly Origin[] {
    if (verdict !== 'damaged') return []
    if (folder !== null) {
      this.#folders.add(folder)
      this.#onDisk.add(folder)
    }
    this.#reason = reason
    return [source]
  }

  /** Records a damaged source file, on which the served version does not depend. */
  addSource(reason: string): void {
    this.#reason = reason
  }

  /** Records that intact content is served. Returns the damaged folders, which must be removed. */
  heal(): readonly string[] {
    this.#reason = null
    const folders = [...this.#onDisk]
    this.#onDisk.clear()
    return folders
  }
}

/** The reason for withdrawing a version, for the owner. */
export function damageText(file: string, verdict: Verdict): string {
  if (verdict === 'gone') return `${file} is gone from the versions folder`
  if (verdict === 'replaced') {
    return `${file} was overwritten in place; write files whole, then rename them`
  }
  return `${file} is damaged: its content is not what it was published with`
}

/** Whether both are the same content at the same path. */
export function isSameFile(left: CheckedFile, right: CheckedFile): boolean {
  return left.path === right.path && left.hash === right.hash
}

/**
 * The version without this form of it, or with the pages in place of this file; null if there are
 * no pages.
 */
export function withoutFile(version: Version, file: CheckedFile): Version | null {
  const isThis = (each: CheckedFile) => isSameFile(each, file)
  const lost = version.files.find(isThis)
  if (!lost) return withoutForm(version, isThis)
  const { pages } = lost
  if (!pages) return null
  const files = version.files.map((each) => (isThis(each) ? inPlaceOf(each, pages) : each))
  return Object.freeze({ ...version, files })
}

/** The file, read from its pages: they have the same rows. */
export function inPlaceOf<File extends StoredPlace>(file: File, pages: StoredPlace): File {
  const { path, guard, hash } = pages
  return Object.freeze({ ...file, path, guard, hash })
}

type StoredPlace = Pick<CheckedFile, 'path' | 'guard' | 'hash'>

/** The versions that lose a file, for the log. */
export function lostVersions(
  versions: readonly (Version | null)[],
  file: CheckedFile,
  verdict: Verdict,
): readonly LostVersion[] {
  return versions.flatMap((version) => {
    const found = version && allFiles(version).find((each) => isSameFile(each, file))
    if (!version || !found) return []
    const lost = withoutFile(version, file) === null ? 'version' : 'form'
    return [{ dataset: version.dataset, version: version.id, file: found.name, verdict, lost }]
  })
}
