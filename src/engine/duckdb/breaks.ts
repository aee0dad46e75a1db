import { unavailable } from '../../errors.js'
import type { Version } from '../../versions/version.js'
import { readFailure } from './duckdb-failure.js'

/** The number of times a query runs if a fatal error of another query breaks its instance. */
const runsMax = 2
/** After so many, a version is not read any more: a damaged file harms other queries. */
const breaksMax = 3

/** Counts how many times reading each version has broken an instance of DuckDB. */
export class Breaks {
  readonly #counts = new WeakMap<Version, number>()
  readonly #withdraw: ((version: Version, reason: string) => void) | undefined

  /** `withdraw` is called with a version that must not be read any more. */
  constructor(withdraw: ((version: Version, reason: string) => void) | undefined) {
    this.#withdraw = withdraw
  }

  /**
   * Runs work on an instance; once more on a new one after a fatal error of another query.
   * @throws service_unavailable for a version that has broken too many
   */
  async run<T>(version: Version, work: () => Promise<T>): Promise<T> {
    for (let runs = 1; ; runs++) {
      const count = this.#counts.get(version) ?? 0
      if (count >= breaksMax) {
        throw unavailable('This dataset is withdrawn for now: a part of it is damaged.', 60)
      }
      try {
        return await work()
      } catch (cause) {
        const { type } = readFailure(cause)
        if (type === 'INTERNAL') this.#note(version, count + 1)
        if (type !== 'FATAL' || runs === runsMax) throw cause
      }
    }
  }

  #note(version: Version, count: number): void {
    this.#counts.set(version, count)
    const reason = `reading it broke the query engine ${count} times`
    if (count === breaksMax) this.#withdraw?.(version, reason)
  }
}
