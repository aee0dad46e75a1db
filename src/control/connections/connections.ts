import { notFound } from '../../errors.js'
import { sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { tokenState } from '../tokens/token-state.js'
import type { TokenState } from '../tokens/token-state.js'
import type { ConnectionEnd } from './end-connection.js'

/** What a person showed to connect an agent: a token, or a code that was mailed to them. */
export type ConnectionMeans = 'token' | 'mail'

/** A connection as an operator may see it; times in ms since the epoch, UTC. */
export interface Connection {
  readonly connectionId: string
  /** Null for one that was made with the demo token, like `tokenId` and `tokenHint`. */
  readonly subscriptionId: string | null
  /** The token that it ends with. */
  readonly tokenId: string | null
  readonly tokenHint: string | null
  readonly madeBy: ConnectionMeans
  readonly clientId: string
  /** The name that the agent gave itself. */
  readonly clientName: string
  readonly redirectUri: string
  readonly createdAt: number
  /** Null until the agent has taken its first secrets. */
  readonly connectedAt: number | null
  readonly lastUsedAt: number | null
  readonly endedAt: number | null
  readonly endReason: ConnectionEnd | null
  readonly tokenExpiresAt: number | null
  readonly revokedAt: number | null
  readonly subscriptionExpiresAt: number | null
  readonly cancelledAt: number | null
  /** When its newest secret ends. */
  readonly idleUntil: number | null
}

/** `idle`: its agent has not refreshed in time, and must sign in again. */
export type ConnectionState = ConnectionEnd | TokenState | 'waiting' | 'idle'

const columns = sql`c.id AS "connectionId", c.subscription_id AS "subscriptionId",
  c.token_id AS "tokenId", t.hint AS "tokenHint", c.made_by AS "madeBy",
  c.client_id AS "clientId", c.client_name AS "clientName", c.redirect_uri AS "redirectUri",
  c.created_at AS "createdAt", c.connected_at AS "connectedAt",
  c.last_used_at AS "lastUsedAt", c.ended_at AS "endedAt", c.end_reason AS "endReason",
  t.expires_at AS "tokenExpiresAt", t.revoked_at AS "revokedAt",
  s.expires_at AS "subscriptionExpiresAt", s.cancelled_at AS "cancelledAt",
  (SELECT max(x.expires_at) FROM connection_secrets x
   WHERE x.connection_id = c.id AND x.used_at IS NULL) AS "idleUntil"`

const joined = sql`connections c
  LEFT JOIN tokens t ON t.id = c.token_id LEFT JOIN subscriptions s ON s.id = c.subscription_id`

/** All connections, or those of one subscription, oldest first; ended ones for 30 days. */
export function listConnections(
  store: ControlStore,
  subscriptionId?: string,
): Promise<Connection[]> {
  const isAsked =
    subscriptionId === undefined ? sql`true` : sql`c.subscription_id = ${subscriptionId}`
  return store.all<Connection>(
    sql`SELECT ${columns} FROM ${joined} WHERE ${isAsked} ORDER BY c.created_at, c.id`,
  )
}

/** @throws not_found when there is no such connection. */
export async function showConnection(
  store: ControlStore,
  connectionId: string,
): Promise<Connection> {
  const [found] = await store.all<Connection>(
    sql`SELECT ${columns} FROM ${joined} WHERE c.id = ${connectionId}`,
  )
  if (found) return found
  throw notFound(`There is no connection '${connectionId}'.`)
}

/** Whether an agent can use the connection now (`live`), and otherwise why not. */
export function connectionState(connection: Connection, now: number): ConnectionState {
  const { endReason, subscriptionExpiresAt, connectedAt, idleUntil } = connection
  if (endReason !== null) return endReason
  if (subscriptionExpiresAt !== null) {
    const { revokedAt, tokenExpiresAt: expiresAt, cancelledAt } = connection
    const owner = { cancelledAt, expiresAt: subscriptionExpiresAt }
    const state = tokenState({ revokedAt, expiresAt }, owner, now)
    if (state !== 'live') return state
  }
  if (connectedAt === null) return 'waiting'
  return idleUntil !== null && idleUntil > now ? 'live' : 'idle'
}
