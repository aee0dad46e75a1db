/** The error codes of OAuth (RFC 6749, 7591, 8707) that are used here, with their statuses. */
const statuses = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_target: 400,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  temporarily_unavailable: 503,
} as const

export type OAuthErrorCode = keyof typeof statuses

/** An error of the sign-in; `description` says what to correct, without any secret. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode
  readonly description: string

  constructor(code: OAuthErrorCode, description: string, options: { cause?: unknown } = {}) {
    super(description, options)
    this.name = 'OAuthError'
    this.code = code
    this.description = description
  }

  get status(): number {
    return statuses[this.code]
  }
}
