import { dirname, sep } from 'node:path'
import { OneAtATime } from '../one-at-a-time.js'
import { bytesOf, inodesBelow } from './disk-inodes.js'
import type { DiskInode } from './disk-inodes.js'

/** An earlier version that can go before its time. */
export interface EarlierVersion {
  readonly dataset: string
  readonly version: string
  readonly folders: readonly string[]
  /** Milliseconds since 1970. */
  readonly supersededAt: number
  /** Stops serving it; its folders leave the disk once no request can be reading them. */
  readonly remove: () => void
}

/** The versions of a server. */
export interface StoredVersions {
  /** The folders that never go to make room. */
  readonly folders: ReadonlySet<string>
  readonly earlier: readonly EarlierVersion[]
}

export interface DiskSpaceOptions {
  /** What is in them is needed, beside what versions and objects are. */
  readonly neededFolders?: readonly string[]
  /** The folders that count. */
  readonly folders: readonly string[]
  /** Null = no limit. */
  readonly limitBytes: number | null
  /** Called with every version that goes before its time. */
  readonly onRemoved?: (version: EarlierVersion) => void
}

/** The disk limit leaves no room. Its message follows the name of what needs it. */
export class NoSpaceError extends Error {
  override readonly name = 'NoSpaceError'
}

/** Room for bytes that are being written; released at the end, written or not. */
export interface Reservation extends Disposable {
  /** Bytes were written: from now on they are found on the disk. */
  readonly note: (bytes: number) => void
}

interface Reserved {
  /** Those that are not written yet; of a draft, all. */
  bytes: number
  readonly draft: string | null
}

/** An earlier version, and what goes with it. */
interface Removable {
  readonly version: EarlierVersion
  /** Of files that are in no newer version either. */
  bytes: number
  /** False if all of its files stay for other reasons, so that removing it makes no room. */
  makesRoom: boolean
}

interface Sorted {
  readonly neededBytes: number
  /** The newest first. */
  readonly earlier: readonly Removable[]
}

/**
 * Keeps what a server stores within a limit. A file counts once, by its size, and not while it has
 * a name outside of the folders. Where room is short, earlier versions go, the oldest first.
 */
export class DiskSpace {
  readonly #options: DiskSpaceOptions
  #versions: (() => StoredVersions) | null = null
  #objects: () => ReadonlySet<string> = () => new Set()
  readonly #reserved = new Set<Reserved>()
  readonly #turns = new OneAtATime()

  constructor(options: DiskSpaceOptions) {
    this.#options = options
  }

  /** Sets the versions that may go. While they are not known, every file stays. */
  followVersions(versions: () => StoredVersions): void {
    this.#versions = versions
  }

  /** Sets the paths of fetched objects that are in use; others are about to be removed. */
  followObjects(objects: () => ReadonlySet<string>): void {
    this.#objects = objects
  }

  /**
   * Makes room for bytes.
   * @throws NoSpaceError if they do not fit beside what is needed (then nothing goes), or not yet,
   *   because removed versions are still on the disk
   */
  reserve(bytes: number): Promise<Reservation> {
    return this.#reserve(bytes, null)
  }

  /**
   * Makes room for bytes and does the work that writes them below a folder.
   * @throws NoSpaceError like `reserve`, and what the work throws
   */
  async during<T>(bytes: number, draft: string, work: () => Promise<T>): Promise<T> {
    const room = await this.#reserve(bytes, draft)
    try {
      return await work()
    } finally {
      room[Symbol.dispose]()
    }
  }

  /** The limit; null = none. */
  get limitBytes(): number | null {
    return this.#options.limitBytes
  }

  /** The bytes that count against a limit: stored, and being written. */
  async usedBytes(): Promise<number> {
    return this.#reservedBytes() + bytesOf(await this.#inodes(null))
  }

