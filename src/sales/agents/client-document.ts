import { parsedJson } from '../../text.js'
import { isIP } from 'node:net'
import { recordOf } from '../../registry/shape.js'
import { hostOf } from '../public-host.js'
import type { Client } from './client.js'
import { OAuthError } from './oauth-error.js'
import { readRegistration } from './registration.js'

const lettersMax = 500

/**
 * The address of a client's metadata document (Client ID Metadata Documents), if a client's id is
 * one that is accepted: `https`, a host name, a path, and nothing that could be written in two
 * ways; otherwise null.
 */
export function documentUrl(clientId: string): URL | null {
  if (clientId.length > lettersMax || !clientId.startsWith('https://')) return null
  if (!URL.canParse(clientId)) return null
  const url = new URL(clientId)
  const host = hostOf(url)
  const isExact = url.href === clientId && url.hash === '' && !clientId.includes('#')
  const hasUser = url.username !== '' || url.password !== ''
  if (!isExact || hasUser || url.pathname === '/' || isIP(host) !== 0) return null
  return host.includes('.') ? url : null
}

/**
 * The client that a document describes.
 *
 * @throws OAuthError invalid_client_metadata, invalid_redirect_uri
 */
export function readClientDocument(url: URL, text: string): Client {
  const content = parsedJson(text)
  if (content === undefined) throw refused('it is not JSON')
  const document = recordOf(content)
  if (document['client_id'] !== url.href) throw refused('its client_id is another one')
  const hasSecret = ['client_secret', 'client_secret_expires_at'].some((key) => key in document)
  const method = document['token_endpoint_auth_method']
  if (hasSecret || (typeof method === 'string' && method.startsWith('client_secret'))) {
    throw refused('it has a secret')
  }
  const { name, redirectUris } = readRegistration(document)
  if (name === '') throw refused('it has no client_name')
  return { id: url.href, name, redirectUris, host: url.host }
}

function refused(reason: string): OAuthError {
  return new OAuthError(
    'invalid_client_metadata',
    `The client's document can't be used: ${reason}.`,
  )
}
