import { recordAction } from '../../control/audit.js'
import { grantTexts } from '../../control/grants.js'
import { queueLetter } from '../../control/letters.js'
import { isOpenOrder, newestEntry, showOrder } from '../../control/orders.js'
import type { Order } from '../../control/orders.js'
import { dropScheduled, grantsAtEnd, scheduleOrder } from '../../control/scheduled-changes.js'
import { changeSubscription, extendSubscription } from '../../control/subscription-changes.js'
import { createSubscription, showSubscription } from '../../control/subscriptions.js'
import type { NewSubscription } from '../../control/subscriptions.js'
import { badRequest } from '../../errors.js'
import type { ServiceError } from '../../errors.js'
import { sealSecret } from '../letters/seal.js'
import { planOf } from '../../registry/registry.js'
import { quoted } from '../../text.js'
import { writePaper } from './papers/paper.js'
import type { OrderParts } from './shop.js'

/** A confirmed order. */
export interface Confirmed {
  readonly order: Order
  readonly subscriptionId: string
  /** Ms since the epoch. */
  readonly expiresAt: number
  /** The token of a new subscription: show it once. Null for any other order. */
  readonly token: string | null
}

/**
 * Confirms an order that waits, in one transaction: the subscription, the entry, the letters and
 * the audit trail hold it together, or none does. An expired order is confirmed only when the owner
 * accepts a late payment. `by` says who confirmed it over HTTP.
 *
 * @throws not_found; bad_request when the order is not waiting, or can no longer take effect
 */
export async function confirmOrder(
  parts: OrderParts,
  orderId: string,
  { isLateAccepted = false, by }: { readonly isLateAccepted?: boolean; readonly by?: string } = {},
): Promise<Confirmed> {
  const { store } = parts
  return await store.write(async (tx) => {
    const now = parts.now()
    const order = await showOrder(tx, orderId)
    requireOpen(order, isLateAccepted)
    requirePlans(parts, order)
    const applied = await appliers[order.kind]({ ...parts, store: tx }, order, now)
    const { subscriptionId } = applied
    await recordAction(tx, {
      action: 'order.confirmed',
      subject: orderId,
      details: { subscription: subscriptionId, amount_rub: order.amountRub, ...(by && { by }) },
      now,
    })
    if (order.amountRub > 0) await queueLetter(tx, { kind: 'order-done', orderId }, now)
    const confirmed = await showOrder(tx, orderId)
    await writePaper(tx, parts.registry(), confirmed)
    return { order: confirmed, ...applied }
  })
}

function requireOpen(order: Order, isLateAccepted: boolean): void {
  if (isOpenOrder(order) && (isLateAccepted || order.state === 'waiting')) return
  throw badRequest(`Order '${order.orderId}' is ${order.state}.`)
}

/** A plan that left the registry would be sold as nothing. */
function requirePlans({ registry }: OrderParts, { orderId, items }: Order): void {
  const gone = items.find((item) => planOf(registry(), item) === undefined)
  if (gone === undefined) return
  const name = quoted(`${gone.dataset}:${gone.plan}`)
  throw badRequest(`Order '${orderId}' needs the plan ${name}, which the registry no longer has.`)
}

type Applied = Omit<Confirmed, 'order'>

type Apply = (parts: OrderParts, order: Order, now: number) => Promise<Applied>

const appliers: Readonly<Record<Order['kind'], Apply>> = { new: create, renew: extend, change }

async function create({ store, mailKey }: OrderParts, order: Order, now: number): Promise<Applied> {
  const { email, items, months, amountRub, language, orderId } = order
  const made: NewSubscription = await createSubscription(store, {
    email,
    grants: items,
    months: months ?? 0,
    globalRows: null,
    priceRub: amountRub,
    language,
    orderId,
    now: () => now,
  })
  const { subscriptionId, tokenId, token, expiresAt } = made
  const sealedSecret = sealSecret(store.random, mailKey, tokenId, token)
  await queueLetter(
    store,
    { kind: 'new-token', subscriptionId, tokenId, sealedSecret, orderId },
    now,
  )
  return { subscriptionId, expiresAt, token }
}

async function extend({ store }: OrderParts, order: Order, now: number): Promise<Applied> {
  const { months, amountRub, orderId } = order
  const subscriptionId = subscriptionOf(order)
  const grants = await grantsAtEnd(store, await showSubscription(store, subscriptionId))
  if (grantTexts(grants).join() !== grantTexts(order.items).join()) throw outdated(order)
  const { expiresAt } = await extendSubscription(store, subscriptionId, {
    months: months ?? 0,
    priceRub: () => amountRub,
    orderId,
    now: () => now,
  })
  await queueLetter(store, { kind: 'order-confirmed', orderId, subscriptionId }, now)
  return { subscriptionId, expiresAt, token: null }
}

async function change({ store }: OrderParts, order: Order, now: number): Promise<Applied> {
  const { items, amountRub, orderId, basedOn, months, takesEffectAt } = order
  const subscriptionId = subscriptionOf(order)
  let { expiresAt } = await showSubscription(store, subscriptionId)
  const isOver = months === null && expiresAt <= now
  if (isOver || (await newestEntry(store, subscriptionId)) !== basedOn) {
    throw outdated(order)
  }
  if (takesEffectAt === null) {
    const change = { grants: items, withdrawn: [], priceRub: amountRub, orderId, now: () => now }
    const moved = months === null ? change : ({ ...change, months: 1 } as const)
    expiresAt = (await changeSubscription(store, subscriptionId, moved)).expiresAt
  } else {
    const datasets = items.map(({ dataset }) => dataset)
    await dropScheduled(store, subscriptionId, datasets, now)
    await scheduleOrder(store, orderId, now)
  }
  await queueLetter(store, { kind: 'order-confirmed', orderId, subscriptionId }, now)
  return { subscriptionId, expiresAt, token: null }
}

/** The database demands it of all orders but new ones. */
function subscriptionOf({ orderId, subscriptionId }: Order): string {
  if (subscriptionId !== null) return subscriptionId
  throw new Error(`order ${orderId} has no subscription`)
}

function outdated({ orderId, subscriptionId }: Order): ServiceError {
  return badRequest(
    `Subscription '${subscriptionId}' has ended or changed since order '${orderId}' was placed. ` +
      'Decline it, and let the subscriber order again.',
  )
}