  /** Has earlier versions go until the rest fits; returns the bytes that do not fit even then. */
  trim(): Promise<number> {
    const { limitBytes, onRemoved } = this.#options
    if (limitBytes === null) return Promise.resolve(0)
    return this.#turns.run(async () => {
      const { neededBytes, earlier } = this.#sort(await this.#inodes(null))
      const left = limitBytes - this.#reservedBytes() - neededBytes
      removeOldest(earlier, left, onRemoved)
      return Math.max(0, -left)
    })
  }

  #reserve(bytes: number, draft: string | null): Promise<Reservation> {
    const { limitBytes } = this.#options
    const own = { bytes, draft }
    if (limitBytes === null || bytes === 0) return Promise.resolve(this.#hold(own))
    return this.#turns.run(async () => {
      const room = limitBytes - this.#reservedBytes()
      const inodes = await this.#inodes(draft)
      const { neededBytes, earlier } = this.#sort(inodes)
      const left = room - neededBytes
      if (bytes > left) {
        throw new NoSpaceError(
          `needs ${count(bytes)} bytes of disk, but only ${count(Math.max(0, left))} of ` +
            `--disk-limit are left beside what is ${this.#versions ? 'served' : 'stored'}`,
        )
      }
      removeOldest(earlier, left - bytes, this.#options.onRemoved)
      if (bytes > room - bytesOf(inodes)) {
        throw new NoSpaceError(
          `needs ${count(bytes)} bytes of disk, and waits until files that are served no more ` +
            'are removed (--disk-limit)',
        )
      }
      return this.#hold(own)
    })
  }

  #hold(own: Reserved): Reservation {
    this.#reserved.add(own)
    return {
      note: (written) => {
        own.bytes = Math.max(0, own.bytes - written)
      },
      [Symbol.dispose]: () => {
        this.#reserved.delete(own)
      },
    }
  }

  #reservedBytes(): number {
    return [...this.#reserved].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  async #inodes(draft: string | null): Promise<readonly DiskInode[]> {
    const drafts = [...this.#reserved].map((each) => each.draft)
    const left = [...drafts, draft].filter((each) => each !== null).map((each) => each + sep)
    const counts = ({ isOnlyHere, paths }: DiskInode) =>
      isOnlyHere && !paths.every((path) => left.some((each) => path.startsWith(each)))
    return (await inodesBelow(this.#options.folders)).filter(counts)
  }

  #sort(inodes: readonly DiskInode[]): Sorted {
    if (!this.#versions) return { neededBytes: bytesOf(inodes), earlier: [] }
    const { folders, earlier } = this.#versions()
    const objects = this.#objects()
    const { neededFolders = [] } = this.#options
    const isNeeded = ({ paths }: DiskInode) =>
      paths.some(
        (path) =>
          objects.has(path) ||
          folders.has(dirname(path)) ||
          neededFolders.some((folder) => path.startsWith(folder + sep)),
      )
    const others = inodes.filter((inode) => !isNeeded(inode))
    const neededBytes = bytesOf(inodes) - bytesOf(others)
    const newestFirst = [...earlier].sort((left, right) => right.supersededAt - left.supersededAt)
    return { neededBytes, earlier: withBytes(newestFirst, others) }
  }
}

function withBytes(
  newestFirst: readonly EarlierVersion[],
  inodes: readonly DiskInode[],
): readonly Removable[] {
  const found = newestFirst.map((version) => ({ version, bytes: 0, makesRoom: false }))
  const inFolder = new Map<string, Removable[]>()
  for (const each of found) {
    for (const folder of each.version.folders) {
      inFolder.set(folder, [...(inFolder.get(folder) ?? []), each])
    }
  }
  for (const { paths, sizeBytes } of inodes) {
    const holders = new Set(paths.flatMap((path) => inFolder.get(dirname(path)) ?? []))
    for (const each of holders) each.makesRoom = true
    const newest = found.find((each) => holders.has(each))
    if (newest) newest.bytes += sizeBytes
  }
  return found
}

/** Removes versions until the rest fits, the oldest first. */
function removeOldest(
  newestFirst: readonly Removable[],
  leftBytes: number,
  onRemoved: DiskSpaceOptions['onRemoved'] = () => undefined,
): void {
  let left = leftBytes
  const end = newestFirst.findIndex(({ bytes }) => {
    left -= bytes
    return left < 0
  })
  const tooMany = end < 0 ? [] : newestFirst.slice(end)
  for (const { version } of tooMany.filter(({ makesRoom }) => makesRoom).reverse()) {
    version.remove()
    onRemoved(version)
  }
}

function count(bytes: number): string {
  return bytes.toLocaleString('en-US')
}
