import type { Random } from '../../random.js'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = 62n
const idLength = 16

/**
 * Writes `value` (zero or more) in base62, most significant digit first, padded with `0` to
 * `width`; digits beyond it are cut off.
 */
export function base62(value: bigint, width: number): string {
  let rest = value
  let text = ''
  for (let digit = 0; digit < width; digit += 1) {
    text = alphabet.charAt(Number(rest % base)) + text
    rest /= base
  }
  return text
}

/** `length` base62 characters, each drawn evenly. */
export function randomBase62(random: Random, length: number): string {
  return Array.from({ length }, () => alphabet.charAt(random.below(alphabet.length))).join('')
}

type IdPrefix = 'sub' | 'tok' | 'ord' | 'con' | 'ses' | 'whk'

/**
 * A new id with 95 random bits, of a subscription, a token's record, an order, an agent's
 * connection, a session or a webhook: `sub_…`. Not a secret.
 */
export function createId(random: Random, prefix: IdPrefix): string {
  return `${prefix}_${randomBase62(random, idLength)}`
}
