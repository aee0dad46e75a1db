import type { ChargeStore } from './charge-store.js'
import { checkStoreFile, fileIdentity, fileState } from './store/store-file.js'
import type { ControlStore } from './store/store.js'

const lookEveryMs = 1000

/** What became of control.db under a running server. */
export type StoreEvent =
  /** SQLite found it damaged. */
  | { readonly kind: 'damaged'; readonly cause: unknown }
  /** It was removed, or another file was put in its place. */
  | { readonly kind: 'replaced' }
  /** What lies in its place now can't be used. */
  | { readonly kind: 'refused'; readonly cause: unknown }
  /** The file that lies in its place now is sound, and is used. */
  | { readonly kind: 'reopened' }

interface StoreWatchParts {
  readonly path: string
  readonly control: ControlStore
  readonly charges: ChargeStore
  /** Receives each event once. */
  readonly report: (event: StoreEvent) => void
}

/**
 * Guarantees that a server answers from the control.db that lies in its state folder, undamaged, or
 * not at all: once damage is found, or at most a second after the file was replaced, everything
 * that needs the store is refused. A file that is put in its place is used as soon as two looks, a
 * second apart, find it unchanged, and a check finds it sound. A damaged file that stays in its
 * place is refused until a restart.
 */
export class StoreWatch {
  readonly #parts: StoreWatchParts
  #timer: NodeJS.Timeout | undefined
  /** The file that is not used any more; undefined while all is well. */
  #blocked: string | null | undefined
  #seen: string | null = null
  #refused: string | null = null

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

  /** Begins to look once a second, by a timer that keeps no process alive. */
  start(): void {
    this.#timer ??= setInterval(() => this.look(), lookEveryMs).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Looks which file lies in the store's place: one `stat` while nothing has changed. */
  look(): void {
    const { path, control } = this.#parts
    if (this.isSound && !control.isInPlace) this.#block({ kind: 'replaced' })
    if (this.isSound) return
    const identity = fileIdentity(path)
    if (identity !== null && identity !== this.#blocked) this.#consider()
  }

  /** A file that is still being written is left alone. */
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
