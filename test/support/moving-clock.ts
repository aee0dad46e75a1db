import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../src/clock.js'

interface Timer {
  dueMs: number
  /** Null = once. */
  readonly everyMs: number | null
  readonly callback: () => void
  readonly keepsAlive: boolean
  /** Stops the timer of the machine that runs beside it. */
  stop: () => void
}

interface NewTimer extends Partial<Pick<Timer, 'everyMs' | 'keepsAlive'>> {
  readonly ms: number
  readonly callback: () => void
}

interface MovingOptions {
  /**
   * The machine's time also passes for timers and `monotonicMs`, as in a world whose engine and
   * files take real time. Without it, only `advance` moves them.
   */
  readonly flows?: boolean
}

/** How many turns of the event loop the work that a timer starts gets before the next timer. */
const turnsToSettle = 20

/**
 * A clock that tests and the simulation move. The wall clock stands until it is set or time is
 * advanced.
 */
export class MovingClock implements Clock {
  readonly #flows: boolean
  #wallMs: number
  #movedMs = 0
  readonly #timers = new Set<Timer>()

  constructor(ms: number, { flows = false }: MovingOptions = {}) {
    this.#wallMs = ms
    this.#flows = flows
  }

  /** The wall clock: whole milliseconds since 1970. Setting it moves no timer. */
  get ms(): number {
    return Math.floor(this.#wallMs)
  }

  set ms(ms: number) {
    this.#wallMs = ms
  }

  /** The number of timers and sleeps that wait. */
  get waiting(): number {
    return this.#timers.size
  }

  readonly now = (): number => this.ms

  readonly monotonicMs = (): number => this.#movedMs + (this.#flows ? performance.now() : 0)

  readonly after = (ms: number, callback: () => void): (() => void) => this.#add({ ms, callback })

  // Like the machine's, not more often than every millisecond.
  readonly every = (ms: number, callback: () => void): (() => void) =>
    this.#add({ ms, callback, everyMs: Math.max(1, ms) })

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const onAbort = () => {
        cancel()
        reject(signal?.reason)
      }
      const callback = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const cancel = this.#add({ ms, callback, keepsAlive: true })
      signal?.addEventListener('abort', onAbort, { once: true })
    })

  /**
   * Lets this much time pass, for both clocks: runs the timers that become due, in order, each at
   * its own time, and gives what they start some turns of the event loop.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.#movedMs + ms
    await settle()
    while (this.runNext(endMs - this.#movedMs)) await settle()
    this.pass(Math.max(0, endMs - this.#movedMs))
  }

  /** Moves to the timer that is due first within this time, and runs it; false = there is none. */
  runNext(withinMs: number): boolean {
    const next = this.#next(this.#movedMs + withinMs)
    if (!next) return false
    this.pass(Math.max(0, this.#movedAt(next) - this.#movedMs))
    this.#run(next)
    return true
  }

  /** Lets time pass without a timer, as while a machine sleeps: those that are due are late. */
  pass(ms: number): void {
    this.#wallMs += ms
    this.#movedMs += ms
  }

  /** Forgets all timers: their process has ended. */
  clear(): void {
    for (const timer of this.#timers) this.#remove(timer)
  }

  /** Lets time pass in steps until this work has ended, which may also wait for something real. */
  async advanceUntil<T>(work: Promise<T>, stepMs = 100): Promise<T> {
    const ended = work.then(
      () => true,
      () => true,
    )
    for (let hasEnded = false; !hasEnded;) {
      await this.advance(stepMs)
      hasEnded = await Promise.race([ended, Promise.resolve(false)])
    }
    return await work
  }

  #add({ ms, everyMs = null, keepsAlive = false, callback }: NewTimer): () => void {
    const dueMs = this.monotonicMs() + Math.max(0, ms)
    const timer: Timer = { dueMs, everyMs, keepsAlive, callback, stop: () => undefined }
    this.#timers.add(timer)
    this.#start(timer)
    return () => {
      this.#remove(timer)
    }
  }

  /** Where time flows, the machine also runs the timer. */
  #start(timer: Timer): void {
    if (!this.#flows) return
    const running = setTimeout(() => {
      this.#run(timer)
    }, timer.dueMs - this.monotonicMs())
    if (!timer.keepsAlive) running.unref()
    timer.stop = () => {
      clearTimeout(running)
    }
  }

  #remove(timer: Timer): void {
    timer.stop()
    this.#timers.delete(timer)
  }

  #run(timer: Timer): void {
    this.#remove(timer)
    if (timer.everyMs !== null) {
      // Late ones run once, as on a machine that slept.
      timer.dueMs = Math.max(timer.dueMs, this.monotonicMs()) + timer.everyMs
      this.#timers.add(timer)
      this.#start(timer)
    }
    timer.callback()
  }

  /** The timer that is due first until then; of those due at once, the one set first. */
  #next(endMs: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) {
      if (this.#movedAt(timer) <= endMs && (!next || timer.dueMs < next.dueMs)) next = timer
    }
    return next
  }

  /** How far time must have been moved for the timer to be due. */
  #movedAt({ dueMs }: Timer): number {
    return this.#movedMs + dueMs - this.monotonicMs()
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < turnsToSettle; turn++) await setImmediate()
}
