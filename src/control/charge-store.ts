import { closeSync, fdatasync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { Clock } from '../clock.js'
import { ServiceError } from '../errors.js'
import { storeUnavailable } from './store/failures.js'
import { syncPath } from './store/private-file.js'
import { SqliteStore } from './store/sqlite-store.js'
import type { StoreParts } from './store/store.js'
import type { Turns } from './store/turns.js'
import type { WriteWatch } from './store/sqlite-file.js'
import { chargeAll } from './usage.js'
import type { Charge, ChargeResult, OnCharged } from './usage.js'

export interface ChargeStoreOptions extends StoreParts {
  /** Those of this process's other connection to the same file. */
  readonly turns?: Turns
  /** How long a charge waits for another process's lock. */
  readonly busyTimeoutMs: number
  /** Called after each sync of the log. */
  readonly onSync?: OnSync
  /** Makes a file's contents durable, off the event loop. */
  readonly sync?: (file: number) => Promise<void>
}

/** Takes how long a sync took, and whether it succeeded. */
export type OnSync = (ms: number, isDone: boolean) => void

/** How long charges wait for the disk; then they fail. */
const syncTimeoutMs = 5000

/**
 * Syncs that run at the same time. With one, a commit would first wait for the end of a sync that
 * began before it and proves nothing about it.
 */
const syncsMax = 2

/**
 * The store's connection for charges. A charge is committed at once, so that every process counts
 * it, and is durable when `synced` has resolved: the thread pool syncs the write-ahead log while
 * the event loop works on, and one sync serves all charges committed before it. The result is the
 * durability of `synchronous=FULL`.
 */
export class ChargeStore {
  readonly #store: SqliteStore
  readonly #clock: Clock
  readonly #path: string
  readonly #sync: (file: number) => Promise<void>
  readonly #onSync: OnSync | undefined
  #watch: WriteWatch = () => undefined
  #onCharged: OnCharged = () => undefined
  /**
   * Open files of the log that no sync uses; null before the first sync. The system tells of a
   * failed write once for each file that was open then, so syncs at the same time need one each,
   * and all are opened together.
   */
  #logs: number[] | null = null
  /** The ends of the running syncs, which never reject. */
  readonly #running = new Set<Promise<void>>()
  /** The next sync, which new commits wait for. */
  #next: Promise<void> | undefined
  #isSuspect = false
  #batches = 0

  private constructor(store: SqliteStore, path: string, options: ChargeStoreOptions) {
    this.#store = store
    this.#clock = options.clock
    this.#path = path
    this.#sync = options.sync ?? promisify(fdatasync)
    this.#onSync = options.onSync
  }

  /** @throws Error, for the operator, when the database can't be opened */
  static open(path: string, options: ChargeStoreOptions): ChargeStore {
    const { clock, random, turns } = options
    const store = SqliteStore.open(path, {
      clock,
      random,
      syncs: 'later',
      ...(turns && { turns }),
    })
    store.file.setBusyTimeout(options.busyTimeoutMs)
    return new ChargeStore(store, path, options)
  }

  /** A sync failed: the log may have a gap, and a power cut loses what follows a gap. */
  get isSuspect(): boolean {
    return this.#isSuspect
  }

  /** How many batches have ended, also those that failed. */
  get batches(): number {
    return this.#batches
  }

  /** See `SqliteFile.commitsOfOthers`. @throws service_unavailable */
  commitsOfOthers(): number {
    return this.#store.file.commitsOfOthers()
  }

  /** Calls `onCharged` after the commit of each batch, before it counts as ended. */
  watchCharges(onCharged: OnCharged): void {
    this.#onCharged = onCharged
  }

  /** Calls `watch` when charges are durable, and with the failure when they are not. */
  watchWrites(watch: WriteWatch): void {
    this.#watch = watch
  }

  /**
   * Commits a batch. Its rows may be sent once `synced` has resolved.
   * @throws service_unavailable; then nothing is charged
   */
  async chargeAll(charges: readonly Charge[]): Promise<ChargeResult[]> {
    this.#store.file.refuseBlocked()
    return await this.#watched(async () => {
      await this.repairLog()
      return await chargeAll(this.#store, charges, this.#onCharged)
    }).finally(() => {
      this.#batches += 1
    })
  }

  /**
   * Resolves when all committed charges survive a power cut.
   * @throws service_unavailable; then the charges stay, and their rows may not be sent
   */
  synced(): Promise<void> {
    this.#next ??= this.#syncNext()
    return this.#inTime(this.#next)
  }

  /**
   * After a failed sync: moves the log into the database, durably, and starts an empty log.
   * @throws service_unavailable when that fails
   */
  async repairLog(): Promise<void> {
    if (!this.#isSuspect) return
    await this.#store.alone(() => {
      this.#store.file.checkpoint()
      this.#isSuspect = false
    })
  }

  /** See `SqliteFile.watchDamage`. */
  watchDamage(report: (cause: unknown) => void): void {
    this.#store.file.watchDamage(report)
  }

  /** Refuses every charge with service_unavailable until `reopen`. */
  block(): void {
    this.#store.file.block()
  }

  /** Closes the file and its log; `reopen` opens them again. */
  release(): void {
    this.#closeLogs()
    this.#store.file.close()
  }

  /**
   * Uses the file that is at the path now.
   * @throws Error, for the operator, when it can't be opened; then nothing has changed
   */
  reopen(): void {
    this.#store.file.reopen()
    this.#closeLogs()
    this.#isSuspect = false
  }

  /** Call it when no caller waits for `synced`. */
  async close(): Promise<void> {
    this.#closeLogs()
    await this.#store.close()
  }

  /** Those that a sync uses are closed at its end. */
  #closeLogs(): void {
    for (const log of this.#logs ?? []) closeSync(log)
    this.#logs = null
  }

  /** Begins in a later turn, so that `#next` is known, and when there is room for it. */
  async #syncNext(): Promise<void> {
    await (this.#running.size < syncsMax ? undefined : Promise.race(this.#running))
    this.#next = undefined
    // The repair makes later commits durable, too.
    const sync = this.#isSuspect ? this.#watched(() => this.repairLog()) : this.#syncLog()
    // Its failure is for the callers that wait for it.
    const end = sync.catch(() => undefined)
    this.#running.add(end)
    try {
      await sync
    } finally {
      this.#running.delete(end)
    }
    this.#watch(undefined)
  }

  async #syncLog(): Promise<void> {
    const { monotonicMs } = this.#clock
    const start = monotonicMs()
    try {
      await this.#withLog((log) => this.#sync(log))
      this.#onSync?.(monotonicMs() - start, true)
    } catch (cause) {
      this.#onSync?.(monotonicMs() - start, false)
      this.#isSuspect = true
      // Those that were open would tell of the same failure once more.
      this.#closeLogs()
      const failure = storeUnavailable(cause)
      this.#watch(failure)
      throw failure
    }
  }

  async #withLog(work: (log: number) => Promise<void>): Promise<void> {
    const logs = (this.#logs ??= openLogs(this.#path))
    const log = logs.pop()
    if (log === undefined) throw new Error('more syncs run than there are open files')
    try {
      await work(log)
    } finally {
      if (logs === this.#logs) logs.push(log)
      else closeSync(log)
    }
  }

  /** A disk that does not answer must not hold answers, and their rows, for ever. */
  #inTime(sync: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(syncTimeoutMs, () => {
        const slow = storeUnavailable(new Error(`the disk took longer than ${syncTimeoutMs} ms`))
        this.#watch(slow)
        reject(slow)
      })
      sync.then(resolve, reject).finally(cancel)
    })
  }

  async #watched<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      if (cause instanceof ServiceError) this.#watch(cause)
      throw cause
    }
  }
}

/** SQLite keeps its locks on other files: closing these later drops none of them. */
function openLogs(path: string): number[] {
  const logs: number[] = []
  try {
    while (logs.length < syncsMax) logs.push(openSync(`${path}-wal`, 'r+'))
    // A power cut loses a new file unless its folder is synced, too.
    syncPath(dirname(path))
    return logs
  } catch (cause) {
    for (const log of logs) closeSync(log)
    throw cause
  }
}
