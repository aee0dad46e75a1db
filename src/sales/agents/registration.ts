import { redirectTarget } from '../../control/connections/redirect-target.js'
import { recordOf } from '../../registry/shape.js'
import { shownName } from './client.js'
import { sealClientId } from './client-id.js'
import type { Registration } from './client-id.js'
import { OAuthError } from './oauth-error.js'

const redirectUrisMax = 10

/**
 * Registers a client (RFC 7591) and returns the answer. Whatever it asks for, it becomes a public
 * client that takes codes and refreshes; members of no meaning here are ignored.
 *
 * @throws OAuthError invalid_redirect_uri, invalid_client_metadata
 */
export function registerClient(key: Uint8Array, body: unknown, now: number): object {
  const registration = readRegistration(body)
  return {
    client_id: sealClientId(key, registration),
    client_id_issued_at: Math.floor(now / 1000),
    ...(registration.name !== '' && { client_name: registration.name }),
    redirect_uris: registration.redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
}

/**
 * The name and redirect URIs of a client's metadata, registered or published.
 *
 * @throws OAuthError invalid_redirect_uri, invalid_client_metadata
 */
export function readRegistration(metadata: unknown): Registration {
  const { client_name: name, redirect_uris: uris } = recordOf(metadata)
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > redirectUrisMax) {
    throw new OAuthError(
      'invalid_redirect_uri',
      `redirect_uris must be a list of 1 to ${redirectUrisMax} addresses.`,
    )
  }
  const redirectUris = uris.map((uri: unknown) => {
    if (typeof uri === 'string' && redirectTarget(uri)) return uri
    throw new OAuthError(
      'invalid_redirect_uri',
      'A redirect URI must be https, http on localhost, 127.0.0.1 or [::1], or the scheme of an ' +
        'app with a dot, such as com.example.app:, without a fragment.',
    )
  })
  if (name !== undefined && name !== null && typeof name !== 'string') {
    throw new OAuthError('invalid_client_metadata', 'client_name must be a text.')
  }
  return { name: shownName(name ?? ''), redirectUris }
}
