import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from '../../random.js'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/**
 * Encrypts a token or a code with a 256-bit key and binds it to its id. The result is a random
 * nonce, the authentication tag, and the encrypted text.
 */
export function sealSecret(random: Random, key: Uint8Array, id: string, secret: string): Buffer {
  const nonce = random.bytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(id))
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text])
}

/** Decrypts it; `undefined` for another key, another id, or damaged bytes. */
export function openSecret(key: Uint8Array, id: string, sealed: Uint8Array): string | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined
  const nonce = sealed.subarray(0, nonceBytes)
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(id))
  decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    const text = decipher.update(sealed.subarray(nonceBytes + tagBytes))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    // The authentication tag is wrong.
    return undefined
  }
}
