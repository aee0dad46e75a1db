import type { Clock } from '../../clock.js'
import { storeUnavailable } from '../store/failures.js'

/** Lets one piece of work run at a time, in the order in which they came. */
export class WriteTurns {
  readonly #waitMaxMs: number
  readonly #clock: Clock
  #last: Promise<void> = Promise.resolve()

  constructor(waitMaxMs: number, clock: Clock) {
    this.#waitMaxMs = waitMaxMs
    this.#clock = clock
  }

  /** @throws service_unavailable when its turn does not come in time; then `work` never runs */
  take<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last
    const result = this.#inTime(before).then(work)
    // Without their results, which would hold those of all work before.
    this.#last = Promise.allSettled([before, result]).then(() => undefined)
    return result
  }

  /** Resolves when all work that was begun has ended. */
  async ended(): Promise<void> {
    await this.#last
  }

  #inTime(before: Promise<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(this.#waitMaxMs, () => {
        reject(storeUnavailable(new Error(`no turn to write came in ${this.#waitMaxMs} ms`)))
      })
      void before.then(() => {
        cancel()
        resolve()
      })
    })
  }
}
