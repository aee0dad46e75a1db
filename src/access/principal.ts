import { timingSafeEqual } from 'node:crypto'
import { liveUntil } from '../control/connections/secret-lookup.js'
import type { SecretRecord } from '../control/connections/secret-lookup.js'
import { pageSecretEnd } from '../control/sessions/page-secrets.js'
import type { PageSecret } from '../control/sessions/page-secrets.js'
import type { Subscription } from '../control/subscriptions.js'
import { hashToken, parseToken } from '../control/tokens/token-format.js'
import { recordState, refusedTokenText } from '../control/tokens/token-state.js'
import type { TokenRecord } from '../control/tokens/tokens.js'
import { ServiceError, notFound } from '../errors.js'

/** The caller. Rate, quota and cursors belong to the subscription `id`, for all its tokens. */
export type Principal = Subscriber | DemoVisitor

/** Holds the public demo token, or signed in with it. */
interface DemoVisitor {
  readonly kind: 'demo'
  readonly id: 'demo'
  /** The connection of an agent that signed in. */
  readonly connectionId?: string
}

export interface Subscriber {
  readonly kind: 'subscriber'
  readonly id: string
  /** Null for who signed in on the portal. */
  readonly tokenId: string | null
  /** The session of who signed in on the portal. */
  readonly sessionId?: string
  /** The connection of an agent that signed in with the token. */
  readonly connectionId?: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** Rows a month over all datasets; null = no cap. */
  readonly globalRows: number | null
  /** Dataset → plan. */
  readonly grants: ReadonlyMap<string, string>
}

export interface Authentication {
  readonly findToken: (hash: Buffer) => Promise<TokenRecord | undefined>
  /** Where an agent's access token is accepted; its audience is MCP alone. */
  readonly findSecret?: (hash: Buffer) => Promise<SecretRecord | undefined>
  /** Where the secret of a page is accepted: at REST alone. */
  readonly findPageSecret?: (hash: Uint8Array) => Promise<PageSecret | undefined>
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
export async function authenticate(
  header: string | undefined,
  authentication: Authentication,
): Promise<Principal | undefined> {
  const text = /^bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  return text === undefined ? undefined : await tokenPrincipal(text, authentication)
}

/**
 * Returns the principal of a token's text, as `authenticate` does.
 *
 * @throws service_unavailable if the store can't be read
 */
export async function tokenPrincipal(
  text: string,
  { findToken, findSecret, findPageSecret, demoToken, now }: Authentication,
): Promise<Principal | undefined> {
  const token = parseToken(text)
  switch (token?.kind) {
    case 'demo':
      return demoPrincipal(token.hash, demoToken)
    case 'live':
      return subscriberPrincipal(await findToken(token.hash), token.hash, now())
    case 'agent':
      return agentPrincipal(await findSecret?.(token.hash), token.hash, demoToken, now())
    case 'page':
      return pagePrincipal(await findPageSecret?.(token.hash), token.hash, now())
    default:
      return undefined
  }
}

/** Every caller without a valid token gets this same answer. */
export function unauthorized(): ServiceError {
  return new ServiceError('unauthorized', refusedTokenText)
}

/**
 * The subscriber, where only the holder of a subscription's token may act.
 * @throws not_found for the demo token
 */
export function requireSubscriber(principal: Principal): Subscriber {
  if (principal.kind === 'subscriber') return principal
  throw noSubscription()
}

/** One text for the demo token and, where agents that signed in can't act, for theirs. */
export function noSubscription(): ServiceError {
  return notFound('This token has no subscription. Use the token of one.')
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

function agentPrincipal(
  record: SecretRecord | undefined,
  hash: Buffer,
  demoToken: string | null,
  now: number,
): Principal | undefined {
  if (record?.kind !== 'access' || !timingSafeEqual(record.hash, hash)) return undefined
  const terms = { demoHash: demoToken === null ? null : hashToken(demoToken), now }
  const expiresAt = liveUntil(record, terms)
  if (expiresAt === null || record.expiresAt <= now) return undefined
  const { connectionId, owner } = record
  if (owner === null) return { kind: 'demo', id: 'demo', connectionId }
  return Object.freeze({ ...principalOf({ ...owner, expiresAt }, owner.tokenId), connectionId })
}

function pagePrincipal(
  secret: PageSecret | undefined,
  hash: Buffer,
  now: number,
): Principal | undefined {
  if (!secret || !timingSafeEqual(secret.hash, hash)) return undefined
  return pageSecretEnd(secret, now) === null ? undefined : asPerson(secret, secret.sessionId)
}

/** The principal of a subscription for a person of its address, who signed in. */
export function asPerson(
  subscription: Parameters<typeof principalOf>[0],
  sessionId: string,
): Subscriber {
  return Object.freeze({ ...principalOf(subscription, null), sessionId })
}

/** The principal of a subscription's token; null = no token was shown. */
export function principalOf(
  subscription: Pick<Subscription, 'subscriptionId' | 'expiresAt' | 'globalRows' | 'grants'>,
  tokenId: string | null,
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
