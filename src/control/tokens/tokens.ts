import { badRequest, notFound } from '../../errors.js'
import { isoTime } from '../../text.js'
import { recordAction } from '../audit.js'
import { withGrants } from '../grants.js'
import type { Grant, GrantColumns } from '../grants.js'
import { insertInto, sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { createId } from './base62.js'
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
  /** Connections of agents that moved to the new token. */
  readonly keptConnections: number
}

interface ReissueOptions {
  readonly graceMs: number
  readonly now: () => number
  /** Connections that were made with the earlier tokens live on with the new one. */
  readonly keepsConnections?: boolean
}

type TokenRow = Omit<TokenRecord, 'grants'> & GrantColumns

/**
 * The frozen record of the token with this hash, in one read, so that a revocation takes effect
 * with the next request. Also returns revoked, expired and cancelled tokens, for the caller to
 * check.
 */
export async function findToken(
  store: ControlStore,
  hash: Uint8Array,
): Promise<TokenRecord | undefined> {
  const rows = await store.all<TokenRow>(
    sql`SELECT t.id AS "tokenId", t.subscription_id AS "subscriptionId", t.hash,
       t.expires_at AS "tokenExpiresAt", t.revoked_at AS "revokedAt",
       s.expires_at AS "subscriptionExpiresAt", s.cancelled_at AS "cancelledAt",
       s.global_rows AS "globalRows", g.dataset, g.plan
     FROM tokens t
     JOIN subscriptions s ON s.id = t.subscription_id
     LEFT JOIN grants g ON g.subscription_id = s.id
     WHERE t.hash = ${hash}
     ORDER BY g.dataset`,
  )
  return withGrants(rows)
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
): Promise<IssuedToken> {
  return store.write(async (tx) => {
    await refuseUnknown(tx, subscriptionId)
    const now = options.now()
    const issued = await insertToken(tx, subscriptionId, now)
    await recordAction(tx, {
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
export async function reissueToken(
  store: ControlStore,
  subscriptionId: string,
  options: ReissueOptions,
): Promise<ReissuedToken> {
  if (!Number.isSafeInteger(options.graceMs) || options.graceMs < 0) {
    throw badRequest('The grace must be a whole number of milliseconds, zero or more.')
  }
  return await store.write(async (tx) => {
    await refuseUnknown(tx, subscriptionId)
    const now = options.now()
    const ended = await endLiveTokens(tx, subscriptionId, now, now + options.graceMs)
    const previousValidUntil =
      ended.length === 0 ? null : Math.max(...ended.map(({ expiresAt }) => expiresAt))
    const issued = await insertToken(tx, subscriptionId, now)
    const keptConnections = options.keepsConnections ? await moveConnections(tx, ended, issued) : 0
    await recordAction(tx, {
      action: 'token.reissued',
      subject: issued.tokenId,
      details: {
        subscription: subscriptionId,
        earlier: ended.map(({ tokenId }) => tokenId),
        earlier_valid_until: previousValidUntil === null ? null : isoTime(previousValidUntil),
        ...(options.keepsConnections && { kept_connections: keptConnections }),
      },
      now,
    })
    return { ...issued, previousValidUntil, keptConnections }
  })
}

/**
 * Ends a token permanently, from the next request on. Revoking it again keeps the first time.
 *
 * @throws not_found when the token does not exist.
 */
export async function revokeToken(
  store: ControlStore,
  tokenId: string,
  now: () => number,
): Promise<void> {
  await store.write(async (tx) => {
    const [token] = await tx.all<{ subscriptionId: string; revokedAt: number | null }>(
      sql`SELECT subscription_id AS "subscriptionId", revoked_at AS "revokedAt"
       FROM tokens WHERE id = ${tokenId}`,
    )
    if (token === undefined) {
      throw notFound(`There is no token '${tokenId}'.`)
    }
    if (token.revokedAt !== null) return
    const revokedAt = now()
    await tx.run(sql`UPDATE tokens SET revoked_at = ${revokedAt} WHERE id = ${tokenId}`)
    await recordAction(tx, {
      action: 'token.revoked',
      subject: tokenId,
      details: { subscription: token.subscriptionId },
      now: revokedAt,
    })
  })
}

/** Every token ever issued, or those of one subscription, oldest first; never a secret or hash. */
export function listTokens(store: ControlStore, subscriptionId?: string): Promise<TokenSummary[]> {
  const isAsked =
    subscriptionId === undefined ? sql`true` : sql`subscription_id = ${subscriptionId}`
  return store.all<TokenSummary>(
    sql`SELECT id AS "tokenId", subscription_id AS "subscriptionId", hint,
       created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt",
       last_used_at AS "lastUsedAt"
     FROM tokens WHERE ${isAsked} ORDER BY created_at, id`,
  )
}

/** The newest token of a subscription that works now, first of those without an end; or none. */
export async function newestLiveToken(
  store: ControlStore,
  subscriptionId: string,
  now: number,
): Promise<string | undefined> {
  const [token] = await store.all<{ tokenId: string }>(
    sql`SELECT id AS "tokenId" FROM tokens
     WHERE subscription_id = ${subscriptionId} AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > ${now})
     ORDER BY expires_at IS NULL DESC, created_at DESC, rowid DESC LIMIT 1`,
  )
  return token?.tokenId
}

async function refuseUnknown(store: ControlStore, subscriptionId: string): Promise<void> {
  const found = await store.all(sql`SELECT 1 FROM subscriptions WHERE id = ${subscriptionId}`)
  if (found.length > 0) return
  throw notFound(`There is no subscription '${subscriptionId}'.`)
}

async function insertToken(
  store: ControlStore,
  subscriptionId: string,
  now: number,
): Promise<IssuedToken> {
  const { token, hash, hint } = createToken(store.random)
  const tokenId = createId(store.random, 'tok')
  const row = { id: tokenId, subscriptionId, hash, hint, createdAt: now }
  await store.run(insertInto('tokens', row))
  return { tokenId, token }
}

async function moveConnections(
  store: ControlStore,
  earlier: readonly { readonly tokenId: string }[],
  { tokenId }: IssuedToken,
): Promise<number> {
  let moved = 0
  for (const { tokenId: earlierId } of earlier) {
    moved += await store.run(
      sql`UPDATE connections SET token_id = ${tokenId}
       WHERE token_id = ${earlierId} AND ended_at IS NULL`,
    )
  }
  return moved
}

function endLiveTokens(
  store: ControlStore,
  subscriptionId: string,
  now: number,
  end: number,
): Promise<readonly { readonly tokenId: string; readonly expiresAt: number }[]> {
  return store.all<{ tokenId: string; expiresAt: number }>(
    sql`UPDATE tokens SET expires_at = CASE WHEN expires_at < ${end} THEN expires_at ELSE ${end} END
     WHERE subscription_id = ${subscriptionId} AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > ${now})
     RETURNING id AS "tokenId", expires_at AS "expiresAt"`,
  )
}
