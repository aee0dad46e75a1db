import { redirectTarget } from '../../control/connections/redirect-target.js'
import type { RedirectTarget } from '../../control/connections/redirect-target.js'
import type { Client } from './client.js'
import { OAuthError } from './oauth-error.js'
import { readParameters } from './parameters.js'
import { matchesRedirect, withParameters } from './redirect-uri.js'
import { isOurResource } from './resource.js'

/** A checked request of a client, for its person to answer. */
export interface AuthorizeRequest {
  readonly issuer: string
  readonly client: Client
  readonly redirectUri: string
  readonly target: RedirectTarget
  readonly state: string | null
  readonly codeChallenge: string
}

interface AuthorizeParts {
  readonly issuer: string
  /** @throws OAuthError invalid_client for an id that is not known */
  readonly findClient: (id: string) => Promise<Client> | Client
}

const queryLettersMax = 8192
const challengePattern = /^[\w-]{43}$/

/**
 * Checks all of a request for access. A request that is not accepted gets a page, never a redirect:
 * anybody can register a client, so its address is not to be trusted.
 *
 * @throws OAuthError
 */
export async function readAuthorizeRequest(
  query: string,
  { issuer, findClient }: AuthorizeParts,
): Promise<AuthorizeRequest> {
  if (query.length > queryLettersMax) {
    throw new OAuthError('invalid_request', `The request is over ${queryLettersMax} characters.`)
  }
  const { required, optional, all } = readParameters(query)
  const client = await findClient(required('client_id'))
  const redirectUri = required('redirect_uri')
  const target = redirectTarget(redirectUri)
  const isRegistered = client.redirectUris.some((each) => matchesRedirect(each, redirectUri))
  if (target === null || !isRegistered) {
    throw new OAuthError('invalid_redirect_uri', 'The client has not registered this redirect_uri.')
  }
  if (required('response_type') !== 'code') {
    throw new OAuthError('unsupported_response_type', 'response_type must be code.')
  }
  if ((optional('response_mode') ?? 'query') !== 'query') {
    throw new OAuthError('invalid_request', 'response_mode must be query.')
  }
  if (optional('code_challenge_method') !== 'S256') {
    throw new OAuthError('invalid_request', 'code_challenge_method must be S256.')
  }
  const codeChallenge = required('code_challenge')
  if (!challengePattern.test(codeChallenge)) {
    throw new OAuthError('invalid_request', 'code_challenge must be a SHA-256 in base64url.')
  }
  requireOurResources(all('resource'), issuer)
  return { issuer, client, redirectUri, target, state: optional('state'), codeChallenge }
}

/** @throws OAuthError invalid_target; none named means this server */
export function requireOurResources(resources: readonly string[], issuer: string): void {
  if (resources.every((resource) => isOurResource(resource, issuer))) return
  throw new OAuthError('invalid_target', `The only resource here is ${issuer}/mcp.`)
}

/** Where the person goes after they have connected or declined. */
export function answerLocation(
  { redirectUri, state, issuer }: AuthorizeRequest,
  answer: { readonly code: string } | { readonly error: 'access_denied' },
): string {
  return withParameters(redirectUri, { ...answer, state, iss: issuer })
}
