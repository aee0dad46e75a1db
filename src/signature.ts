import { createHmac, timingSafeEqual } from 'node:crypto'

/** The HMAC-SHA256 of these parts, one after another. */
export function signatureOf(key: Uint8Array, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** Whether a signature is the expected one, in a time that does not say how much of it is right. */
export function isSignature(given: Uint8Array, expected: Uint8Array): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected)
}
