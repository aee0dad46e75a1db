import { queueLetter } from '../letters.js'
import { sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'

const dayMs = 24 * 3_600_000

/** Letters about new connections that a subscription gets in 24 hours. */
export const connectionLettersMax = 5

interface Announced {
  readonly connectionId: string
  readonly subscriptionId: string
  readonly now: number
}

/** Queues the letter about a new connection, unless its subscription got enough of them today. */
export async function announceConnection(store: ControlStore, announced: Announced): Promise<void> {
  const { connectionId, subscriptionId, now } = announced
  const earlier = await store.all(
    sql`SELECT 1 FROM letters
     WHERE kind = 'connection-made' AND subscription_id = ${subscriptionId}
       AND created_at > ${now - dayMs} AND created_at <= ${now} LIMIT ${connectionLettersMax}`,
  )
  if (earlier.length === connectionLettersMax) return
  await queueLetter(store, { kind: 'connection-made', subscriptionId, connectionId }, now)
}
