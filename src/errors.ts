/** Every error code with its HTTP status (specification 7, contract 1.1). */
export const errorStatus = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
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

/** A filter in JSON. */
export interface FilterText {
  readonly column: string
  readonly op: string
  readonly value: string | number
}

/** How to correct the caller's question, for answers that show the corrected one. */
export type Correction =
  /** A column's name, in filters and select. */
  | { readonly kind: 'column'; readonly written: string; readonly meant: string }
  /** In the filters on this column only; an `example` replaces a value that can't be guessed. */
  | {
      readonly kind: 'operator' | 'value' | 'example'
      readonly column: string
      readonly written: string | number
      readonly meant: string | number
    }
  | { readonly kind: 'limit'; readonly meant: number }
  /** Also an example: any filter is accepted. */
  | { readonly kind: 'add-filter'; readonly filter: FilterText }
  | { readonly kind: 'drop-cursor' }

interface ServiceErrorOptions {
  readonly correction?: Correction | undefined
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
  readonly correction: Correction | undefined

  constructor(code: ErrorCode, detail: string, options: ServiceErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.detail = detail
    this.retryAfterSeconds = options.retryAfterSeconds
    this.correction = options.correction
  }
}

/** The error for a mistake that the caller can correct. */
export function badRequest(detail: string, correction?: Correction): ServiceError {
  return new ServiceError('bad_request', detail, { correction })
}

/** Any thrown value as an error for callers: a bug becomes internal_error, with its cause. */
export function asServiceError(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause
  return new ServiceError('internal_error', 'Something went wrong here.', { cause })
}

/** Whether the operator must act. The request's own log line covers a full queue or slow query. */
export function isFault(error: ServiceError): boolean {
  if (error.code === 'service_unavailable') return error.cause !== undefined
  return error.code === 'internal_error'
}
