import { dayMs } from '../../clock.js'
import { insertInto, sql } from '../store/sql.js'
import type { Sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { createId } from '../tokens/base62.js'
import { createSecret } from '../tokens/token-format.js'

const hourMs = 3_600_000

/** Whose pages a session opens: a subscriber's, or the owner's. */
export type SessionKind = 'subscriber' | 'owner'

/** A subscriber's session ends so long after its last use. */
export const sessionLifeMs = 30 * dayMs
/** An owner's session ends so long after the sign-in. */
export const ownerSessionLifeMs = 12 * hourMs
/** Sessions of a kind of an address; another one ends the one that was used longest ago. */
export const sessionsMax = 20
export const pageSecretLifeMs = hourMs
/** Secrets of a session; further ones replace those that end first. */
export const pageSecretsMax = 20

/** A person who proved an address in a browser; times in ms since the epoch, UTC. */
export interface Session {
  readonly sessionId: string
  readonly hash: Buffer
  readonly email: string
  /** The subscription that the person chose to pay; null = none. */
  readonly payerId: string | null
  readonly lastUsedAt: number
}

/** Stores a session of an address, and returns the secret of its cookie once. */
export async function makeSession(
  store: ControlStore,
  {
    email,
    now,
    kind = 'subscriber',
  }: { readonly email: string; readonly now: number; readonly kind?: SessionKind },
): Promise<string> {
  const { secret, hash } = createSecret(store.random, secretKinds[kind])
  const isTheirs = sql`kind = ${kind} AND ${store.dialect.isEmail(sql`email`, email)}`
  await store.write(async (tx) => {
    await tx.run(
      sql`DELETE FROM sessions WHERE id IN (
         SELECT id FROM sessions WHERE ${isTheirs} ORDER BY last_used_at DESC, id
         LIMIT ${Number.MAX_SAFE_INTEGER} OFFSET ${sessionsMax - 1})`,
    )
    const id = createId(tx.random, 'ses')
    const times = { createdAt: now, lastUsedAt: now }
    await tx.run(insertInto('sessions', { id, hash, email, kind, ...times }))
  })
  return secret
}

/** What the secret of a session's cookie begins with. */
export const secretKinds = { subscriber: 'session', owner: 'owner' } as const

/** The live session of this kind with this hash. */
export async function findSession(
  store: ControlStore,
  hash: Uint8Array,
  now: number,
  kind: SessionKind = 'subscriber',
): Promise<Session | undefined> {
  const [session] = await store.all<Session>(
    sql`SELECT id AS "sessionId", hash, email, subscription_id AS "payerId",
       last_used_at AS "lastUsedAt"
     FROM sessions WHERE hash = ${hash} AND kind = ${kind} AND NOT (${isOver(now)})`,
  )
  return session
}

function isOver(now: number): Sql {
  return sql`last_used_at <= ${now - sessionLifeMs}
    OR (kind = 'owner' AND created_at <= ${now - ownerSessionLifeMs})`
}

/** Keeps which subscription pays. */
export async function choosePayer(
  store: ControlStore,
  sessionId: string,
  subscriptionId: string,
): Promise<void> {
  await store.run(
    sql`UPDATE sessions SET subscription_id = ${subscriptionId} WHERE id = ${sessionId}`,
  )
}

/** Ends one session, with its secrets, from the next request on. */
export async function endSession(store: ControlStore, hash: Uint8Array): Promise<void> {
  await store.run(sql`DELETE FROM sessions WHERE hash = ${hash}`)
}

/** Ends all sessions of an address, with their secrets, from the next request on. */
export async function endSessionsOf(store: ControlStore, email: string): Promise<void> {
  await store.run(sql`DELETE FROM sessions WHERE ${store.dialect.isEmail(sql`email`, email)}`)
}

/** Removes sessions that are over, and secrets that have ended. */
export async function removeSessions(store: ControlStore, now: number): Promise<void> {
  await store.run(sql`DELETE FROM sessions WHERE ${isOver(now)}`)
  await store.run(sql`DELETE FROM session_secrets WHERE expires_at <= ${now}`)
}
