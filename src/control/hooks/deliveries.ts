import { dayMs } from '../../clock.js'
import { sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { maySee } from './events.js'
import { webhookColumns } from './webhooks.js'
import type { EventType, Webhook } from './webhooks.js'

/** Deliveries are kept so long. */
const keptMs = 30 * dayMs
/** Events are known longer than a month, in which a quota is reported once. */
const knownMs = 32 * dayMs

/** A message to a webhook; times in ms since the epoch, UTC. */
export interface Delivery {
  /** Counts the deliveries of its webhook. */
  readonly n: number
  readonly type: EventType
  readonly state: 'waiting' | 'sent' | 'failed'
  readonly createdAt: number
  readonly attempts: number
  readonly nextAttemptAt: number
  /** Of the last attempt; null before the first one. */
  readonly attemptedAt: number | null
  readonly status: number | null
  readonly error: string | null
}

/** A delivery that is held for an attempt. */
export interface HeldDelivery extends Omit<Webhook, 'events'> {
  readonly n: number
  readonly attempts: number
  readonly triedFrom: number
  readonly type: EventType
  readonly dataset: string
  readonly occasion: string
  /** JSON. */
  readonly data: string
  /** How the attempt before ended; null if none did. */
  readonly lastAttemptAt: number | null
  readonly lastError: string | null
}

/** The newest deliveries of a webhook up to this number, newest first. */
export function listDeliveries(
  store: ControlStore,
  webhookId: string,
  { upTo, limit }: { readonly upTo: number; readonly limit: number },
): Promise<readonly Delivery[]> {
  return store.all<Delivery>(
    sql`SELECT d.n, e.type, d.state, d.created_at AS "createdAt", d.attempts,
       d.next_attempt_at AS "nextAttemptAt", d.attempted_at AS "attemptedAt", d.status, d.error
     FROM deliveries d JOIN events e ON e.id = d.event_id
     WHERE d.webhook_id = ${webhookId} AND d.n <= ${upTo} ORDER BY d.n DESC LIMIT ${limit}`,
  )
}

/**
 * Takes the waiting delivery that has been due longest, and holds it; `undefined` if none waits. Of
 * a subscription one is sent at a time: its slow receivers hold up no other's.
 */
export async function takeDelivery(
  store: ControlStore,
  { now, holdMs, waitMaxMs }: Readonly<Record<'now' | 'holdMs' | 'waitMaxMs', number>>,
): Promise<HeldDelivery | undefined> {
  // Times that are too late were set by a wrong clock.
  const wanted = sql`
    SELECT ${webhookColumns}, d.n, d.attempts + 1 AS attempts, d.tried_from AS "triedFrom", e.type,
      e.dataset, e.occasion, e.data, d.attempted_at AS "lastAttemptAt", d.error AS "lastError"
    FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id JOIN events e ON e.id = d.event_id
    WHERE d.state = 'waiting' AND ${maySee(sql`e.subscription_id`, sql`e.dataset`, now)}
      AND (d.next_attempt_at <= ${now} OR d.next_attempt_at > ${now + waitMaxMs})
      AND NOT EXISTS (
        SELECT 1 FROM deliveries other JOIN webhooks v ON v.id = other.webhook_id
        WHERE v.subscription_id = w.subscription_id AND other.state = 'waiting'
          AND other.held_until > ${now} AND other.held_until <= ${now + 2 * holdMs})
    ORDER BY d.next_attempt_at, d.webhook_id, d.n LIMIT 1`
  const [due] = await store.all<HeldDelivery>(wanted)
  if (!due) return undefined
  // Where another server took it first, `attempts` differs.
  const taken = await store.run(
    sql`UPDATE deliveries SET attempts = ${due.attempts}, held_until = ${now + holdMs}
     WHERE webhook_id = ${due.webhookId} AND n = ${due.n} AND state = 'waiting'
       AND attempts = ${due.attempts - 1}`,
  )
  return taken > 0 ? due : undefined
}

/** How an attempt ended; `nextAttemptAt` of one that is tried again. */
export interface DeliveryEnd {
  readonly now: number
  readonly status: number | null
  readonly error: string | null
  readonly nextAttemptAt: number | null
}

/** Saves how an attempt ended, unless another process has taken the delivery meanwhile. */
export async function endDelivery(
  store: ControlStore,
  { webhookId, n, attempts }: HeldDelivery,
  { now, status, error, nextAttemptAt }: DeliveryEnd,
): Promise<void> {
  const state = error === null ? 'sent' : nextAttemptAt === null ? 'failed' : 'waiting'
  await store.run(
    sql`UPDATE deliveries SET state = ${state}, held_until = NULL, attempted_at = ${now},
       status = ${status}, error = ${error},
       next_attempt_at = coalesce(${nextAttemptAt}, next_attempt_at)
     WHERE webhook_id = ${webhookId} AND n = ${n} AND attempts = ${attempts}
       AND state = 'waiting'`,
  )
}

/** Removes a delivery that its webhook does not take. */
export async function dropDelivery(
  store: ControlStore,
  { webhookId, n }: Pick<HeldDelivery, 'webhookId' | 'n'>,
): Promise<void> {
  await store.run(sql`DELETE FROM deliveries WHERE webhook_id = ${webhookId} AND n = ${n}`)
}

/** Makes a delivery due now, for three more days; one that is being sent stays as it is. */
export async function resendDelivery(
  store: ControlStore,
  webhookId: string,
  n: number,
  now: number,
): Promise<void> {
  await store.run(
    sql`UPDATE deliveries SET state = 'waiting', tried_from = ${now}, next_attempt_at = ${now}
     WHERE webhook_id = ${webhookId} AND n = ${n} AND held_until IS NULL`,
  )
}

/** Removes what is old; the newest version of each dataset stays known. */
export async function removeOldDeliveries(store: ControlStore, now: number): Promise<void> {
  await store.write(async (tx) => {
    await tx.run(sql`DELETE FROM deliveries WHERE created_at < ${now - keptMs}`)
    await tx.run(
      sql`DELETE FROM events WHERE created_at < ${now - knownMs}
         AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id)
         AND (type <> 'dataset.version' OR EXISTS (
           SELECT 1 FROM events newer WHERE newer.type = events.type
             AND newer.dataset = events.dataset AND newer.id > events.id))`,
    )
  })
}
