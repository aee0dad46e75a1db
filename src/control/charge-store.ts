import { closeSync, fdatasync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { ServiceError } from '../errors.js'
import { unavailable } from './store/failures.js'
import { syncPath } from './store/private-file.js'
import { ControlStore } from './store/store.js'
import type { WriteWatch } from './store/store.js'
import { chargeAll } from './usage.js'
import type { Charge, ChargeResult } from './usage.js'

export interface ChargeStoreOptions {
  /** How long a charge blocks the event loop for another process's lock. */
  readonly busyTimeoutMs: number
  /** How long charges wait for the disk; then they fail. */
  readonly syncTimeoutMs?: number
  /** Called after each sync of the log. */
  readonly onSync?: OnSync
  /** Makes a file's contents durable, off the event loop. */
  readonly sync?: (file: number) => Promise<void>
}

/** Takes how long a sync took, and whether it succeeded. */
export type OnSync = (ms: number, isDone: boolean) => void

const syncTimeoutMsDefault = 5000

/**
 * The store's connection for charges. A charge is committed at once, so that every process counts
 * it, and is durable when `synced` has resolved: the thread pool syncs the write-ahead log while
 * the event loop works on, and one sync serves all charges committed before it. The result is the
 * durability of `synchronous=FULL`.
 */
export class ChargeStore {
  readonly #store: ControlStore
  readonly #path: string
  readonly #sync: (file: number) => Promise<void>
  readonly #syncTimeoutMs: number
  readonly #onSync: OnSync | undefined
  #watch: WriteWatch = () => undefined
  #log: number | undefined
  /** The running sync, and the next one, which new commits wait for. */
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #isSuspect = false

  private constructor(store: ControlStore, path: string, options: ChargeStoreOptions) {
    this.#store = store
    this.#path = path
    this.#sync = options.sync ?? promisify(fdatasync)
    this.#onSync = options.onSync
    this.#syncTimeoutMs = options.syncTimeoutMs ?? syncTimeoutMsDefault
  }

  /** @throws Error, for the operator, when the database can't be opened */
  static open(path: string, options: ChargeStoreOptions): ChargeStore {
    const store = ControlStore.open(path, { syncs: 'later' })
    store.setBusyTimeout(options.busyTimeoutMs)
    return new ChargeStore(store, path, options)
  }

  /** A sync failed: the log may have a gap, and a power cut loses what follows a gap. */
  get isSuspect(): boolean {
    return this.#isSuspect
  }

  /** Calls `watch` when charges are durable, and with the failure when they are not. */
  watchWrites(watch: WriteWatch): void {
    this.#watch = watch
  }

  /**
   * Commits a batch. Its rows may be sent once `synced` has resolved.
   * @throws service_unavailable; then nothing is charged
   */
  chargeAll(charges: readonly Charge[]): ChargeResult[] {
    this.#store.refuseBlocked()
    return this.#watched(() => {
      this.repairLog()
      return chargeAll(this.#store, charges)
    })
  }

  /**
   * Resolves when all committed charges survive a power cut.
   * @throws service_unavailable; then the charges stay, and their rows may not be sent
   */
  synced(): Promise<void> {
    this.#next ??= this.#syncAfter(this.#running)
    return this.#inTime(this.#next)
  }

  /**
   * After a failed sync: moves the log into the database, durably, and starts an empty log.
   * @throws service_unavailable when that fails
   */
  repairLog(): void {
    if (this.#isSuspect) this.#store.checkpoint()
    this.#isSuspect = false
  }

  /** See `ControlStore.watchDamage`. */
  watchDamage(report: (cause: unknown) => void): void {
    this.#store.watchDamage(report)
  }

  /** Refuses every charge with service_unavailable until `reopen`. */
  block(): void {
    this.#store.block()
  }

  /**
   * Uses the file that is at the path now.
   * @throws Error, for the operator, when it can't be opened; then nothing has changed
   */
  reopen(): void {
    this.#store.reopen()
    const log = this.#log
    this.#log = undefined
    this.#isSuspect = false
    if (log === undefined) return
    void Promise.allSettled([this.#running, this.#next]).then(() => {
      closeSync(log)
    })
  }

  /** Call it when no caller waits for `synced`. */
  close(): void {
    if (this.#log !== undefined) closeSync(this.#log)
    this.#log = undefined
    this.#store.close()
  }

  async #syncAfter(running: Promise<void> | undefined): Promise<void> {
    // Its failure is for the callers that wait for it.
    await Promise.allSettled([running])
    this.#running = this.#next
    this.#next = undefined
    // The repair makes later commits durable, too.
    if (this.#isSuspect) this.#watched(() => this.repairLog())
    else await this.#syncLog()
    this.#watch(undefined)
  }

  async #syncLog(): Promise<void> {
    const start = performance.now()
    try {
      this.#log ??= openLog(this.#path)
      await this.#sync(this.#log)
      this.#onSync?.(performance.now() - start, true)
    } catch (cause) {
      this.#onSync?.(performance.now() - start, false)
      this.#isSuspect = true
      this.#watched(() => {
        throw unavailable(cause)
      })
    }
  }

  /** A disk that does not answer must not hold answers, and their rows, for ever. */
  #inTime(sync: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        const slow = unavailable(new Error(`the disk took longer than ${this.#syncTimeoutMs} ms`))
        this.#watch(slow)
        reject(slow)
      }, this.#syncTimeoutMs)
      sync.then(resolve, reject).finally(() => {
        clearTimeout(limit)
      })
    })
  }

  #watched<T>(work: () => T): T {
    try {
      return work()
    } catch (cause) {
      if (cause instanceof ServiceError) this.#watch(cause)
      throw cause
    }
  }
}

/** SQLite keeps its locks on other files: closing this one later drops none of them. */
function openLog(path: string): number {
  const log = openSync(`${path}-wal`, 'r+')
  // A power cut loses a new file unless its folder is synced, too.
  syncPath(dirname(path))
  return log
}
