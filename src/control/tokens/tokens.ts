import { badRequest, ServiceError } from '../../errors.js'
import { isoTime } from '../../text.js'
import { recordAction } from '../audit.js'
import { grantsIn } from '../grants.js'
import type { Grant, GrantColumns } from '../grants.js'
import type { ControlStore } from '../store/store.js'
import { createTokenId } from './ids.js'
import { createToken } from './token-format.js'

/** The data for authentication; times in ms since the epoch, UTC. */
export interface TokenRecord {
  readonly tokenId: string
  readonly subscriptionId: string
  readonly hash: Buffer
  /** The token's own end, set by a reissue; it is refused from this instant on. */
  readonly tokenExpiresAt: number | null
  readonly revokedAt: number | null
  /** The subscription's end; its tokens are refused from this instant on. */
  readonly subscriptionExpiresAt: number
  readonly cancelledAt: number | null
  /** Rows a month over all datasets; null = no cap. */
  readonly globalRows: number | null
  /** By dataset name. */
  readonly grants: readonly Grant[]
}

/** A token as an operator may see it; times in ms since the epoch, UTC. */
export interface TokenSummary {
  readonly tokenId: string
  readonly subscriptionId: string
  readonly hint: string
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly lastUsedAt: number | null
}

export interface IssuedToken {
  readonly tokenId: string
  /** The secret itself; it is not stored. */
  readonly token: string
}

export interface ReissuedToken extends IssuedToken {
  /** When the last of the earlier tokens ends, ms since the epoch; null = none was live. */
  readonly previousValidUntil: number | null
}

type TokenRow = Omit<TokenRecord, 'grants'> & GrantColumns

/**
 * The frozen record of the token with this hash, in one read, so that a revocation takes effect
 * with the next request. Also returns revoked, expired and cancelled tokens, for the caller to
 * check.
 */
export function findToken(store: ControlStore, hash: Uint8Array): TokenRecord | undefined {
  const rows = store.all<TokenRow>(
    `SELECT t.id AS tokenId, t.subscription_id AS subscriptionId, t.hash,
       t.expires_at AS tokenExpiresAt, t.revoked_at AS revokedAt,
       s.expires_at AS subscriptionExpiresAt, s.cancelled_at AS cancelledAt,
       s.global_rows AS globalRows, g.dataset, g.plan
     FROM tokens t
     JOIN subscriptions s ON s.id = t.subscription_id
     LEFT JOIN grants g ON g.subscription_id = s.id
     WHERE t.hash = @hash
     ORDER BY g.dataset`,
    { hash },
  )
  const [first] = rows
  if (first === undefined) return undefined
  const { dataset, plan, ...record } = first
  return Object.freeze({ ...record, grants: grantsIn(rows) })
}

/**
 * Stores a new token of a subscription and returns its secret once; only hash and hint are kept.
 *
 * @throws not_found when the subscription does not exist.
 */
export function issueToken(
  store: ControlStore,
  subscriptionId: string,
  options: { readonly now: () => number },
): IssuedToken {
  return store.write(() => {
    refuseUnknown(store, subscriptionId)
    const now = options.now()
    const issued = insertToken(store, subscriptionId, now)
    recordAction(store, {
      action: 'token.issued',
      subject: issued.tokenId,
      details: { subscription: subscriptionId },
      now,
    })
    return issued
  })
}

/**
 * Issues a new token and ends the earlier ones `graceMs` from now, or at their own end if that is
 * sooner: a reissue never extends a token. All or nothing.
 *
 * @throws not_found when the subscription does not exist; bad_request for a negative grace.
 */
export function reissueToken(
  store: ControlStore,
  subscriptionId: string,
  options: { readonly graceMs: number; readonly now: () => number },
): ReissuedToken {
  if (!Number.isSafeInteger(options.graceMs) || options.graceMs < 0) {
    throw badRequest('The grace must be a whole number of milliseconds, zero or more.')
  }
  return store.write(() => {
    refuseUnknown(store, subscriptionId)
    const now = options.now()
    const ended = endLiveTokens(store, subscriptionId, now, now + options.graceMs)
    const previousValidUntil =
      ended.length === 0 ? null : Math.max(...ended.map(({ expiresAt }) => expiresAt))
    const issued = insertToken(store, subscriptionId, now)
    recordAction(store, {
      action: 'token.reissued',
      subject: issued.tokenId,
      details: {
        subscription: subscriptionId,
        earlier: ended.map(({ tokenId }) => tokenId),
        earlier_valid_until: previousValidUntil === null ? null : isoTime(previousValidUntil),
      },
      now,
    })
    return { ...issued, previousValidUntil }
  })
}

/**
 * Ends a token permanently, from the next request on. Revoking it again keeps the first time.
 *
 * @throws not_found when the token does not exist.
 */
export function revokeToken(store: ControlStore, tokenId: string, now: () => number): void {
  store.write(() => {
    const [token] = store.all<{ subscriptionId: string; revokedAt: number | null }>(
      `SELECT subscription_id AS subscriptionId, revoked_at AS revokedAt
       FROM tokens WHERE id = @tokenId`,
      { tokenId },
    )
    if (token === undefined) {
      throw new ServiceError('not_found', `There is no token '${tokenId}'.`)
    }
    if (token.revokedAt !== null) return
    const revokedAt = now()
    store.run('UPDATE tokens SET revoked_at = @revokedAt WHERE id = @tokenId', {
      tokenId,
      revokedAt,
    })
    recordAction(store, {
      action: 'token.revoked',
      subject: tokenId,
      details: { subscription: token.subscriptionId },
      now: revokedAt,
    })
  })
}

/** Every token ever issued, or those of one subscription, oldest first; never a secret or hash. */
export function listTokens(store: ControlStore, subscriptionId?: string): TokenSummary[] {
  return store.all<TokenSummary>(
    `SELECT id AS tokenId, subscription_id AS subscriptionId, hint, created_at AS createdAt,
       expires_at AS expiresAt, revoked_at AS revokedAt, last_used_at AS lastUsedAt
     FROM tokens
     WHERE @subscriptionId IS NULL OR subscription_id = @subscriptionId
     ORDER BY created_at, id`,
    { subscriptionId: subscriptionId ?? null },
  )
}

function refuseUnknown(store: ControlStore, subscriptionId: string): void {
  const found = store.all('SELECT 1 FROM subscriptions WHERE id = @subscriptionId', {
    subscriptionId,
  })
  if (found.length > 0) return
  throw new ServiceError('not_found', `There is no subscription '${subscriptionId}'.`)
}

function insertToken(store: ControlStore, subscriptionId: string, now: number): IssuedToken {
  const { token, hash, hint } = createToken()
  const tokenId = createTokenId()
  store.run(
    `INSERT INTO tokens (id, subscription_id, hash, hint, created_at)
     VALUES (@tokenId, @subscriptionId, @hash, @hint, @now)`,
    { tokenId, subscriptionId, hash, hint, now },
  )
  return { tokenId, token }
}

function endLiveTokens(
  store: ControlStore,
  subscriptionId: string,
  now: number,
  end: number,
): readonly { readonly tokenId: string; readonly expiresAt: number }[] {
  return store.all<{ tokenId: string; expiresAt: number }>(
    `UPDATE tokens SET expires_at = min(coalesce(expires_at, @end), @end)
     WHERE subscription_id = @subscriptionId AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > @now)
     RETURNING id AS tokenId, expires_at AS expiresAt`,
    { subscriptionId, now, end },
  )
}
