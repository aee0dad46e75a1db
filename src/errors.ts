/**
 * Every error code that a caller can meet: its HTTP status and its meaning (specification 7,
 * contract 1.1). The API reference is made from it; `docs/` is compared with it.
 */
const errors = {
  bad_request: {
    status: 400,
    meaning:
      'an unknown column or operator; a malformed value, cursor or URL; a filter that is missing',
  },
  unauthorized: { status: 401, meaning: 'the token is missing, unknown, revoked or expired' },
  forbidden: { status: 403, meaning: 'a host name, an origin or a signature that is not allowed' },
  not_found: {
    status: 404,
    meaning: 'an unknown path; a dataset that this token cannot read; aggregates switched off',
  },
  method_not_allowed: { status: 405, meaning: 'the path allows other methods, named in `Allow`' },
  not_acceptable: { status: 406, meaning: 'a format that is not served' },
  conflict: { status: 409, meaning: 'the id of a report that was received with other content' },
  payload_too_large: { status: 413, meaning: 'the body is over 1 MiB' },
  unsupported_media_type: { status: 415, meaning: 'the body is not plain `application/json`' },
  rate_limit_exceeded: { status: 429, meaning: 'too many requests a minute' },
  row_quota_exceeded: {
    status: 429,
    meaning: 'the rows of this month are used, or too few are left',
  },
  headers_too_large: {
    status: 431,
    meaning: 'URL and headers are over 32 KiB: send the question with POST',
  },
  internal_error: { status: 500, meaning: 'a failure of the service' },
  service_unavailable: {
    status: 503,
    meaning: 'too many queries wait, or the dataset is not available now',
  },
  timeout: { status: 504, meaning: 'not finished in the time of the dataset: ask for less' },
} as const

export type ErrorCode = keyof typeof errors

export const errorCodes = Object.keys(errors) as readonly ErrorCode[]

/** The HTTP status of each code. */
export const errorStatus = Object.freeze(
  Object.fromEntries(errorCodes.map((code) => [code, errors[code].status])),
) as Readonly<Record<ErrorCode, number>>

/** What an error code means to a caller, in a few words. */
export function errorMeaning(code: ErrorCode): string {
  return errors[code].meaning
}

export interface ServiceErrorOptions {
  readonly cause?: unknown
  /** Seconds after which the same request may succeed; leaves as `Retry-After`. */
  readonly retryAfterSeconds?: number
}

/**
 * The only error that callers see. `detail` says what to correct, without paths, SQL or tokens;
 * `cause` is for the log only.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly detail: string
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, detail: string, options: ServiceErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.detail = detail
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** The error for a mistake that the caller can correct. */
export function badRequest(detail: string): ServiceError {
  return new ServiceError('bad_request', detail)
}

/** The error for what does not exist, or not for this caller. */
export function notFound(detail: string): ServiceError {
  return new ServiceError('not_found', detail)
}

/** The error for what may succeed in some seconds; the cause, for the log, makes it a fault. */
export function unavailable(detail: string, seconds: number, cause?: unknown): ServiceError {
  return new ServiceError('service_unavailable', detail, { cause, retryAfterSeconds: seconds })
}

/** Any thrown value as an error for callers: a bug becomes internal_error, with its cause. */
export function asServiceError(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause
  return new ServiceError(
    'internal_error',
    'Something went wrong in the service. Report the X-Request-Id of this answer.',
    { cause },
  )
}

/** Whether the operator must act. The request's own log line covers a full queue or slow query. */
export function isFault(error: ServiceError): boolean {
  if (error.code === 'service_unavailable') return error.cause !== undefined
  return error.code === 'internal_error'
}
