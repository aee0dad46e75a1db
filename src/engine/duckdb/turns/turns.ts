import type { Clock } from '../../../clock.js'
import { unavailable } from '../../../errors.js'
import type { ServiceError } from '../../../errors.js'
import { withController } from '../../deadline.js'
import type { ReadOptions } from '../../engine.js'
import { DecayingScores } from './decaying.js'
import { TurnQueue } from './turn-queue.js'
import type { Waiter } from './turn-queue.js'
import { Overrun, Turn } from './turn.js'
import type { Lane, QuerySize } from './turn.js'
import { untilFree } from './until-free.js'

export interface TurnsOptions {
  readonly clock: Clock
  /**
   * How many queries by key may run at once, and beside them so many others. Large queries leave
   * one slot free; with a single slot, one small query may run beside a large one.
   */
  readonly slots: number
  /** How many requests may wait, over all clients. */
  readonly queueMax: number
  /** How long a request may wait, unless the longest running query ends later. */
  readonly waitMaxMs: number
  /** Every slot is for large queries, and a client holds one at a time. */
  readonly isForLarge?: boolean
}

/** What a turn offers to its work. */
export interface Held {
  /** Aborts with the caller's signal, at the time limit, and when work by key takes too long. */
  readonly signal: AbortSignal
  readonly isLarge: () => boolean
  /** True if this work is not large but large work runs at the same time. */
  readonly isBesideLarge: () => boolean
  /** Call it before large work: waits for a slot for large work, unless this turn has one. */
  readonly grow: () => Promise<void>
}

/** Work by key may exceed this time only while no work by key of another client waits. */
const sliceMs = 250
const watchEveryMs = 25
/** A client with more recent overruns has its work by key treated as large. */
const overrunsMax = 2
/** A client goes last if its large queries recently ran longer than this without a result. */
const wastedMaxMs = 15_000
const forgottenByHalfMs = 60_000
/** The shortest wait before a request is refused. */
const patienceMinMs = 5000
/** The time in which a query stops after its time limit. */
const stopMs = 1000
/** The weight of the newest query in the usual time. */
const newestShare = 0.2
const retryMaxSeconds = 60

/**
 * Schedules queries so that one client can't block the others: a fixed number of slots and a fair,
 * bounded queue (`TurnQueue`). Work by key has slots of its own, so it never waits for work that
 * scans. Of the other slots, one is always free for work that is not large. With two or more
 * slots for large work, one client never holds all of them. A client whose large queries keep
 * ending without a result goes last. When the queue is full, the last request of the client with
 * the most waiting requests is refused.
 */
export class Turns {
  readonly #options: TurnsOptions
  readonly #largeMax: number
  readonly #largeOwnMax: number
  readonly #running = new Set<Turn>()
  readonly #queue: TurnQueue
  /** Milliseconds that large queries ran before they were aborted. */
  readonly #wasted: DecayingScores
  readonly #overruns: DecayingScores
  #usualMs: Record<Lane, number> = { keyed: 10, small: 10, large: 1000 }
  #isWatching = false

  constructor(options: TurnsOptions) {
    this.#options = options
    const { clock, slots, isForLarge = false } = options
    this.#largeMax = isForLarge ? slots : Math.max(slots - 1, 1)
    this.#largeOwnMax = isForLarge ? 1 : Math.max(this.#largeMax - 1, 1)
    this.#wasted = new DecayingScores(forgottenByHalfMs, clock.monotonicMs)
    this.#overruns = new DecayingScores(forgottenByHalfMs, clock.monotonicMs)
    this.#queue = new TurnQueue((turn) => isLarge(turn) && this.#isLate(turn.client))
  }

