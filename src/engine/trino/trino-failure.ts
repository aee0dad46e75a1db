import { ServiceError, unavailable } from '../../errors.js'
import { KeyError, TrinoError, UnreachableError } from './trino-client.js'

/** The table or its columns changed since the version was made. */
const changed: readonly string[] = [
  'TABLE_NOT_FOUND',
  'SCHEMA_NOT_FOUND',
  'CATALOG_NOT_FOUND',
  'COLUMN_NOT_FOUND',
  'TYPE_MISMATCH',
]
/** The statement is too long, or too deep, to be planned. */
const tooLong: readonly string[] = [
  'QUERY_TEXT_TOO_LARGE',
  'STACK_OVERFLOW',
  'QUERY_HAS_TOO_MANY_STAGES',
]
/** The cluster has no place for any query: its workers start, or its queue is full. */
const noPlace: readonly string[] = ['NO_NODES_AVAILABLE', 'QUERY_QUEUE_FULL']
const outOfTime: readonly string[] = ['EXCEEDED_TIME_LIMIT', 'EXCEEDED_CPU_LIMIT']

/** A failure of Trino as the caller's answer; anything else stays as it is. */
export function serviceErrorOf(cause: unknown): unknown {
  const isNoAnswer = cause instanceof UnreachableError || cause instanceof KeyError
  if (isNoAnswer) return notAvailable(cause)
  if (!(cause instanceof TrinoError)) return cause
  if (tooLong.includes(cause.code)) {
    const detail = 'The question is too long for this dataset. Ask with fewer filter values.'
    return new ServiceError('bad_request', detail, { cause })
  }
  if (outOfTime.includes(cause.code)) {
    const detail = 'The request took too long. Add filters, or ask for less.'
    return new ServiceError('timeout', detail, { cause })
  }
  if (noPlace.includes(cause.code)) return notAvailable(cause)
  if (cause.kind === 'INSUFFICIENT_RESOURCES') {
    const detail =
      'The request needs more memory than there is. Add filters, or group by fewer columns.'
    return new ServiceError('timeout', detail, { cause })
  }
  const isOurs = cause.kind === 'USER_ERROR' && !changed.includes(cause.code)
  return isOurs && cause.code !== 'PERMISSION_DENIED' ? cause : notAvailable(cause)
}

function notAvailable(cause: Error): ServiceError {
  return unavailable('This dataset is not available now. Try again shortly.', 10, cause)
}
