import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../clock.js'
import type { TimeLimit } from '../deadline.js'
import { timedOut } from '../deadline.js'

/** A read that takes longer came from the disk, not from the system's cache. */
const slowMs = 1
/** So many reads leave the event loop after a slow one; then the disk has another chance. */
const readsAfterSlow = 16
/** Other requests wait this long at most while one is answered. */
const turnMs = 4
/** A question that looks at more rows than this, and leaves most of them out, is the engine's. */
const leftOutMax = 65_536

/** Conditions of frequent values have few rows in common: the engine's threads read them faster. */
export class TooManyRowsError extends Error {
  override readonly name = 'TooManyRowsError'
}

interface PaceOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly signal: AbortSignal
  readonly timeLimit?: TimeLimit
}

/** A row copy as those see it that read its parts. */
export interface SummedParts {
  readonly rows: number
  /** Pages that lie side by side, each of which begins with the CRC of the rest of it. */
  readonly readPages: (offset: number, pages: number, pace: Pace) => Promise<Buffer>
}

/**
 * How one question uses the event loop: in short turns, and without waiting there for a disk that
 * was slow just now.
 */
export class Pace {
  readonly #options: PaceOptions
  #turnStart: number
  #readsAfterSlow = 0
  #leftOut = 0

  constructor(options: PaceOptions) {
    this.#options = options
    this.#turnStart = options.clock.monotonicMs()
  }

  /** Whether the next read leaves the event loop. */
  leavesLoop(): boolean {
    if (this.#readsAfterSlow === 0) return false
    this.#readsAfterSlow -= 1
    return true
  }

  /** Does a read on the event loop, and notes how long it took. */
  timed<T>(read: () => T): T {
    const { monotonicMs } = this.#options.clock
    const start = monotonicMs()
    const found = read()
    if (monotonicMs() - start > slowMs) this.#readsAfterSlow = readsAfterSlow
    return found
  }

  /**
   * Counts rows that were looked at and left out.
   * @throws TooManyRowsError where there are too many of them
   */
  leaveOut(rows: number): void {
    this.#leftOut += rows
    if (this.#leftOut > leftOutMax) throw new TooManyRowsError('most rows are left out again')
  }

  /** Whether `turn` would give other work its turn now. */
  get isLong(): boolean {
    return this.#options.clock.monotonicMs() - this.#turnStart >= turnMs
  }

  /**
   * Gives other work its turn if this one was long.
   * @throws the signal's reason; timeout at the end of the time limit
   */
  async turn(): Promise<void> {
    const { clock, signal, timeLimit } = this.#options
    const tookMs = clock.monotonicMs() - this.#turnStart
    if (tookMs < turnMs) return
    await setImmediate()
    this.#turnStart = clock.monotonicMs()
    signal.throwIfAborted()
    if (!timeLimit) return
    timeLimit.leftMs -= tookMs
    if (timeLimit.leftMs <= 0) throw timedOut(timeLimit.totalMs)
  }
}
