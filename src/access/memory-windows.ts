import { rateWindowMs } from '../control/rate-windows.js'
import type { RateWindow, RateWindows } from '../control/rate-windows.js'

interface Window {
  readonly endsMs: number
  requests: number
}

/** Counts the requests of one server, in memory. A restart clears the counts. */
export class MemoryWindows implements RateWindows {
  readonly #monotonicMs: () => number
  /** All windows have the same length, so they end in the order of insertion. */
  readonly #windows = new Map<string, Window>()

  /** `monotonicMs` never goes back, even if the machine's clock does. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  /** The number of windows: one or two for each client of the last minute. */
  get size(): number {
    return this.#windows.size
  }

  async add(client: string, requests: 0 | 1): Promise<RateWindow> {
    return this.addNow(client, requests)
  }

  /** Does what `add` does, at once. */
  addNow(client: string, requests: 0 | 1): RateWindow {
    // Whole milliseconds avoid rounding errors: a new window is never longer than 60,000 ms.
    const nowMs = Math.floor(this.#monotonicMs())
    this.#forgetEnded(nowMs)
    const window = this.#windows.get(client) ?? { endsMs: nowMs + rateWindowMs, requests: 0 }
    window.requests += requests
    if (requests > 0) this.#windows.set(client, window)
    return { requests: window.requests, endsInMs: window.endsMs - nowMs }
  }

  #forgetEnded(nowMs: number): void {
    for (const [key, { endsMs }] of this.#windows) {
      if (endsMs > nowMs) return
      this.#windows.delete(key)
    }
  }
}
