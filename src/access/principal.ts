import { timingSafeEqual } from 'node:crypto'
import type { Subscription } from '../control/subscriptions.js'
import { hashToken, parseToken } from '../control/tokens/token-format.js'
import type { TokenLookup } from '../control/tokens/token-lookup.js'
import { recordState, refusedTokenText } from '../control/tokens/token-state.js'
import type { TokenRecord } from '../control/tokens/tokens.js'
import { ServiceError } from '../errors.js'

/** The caller. Rate, quota and cursors belong to the subscription `id`, for all its tokens. */
export type Principal = Subscriber | { readonly kind: 'demo'; readonly id: 'demo' }

export interface Subscriber {
  readonly kind: 'subscriber'
  readonly id: string
  readonly tokenId: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** Rows a month over all datasets; null = no cap. */
  readonly globalRows: number | null
  /** Dataset → plan. */
  readonly grants: ReadonlyMap<string, string>
}

export interface Authentication {
  readonly tokens: Pick<TokenLookup, 'find'>
  /** The public demo token of the registry; null without a demo. */
  readonly demoToken: string | null
  readonly now: () => number
}

/**
 * Returns the principal of an `Authorization` header. Returns undefined for a missing, malformed,
 * unknown, revoked or expired token, so the caller can't distinguish these.
 *
 * @throws service_unavailable if the store can't be read: the token may still be valid
 */
export function authenticate(
  header: string | undefined,
  { tokens, demoToken, now }: Authentication,
): Principal | undefined {
  const text = /^bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  const token = text === undefined ? undefined : parseToken(text)
  if (!token) return undefined
  if (token.kind === 'demo') return demoPrincipal(token.hash, demoToken)
  return subscriberPrincipal(tokens.find(token.hash), token.hash, now())
}

/** Every caller without a valid token gets this same answer. */
export function unauthorized(): ServiceError {
  return new ServiceError('unauthorized', refusedTokenText)
}

function demoPrincipal(hash: Buffer, demoToken: string | null): Principal | undefined {
  if (demoToken === null || !timingSafeEqual(hash, hashToken(demoToken))) return undefined
  return { kind: 'demo', id: 'demo' }
}

function subscriberPrincipal(
  record: TokenRecord | undefined,
  hash: Buffer,
  now: number,
): Principal | undefined {
  if (!record || !timingSafeEqual(record.hash, hash)) return undefined
  if (recordState(record, now) !== 'live') return undefined
  const { tokenId, tokenExpiresAt, subscriptionExpiresAt } = record
  const expiresAt = Math.min(subscriptionExpiresAt, tokenExpiresAt ?? Infinity)
  return principalOf({ ...record, expiresAt }, tokenId)
}

/** The principal of a subscription's token. */
export function principalOf(
  subscription: Pick<Subscription, 'subscriptionId' | 'expiresAt' | 'globalRows' | 'grants'>,
  tokenId: string,
): Subscriber {
  return Object.freeze({
    kind: 'subscriber',
    id: subscription.subscriptionId,
    tokenId,
    expiresAt: subscription.expiresAt,
    globalRows: subscription.globalRows,
    grants: new Map(subscription.grants.map(({ dataset, plan }) => [dataset, plan])),
  })
}
