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
  /** How long the disk may take; then nobody waits for it any more. */
  readonly syncTimeoutMs?: number
  /** Makes what was written to a file durable, off the event loop. */
  readonly sync?: (file: number) => Promise<void>
}

const syncTimeoutMsDefault = 5000

/**
 * The store's connection for charges. They are committed at once, so that everybody counts them,
 * and durable when `synced` has resolved: the write-ahead log is synced on the thread pool, while
 * the event loop and the queries go on, and one sync serves all that was committed before it. It is
 * what `synchronous=FULL` does within each commit.
 */
export class ChargeStore {
  readonly #store: ControlStore
  readonly #path: string
  readonly #sync: (file: number) => Promise<void>
  readonly #syncTimeoutMs: number
  #watch: WriteWatch = () => undefined
  #log: number | undefined
  /** The sync under way, and the one after it, which new commits wait for. */
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #isSuspect = false

  private constructor(store: ControlStore, path: string, options: ChargeStoreOptions) {
    this.#store = store
    this.#path = path
    this.#sync = options.sync ?? promisify(fdatasync)
    this.#syncTimeoutMs = options.syncTimeoutMs ?? syncTimeoutMsDefault
  }

  /** @throws Error, for the operator, when the database can't be opened */
  static open(path: string, options: ChargeStoreOptions): ChargeStore {
    const store = ControlStore.open(path, { syncs: 'later' })
    store.setBusyTimeout(options.busyTimeoutMs)
    return new ChargeStore(store, path, options)
  }

  /** A sync failed: the log may have a hole, and what follows a hole is lost in a power cut. */
  get isSuspect(): boolean {
    return this.#isSuspect
  }

  /** From now on `watch` is told when charges are durable, and what stood in the way of others. */
  watchWrites(watch: WriteWatch): void {
    this.#watch = watch
  }

  /**
   * Commits a batch; nothing of it may be sent before `synced` has resolved.
   * @throws service_unavailable; then nothing is charged
   */
  chargeAll(charges: readonly Charge[]): ChargeResult[] {
    this.#store.refuseBlocked()
    return this.#watched(() => {
      this.mend()
      return chargeAll(this.#store, charges)
    })
  }

  /**
   * Resolves when all that is committed survives a power cut.
   * @throws service_unavailable; then what was committed stays charged, and may not be sent
   */
  synced(): Promise<void> {
    this.#next ??= this.#syncAfter(this.#running)
    return this.#inTime(this.#next)
  }

  /**
   * After a failed sync: moves what the log holds into the database, durably, and begins it anew.
   * @throws service_unavailable while that can't be
   */
  mend(): void {
    if (this.#isSuspect) this.#store.checkpoint()
    this.#isSuspect = false
  }

  /** See `ControlStore.watchDamage`. */
  watchDamage(report: (cause: unknown) => void): void {
    this.#store.watchDamage(report)
  }

  /** From now on every charge is refused with service_unavailable, until `reopen`. */
  block(): void {
    this.#store.block()
  }

  /**
   * Goes on with the file that lies at the path now.
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

  /** Call it when nobody waits for `synced`. */
  close(): void {
    if (this.#log !== undefined) closeSync(this.#log)
    this.#log = undefined
    this.#store.close()
  }

  async #syncAfter(running: Promise<void> | undefined): Promise<void> {
    // Whoever waits for that one hears how it ended.
    await Promise.allSettled([running])
    this.#running = this.#next
    this.#next = undefined
    // What was committed after a hole is mended along with it, which is as good as a sync.
    if (this.#isSuspect) this.#watched(() => this.mend())
    else await this.#syncLog()
    this.#watch(undefined)
  }

  async #syncLog(): Promise<void> {
    try {
      this.#log ??= openLog(this.#path)
      await this.#sync(this.#log)
    } catch (cause) {
      this.#isSuspect = true
      this.#watched(() => {
        throw unavailable(cause)
      })
    }
  }

  /** A disk that says nothing must not hold answers, and their rows, for ever. */
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
  // A file that was just made is lost in a power cut unless its folder is synced, too.
  syncPath(dirname(path))
  return log
}
