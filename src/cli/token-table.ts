import type { Subscription } from '../control/subscriptions.js'
import { tokenState, tokenStateText } from '../control/tokens/token-state.js'
import type { TokenState } from '../control/tokens/token-state.js'
import type { TokenSummary } from '../control/tokens/tokens.js'
import { isoTime, isoTimeOrNull } from '../text.js'
import type { CliParts } from './parts.js'
import { day, minute } from './print.js'
import { listLines } from './table.js'

/** Tokens in JSON output, each with the state that the table shows. */
export function tokensJson(
  parts: CliParts,
  tokens: readonly TokenSummary[],
  subscriptions: readonly Subscription[],
) {
  const stateOf = tokenStates(parts, subscriptions)
  return tokens.map((token) => ({
    id: token.tokenId,
    subscription: token.subscriptionId,
    hint: token.hint,
    state: stateOf(token),
    created_at: isoTime(token.createdAt),
    expires_at: isoTimeOrNull(token.expiresAt),
    revoked_at: isoTimeOrNull(token.revokedAt),
    last_used_at: isoTimeOrNull(token.lastUsedAt),
  }))
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
  const stateOf = tokenStates(parts, subscriptions)
  return listLines(parts.stdout, tokens, {
    'TOKEN ID': (each) => each.tokenId,
    SUBSCRIPTION: (each) => each.subscriptionId,
    TOKEN: (each) => each.hint,
    STATE: (each) => stateText(each, stateOf(each)),
    MADE: (each) => day(each.createdAt),
    'LAST USED': ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : minute(lastUsedAt)),
  })
}

/** The state of a token; of one that was replaced, how long it still works. */
function stateText(token: TokenSummary, state: TokenState): string {
  if (state === 'live' && token.expiresAt !== null) return `until ${minute(token.expiresAt)}`
  return tokenStateText(state, token.revokedAt)
}

/** The state of each token: a function of a token of these subscriptions. */
function tokenStates(parts: CliParts, subscriptions: readonly Subscription[]) {
  const byId = new Map(subscriptions.map((each) => [each.subscriptionId, each]))
  const now = parts.clock.now()
  return (token: TokenSummary): TokenState => {
    const life = byId.get(token.subscriptionId) ?? { cancelledAt: null, expiresAt: Infinity }
    return tokenState(token, life, now)
  }
}
