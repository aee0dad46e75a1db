import type { Clock } from '../clock.js'
import type { ChargeStore } from './charge-store.js'
import { checkStoreFile, fileIdentity, fileState } from './store/store-file.js'
import type { SqliteFile } from './store/sqlite-file.js'

const checkEveryMs = 1000

/** A change of control.db under a running server. */
export type StoreEvent =
  /** SQLite found it damaged. */
  | { readonly kind: 'damaged'; readonly cause: unknown }
  /** It was removed, or another file was put in its place. */
  | { readonly kind: 'replaced' }
  /** The file in its place can't be used. */
  | { readonly kind: 'refused'; readonly cause: unknown }
  /** The file in its place is sound and in use. */
  | { readonly kind: 'reopened' }
  /** Its write-ahead log was removed or replaced. */
  | { readonly kind: 'log lost' }
  /** What that log held was moved into control.db, and a new log is in use. */
  | { readonly kind: 'log saved' }

interface StoreWatchParts {
  readonly path: string
  readonly control: SqliteFile
  readonly charges: ChargeStore
  readonly clock: Clock
  /** Receives each event once. */
  readonly report: (event: StoreEvent) => void
}

/**
 * Guarantees that a server uses only an undamaged control.db that is in its state folder: when
 * damage is found, or at most a second after the file was replaced, every request that needs the
 * store is refused. A new file is used when two checks, a second apart, find it unchanged and it is
 * sound. A damaged file that stays in its place is refused until a restart. A write-ahead log that
 * was removed is still open here: what it holds is moved into the file, so that nothing is lost.
 */
export class StoreWatch {
  readonly #parts: StoreWatchParts
  #stop: (() => void) | undefined
  /** The refused file; undefined while the store is in use. */
  #blocked: string | null | undefined
  #seen: string | null = null
  #refused: string | null = null
  #isLogLost = false

  constructor(parts: StoreWatchParts) {
    this.#parts = parts
    for (const each of [parts.control, parts.charges]) {
      each.watchDamage((cause) => this.#block({ kind: 'damaged', cause }))
    }
  }

  /** False while the store is refused. */
  get isSound(): boolean {
    return this.#blocked === undefined
  }

  /** Starts to check every second. */
  start(): void {
    this.#stop ??= this.#parts.clock.every(checkEveryMs, () => this.check())
  }

  close(): void {
    this.#stop?.()
  }

  /** Checks which file is in the store's place: one `stat` while nothing has changed. */
  check(): void {
    const { path, control } = this.#parts
    if (this.isSound && !control.isInPlace) this.#block({ kind: 'replaced' })
    if (this.isSound) {
      if (!control.isLogInPlace) this.#saveLog()
      return
    }
    const identity = fileIdentity(path)
    if (identity !== null && identity !== this.#blocked) this.#consider()
  }

  /** Tried again by the next check while another connection reads. */
  #saveLog(): void {
    const { control, charges, report } = this.#parts
    if (!this.#isLogLost) report({ kind: 'log lost' })
    this.#isLogLost = true
    try {
      control.checkpoint()
    } catch {
      return
    }
    // Both are closed before one is opened: with a shared index, each would read another log.
    charges.release()
    control.close()
    try {
      control.reopen()
      charges.reopen()
    } catch (cause) {
      this.#block({ kind: 'refused', cause })
      return
    }
    this.#isLogLost = false
    report({ kind: 'log saved' })
  }

  /** A file that is still being written is not opened. */
  #consider(): void {
    const state = fileState(this.#parts.path)
    const isSettled = state === this.#seen
    this.#seen = state
    if (isSettled && state !== this.#refused) this.#reopen(state)
  }

  #reopen(state: string | null): void {
    const { path, control, charges, report } = this.#parts
    try {
      checkStoreFile(path)
      control.reopen()
      charges.reopen()
    } catch (cause) {
      control.block()
      this.#refused = state
      report({ kind: 'refused', cause })
      return
    }
    this.#blocked = undefined
    report({ kind: 'reopened' })
  }

  #block(event: StoreEvent): void {
    if (!this.isSound) return
    const { control, charges, report } = this.#parts
    this.#blocked = event.kind === 'damaged' ? control.identity : null
    for (const each of [control, charges]) each.block()
    report(event)
  }
}
