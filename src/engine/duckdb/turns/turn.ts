import type { Clock } from '../../../clock.js'
import { timedOut } from '../../deadline.js'
import type { TimeLimit } from '../../deadline.js'
import type { ReadOptions } from '../../engine.js'

/**
 * The expected size of a query. `lookUp`: selects by values of the key, in files with few rows;
 * `byKey`: the same in files with many rows; `small`: few rows and comparisons, by the file
 * metadata; `large`: any other query.
 */
export type QuerySize = 'lookUp' | 'byKey' | 'small' | 'large'

/** Queries that compete for the same slots. */
export type Lane = 'keyed' | 'small' | 'large'

const lanes = { lookUp: 'keyed', byKey: 'keyed', small: 'small', large: 'large' } as const

/** Stops work by key, which then restarts as large. */
export class Overrun extends Error {}

/** A query's turn: before, while and after it holds a slot. */
export class Turn {
  readonly client: string
  readonly timeLimit: TimeLimit | undefined
  readonly #onTurn: ReadOptions['onTurn']
  readonly #controller: AbortController
  readonly #clock: Clock
  size: QuerySize
  /** Time in the queue so far. */
  waitedMs = 0
  #startedMs = 0
  #heldMs = 0
  #cancel: (() => void) | undefined

  constructor({ client, timeLimit, onTurn }: ReadOptions, size: QuerySize, control: Control) {
    this.client = client
    this.timeLimit = timeLimit
    this.size = size
    this.#onTurn = onTurn
    this.#controller = control.controller
    this.#clock = control.clock
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get lane(): Lane {
    return lanes[this.size]
  }

  get ranMs(): number {
    return this.#clock.monotonicMs() - this.#startedMs
  }

  /** Time until it must end. */
  get leftMs(): number {
    return this.timeLimit ? Math.max(this.timeLimit.leftMs - this.ranMs, 0) : Infinity
  }

  start(): void {
    this.#startedMs = this.#clock.monotonicMs()
    const { timeLimit } = this
    if (!timeLimit) return
    this.#cancel = this.#clock.after(timeLimit.leftMs, () => {
      this.#controller.abort(timedOut(timeLimit.totalMs))
    })
  }

  /** Frees the slot; returns how long it was held, in ms. */
  stop(): number {
    this.#cancel?.()
    const { ranMs, timeLimit } = this
    this.#heldMs += ranMs
    if (timeLimit) timeLimit.leftMs = Math.max(timeLimit.leftMs - ranMs, 0)
    return ranMs
  }

  /** Reports where its time went. */
  end(): void {
    this.#onTurn?.({ waitedMs: this.waitedMs, ranMs: this.#heldMs })
  }

  cut(): void {
    this.#controller.abort(new Overrun())
  }
}

interface Control {
  /** Stops the work. */
  readonly controller: AbortController
  readonly clock: Clock
}
