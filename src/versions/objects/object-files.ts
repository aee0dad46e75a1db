import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../clock.js'
import type { Random } from '../../random.js'
import { NoSpaceError } from '../disk-space.js'
import type { DiskSpace } from '../disk-space.js'
import { inBatches } from '../in-batches.js'
import { FileError } from '../opener.js'
import { fetchObject } from './fetch-object.js'
import { listObjects } from './list-objects.js'
import type { FoundObject, ObjectFile } from './list-objects.js'
import { ObjectChanged } from './object-store.js'
import type { ObjectStore } from './object-store.js'

/** The objects that the patterns of a registry match, as files. */
export interface ObjectSource {
  /**
   * The objects of a pattern, by key.
   * @throws FileError with the pattern while the first ones are fetched, and if the last try failed
   */
  readonly files: (pattern: string) => Promise<readonly ObjectFile[]>
  /** The file of an object is damaged: fetches it again. */
  readonly discard: (file: ObjectFile) => Promise<void>
}

/** How far the fetching of a pattern's objects is. */
export interface FetchProgress {
  readonly pattern: string
  readonly objects: number
  readonly objectsDone: number
  readonly bytes: number
  readonly bytesDone: number
}

export interface ObjectFilesOptions {
  /** Where the contents are kept. */
  readonly folder: string
  readonly store: ObjectStore
  /** What may be written to the disk. */
  readonly space: DiskSpace
  /** How long `files` waits for the objects of a new pattern, in milliseconds. */
  readonly waitMaxMs: number
  /** Called while objects are fetched. */
  readonly report?: (progress: FetchProgress) => void
  /** Called when `files` of a pattern has another result than before. */
  readonly onChange?: () => void
  readonly clock: Clock
  readonly random: Random
}

/** What is known of a pattern. */
type Known =
  | { readonly files: readonly ObjectFile[]; readonly reason: null }
  | { readonly files: null; readonly reason: string }

/** A pattern that is listed again and again. */
interface Followed {
  known: Known
  /** The contents of the last listing, which may still be fetched; null before the first one. */
  listed: readonly ObjectFile[] | null
  /** The contents in use, also while newer ones are fetched. */
  used: readonly ObjectFile[]
  /** The listing and fetching that is under way. */
  running: Promise<void> | null
  readonly stop: AbortController
}

const atOnce = 4
/** How often a listing is repeated because an object changed while it was fetched. */
const listingsMax = 5
/** How long a file stays that no pattern names any more; longer than publishing takes. */
const unusedMs = 10 * 60_000
/** A file that this process never listed may be one that another process is about to use. */
const foreignMs = 3_600_000
const fetching: Known = { files: null, reason: 'is being fetched' }

/**
 * Keeps the content of objects in files, each named after bucket, key, entity tag and size: what
 * is there is never fetched twice, also not by another process. A pattern's new objects are used
 * when all are there. Until then the former ones are; where a fetch failed, none are, so that
 * their reader says why and keeps its last good version.
 */
export class ObjectFiles implements ObjectSource {
  readonly #options: ObjectFilesOptions
  readonly #patterns = new Map<string, Followed>()
  readonly #running = new Set<Promise<void>>()
  /** The paths that this process has listed. */
  readonly #named = new Set<string>()
  /** Those of them that no pattern names, and since when. */
  #unused: ReadonlyMap<string, number> = new Map()
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(options: ObjectFilesOptions) {
    this.#options = options
    options.space.followObjects(() => this.#kept())
  }

  async files(pattern: string): Promise<readonly ObjectFile[]> {
    const followed = this.#patterns.get(pattern) ?? newFollowed()
    if (this.#isClosed) followed.stop.abort()
    if (!this.#patterns.has(pattern)) {
      this.#patterns.set(pattern, followed)
      const { clock, waitMaxMs } = this.#options
      await Promise.race([this.#follow(pattern, followed), ...waitingFor(clock, waitMaxMs)])
    }
    const { files, reason } = followed.known
    if (files) return files
    throw new FileError(pattern, reason)
  }

  async discard({ path }: ObjectFile): Promise<void> {
    await rm(path, { force: true })
    for (const [pattern, followed] of this.#patterns) {
      if (!followed.known.files?.some((file) => file.path === path)) continue
      followed.known = fetching
      void this.#follow(pattern, followed)
    }
  }

  /** Forgets the other patterns: they are listed no more, and what is being fetched is given up. */
  retain(patterns: ReadonlySet<string>): void {
    for (const [pattern, { stop }] of this.#patterns) {
      if (patterns.has(pattern)) continue
      this.#patterns.delete(pattern)
      stop.abort()
    }
  }

  /** Lists and fetches what every pattern that was asked for matches now. Never fails. */
  async refresh(): Promise<void> {
    // First, because what comes next may need the space.
    await this.#removeUnused()
    for (const [pattern, followed] of this.#patterns) await this.#follow(pattern, followed)
  }

  /** Refreshes in this rhythm from now on; the time of a refresh comes on top of it. */
  start(everyMs: number): void {
    this.#cancel = this.#options.clock.after(everyMs, () => {
      void this.refresh().then(() => {
        if (!this.#isClosed) this.start(everyMs)
      })
    })
  }

  /** Ends the fetching; resolves when nothing is written any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel?.()
    this.retain(new Set())
    await Promise.all(this.#running)
  }

  /** Brings a pattern up to date, unless that is under way. */
  #follow(pattern: string, followed: Followed): Promise<void> {
    if (followed.running) return followed.running
    const running = this.#update(pattern, followed).finally(() => {
      followed.running = null
      this.#running.delete(running)
    })
    followed.running = running
    this.#running.add(running)
    return running
  }

  async #update(pattern: string, followed: Followed): Promise<void> {
    const found = await this.#fetch(pattern, followed)
    if (followed.stop.signal.aborted) return
    const hasChanged = JSON.stringify(found) !== JSON.stringify(followed.known)
    followed.known = found
    followed.used = found.files ?? followed.used
    if (hasChanged) this.#options.onChange?.()
  }

