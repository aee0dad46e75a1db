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

/** Tells whether the PostgreSQL of a server can be used; asks it at most every two seconds. */
export function databaseHealth(
  store: Pick<PostgresStore, 'all'>,
  { now, report }: DatabaseHealthOptions,
): () => Promise<boolean> {
  let askedAt = -Infinity
  let answer = Promise.resolve(true)
  let wasFailing = false
  const ask = async () => {
    const failure = await failureOf(store)
    const isFailing = failure !== undefined
    if (isFailing !== wasFailing) report(failure)
    wasFailing = isFailing
    return !isFailing
  }
  return () => {
    const at = now()
    if (at - askedAt >= probeIntervalMs) {
      askedAt = at
      answer = ask()
    }
    return answer
  }
}

async function failureOf(store: Pick<PostgresStore, 'all'>): Promise<ServiceError | undefined> {
  try {
    // A standby, or a database that became read-only, can charge nothing.
    const [found] = await store.all<{ standby: boolean; setting: string }>(
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
