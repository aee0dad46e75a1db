import { ServiceError } from '../../errors.js'
import { recordAction } from '../audit.js'
import { sql } from '../store/sql.js'
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
    const ended = await tx.all<EndedRow>(
      sql`UPDATE connections SET ended_at = ${now}, end_reason = ${reason}
       WHERE id = ${connectionId} AND ended_at IS NULL
       RETURNING id AS "connectionId", subscription_id AS "subscriptionId"`,
    )
    for (const each of ended) await record(tx, each, reason, now)
    if (ended.length > 0) return true
    if ((await tx.all(sql`SELECT 1 FROM connections WHERE id = ${connectionId}`)).length) {
      return false
    }
    throw new ServiceError('not_found', `There is no connection '${connectionId}'.`)
  })
}

/** Ends all connections of a subscription; returns the ids of those that had not ended. */
export function endAllConnections(
  store: ControlStore,
  subscriptionId: string,
  { now }: { readonly now: number },
): Promise<readonly string[]> {
  return store.write(async (tx) => {
    const ended = await tx.all<EndedRow>(
      sql`UPDATE connections SET ended_at = ${now}, end_reason = 'revoked'
       WHERE subscription_id = ${subscriptionId} AND ended_at IS NULL
       RETURNING id AS "connectionId", subscription_id AS "subscriptionId"`,
    )
    for (const each of ended) await record(tx, each, 'revoked', now)
    return ended.map(({ connectionId }) => connectionId)
  })
}

/** The trail keeps nothing of the demo: anyone can make its connections. */
async function record(
  store: ControlStore,
  { connectionId, subscriptionId }: EndedRow,
  reason: ConnectionEnd,
  now: number,
): Promise<void> {
  if (subscriptionId === null) return
  await recordAction(store, {
    action: 'connection.ended',
    subject: connectionId,
    details: { subscription: subscriptionId, reason },
    now,
  })
}