  async #fetch(pattern: string, followed: Followed): Promise<Known> {
    try {
      for (let listings = 1; ; listings++) {
        try {
          return { files: await this.#fetchAll(pattern, followed), reason: null }
        } catch (cause) {
          if (!(cause instanceof ObjectChanged) || listings === listingsMax) throw cause
        }
      }
    } catch (cause) {
      return { files: null, reason: reasonOf(cause) }
    }
  }

  async #fetchAll(pattern: string, followed: Followed): Promise<readonly ObjectFile[]> {
    const { folder, store, space, random, report } = this.#options
    const { signal } = followed.stop
    const found = await listObjects(store, folder, pattern, signal)
    const listed = found.map(({ path, name }) => ({ path, name }))
    followed.listed = listed
    for (const { path } of listed) this.#named.add(path)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const there = await inBatches(found, ({ path, object }) => hasSize(path, object.sizeBytes))
    const missing = found.filter((_, at) => there[at] === false)
    const bytes = missing.reduce((sum, { object }) => sum + object.sizeBytes, 0)
    using room = await space.reserve(bytes)
    let [objectsDone, bytesDone] = [0, 0]
    const noteBytes = (more: number) => {
      bytesDone += more
      room.note(more)
      report?.({ pattern, objects: missing.length, objectsDone, bytes, bytesDone })
    }
    const fetchOne = async ({ bucket, object, path }: FoundObject) => {
      await fetchObject(store, bucket, object, { path, signal, random, onBytes: noteBytes })
      objectsDone += 1
      noteBytes(0)
    }
    await inBatches(missing, fetchOne, atOnce)
    return listed
  }

  /** The paths that a pattern names, or used until its newer objects are all there. */
  #kept(): ReadonlySet<string> {
    const followed = [...this.#patterns.values()]
    const files = followed.flatMap(({ used, listed }) => [...used, ...(listed ?? [])])
    return new Set(files.map(({ path }) => path))
  }

  /**
   * Published versions have links of their own, so that a file can go when no pattern names it. Not
   * at once: it may be being linked now.
   */
  async #removeUnused(): Promise<void> {
    const { folder, clock } = this.#options
    const now = clock.now()
    const kept = this.#kept()
    const paths = [...this.#named].filter((path) => !kept.has(path))
    this.#unused = new Map(paths.map((path) => [path, this.#unused.get(path) ?? now]))
    const over = new Set(paths.filter((path) => now - (this.#unused.get(path) ?? now) >= unusedMs))
    const isUnlisted = [...this.#patterns.values()].some(({ listed }) => listed === null)
    const isOver = async (path: string) => {
      if (isUnlisted || this.#named.has(path)) return over.has(path)
      const found = await stat(path).catch(() => undefined)
      return found !== undefined && now - found.mtimeMs > foreignMs
    }
    const names = await readdir(folder).catch(() => [])
    for (const path of names.map((name) => join(folder, name))) {
      if (kept.has(path) || !(await isOver(path))) continue
      // What can't be removed now is tried again at the next refresh.
      await rm(path, { force: true }).catch(() => undefined)
    }
    for (const path of over) this.#named.delete(path)
  }
}

/** A pattern that is asked for the first time. */
function newFollowed(): Followed {
  return { known: fetching, listed: null, used: [], running: null, stop: new AbortController() }
}

/** A promise of the time; none for an endless one. */
function waitingFor(clock: Clock, ms: number): readonly Promise<void>[] {
  if (!Number.isFinite(ms)) return []
  return [new Promise((resolve) => clock.after(ms, resolve))]
}

async function hasSize(path: string, sizeBytes: number): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.size === sizeBytes
}

/** The reason for the owner, without the store's address and request ids. */
function reasonOf(cause: unknown): string {
  if (cause instanceof FileError) return cause.reason
  if (cause instanceof NoSpaceError) return cause.message
  if (cause instanceof ObjectChanged) return 'changes faster than it can be fetched'
  const { code, name, message } = cause as NodeJS.ErrnoException
  return `can't be fetched (${code ?? (name === 'Error' ? message : name)})`
}
