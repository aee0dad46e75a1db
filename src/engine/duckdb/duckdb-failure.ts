import { dirname } from 'node:path'
import { unavailable } from '../../errors.js'

/** The parts of a DuckDB error. */
export interface DuckDbFailure {
  /** DuckDB's own class of error (`IO`, `Out of Memory`, `INTERNAL`); null for any other error. */
  readonly type: string | null
  /** DuckDB's own text with paths: for the log and the owner only. */
  readonly text: string
}

/** Parses an error of an instance with `errors_as_json`; some have a prefix before the JSON. */
export function readFailure(cause: unknown): DuckDbFailure {
  const message = cause instanceof Error ? cause.message : String(cause)
  const start = message.indexOf('{"exception_type"')
  if (start === -1) return { type: null, text: message }
  const parsed = JSON.parse(message.slice(start)) as Readonly<Record<string, unknown>>
  return { type: String(parsed['exception_type']), text: String(parsed['exception_message']) }
}

/** True for an error after which the instance refuses every query. */
export function isFatal({ type }: DuckDbFailure): boolean {
  return type === 'INTERNAL' || type === 'FATAL'
}

const fileFailures: readonly (string | null)[] = [
  'IO',
  'Permission',
  'Invalid Input',
  'Invalid',
  'Serialization',
]

/** True for an error whose cause may be a file that is missing or damaged. */
export function isFileFailure({ type }: DuckDbFailure): boolean {
  return type !== null && fileFailures.includes(type)
}

/**
 * A DuckDB error as the caller sees it. Its cause, for the log, is DuckDB's text without the paths
 * of the folders. A bug of ours does not become a ServiceError: it is a 500.
 */
export function serviceErrorOf(cause: unknown, folders: readonly string[]): unknown {
  const failure = readFailure(cause)
  const { type } = failure
  if (type === null) return cause
  const known = knownCause(failure, folders)
  if (type === 'Out of Memory') {
    const detail =
      'The query needs more memory than is free now. Select fewer columns or add filters.'
    return unavailable(detail, 5, known)
  }
  if (isFileFailure(failure)) {
    return unavailable("A part of this dataset can't be read at the moment.", 5, known)
  }
  if (isFatal(failure) || type === 'INTERRUPT') {
    return unavailable('The query was stopped by the service. Try again.', 5, known)
  }
  return known
}

/**
 * Why a file could not be written below `folder`, as the caller sees it: the disk is full or not
 * writable. Any other error is returned unchanged.
 */
export function unwritable(cause: unknown, folder: string): unknown {
  const failure = readFailure(cause)
  const isSystemError = cause instanceof Error && 'syscall' in cause
  if (failure.type !== 'IO' && !isSystemError) return cause
  const detail =
    "A Parquet page can't be written now. Try again shortly, or ask for another format."
  const known = knownCause(failure, [dirname(folder)])
  return unavailable(detail, 5, known)
}

/** The error for the log, without the paths of the folders. */
function knownCause({ type, text }: DuckDbFailure, folders: readonly string[]): Error {
  const message = folders.reduce((rest, folder) => rest.replaceAll(`${folder}/`, ''), text)
  return new Error(type === null ? message : `DuckDB ${type}: ${message}`)
}
