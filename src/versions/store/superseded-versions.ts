import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { Version } from '../version.js'

/** A version that walks may still be on. */
export interface Superseded {
  readonly version: Version
  readonly folder: string | null
  readonly supersededAt: number
}

const keepHours = 24
const earlierMax = 1000
/** Files of all superseded versions together: each costs some memory and a link. */
const earlierFilesMax = 500_000

/** The newest of them that together are not too many. */
function bounded(earlier: readonly Superseded[]): readonly Superseded[] {
  const newestFirst = earlier.slice(-earlierMax).reverse()
  let files = 0
  const end = newestFirst.findIndex(({ version }) => {
    files += version.files.length
    return files > earlierFilesMax
  })
  return (end < 0 ? newestFirst : newestFirst.slice(0, end)).reverse()
}

/** The superseded versions of one dataset, the newest last. */
export class SupersededVersions {
  #list: readonly Superseded[] = []

  get versions(): readonly Version[] {
    return this.#list.map(({ version }) => version)
  }

  /** The folders that they are served from. */
  get folders(): readonly string[] {
    return this.#list.flatMap(({ folder }) => folder ?? [])
  }

  add(superseded: Superseded): void {
    this.#list = [...this.#list, superseded]
  }

  /** Takes what was served until now, and no version that is served again. */
  replace(served: Superseded | null, nextId: string | undefined): void {
    const others = this.#list.filter(({ version }) => version.id !== nextId)
    const isReplaced = served && served.version.id !== nextId
    this.#list = isReplaced ? bounded([...others, served]) : others
  }

  /** Removes versions. False where there were none of them. */
  remove(isGone: (version: Version) => boolean): boolean {
    const before = this.#list.length
    this.#list = this.#list.filter(({ version }) => !isGone(version))
    return this.#list.length < before
  }

  /** Removes those whose time is over. False where there were none. */
  expire(now: number, { keep_versions_hours: hours = keepHours }: DatasetEntry): boolean {
    const before = this.#list.length
    const oldest = now - hours * 3_600_000
    this.#list = bounded(this.#list.filter(({ supersededAt }) => supersededAt > oldest))
    return this.#list.length < before
  }
}
