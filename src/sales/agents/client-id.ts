import { recordOf } from '../../registry/shape.js'
import { isSignature, signatureOf } from '../../signature.js'
import type { Client } from './client.js'
import { OAuthError } from './oauth-error.js'

const prefix = 'dac_'
const contentBytesMax = 1536

/** The name and the redirect URIs of a client. */
export type Registration = Pick<Client, 'name' | 'redirectUris'>

/**
 * Makes a client's id, which is the registration itself, signed: nothing is stored, and it never
 * expires. A client that keeps its id for years is not stranded.
 *
 * @throws OAuthError invalid_client_metadata for more than 1.5 KB
 */
export function sealClientId(key: Uint8Array, { name, redirectUris }: Registration): string {
  const content = Buffer.from(JSON.stringify({ n: name, r: redirectUris }))
  if (content.length > contentBytesMax) {
    throw new OAuthError(
      'invalid_client_metadata',
      `Name and redirect URIs have more than ${contentBytesMax} bytes. Register fewer URIs.`,
    )
  }
  const signed = signature(key, content).toString('base64url')
  return `${prefix}${content.toString('base64url')}.${signed}`
}

/** The client of an id that this server made; undefined for any other text. */
export function openClientId(key: Uint8Array, id: string): Client | undefined {
  const [, text = '', signed = ''] = /^dac_([\w-]{1,2048})\.([\w-]{43})$/.exec(id) ?? []
  const content = Buffer.from(text, 'base64url')
  if (!isSignature(Buffer.from(signed, 'base64url'), signature(key, content))) return undefined
  // The signature proves that `sealClientId` wrote it.
  const { n: name, r: redirectUris } = recordOf(JSON.parse(content.toString())) as {
    readonly n: string
    readonly r: readonly string[]
  }
  return { id, name, redirectUris, host: null }
}

function signature(key: Uint8Array, content: Uint8Array): Buffer {
  return signatureOf(key, 'client id\0', content)
}
