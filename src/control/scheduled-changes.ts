import { recordAction } from './audit.js'
import { grantTexts, liveGrants } from './grants.js'
import type { Grant } from './grants.js'
import { endOrder, insertOrder, ordersWhere } from './orders.js'
import type { Order } from './orders.js'
import { sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'
import type { Subscription } from './subscriptions.js'
import { isoTime } from '../text.js'

/** A change that is confirmed and has not taken effect: `expires_at` is when it does. */
const isScheduled = sql`state = 'confirmed' AND entry IS NULL AND expires_at IS NOT NULL`

/** Changes of a subscription that take effect at the end of its term, oldest first. */
export function scheduledOrders(store: ControlStore, subscriptionId: string): Promise<Order[]> {
  return ordersWhere(store, sql`${isScheduled} AND subscription_id = ${subscriptionId}`)
}

/** The grants of all subscriptions that are live now, and those that they will get. */
export async function soldGrants(store: ControlStore, now: number): Promise<readonly Grant[]> {
  const live = sql`SELECT id FROM subscriptions WHERE cancelled_at IS NULL AND expires_at > ${now}`
  const scheduled = await ordersWhere(store, sql`${isScheduled} AND subscription_id IN (${live})`)
  const later = scheduled.flatMap(({ items }) => items).filter(({ plan }) => plan !== '')
  return [...(await liveGrants(store, now)), ...later]
}

/**
 * Changes whose time has come, oldest first. Those of a subscription that is over wait with an
 * order that moves its term, because they then move with it.
 */
export function dueOrders(store: ControlStore, now: number): Promise<Order[]> {
  return ordersWhere(
    store,
    sql`${isScheduled} AND expires_at <= ${now} AND NOT EXISTS (
       SELECT 1 FROM subscriptions s JOIN orders w ON w.subscription_id = s.id
       WHERE s.id = orders.subscription_id AND s.expires_at <= ${now} AND w.state = 'waiting'
         AND w.kind = 'change')`,
  )
}

/** Saves that a change takes effect at the end of the term, in the caller's transaction. */
export async function scheduleOrder(
  store: ControlStore,
  orderId: string,
  now: number,
): Promise<void> {
  await store.run(
    sql`UPDATE orders SET state = 'confirmed', done_at = ${now} WHERE id = ${orderId}`,
  )
}

/** The grants of a subscription after all that is scheduled, by dataset name. */
export async function grantsAtEnd(
  store: ControlStore,
  { subscriptionId, grants }: Pick<Subscription, 'subscriptionId' | 'grants'>,
): Promise<readonly Grant[]> {
  const plans = new Map(grants.map(({ dataset, plan }) => [dataset, plan]))
  for (const { items } of await scheduledOrders(store, subscriptionId)) {
    for (const { dataset, plan } of items) plans.set(dataset, plan)
  }
  return [...plans]
    .flatMap(([dataset, plan]) => (plan === '' ? [] : [{ dataset, plan }]))
    .sort((one, other) => (one.dataset < other.dataset ? -1 : 1))
}

/** The datasets whose scheduled plan has paid months: nothing else can begin with these. */
export async function paidDatasets(
  store: ControlStore,
  { subscriptionId, expiresAt }: Subscription,
): Promise<readonly string[]> {
  const orders = await scheduledOrders(store, subscriptionId)
  return orders
    .filter(({ takesEffectAt }) => takesEffectAt !== expiresAt)
    .flatMap(({ items }) => datasetsOf(items))
}

/** Enters an order of the owner that takes effect at the end of the term. */
export async function scheduleByOwner(
  store: ControlStore,
  { subscriptionId, email, language, expiresAt }: Subscription,
  items: readonly Grant[],
  now: number,
): Promise<Order> {
  await dropScheduled(store, subscriptionId, datasetsOf(items), now)
  const order = await insertOrder(store, {
    ...{ kind: 'change', email, language, subscriptionId, items, months: null, amountRub: 0 },
    ...{ basedOn: null, buyer: null, orderedAt: now, payUntil: now },
    ...{ byOwner: true, takesEffectAt: expiresAt },
  })
  await recordAction(store, {
    action: 'order.placed',
    subject: order.orderId,
    details: {
      kind: order.kind,
      subscription: subscriptionId,
      items: grantTexts(items),
      takes_effect_at: isoTime(expiresAt),
    },
    now,
  })
  return order
}

/** Takes datasets out of what is scheduled, in the caller's transaction: a newer order has them. */
export async function dropScheduled(
  store: ControlStore,
  subscriptionId: string,
  datasets: readonly string[],
  now: number,
): Promise<void> {
  for (const { orderId, items } of await scheduledOrders(store, subscriptionId)) {
    const rest = items.filter(({ dataset }) => !datasets.includes(dataset))
    if (rest.length === items.length) continue
    if (rest.length > 0) {
      const text = JSON.stringify(rest)
      await store.run(sql`UPDATE orders SET items = ${text} WHERE id = ${orderId}`)
      continue
    }
    await endOrder(store, orderId, { state: 'expired', now })
    const details = { reason: 'replaced by a newer order' }
    await recordAction(store, { action: 'order.expired', subject: orderId, details, now })
  }
}

/** Moves what is scheduled for the end of a term with that end, in the caller's transaction. */
export async function moveScheduled(
  store: ControlStore,
  { subscriptionId, expiresAt: from }: Subscription,
  to: number,
): Promise<void> {
  for (const { orderId, takesEffectAt } of await scheduledOrders(store, subscriptionId)) {
    if (takesEffectAt !== from) continue
    await store.run(sql`UPDATE orders SET expires_at = ${to} WHERE id = ${orderId}`)
  }
}

function datasetsOf(items: readonly Grant[]): readonly string[] {
  return items.map(({ dataset }) => dataset)
}

/** Bases an order that waits on a later entry of its subscription, in the caller's transaction. */
export async function moveBasis(
  store: ControlStore,
  subscriptionId: string,
  from: number,
  to: number,
): Promise<void> {
  await store.run(
    sql`UPDATE orders SET based_on = ${to}
     WHERE subscription_id = ${subscriptionId} AND state = 'waiting' AND based_on = ${from}`,
  )
}
