import pg from 'pg'
import { ServiceError } from '../../errors.js'
import { storeUnavailable } from '../store/failures.js'

/**
 * SQLSTATEs after which a later attempt may succeed: the connection, transaction rollback (a
 * deadlock), resources, locks and limits of time, operator intervention, system and internal
 * errors, a role or database that is not there now, read-only.
 */
const passing = /^(08|40|53|55P03|57|58|XX|28|3D|25006|25P0[23])/

/** SQLSTATEs with which the server ends a connection. */
const ending = /^(08|57P|25P03|XX)/

/** PostgreSQL undid the whole statement because of what others did: it may be repeated at once. */
const repeatable = /^40(001|P01)/

/**
 * The error for callers of what `pg` threw: service_unavailable for everything that may be over
 * later, with the error as the `cause`; mistakes of a statement are returned unchanged.
 */
export function postgresFailure(error: unknown): unknown {
  if (error instanceof ServiceError) return error
  if (error instanceof pg.DatabaseError) {
    return passing.test(error.code ?? '') ? storeUnavailable(error) : error
  }
  // A value that this release can't read, or was not given.
  if (error instanceof RangeError || error instanceof TypeError) return error
  return storeUnavailable(error)
}

/** Whether the connection can't be used after this error, or its state is unknown. */
export function endsConnection(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return true
  return error.severity === 'FATAL' || ending.test(error.code ?? '')
}

/** Whether PostgreSQL undid the statement only because of others at the same time. */
export function isRepeatable(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error
  return cause instanceof pg.DatabaseError && repeatable.test(cause.code ?? '')
}
