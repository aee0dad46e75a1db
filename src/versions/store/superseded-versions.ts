import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { Version } from '../version.js'

/** An earlier version that walks may still use. */
export interface Superseded {
  readonly version: Version
  readonly folders: readonly string[]
  readonly supersededAt: number
}

const keepHours = 24
const earlierMax = 1000
/** For all superseded versions together: each file costs some memory and a link. */
const earlierFilesMax = 500_000

/** The newest versions within the limits. */
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

  /** With their folders. */
  get list(): readonly Superseded[] {
    return this.#list
  }

  add(superseded: Superseded): void {
    this.#list = [...this.#list, superseded]
  }

  /** Adds the version served until now, and removes one that is served again. */
  replace(served: Superseded | null, nextId: string | undefined): void {
    const others = this.#list.filter(({ version }) => version.id !== nextId)
    const isReplaced = served && served.version.id !== nextId
    this.#list = isReplaced ? bounded([...others, served]) : others
  }

  /** Replaces versions, for example by ones with fewer files. */
  map(change: (version: Version) => Version): void {
    this.#list = this.#list.map((each) => ({ ...each, version: change(each.version) }))
  }

  /** Removes versions; false if none matches. */
  remove(isGone: (version: Version) => boolean): boolean {
    const before = this.#list.length
    this.#list = this.#list.filter(({ version }) => !isGone(version))
    return this.#list.length < before
  }

  /** Removes expired versions, but none that is awaited; false if there are none. */
  expire(
    now: number,
    { keep_versions_hours: hours = keepHours }: DatasetEntry,
    isAwaited: (version: string) => boolean = () => false,
  ): boolean {
    const before = this.#list.length
    const oldest = now - hours * 3_600_000
    const isKept = ({ version, supersededAt }: Superseded) =>
      supersededAt > oldest || isAwaited(version.id)
    this.#list = bounded(this.#list.filter(isKept))
    return this.#list.length < before
  }
}
