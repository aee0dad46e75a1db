import { isoTime } from '../../text.js'
import type { TokenRecord } from './tokens.js'

export type SubscriptionState = 'live' | 'expired' | 'cancelled'

export type TokenState = SubscriptionState | 'revoked' | 'replaced'

/** What ends a subscription; times in ms since the epoch, UTC. */
interface SubscriptionLife {
  readonly cancelledAt: number | null
  readonly expiresAt: number
}

/** What ends a token before its subscription ends; times in ms since the epoch, UTC. */
interface TokenLife {
  readonly revokedAt: number | null
  readonly expiresAt: number | null
}

/** The answer to every request without a live token, so that the reason stays unknown. */
export const refusedTokenText =
  'This token is unknown or has ended, or none was sent. Send a live token in the header ' +
  '"Authorization: Bearer <token>".'

/** The state of a subscription; the tokens of one that is not `live` are refused. */
export function subscriptionState(
  { cancelledAt, expiresAt }: SubscriptionLife,
  now: number,
): SubscriptionState {
  if (cancelledAt !== null) return 'cancelled'
  return expiresAt > now ? 'live' : 'expired'
}

/** When and how a subscription ended, after the words "the subscription"; null while it is live. */
export function subscriptionEndText(subscription: SubscriptionLife, now: number): string | null {
  switch (subscriptionState(subscription, now)) {
    case 'cancelled':
      return `was cancelled at ${isoTime(subscription.cancelledAt ?? now)}`
    case 'expired':
      return `expired at ${isoTime(subscription.expiresAt)}`
    case 'live':
      return null
  }
}

/** How a token itself ended, whatever its subscription; null while it has not. */
export function tokenEnd(
  { revokedAt, expiresAt }: TokenLife,
  now: number,
): 'revoked' | 'replaced' | null {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'replaced' : null
}

/** The state of a token of this subscription; only a `live` token is accepted. */
export function tokenState(
  token: TokenLife,
  subscription: SubscriptionLife,
  now: number,
): TokenState {
  return tokenEnd(token, now) ?? subscriptionState(subscription, now)
}

/** The state of the token and the subscription in a record of the store. */
export function recordState(
  record: Pick<
    TokenRecord,
    'revokedAt' | 'tokenExpiresAt' | 'subscriptionExpiresAt' | 'cancelledAt'
  >,
  now: number,
): TokenState {
  const { revokedAt, tokenExpiresAt, subscriptionExpiresAt, cancelledAt } = record
  return tokenState(
    { revokedAt, expiresAt: tokenExpiresAt },
    { cancelledAt, expiresAt: subscriptionExpiresAt },
    now,
  )
}

/** A token's state for people: `revoked 2026-11-21`, `replaced`, `live`. */
export function tokenStateText(state: TokenState, revokedAt: number | null): string {
  return state === 'revoked' ? `revoked ${isoTime(revokedAt ?? 0).slice(0, 10)}` : state
}
