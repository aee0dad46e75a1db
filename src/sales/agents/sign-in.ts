import type { Clock } from '../../clock.js'
import type { ControlStore } from '../../control/store/store.js'
import { endConnection } from '../../control/connections/end-connection.js'
import { redeemCode, refreshSecrets } from '../../control/connections/exchange-secrets.js'
import type { SecretPair } from '../../control/connections/exchange-secrets.js'
import { findSecret } from '../../control/connections/secret-lookup.js'
import type { ConnectionTerms } from '../../control/connections/secret-lookup.js'
import { hashToken, parseToken } from '../../control/tokens/token-format.js'
import type { CodeParts } from '../codes.js'
import { readAuthorizeRequest } from './authorize-request.js'
import type { AuthorizeRequest } from './authorize-request.js'
import { documentUrl } from './client-document.js'
import { ClientDocuments } from './client-documents.js'
import type { Client } from './client.js'
import { connecting } from './connect.js'
import type { Connect } from './connect.js'
import { openClientId } from './client-id.js'
import type { HostOptions } from '../public-host.js'
import { OAuthError } from './oauth-error.js'
import { readParameters } from './parameters.js'
import { registerClient } from './registration.js'
import { resourceMetadata, scope, serverMetadata } from './resource.js'
import { readTokenGrant } from './token-grant.js'
import type { TokenGrant } from './token-grant.js'

/** Lets agents sign in: their person shows a token or a mailed code once, on a page here. */
export interface SignIn extends Connect {
  /** The public demo token, with which people may connect too; null without a demo. */
  readonly demoToken: () => string | null
  readonly resourceMetadata: (issuer: string, hasSlash: boolean) => object
  readonly serverMetadata: (issuer: string) => object
  /** @throws OAuthError */
  readonly register: (body: unknown) => object
  /** `address` is the visitor's. @throws OAuthError */
  readonly readRequest: (
    query: string,
    issuer: string,
    address: string,
  ) => Promise<AuthorizeRequest>
  /**
   * Answers the token endpoint.
   * @throws OAuthError; service_unavailable, after which the client can send the same again
   */
  readonly exchange: (form: string, issuer: string) => Promise<object>
  /**
   * Ends the connection of a secret; does nothing for any other text.
   * @throws OAuthError, service_unavailable
   */
  readonly revoke: (form: string) => Promise<void>
}

interface SignInParts {
  readonly control: ControlStore
  /** Signs client ids. */
  readonly key: Uint8Array
  /** The demo token of the registry that is served now; null without a demo. */
  readonly demoToken: () => string | null
  /** Whether clients may be described by documents of their own sites. */
  readonly takesDocuments: boolean
  /** False when the server has no mail server: then it mails neither codes nor letters. */
  readonly isMailOn: boolean
  readonly codes: CodeParts
  readonly fetch?: HostOptions
  readonly clock: Clock
  /** Takes the reasons why clients' documents were not read. */
  readonly report: (cause: unknown) => void
}

/** Creates a sign-in with all counts at zero. */
export function createSignIn(parts: SignInParts): SignIn {
  const { control, key, takesDocuments, clock } = parts
  const { now } = clock
  const documents = new ClientDocuments(parts)
  const findClient = (id: string, address: string): Promise<Client> | Client => {
    const url = takesDocuments ? documentUrl(id) : null
    return url ? documents.find(url, address) : requireOwnClient(key, id)
  }
  return {
    demoToken: parts.demoToken,
    resourceMetadata,
    serverMetadata: (issuer) => serverMetadata(issuer, takesDocuments),
    register: (body) => registerClient(key, body, now()),
    readRequest: (query, issuer, address) =>
      readAuthorizeRequest(query, { issuer, findClient: (id) => findClient(id, address) }),
    ...connecting(parts),
    exchange: exchanging(parts),
    revoke: async (form) => {
      const { required, optional } = readParameters(form)
      const secret = parseToken(required('token'))
      const isOfConnection = secret?.kind === 'agent' || secret?.kind === 'renew'
      const found = isOfConnection ? await findSecret(control, secret.hash) : undefined
      if (!found || found.endedAt !== null) return
      if ((optional('client_id') ?? found.clientId) !== found.clientId) return
      await endConnection(control, found.connectionId, { reason: 'disconnected', now: now() })
    },
  }
}

function exchanging(parts: SignInParts): SignIn['exchange'] {
  const { control, key, clock, isMailOn, codes } = parts
  const termsNow = (): ConnectionTerms => {
    const demoToken = parts.demoToken()
    return { demoHash: demoToken === null ? null : hashToken(demoToken), now: clock.now() }
  }
  const pairFor = async (grant: TokenGrant): Promise<SecretPair | undefined> => {
    const exchange = { store: control, terms: termsNow(), isMailOn }
    const secret = parseToken(grant.secret)
    if (grant.kind === 'code') {
      if (secret?.kind !== 'code') return undefined
      const pair = await redeemCode(exchange, { ...grant, ...secret })
      if (pair) codes.sendLetters()
      return pair
    }
    return secret?.kind === 'renew'
      ? await refreshSecrets(exchange, { ...grant, ...secret })
      : undefined
  }
  return async (form, issuer) => {
    const grant = readTokenGrant(form, issuer)
    if (documentUrl(grant.clientId) === null) requireOwnClient(key, grant.clientId)
    const pair = await pairFor(grant)
    if (pair) return tokenAnswer(pair, clock.now())
    throw new OAuthError(
      'invalid_grant',
      'This code or token is unknown, was used, or has ended. Sign in again.',
    )
  }
}

/** @throws OAuthError invalid_client: the client registers again */
function requireOwnClient(key: Uint8Array, id: string): Client {
  const client = openClientId(key, id)
  if (client) return client
  throw new OAuthError('invalid_client', 'This client_id is unknown. Register again.')
}

function tokenAnswer({ access, refresh, accessExpiresAt }: SecretPair, now: number): object {
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: Math.max(0, Math.floor((accessExpiresAt - now) / 1000)),
    refresh_token: refresh,
    scope,
  }
}
