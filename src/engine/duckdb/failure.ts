import { ServiceError } from '../../errors.js'

/** What a DuckDB error means for us. */
export interface Failure {
  /** DuckDB's own class of error: `IO`, `Out of Memory`, `INTERNAL`. */
  readonly type: string
  /** DuckDB's own words, paths and SQL included: for the log and the owner only. */
  readonly text: string
}

/** Reads an error of an instance with `errors_as_json`; some carry a prefix before the JSON. */
export function readFailure(cause: unknown): Failure {
  const message = cause instanceof Error ? cause.message : String(cause)
  const start = message.indexOf('{')
  try {
    const parsed: unknown = JSON.parse(message.slice(start))
    const fields = parsed as { exception_type?: unknown; exception_message?: unknown }
    return { type: String(fields.exception_type), text: String(fields.exception_message) }
  } catch {
    return { type: 'unknown', text: message }
  }
}

/** The instance that threw this serves nobody any more. */
export function isFatal(failure: Failure): boolean {
  return failure.type === 'INTERNAL' || failure.type === 'FATAL'
}

const fileFailures = ['IO', 'Permission', 'Invalid Input', 'Invalid', 'Serialization']

/** A DuckDB error as the caller sees it; a mistake of our own stays what it is, a 500. */
export function serviceErrorOf(cause: unknown): unknown {
  const failure = readFailure(cause)
  const unavailable = (detail: string) =>
    new ServiceError('service_unavailable', detail, { cause, retryAfterSeconds: 5 })
  if (failure.type === 'Out of Memory') {
    return unavailable(
      'The query needs more memory than is free now. Select fewer columns or add filters.',
    )
  }
  if (fileFailures.includes(failure.type)) {
    return unavailable("A part of this dataset can't be read at the moment.")
  }
  if (isFatal(failure) || failure.type === 'INTERRUPT') {
    return unavailable('The query was stopped by the service. Try again.')
  }
  return cause
}
