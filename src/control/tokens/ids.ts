import type { Random } from '../../random.js'
import { randomBase62 } from './base62.js'

const randomLength = 16

/** A new id of a subscription: `sub_` and 95 random bits. Not a secret. */
export function createSubscriptionId(random: Random): string {
  return `sub_${randomBase62(random, randomLength)}`
}

/** A new id of a token's record: `tok_` and 95 random bits. Not the token, and not a secret. */
export function createTokenId(random: Random): string {
  return `tok_${randomBase62(random, randomLength)}`
}

/** A new number of an order: `ord_` and 95 random bits. Not a secret. */
export function createOrderId(random: Random): string {
  return `ord_${randomBase62(random, randomLength)}`
}

/** A new id of an agent's connection: `con_` and 95 random bits. Not a secret. */
export function createConnectionId(random: Random): string {
  return `con_${randomBase62(random, randomLength)}`
}
