import { notFound } from '../../errors.js'
import { recordAction } from '../audit.js'
import { sql } from '../store/sql.js'
import type { Sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'

/** `displaced`: a newer connection took its place, see `connectionsMax`. */
export type ConnectionEnd = 'revoked' | 'replayed' | 'disconnected' | 'displaced'

interface EndedRow {
  readonly connectionId: string
  readonly subscriptionId: string | null
}

/**
 * Ends a connection for ever, from the next request on. Returns false if it has ended already.
 *
 * @throws not_found when there is no such connection.
 */
export function endConnection(
  store: ControlStore,
  connectionId: string,
  { reason, now }: { readonly reason: ConnectionEnd; readonly now: number },
): Promise<boolean> {
  return store.write(async (tx) => {
    const ended = await endWhere(tx, sql`id = ${connectionId}`, reason, now)
    if (ended.length > 0) return true
    if ((await tx.all(sql`SELECT 1 FROM connections WHERE id = ${connectionId}`)).length) {
      return false
    }
    throw notFound(`There is no connection '${connectionId}'.`)
  })
}

/** Ends all connections of a subscription; returns the ids of those that had not ended. */
export function endAllConnections(
  store: ControlStore,
  subscriptionId: string,
  { now }: { readonly now: number },
): Promise<readonly string[]> {
  return store.write((tx) => endWhere(tx, sql`subscription_id = ${subscriptionId}`, 'revoked', now))
}

/** The trail keeps nothing of the demo: anyone can make its connections. */
async function endWhere(
  store: ControlStore,
  isAsked: Sql,
  reason: ConnectionEnd,
  now: number,
): Promise<readonly string[]> {
  const ended = await store.all<EndedRow>(
    sql`UPDATE connections SET ended_at = ${now}, end_reason = ${reason}
     WHERE ${isAsked} AND ended_at IS NULL
     RETURNING id AS "connectionId", subscription_id AS "subscriptionId"`,
  )
  for (const { connectionId: subject, subscriptionId: subscription } of ended) {
    if (subscription === null) continue
    const details = { subscription, reason }
    await recordAction(store, { action: 'connection.ended', subject, details, now })
  }
  return ended.map(({ connectionId }) => connectionId)
}
