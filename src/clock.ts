import { setTimeout as sleep } from 'node:timers/promises'

/** The machine's time, read and waited for. A part given at the root, so that it can be moved. */
export interface Clock {
  /** Milliseconds since 1970 (UTC). Jumps when the machine's clock is set. */
  readonly now: () => number
  /** Milliseconds since an arbitrary moment. Never goes back. */
  readonly monotonicMs: () => number
  /** Calls back once, after this long. Does not keep the process alive. The result cancels it. */
  readonly after: (ms: number, callback: () => void) => () => void
  /** Calls back again and again. Does not keep the process alive. The result stops it. */
  readonly every: (ms: number, callback: () => void) => () => void
  /** Waits this long; keeps the process alive. @throws the signal's reason when it aborts */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** Milliseconds of a day without a change of the clocks. */
export const dayMs = 24 * 3_600_000

/** The clock and the timers of this machine. */
export const machineClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (ms: number, callback: () => void) => {
    const timer = setTimeout(callback, ms).unref()
    return () => {
      clearTimeout(timer)
    }
  },
  every: (ms: number, callback: () => void) => {
    const timer = setInterval(callback, ms).unref()
    return () => {
      clearInterval(timer)
    }
  },
  sleep: async (ms: number, signal?: AbortSignal) => {
    try {
      await sleep(ms, undefined, signal && { signal })
    } catch (cause) {
      signal?.throwIfAborted()
      throw cause
    }
  },
})

/** A signal that aborts after this long, with the error of `AbortSignal.timeout`. */
export function abortAfter(clock: Clock, ms: number): AbortSignal {
  const limit = new AbortController()
  clock.after(ms, () => {
    limit.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  })
  return limit.signal
}
