/** Every error code a caller can meet, with its HTTP status (specification 7, contract 1.1). */
export const errorStatus = {
  bad_request: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limit_exceeded: 429,
  row_quota_exceeded: 429,
  headers_too_large: 431,
  internal_error: 500,
  service_unavailable: 503,
  timeout: 504,
} as const

export type ErrorCode = keyof typeof errorStatus

interface ServiceErrorOptions {
  readonly cause?: unknown
  /** Seconds after which the same request may succeed; leaves as `Retry-After`. */
  readonly retryAfterSeconds?: number
}

/**
 * The one error that a caller may see. `detail` says what to correct and holds no path, SQL or
 * token; `cause` is for the log only.
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

/** The error for a value or shape that the caller can correct. */
export function badRequest(detail: string): ServiceError {
  return new ServiceError('bad_request', detail)
}
