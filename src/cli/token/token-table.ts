import type { Subscription } from '../../control/subscriptions.js'
import type { TokenSummary } from '../../control/tokens/tokens.js'
import type { CliParts } from '../parts.js'
import { day, isoTime, isoTimeOrNull, minute, tableLines } from '../print.js'

/** What a subscription is worth now: the tokens of one that ended are refused. */
export function stateOf(
  { cancelledAt, expiresAt }: Pick<Subscription, 'cancelledAt' | 'expiresAt'>,
  now: number,
): 'live' | 'expired' | 'cancelled' {
  if (cancelledAt !== null) return 'cancelled'
  return expiresAt > now ? 'live' : 'expired'
}

/** A token for programs (contract 4). */
export function tokenJson(token: TokenSummary) {
  return {
    id: token.tokenId,
    subscription: token.subscriptionId,
    hint: token.hint,
    created_at: isoTime(token.createdAt),
    expires_at: isoTimeOrNull(token.expiresAt),
    revoked_at: isoTimeOrNull(token.revokedAt),
    last_used_at: isoTimeOrNull(token.lastUsedAt),
  }
}

/** Tokens for people, or what to do where there is none. */
export function tokenTable(
  parts: CliParts,
  tokens: readonly TokenSummary[],
  subscriptions: readonly Subscription[],
): readonly string[] {
  if (tokens.length === 0) {
    return ['No token yet: das subscription create makes the first one of a subscription.']
  }
  const byId = new Map(subscriptions.map((each) => [each.subscriptionId, each]))
  const now = parts.now()
  const titles = ['TOKEN ID', 'SUBSCRIPTION', 'TOKEN', 'STATE', 'MADE', 'LAST USED']
  const rows = tokens.map((token) => [
    token.tokenId,
    token.subscriptionId,
    token.hint,
    tokenState(token, byId.get(token.subscriptionId), now),
    day(token.createdAt),
    token.lastUsedAt === null ? 'never' : minute(token.lastUsedAt),
  ])
  return tableLines(parts.stdout, titles, rows)
}

function tokenState(
  { revokedAt, expiresAt }: TokenSummary,
  subscription: Subscription | undefined,
  now: number,
): string {
  if (revokedAt !== null) return `revoked ${day(revokedAt)}`
  if (expiresAt !== null && expiresAt <= now) return 'replaced'
  const state = subscription ? stateOf(subscription, now) : 'live'
  if (state !== 'live') return state
  return expiresAt === null ? 'live' : `until ${minute(expiresAt)}`
}
