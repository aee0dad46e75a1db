import { isoTime } from '../../text.js'
import { insertInto, sql } from '../store/sql.js'
import type { Sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import type { EventType } from './webhooks.js'

/** Something that happened; it is sent once to each webhook that takes it. */
export interface HookEvent {
  readonly type: EventType
  /** Empty for an event of all subscriptions with a grant for the dataset. */
  readonly subscriptionId: string
  /** Empty for an event of a whole subscription. */
  readonly dataset: string
  /** With these three it is unique: the version, the month, or the end. */
  readonly occasion: string
  /** What the message says. */
  readonly data: Readonly<Record<string, string | number | null>>
}

/** True where webhook `w` may be sent events of this subscription and dataset now. */
export function maySee(subscriptionId: Sql, dataset: Sql, now: number): Sql {
  return sql`w.state = 'active' AND EXISTS (
    SELECT 1 FROM subscriptions s WHERE s.id = w.subscription_id AND s.cancelled_at IS NULL
      AND s.expires_at > ${now})
    AND (CASE WHEN ${subscriptionId} <> '' THEN w.subscription_id = ${subscriptionId}
      ELSE EXISTS (SELECT 1 FROM grants g
        WHERE g.subscription_id = w.subscription_id AND g.dataset = ${dataset}) END)`
}

/** True where webhook `w` takes events of this type. */
function takes(type: EventType): Sql {
  return sql`' ' || w.events || ' ' LIKE ${`% ${type} %`}`
}

/**
 * Stores an event, with a delivery for each webhook that takes it, in one transaction. An event
 * that is known changes nothing: it is reported again and again, and by several servers.
 */
export async function recordEvent(
  store: ControlStore,
  { subscriptionId, ...event }: HookEvent,
  now: number,
): Promise<void> {
  const { type, dataset, occasion } = event
  const known = await store.all(
    sql`SELECT 1 FROM events WHERE type = ${type} AND subscription_id = ${subscriptionId}
     AND dataset = ${dataset} AND occasion = ${occasion}`,
  )
  if (known.length > 0) return
  await store.write(async (tx) => {
    const data = JSON.stringify(event.data)
    const key = { type, subscription_id: subscriptionId, dataset, occasion }
    const [made] = await tx.all<{ id: number }>(
      sql`${insertInto('events', { ...key, data, created_at: now })}
       ON CONFLICT DO NOTHING RETURNING id`,
    )
    if (!made) return
    const isTold = maySee(sql`CAST(${subscriptionId} AS TEXT)`, sql`CAST(${dataset} AS TEXT)`, now)
    await tx.run(
      sql`INSERT INTO deliveries (webhook_id, n, event_id, state, created_at, tried_from, attempts,
         next_attempt_at)
       SELECT w.id, w.last_n + 1, ${made.id}, 'waiting', ${now}, ${now}, 0, ${now} FROM webhooks w
       WHERE ${takes(type)} AND ${isTold}`,
    )
    await tx.run(
      sql`UPDATE webhooks SET last_n = last_n + 1
       WHERE id IN (SELECT webhook_id FROM deliveries WHERE event_id = ${made.id})`,
    )
  })
}

/** Stores that the changes of a version can be asked for, once for all servers. */
export async function noteVersion(
  store: ControlStore,
  { dataset, version }: { readonly dataset: string; readonly version: string },
  now: number,
): Promise<void> {
  const data = { dataset, version }
  const event = { type: 'dataset.version', subscriptionId: '', dataset, occasion: version } as const
  await recordEvent(store, { ...event, data }, now)
}

/** Live subscriptions with such a webhook that end within `aheadMs`. */
export async function endingSubscriptions(
  store: ControlStore,
  { now, aheadMs }: { readonly now: number; readonly aheadMs: number },
): Promise<readonly HookEvent[]> {
  const ending = await store.all<{ id: string; expiresAt: number }>(
    sql`SELECT s.id, s.expires_at AS "expiresAt" FROM subscriptions s
     WHERE s.cancelled_at IS NULL AND s.expires_at > ${now} AND s.expires_at <= ${now + aheadMs}
       AND EXISTS (SELECT 1 FROM webhooks w WHERE w.subscription_id = s.id AND w.state = 'active'
         AND ${takes('subscription.ending')})`,
  )
  return ending.map(({ id, expiresAt }) => {
    const data = { subscription: id, expires_at: isoTime(expiresAt) }
    const about = { subscriptionId: id, dataset: '', occasion: data.expires_at }
    return { type: 'subscription.ending', ...about, data }
  })
}

/** The rows of a month that a subscription with a webhook for it has used of one dataset. */
export interface WatchedUsage {
  readonly subscriptionId: string
  readonly period: string
  readonly dataset: string
  /** Null without a grant now. */
  readonly plan: string | null
  readonly used: number
  /** Rows a month over all datasets; null = no cap. */
  readonly globalRows: number | null
}

/** What is used in a month, where a webhook takes an event of it. */
export function watchedUsage(
  store: ControlStore,
  period: string,
): Promise<readonly WatchedUsage[]> {
  return store.all<WatchedUsage>(
    sql`SELECT u.subscription_id AS "subscriptionId", u.period, u.dataset, g.plan, u.rows AS used,
       s.global_rows AS "globalRows"
     FROM usage u JOIN subscriptions s ON s.id = u.subscription_id
     LEFT JOIN grants g ON g.subscription_id = u.subscription_id AND g.dataset = u.dataset
     WHERE u.period = ${period} AND EXISTS (
       SELECT 1 FROM webhooks w WHERE w.subscription_id = u.subscription_id
         AND w.state = 'active' AND (${takes('quota.80')} OR ${takes('quota.used')}))`,
  )
}
