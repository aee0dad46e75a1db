import { ServiceError } from '../../errors.js'
import { sql } from '../store/sql.js'
import type { PostgresStore } from './postgres-store.js'

const probeIntervalMs = 2000

interface DatabaseHealthOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Called once when the database can't be used, and once, without a failure, when it can. */
  readonly report: (failure: ServiceError | undefined) => void
}

/** Whether the PostgreSQL of a server can be used, asked at most every two seconds. */
export class DatabaseHealth {
  readonly #store: Pick<PostgresStore, 'all'>
  readonly #options: DatabaseHealthOptions
  #askedAt = -Infinity
  #answer: Promise<boolean> = Promise.resolve(true)
  #isFailing = false

  constructor(store: Pick<PostgresStore, 'all'>, options: DatabaseHealthOptions) {
    this.#store = store
    this.#options = options
  }

  isUsable(): Promise<boolean> {
    const now = this.#options.now()
    if (now - this.#askedAt >= probeIntervalMs) {
      this.#askedAt = now
      this.#answer = this.#ask()
    }
    return this.#answer
  }

  async #ask(): Promise<boolean> {
    const failure = await this.#failure()
    const isFailing = failure !== undefined
    if (isFailing !== this.#isFailing) this.#options.report(failure)
    this.#isFailing = isFailing
    return !isFailing
  }

  async #failure(): Promise<ServiceError | undefined> {
    try {
      // A standby, or a database that became read-only, can charge nothing.
      const [found] = await this.#store.all<{ standby: boolean; setting: string }>(
        sql`SELECT pg_is_in_recovery() AS standby,
           current_setting('transaction_read_only') AS setting`,
      )
      if (found?.standby === false && found.setting === 'off') return undefined
      return new ServiceError('service_unavailable', 'The database is read-only.')
    } catch (cause) {
      if (cause instanceof ServiceError) return cause
      throw cause
    }
  }
}