  /**
   * Runs `work` when a slot is free; work by key that is stopped early restarts as large.
   * @throws service_unavailable when the queue is full or the wait too long; timeout; the signal's
   *   reason when it aborts
   */
  async run<T>(
    options: ReadOptions,
    size: QuerySize,
    work: (held: Held) => Promise<T>,
  ): Promise<T> {
    options.signal.throwIfAborted()
    const isBelieved = size !== 'byKey' || this.#overruns.of(options.client) <= overrunsMax
    try {
      return await withController(options.signal, (controller) => {
        const control = { controller, clock: this.#options.clock }
        return this.#take(new Turn(options, isBelieved ? size : 'large', control), work)
      })
    } catch (cause) {
      if (!(cause instanceof Overrun)) throw cause
      this.#overruns.add(options.client, 1)
      return this.run(options, 'large', work)
    }
  }

  get runningCount(): number {
    return this.#running.size
  }

  get waitingCount(): number {
    return this.#queue.length
  }

  async #take<T>(turn: Turn, work: (held: Held) => Promise<T>): Promise<T> {
    const grow = async () => {
      if (isLarge(turn)) return
      // An abort before the wait would not end it.
      turn.signal.throwIfAborted()
      this.#leave(turn)
      turn.size = 'large'
      await this.#enter(turn)
    }
    try {
      const wait = this.#enter(turn)
      if (wait) await wait
      const isBesideLarge = () => !isLarge(turn) && this.#count(isLarge) > 0
      const { signal } = turn
      return await work({ signal, isLarge: () => isLarge(turn), isBesideLarge, grow })
    } finally {
      this.#leave(turn)
      turn.end()
    }
  }

  #enter(turn: Turn): Promise<void> | undefined {
    if (!this.#mayStart(turn)) return this.#wait(turn)
    this.#start(turn)
    return undefined
  }

