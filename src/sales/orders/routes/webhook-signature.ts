import type { IncomingHttpHeaders } from 'node:http'
import { isSignature, signatureOf } from '../../../signature.js'

const toleranceSeconds = 5 * 60
const secretPrefix = 'whsec_'
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
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
  const expected = signatureOf(key, `${id}.${timestamp}.`, body)
  const isSigned = signatures
    .split(' ', signaturesMax)
    .some((signature) => isSame(signature, expected))
  return isSigned ? id : undefined
}

/** `v1,` and base64; signatures of other versions are not ours. */
function isSame(signature: string, expected: Buffer): boolean {
  if (!signature.startsWith('v1,')) return false
  return isSignature(Buffer.from(signature.slice('v1,'.length), 'base64'), expected)
}
