import type { Subscription } from '../control/subscriptions.js'
import { tokenState, tokenStateText } from '../control/tokens/token-state.js'
import type { TokenSummary } from '../control/tokens/tokens.js'
import { isoTime, isoTimeOrNull } from '../text.js'
import type { CliParts } from './parts.js'
import { day, minute } from './print.js'
import { listLines } from './table.js'

/** A token in JSON output. */
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

/** Tokens as a table, or how to make the first one. */
export function tokenTable(
  parts: CliParts,
  tokens: readonly TokenSummary[],
  subscriptions: readonly Subscription[],
): readonly string[] {
  if (tokens.length === 0) {
    return ['There are no tokens yet. das subscription create issues the first one.']
  }
  const byId = new Map(subscriptions.map((each) => [each.subscriptionId, each]))
  const now = parts.clock.now()
  return listLines(parts.stdout, tokens, {
    'TOKEN ID': (each) => each.tokenId,
    SUBSCRIPTION: (each) => each.subscriptionId,
    TOKEN: (each) => each.hint,
    STATE: (each) => stateText(each, byId.get(each.subscriptionId), now),
    MADE: (each) => day(each.createdAt),
    'LAST USED': ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : minute(lastUsedAt)),
  })
}

/** The state of a token; of one that was replaced, how long it still works. */
function stateText(
  token: TokenSummary,
  subscription: Subscription | undefined,
  now: number,
): string {
  const life = subscription ?? { cancelledAt: null, expiresAt: Infinity }
  const state = tokenState(token, life, now)
  if (state === 'live' && token.expiresAt !== null) return `until ${minute(token.expiresAt)}`
  return tokenStateText(state, token.revokedAt)
}
