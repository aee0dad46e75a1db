import Database from 'better-sqlite3'
import { ServiceError } from '../../errors.js'

const retryAfterSeconds = 5

/** Primary result codes after which nothing durable can be promised; extended codes begin alike. */
const undurableCode =
  /^SQLITE_(FULL|IOERR|BUSY|READONLY|CORRUPT|NOTADB|CANTOPEN|PROTOCOL)(_[A-Z_]+)?$/

/**
 * Fails closed: runs `work` and returns its result, or turns SQLite's "can't read or write durably"
 * (disk full or broken, locked beyond the busy timeout, read-only, corrupt) into an error that the
 * caller may see. Every other error passes unchanged: it is a bug or already outward.
 *
 * @throws service_unavailable with `retryAfterSeconds`; SQLite's own error is the `cause`.
 */
export function failClosed<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw isUndurable(error) ? unavailable(error) : error
  }
}

/** What a caller may see of records that can't be kept; what stood in the way is for the log. */
export function unavailable(cause: unknown): ServiceError {
  return new ServiceError(
    'service_unavailable',
    "The service can't keep its records right now. Try again shortly.",
    { cause, retryAfterSeconds },
  )
}

/** A lock of another process outlasted the busy timeout: trying again later may help. */
export function isLocked(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : undefined
  return cause instanceof Database.SqliteError && cause.code.startsWith('SQLITE_BUSY')
}

/** SQLite found that the file is not the database that it wrote. */
export function isDamage(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error
  return (
    cause instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)(_[A-Z_]+)?$/.test(cause.code)
  )
}

/** What a check of the file found, as SQLite's own error for it. */
export function damage(found: string): Error {
  return new Database.SqliteError(`database disk image is malformed: ${found}`, 'SQLITE_CORRUPT')
}

function isUndurable(error: unknown): boolean {
  return error instanceof Database.SqliteError && undurableCode.test(error.code)
}
