import { closeSync, fdatasync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { unavailable } from './failures.js'
import { syncPath } from './private-file.js'
import { ControlStore } from './store.js'
import type { WriteWatch } from './store.js'
import { chargeAll } from './usage.js'
import type { Charge, ChargeResult } from './usage.js'

export interface ChargeStoreOptions {
  /** How long a charge blocks the event loop for another process's lock. */
  readonly busyTimeoutMs: number
  /** Makes what was written to a file durable, off the event loop. */
  readonly sync?: (file: number) => Promise<void>
}

/**
 * The store's connection for charges. They are committed at once, so that everybody counts them,
 * and durable when `synced` has resolved: the write-ahead log is synced on the thread pool, while
 * the event loop and the queries go on, and one sync serves all that was committed before it. This
 * is what `synchronous=FULL` does, but nobody stands still for the disk.
 */
export class ChargeStore {
  readonly #store: ControlStore
  readonly #path: string
  readonly #sync: (file: number) => Promise<void>
  #watch: WriteWatch = () => undefined
  #log: number | undefined
  /** The sync under way, and the one after it, which new commits wait for. */
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** A sync failed: the log may have a hole, and what follows a hole is lost in a power cut. */
  #isSuspect = false

  private constructor(store: ControlStore, path: string, { sync }: ChargeStoreOptions) {
    this.#store = store
    this.#path = path
    this.#sync = sync ?? promisify(fdatasync)
  }

  /** @throws Error, for the operator, when the database can't be opened */
  static open(path: string, options: ChargeStoreOptions): ChargeStore {
    const store = ControlStore.open(path, { syncs: 'later' })
    store.setBusyTimeout(options.busyTimeoutMs)
    return new ChargeStore(store, path, options)
  }

  /** From now on `watch` is told how each batch and each sync ended. */
  watchWrites(watch: WriteWatch): void {
    this.#watch = watch
    this.#store.watchWrites(watch)
  }

  /**
   * Commits a batch; nothing of it may be sent before `synced` has resolved.
   * @throws service_unavailable; then nothing is charged
   */
  chargeAll(charges: readonly Charge[]): ChargeResult[] {
    if (this.#isSuspect) this.#rewriteLog()
    return chargeAll(this.#store, charges)
  }

  /**
   * Resolves when all that is committed survives a power cut.
   * @throws service_unavailable; then what was committed stays charged, and may not be sent
   */
  synced(): Promise<void> {
    this.#next ??= this.#syncAfter(this.#running)
    return this.#next
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
    try {
      this.#log ??= openLog(this.#path)
      await this.#sync(this.#log)
    } catch (cause) {
      this.#isSuspect = true
      const failure = unavailable(cause)
      this.#watch(failure)
      throw failure
    }
  }

  /** Moves what the log holds into the database, durably, and begins the log anew. */
  #rewriteLog(): void {
    this.#store.checkpoint()
    this.#isSuspect = false
  }
}

/** SQLite keeps its locks on other files: closing this one later drops none of them. */
function openLog(path: string): number {
  const log = openSync(`${path}-wal`, 'r+')
  // A file that was just made is lost in a power cut unless its folder is synced, too.
  syncPath(dirname(path))
  return log
}
