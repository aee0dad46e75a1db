/** Every error code a caller can meet, with its HTTP status (specification 7, contract 1.1). */
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

/** A filter as JSON carries it. */
export interface FilterText {
  readonly column: string
  readonly op: string
  readonly value: string | number
}

/** How the caller's own question becomes a right one, for answers that can show it corrected. */
export type Correction =
  /** A column's name, in filters and select. */
  | { readonly kind: 'column'; readonly written: string; readonly meant: string }
  /** In the filters on this column alone; an `example` stands in for what can't be guessed. */
  | {
      readonly kind: 'operator' | 'value' | 'example'
      readonly column: string
      readonly written: string | number
      readonly meant: string | number
    }
  | { readonly kind: 'limit'; readonly meant: number }
  /** An example too: any filter does. */
  | { readonly kind: 'add-filter'; readonly filter: FilterText }
  | { readonly kind: 'drop-cursor' }

interface ServiceErrorOptions {
  readonly correction?: Correction | undefined
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

/** The error for a value or shape that the caller can correct. */
export function badRequest(detail: string, correction?: Correction): ServiceError {
  return new ServiceError('bad_request', detail, { correction })
}

/** Any thrown value as what its caller may see of it: a bug stays unnamed, with its cause kept. */
export function asServiceError(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause
  return new ServiceError('internal_error', 'Something went wrong here.', { cause })
}

/** What somebody has to look at; a full queue or a slow query is told by the request's own line. */
export function isFault(error: ServiceError): boolean {
  if (error.code === 'service_unavailable') return error.cause !== undefined
  return error.code === 'internal_error'
}
