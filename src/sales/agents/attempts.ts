interface Window {
  readonly endsMs: number
  count: number
}

interface AttemptLimit {
  readonly max: number
  readonly windowMs: number
  readonly monotonicMs: () => number
}

/** Keys that are counted at a time; further ones replace the oldest. */
const keysMax = 65_536

/** Counts attempts by key, in memory, in windows that begin with a key's first attempt. */
export class Attempts {
  readonly #limit: AttemptLimit
  /** All windows have the same length, so they end in the order of insertion. */
  readonly #windows = new Map<string, Window>()

  constructor(limit: AttemptLimit) {
    this.#limit = limit
  }

  /** Seconds until this key may try again; 0 = now. */
  waitSeconds(key: string): number {
    const nowMs = this.#limit.monotonicMs()
    const window = this.#windows.get(key)
    if (!window || window.endsMs <= nowMs || window.count < this.#limit.max) return 0
    return Math.ceil((window.endsMs - nowMs) / 1000)
  }

  /** Counts an attempt. */
  note(key: string): void {
    const { windowMs, monotonicMs } = this.#limit
    const nowMs = monotonicMs()
    for (const [oldest, { endsMs }] of this.#windows) {
      if (endsMs > nowMs && this.#windows.size < keysMax) break
      this.#windows.delete(oldest)
    }
    const window = this.#windows.get(key) ?? { endsMs: nowMs + windowMs, count: 0 }
    window.count += 1
    this.#windows.set(key, window)
  }

  /** Takes back an attempt that was counted before its end was known. */
  takeBack(key: string): void {
    const window = this.#windows.get(key)
    if (window && window.count > 0) window.count -= 1
  }
}
