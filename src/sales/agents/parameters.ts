import { OAuthError } from './oauth-error.js'

/** The parameters of a query or a form, each at most once. */
export interface OAuthParameters {
  /** @throws OAuthError invalid_request if it is missing or empty */
  readonly required: (name: string) => string
  /** Null if it is missing or empty. */
  readonly optional: (name: string) => string | null
  readonly all: (name: string) => readonly string[]
}

/** Reads parameters. @throws OAuthError invalid_request for one that comes twice */
export function readParameters(text: string): OAuthParameters {
  const found = new URLSearchParams(text)
  const optional = (name: string) => {
    const values = found.getAll(name)
    if (values.length > 1) throw new OAuthError('invalid_request', `Send ${name} only once.`)
    return values[0] === undefined || values[0] === '' ? null : values[0]
  }
  return {
    optional,
    required: (name) => {
      const value = optional(name)
      if (value !== null) return value
      throw new OAuthError('invalid_request', `The parameter ${name} is missing.`)
    },
    // RFC 8707 lets a client name several resources.
    all: (name) => found.getAll(name),
  }
}
