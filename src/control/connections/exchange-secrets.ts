import { recordAction } from '../audit.js'
import { queueLetter } from '../letters.js'
import { insertInto, sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { createSecret } from '../tokens/token-format.js'
import { endConnection } from './end-connection.js'
import { findSecret, liveUntil } from './secret-lookup.js'
import type { ConnectionTerms, SecretRecord } from './secret-lookup.js'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

export const accessLifeMs = 60 * minuteMs

/** From the last refresh on. */
export const refreshLifeMs = 60 * dayMs

/**
 * Processes of one agent refresh with the same token at the same time, and answers get lost: for
 * this time, and until a successor is used, a used refresh token is accepted again.
 */
export const raceMs = 2 * minuteMs

/** Letters about new connections that a subscription gets in 24 hours. */
export const connectionLettersMax = 5

/** Unused secrets of a connection; further ones replace the oldest. */
export const liveSecretsMax = 20

/** Used refresh tokens that a connection remembers, to notice that one comes again. */
const usedSecretsMax = 50

export interface Exchange {
  readonly store: ControlStore
  readonly terms: ConnectionTerms
  /** False when the server has no mail server: then no letter is queued. */
  readonly isMailOn: boolean
}

/** The secrets that an agent gets. */
export interface SecretPair {
  readonly access: string
  readonly refresh: string
  /** When the access token ends, ms since the epoch. */
  readonly accessExpiresAt: number
}

/** What a client shows beside a code. */
interface CodeProof {
  readonly hash: Uint8Array
  readonly clientId: string
  /** Null if the client sent none. */
  readonly redirectUri: string | null
  /** The hash of the client's verifier, as a challenge is written. */
  readonly codeChallenge: string
}

/**
 * Exchanges a code for the first secrets of its connection, and queues the letter to its
 * subscriber, in one transaction. A code that comes a second time ends its connection. Returns
 * undefined for a code that is not accepted.
 *
 * @throws service_unavailable, which leaves the code as it was
 */
export async function redeemCode(
  exchange: Exchange,
  proof: CodeProof,
): Promise<SecretPair | undefined> {
  const { store, terms, isMailOn } = exchange
  return await store.write(async (tx) => {
    const inside = { ...exchange, store: tx }
    const code = await findSecret(tx, proof.hash)
    if (code?.kind !== 'code') return undefined
    if (code.usedAt !== null) return await endReplayed(inside, code)
    const isProven =
      code.clientId === proof.clientId &&
      code.codeChallenge === proof.codeChallenge &&
      (proof.redirectUri === null || code.redirectUri === proof.redirectUri)
    if (!isProven || code.expiresAt <= terms.now || liveUntil(code, terms) === null) {
      return undefined
    }
    await markUsed(tx, code, terms.now)
    await tx.run(
      sql`UPDATE connections SET connected_at = ${terms.now} WHERE id = ${code.connectionId}`,
    )
    await recordMade(tx, code, terms.now)
    if (isMailOn && code.owner !== null) {
      await announce(tx, code.connectionId, code.owner.subscriptionId, terms.now)
    }
    return await issuePair(inside, code)
  })
}

/**
 * Exchanges a refresh token for new secrets, in one transaction. A used one is accepted again as
 * `raceMs` says; after that its connection ends: two parties have it. Returns undefined for one
 * that is not accepted.
 *
 * @throws service_unavailable, which leaves the token as it was
 */
export async function refreshSecrets(
  exchange: Exchange,
  { hash, clientId }: { readonly hash: Uint8Array; readonly clientId: string },
): Promise<SecretPair | undefined> {
  const { store, terms } = exchange
  return await store.write(async (tx) => {
    const inside = { ...exchange, store: tx }
    const token = await findSecret(tx, hash)
    if (token?.kind !== 'refresh' || token.clientId !== clientId) return undefined
    if (token.expiresAt <= terms.now || liveUntil(token, terms) === null) return undefined
    if (token.usedAt === null) {
      await markUsed(tx, token, terms.now)
    } else if (token.followedAt !== null && terms.now - token.usedAt > raceMs) {
      return await endReplayed(inside, token)
    }
    return await issuePair(inside, token)
  })
}

async function endReplayed(
  { store, terms }: Exchange,
  { connectionId }: SecretRecord,
): Promise<undefined> {
  await endConnection(store, connectionId, { reason: 'replayed', now: terms.now })
}

/** Also notes that the token's predecessor has a successor in use. */
async function markUsed(
  store: ControlStore,
  { hash, parent }: SecretRecord,
  now: number,
): Promise<void> {
  await store.run(sql`UPDATE connection_secrets SET used_at = ${now} WHERE hash = ${hash}`)
  if (parent === null) return
  await store.run(
    sql`UPDATE connection_secrets SET followed_at = ${now}
     WHERE hash = ${parent} AND followed_at IS NULL`,
  )
}

async function recordMade(store: ControlStore, record: SecretRecord, now: number): Promise<void> {
  const { owner, connectionId, clientName, redirectUri, madeBy } = record
  if (owner === null) return
  await recordAction(store, {
    action: 'connection.made',
    subject: connectionId,
    details: {
      subscription: owner.subscriptionId,
      token: owner.tokenId,
      made_by: madeBy,
      app: clientName,
      redirect_uri: redirectUri,
    },
    now,
  })
}

/** Queues the letter about a new connection, unless its subscription got enough of them today. */
async function announce(
  store: ControlStore,
  connectionId: string,
  subscriptionId: string,
  now: number,
): Promise<void> {
  const earlier = await store.all(
    sql`SELECT 1 FROM letters
     WHERE kind = 'connection-made' AND subscription_id = ${subscriptionId}
       AND created_at > ${now - dayMs} AND created_at <= ${now} LIMIT ${connectionLettersMax}`,
  )
  if (earlier.length === connectionLettersMax) return
  await queueLetter(store, { kind: 'connection-made', subscriptionId, connectionId }, now)
}

async function issuePair({ store, terms }: Exchange, from: SecretRecord): Promise<SecretPair> {
  const { now } = terms
  const { connectionId } = from
  const access = createSecret(store.random, 'agent')
  const refresh = createSecret(store.random, 'renew')
  const parent = from.kind === 'refresh' ? from.hash : null
  const insert = (
    secret: { kind: string; hash: Buffer; parent: Buffer | null },
    lifeMs: number,
  ) => {
    const times = { createdAt: now, expiresAt: now + lifeMs }
    return store.run(insertInto('connection_secrets', { ...secret, connectionId, ...times }))
  }
  await insert({ kind: 'access', hash: access.hash, parent: null }, accessLifeMs)
  await insert({ kind: 'refresh', hash: refresh.hash, parent }, refreshLifeMs)
  await dropSurplus(store, connectionId, { now, access: access.hash, refresh: refresh.hash })
  const accessExpiresAt = Math.min(now + accessLifeMs, liveUntil(from, terms) ?? now)
  return { access: access.secret, refresh: refresh.secret, accessExpiresAt }
}

async function dropSurplus(
  store: ControlStore,
  connectionId: string,
  made: { readonly now: number; readonly access: Buffer; readonly refresh: Buffer },
): Promise<void> {
  await store.run(
    sql`DELETE FROM connection_secrets WHERE hash IN (
       SELECT hash FROM connection_secrets
       WHERE connection_id = ${connectionId} AND used_at IS NULL AND expires_at > ${made.now}
       ORDER BY hash IN (${made.access}, ${made.refresh}) DESC, created_at DESC, hash
       LIMIT ${Number.MAX_SAFE_INTEGER} OFFSET ${liveSecretsMax})`,
  )
  await store.run(
    sql`DELETE FROM connection_secrets WHERE hash IN (
       SELECT hash FROM connection_secrets
       WHERE connection_id = ${connectionId} AND kind = 'refresh' AND used_at IS NOT NULL
       ORDER BY used_at DESC, hash
       LIMIT ${Number.MAX_SAFE_INTEGER} OFFSET ${usedSecretsMax})`,
  )
}
