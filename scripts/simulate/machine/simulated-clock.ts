import type { Clock } from '../../../src/clock.js'

interface Timer {
  dueMs: number
  /** Null = once. */
  readonly everyMs: number | null
  readonly callback: () => void
}

/** A clock that stands still until the simulation moves it. */
export class SimulatedClock implements Clock {
  /** The wall clock: milliseconds since 1970. Setting it moves no timer. */
  ms: number
  #monotonicMs = 0
  #timers = new Set<Timer>()

  constructor(ms: number) {
    this.ms = ms
  }

  readonly now = (): number => this.ms

  readonly monotonicMs = (): number => this.#monotonicMs

  readonly after = (ms: number, callback: () => void): (() => void) => this.#add(ms, callback, null)

  // Like the machine's, not more often than every millisecond.
  readonly every = (ms: number, callback: () => void): (() => void) =>
    this.#add(ms, callback, Math.max(1, ms))

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const onAbort = () => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    })

  /** Lets time pass as while a machine sleeps: then each timer that is due runs once. */
  pass(ms: number): void {
    this.ms += ms
    this.#monotonicMs += ms
  }

  /** Moves to the timer that is due first within this time, and runs it; false = there is none. */
  runNext(withinMs: number): boolean {
    const endMs = this.#monotonicMs + withinMs
    let next: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.dueMs <= endMs && (!next || timer.dueMs < next.dueMs)) next = timer
    }
    if (!next) return false
    this.pass(Math.max(0, next.dueMs - this.#monotonicMs))
    this.#timers.delete(next)
    if (next.everyMs !== null) {
      next.dueMs = this.#monotonicMs + next.everyMs
      this.#timers.add(next)
    }
    next.callback()
    return true
  }

  /** Forgets all timers: their process has ended. */
  clear(): void {
    this.#timers.clear()
  }

  #add(ms: number, callback: () => void, everyMs: number | null): () => void {
    const timer: Timer = { dueMs: this.#monotonicMs + Math.max(0, ms), everyMs, callback }
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }
}
