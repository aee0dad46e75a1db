import type { IncomingHttpHeaders } from 'node:http'
import { isSignature, signatureOf } from '../signature.js'

const toleranceSeconds = 5 * 60
const secretPrefix = 'whsec_'
const versionPrefix = 'v1,'
/** A sender that rolls its secret signs with several. */
const signaturesMax = 10

/**
 * The id of a message that was signed with this secret within the last five minutes, by the rules
 * of Standard Webhooks 1.0 (HMAC-SHA256 of id, time and body); undefined for any other.
 */
export function signedMessageId(
  secret: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  nowMs: number,
): string | undefined {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (typeof id !== 'string' || id === '') return undefined
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return undefined
  if (typeof signatures !== 'string') return undefined
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceSeconds) return undefined
  const expected = messageSignature(secret, id, timestamp, body)
  const isSigned = signatures
    .split(' ', signaturesMax)
    .some((signature) => isSame(signature, expected))
  return isSigned ? id : undefined
}

/** The secret of this key as its owner stores it. */
export function secretOf(key: Uint8Array): string {
  return `${secretPrefix}${Buffer.from(key).toString('base64')}`
}

/** The signature of a message that is sent at this time, in seconds: `v1,` and base64. */
export function signMessage(secret: string, id: string, seconds: number, body: string): string {
  const signature = messageSignature(secret, id, String(seconds), Buffer.from(body))
  return `${versionPrefix}${signature.toString('base64')}`
}

function messageSignature(secret: string, id: string, timestamp: string, body: Buffer): Buffer {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
  return signatureOf(key, `${id}.${timestamp}.`, body)
}

/** `v1,` and base64; signatures of other versions are not ours. */
function isSame(signature: string, expected: Buffer): boolean {
  if (!signature.startsWith(versionPrefix)) return false
  return isSignature(Buffer.from(signature.slice(versionPrefix.length), 'base64'), expected)
}
