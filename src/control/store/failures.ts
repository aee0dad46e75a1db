import Database from 'better-sqlite3'
import { ServiceError, unavailable } from '../../errors.js'

/** Result codes after which a write may not be durable; extended codes begin with these. */
const undurableCode =
  /^SQLITE_(FULL|IOERR|BUSY|READONLY|CORRUPT|NOTADB|CANTOPEN|PROTOCOL)(_[A-Z_]+)?$/

/**
 * Returns the result of `work`. Turns SQLite's failures to read or write durably (disk full or
 * broken, locked beyond the busy timeout, read-only, corrupt) into an error for callers.
 * Other errors pass unchanged.
 *
 * @throws service_unavailable with `retryAfterSeconds`; SQLite's own error is the `cause`.
 */
export function failClosed<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw isUndurable(error) ? storeUnavailable(error) : error
  }
}

/** The error for callers when the store can't be used; the cause is for the log. */
export function storeUnavailable(cause: unknown): ServiceError {
  return unavailable("The service can't keep its records right now. Try again shortly.", 5, cause)
}

/** Whether another process's lock outlasted the busy timeout: a later attempt may succeed. */
export function isLocked(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : undefined
  return cause instanceof Database.SqliteError && cause.code.startsWith('SQLITE_BUSY')
}

/** Whether SQLite found the file damaged. */
export function isDamage(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error
  return (
    cause instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)(_[A-Z_]+)?$/.test(cause.code)
  )
}

/** SQLite's own error for a damaged file, with the result of a check. */
export function damage(found: string): Error {
  return new Database.SqliteError(`database disk image is malformed: ${found}`, 'SQLITE_CORRUPT')
}

function isUndurable(error: unknown): boolean {
  return error instanceof Database.SqliteError && undurableCode.test(error.code)
}
