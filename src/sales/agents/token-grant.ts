import { hash } from 'node:crypto'
import { requireOurResources } from './authorize-request.js'
import { OAuthError } from './oauth-error.js'
import { readParameters } from './parameters.js'

/** What a client asks of the token endpoint. */
export type TokenGrant =
  | {
      readonly kind: 'code'
      readonly clientId: string
      /** The code. */
      readonly secret: string
      /** Null if none was sent; OAuth 2.1 no longer asks for it. */
      readonly redirectUri: string | null
      /** What the code's challenge must be. */
      readonly codeChallenge: string
    }
  | { readonly kind: 'refresh'; readonly clientId: string; readonly secret: string }

const verifierPattern = /^[\w.~-]{43,128}$/

/** Reads a form for the token endpoint. @throws OAuthError */
export function readTokenGrant(form: string, issuer: string): TokenGrant {
  const { required, optional, all } = readParameters(form)
  const grantType = required('grant_type')
  const isCode = grantType === 'authorization_code'
  if (!isCode && grantType !== 'refresh_token') {
    throw new OAuthError(
      'unsupported_grant_type',
      'grant_type must be authorization_code or refresh_token.',
    )
  }
  const clientId = required('client_id')
  requireOurResources(all('resource'), issuer)
  if (!isCode) return { kind: 'refresh', clientId, secret: required('refresh_token') }
  const verifier = required('code_verifier')
  if (!verifierPattern.test(verifier)) {
    throw new OAuthError('invalid_request', 'code_verifier must have 43 to 128 characters.')
  }
  const codeChallenge = hash('sha256', verifier, 'base64url')
  const redirectUri = optional('redirect_uri')
  return { kind: 'code', clientId, secret: required('code'), redirectUri, codeChallenge }
}
