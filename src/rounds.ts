interface RoundsParts {
  /** Calls back again and again, after this long each time. The result stops it. */
  readonly every: (ms: number, callback: () => void) => () => void
  readonly everyMs: number
  readonly work: () => Promise<void>
  /** Takes the error of a round that failed; the next round tries again. */
  readonly report: (cause: unknown) => void
}

/** Does a piece of work at most once in so long, whatever the clock does meanwhile. */
export class Seldom {
  readonly #everyMs: number
  readonly #now: () => number
  /** Ms since the epoch. */
  #doneAt = -Infinity

  constructor(everyMs: number, now: () => number) {
    this.#everyMs = everyMs
    this.#now = now
  }

  /** Does it, or nothing; what fails is not done. */
  async run(work: (now: number) => Promise<unknown>): Promise<void> {
    const now = this.#now()
    // The clock may go back.
    if (Math.abs(now - this.#doneAt) < this.#everyMs) return
    await work(now)
    this.#doneAt = now
  }
}

/** Repeats a piece of work. Two rounds never run at the same time, and no call rejects. */
export class Rounds {
  readonly #parts: RoundsParts
  #stop: (() => void) | undefined
  #running: Promise<void> | null = null
  #next: Promise<void> | null = null
  #isClosed = false

  constructor(parts: RoundsParts) {
    this.#parts = parts
  }

  /** No further round begins. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Runs a round now, and further ones at intervals. */
  start(): Promise<void> {
    const { every, everyMs } = this.#parts
    if (!this.#isClosed) {
      this.#stop ??= every(everyMs, () => {
        void this.run()
      })
    }
    return this.run()
  }

  /** Runs a round, or waits for the running one. */
  run(): Promise<void> {
    if (!this.#isClosed) {
      this.#running ??= this.#round().finally(() => {
        this.#running = null
      })
    }
    return this.#running ?? Promise.resolve()
  }

  /** Runs a round that begins after this call: at once, or after the running one. */
  runAgain(): Promise<void> {
    if (this.#running === null) return this.run()
    this.#next ??= this.#running.then(() => {
      this.#next = null
      return this.run()
    })
    return this.#next
  }

  /** Ends the repetition, and waits for the running round. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stop?.()
    await this.#running
  }

  async #round(): Promise<void> {
    try {
      await this.#parts.work()
    } catch (cause) {
      this.#parts.report(cause)
    }
  }
}