  #start(turn: Turn): void {
    this.#running.add(turn)
    turn.start()
  }

  /** Does nothing if the turn holds no slot. */
  #leave(turn: Turn): void {
    if (!this.#running.delete(turn)) return
    const ranMs = turn.stop()
    if (isLarge(turn) && turn.signal.aborted) this.#wasted.add(turn.client, ranMs)
    this.#usualMs[turn.lane] += newestShare * (ranMs - this.#usualMs[turn.lane])
    this.#startNext()
  }

  #startNext(): void {
    for (;;) {
      const waiter = this.#queue.take((turn) => this.#mayStart(turn))
      if (!waiter) return
      this.#start(waiter.turn)
      waiter.start()
    }
  }

  #mayStart(turn: Turn): boolean {
    const { slots } = this.#options
    const isFree = this.#count(isRivalOf(turn)) < slots
    if (turn.lane === 'keyed') return isFree
    return isLarge(turn) ? this.#mayBeLarge(turn) : isFree && !this.#isFull
  }

  /** Every slot is taken that is not for work by key alone. */
  get #isFull(): boolean {
    const { slots } = this.#options
    return this.#count(({ lane }) => lane !== 'keyed') >= Math.max(slots, 2)
  }

  #mayBeLarge({ client }: Turn): boolean {
    if (this.#isFull) return false
    const own = this.#count((each) => isLarge(each) && each.client === client)
    return this.#count(isLarge) < this.#largeMax && own < this.#largeOwnMax
  }

  #count(test: (turn: Turn) => boolean): number {
    let count = 0
    for (const turn of this.#running) if (test(turn)) count += 1
    return count
  }

  #isLate(client: string): boolean {
    return this.#wasted.of(client) > wastedMaxMs
  }

  #wait(turn: Turn): Promise<void> {
    if (this.#queue.length >= this.#options.queueMax) this.#makeRoom(turn)
    return new Promise((resolve, reject) => {
      const { clock } = this.#options
      const sinceMs = clock.monotonicMs()
      const forget = () => {
        turn.signal.removeEventListener('abort', leave)
        cancel()
        const waitedMs = clock.monotonicMs() - sinceMs
        turn.waitedMs += waitedMs
        if (turn.timeLimit) turn.timeLimit.waitedMs += waitedMs
      }
      const waiter: Waiter = {
        turn,
        start: () => {
          forget()
          resolve()
        },
        refuse: (reason) => {
          forget()
          this.#queue.remove(waiter)
          reject(reason)
        },
      }
      const leave = () => waiter.refuse(turn.signal.reason)
      const cancel = clock.after(this.#patienceMs(turn), () => waiter.refuse(this.#busy(turn)))
      turn.signal.addEventListener('abort', leave, { once: true })
      this.#queue.add(waiter)
      if (turn.lane === 'keyed') this.#watchSlices()
    })
  }

  #makeRoom(turn: Turn): void {
    const last = this.#queue.lastOfLongest(turn.client)
    if (!last) throw this.#busy(turn)
    last.refuse(this.#busy(last.turn))
  }

  /** Stops work by key at the end of its slice while work by key of other clients waits. */
  #watchSlices(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#options.clock.after(watchEveryMs, () => {
      this.#isWatching = false
      if (!this.#queue.some(({ lane }) => lane === 'keyed')) return
      const isWanted = ({ client }: Turn) =>
        this.#queue.some((turn) => turn.lane === 'keyed' && turn.client !== client)
      const isOver = (turn: Turn) => turn.size === 'byKey' && turn.ranMs >= sliceMs
      const oldest = [...this.#running].find((turn) => isOver(turn) && isWanted(turn))
      if (oldest) this.#endSlice(oldest)
      this.#watchSlices()
    })
  }

  /** The work continues if a slot for large work is free. */
  #endSlice(turn: Turn): void {
    if (!this.#mayBeLarge(turn)) return turn.cut()
    turn.size = 'large'
    this.#startNext()
  }

  /** The time by which the turn must come; at least until the longest running query must end. */
  #patienceMs(turn: Turn): number {
    let longestMs = stopMs
    const ends: number[] = []
    for (const other of this.#running) {
      const endMs = other.leftMs + stopMs
      if (other.lane === turn.lane) ends.push(endMs)
      if (Number.isFinite(endMs)) longestMs = Math.max(longestMs, endMs)
    }
    const turnMs = this.#untilFree(turn, ends, Math.max(longestMs, turn.timeLimit?.leftMs ?? 0))
    const wantedMs = this.#isLate(turn.client) ? Infinity : Math.max(turnMs, patienceMinMs)
    const allowedMs = this.#options.waitMaxMs - (turn.timeLimit?.waitedMs ?? 0)
    return Math.max(Math.min(wantedMs, allowedMs), Math.min(wantedMs, longestMs))
  }

  #untilFree(turn: Turn, endsMs: readonly number[], eachMs: number): number {
    const slots = isLarge(turn) ? this.#largeMax : this.#options.slots
    const isRival = isRivalOf(turn)
    const ahead = this.#queue.ahead(turn, (other) => other !== turn && isRival(other))
    return untilFree(endsMs, slots, ahead, eachMs)
  }

  /**
   * The error with the time until a slot is likely to be free, if queries take their usual time.
   */
  #busy(turn: Turn): ServiceError {
    const usualMs = this.#usualMs[turn.lane]
    const rivals = [...this.#running].filter(isRivalOf(turn))
    const ends = rivals.map((each) => (each.ranMs < usualMs ? usualMs - each.ranMs : each.leftMs))
    const seconds = Math.ceil(this.#untilFree(turn, ends, usualMs) / 1000)
    const retryAfterSeconds = Math.min(Math.max(seconds, 1), retryMaxSeconds)
    return unavailable('Too many queries are waiting. Try again later.', retryAfterSeconds)
  }
}

/** Tells the turns that take the same slots. */
function isRivalOf({ lane }: Turn): (other: Turn) => boolean {
  return (other) => other.lane === lane
}

function isLarge({ size }: Turn): boolean {
  return size === 'large'
}
