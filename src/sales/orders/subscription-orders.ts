import { recordAction } from '../../control/audit.js'
import type { Grant } from '../../control/grants.js'
import { buyerOf, endOrder, newestEntry, ordersOfSubscription } from '../../control/orders.js'
import { freeMonths } from '../../control/order-limits.js'
import { addMonths, dayOfMonth, monthsMax, showSubscription } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { priceRub } from '../../registry/price.js'
import { planOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { changePriceRub } from './change-price.js'
import type { MonthPrices } from './change-price.js'
import { isOnOffer, offerOf } from './offer.js'
import { placeOrder } from './place-order.js'
import type { Placed, WantedOrder } from './place-order.js'
import { ShopRefusal } from './refusals.js'
import type { OrderParts, Shop } from './shop.js'

/** More months of a subscription, at today's prices. */
export interface RenewalQuote {
  /** Of free plans alone the shop sets them. */
  readonly months: number
  /** Whole roubles. */
  readonly amountRub: number
  /** The end of the subscription after it, ms since the epoch. */
  readonly expiresAt: number
}

/** Other plans of a subscription from now on, for the time that is left. */
export interface ChangeQuote {
  /** Only what differs from the subscription as it is. */
  readonly items: readonly Grant[]
  /** Whole roubles; 0 for plans that are not dearer. */
  readonly amountRub: number
  readonly expiresAt: number
}

/**
 * What more months cost. They begin at the end of the subscription, or now if it is over.
 * @throws ShopRefusal; not_found for an unknown subscription
 */
export async function quoteRenewal(
  shop: Shop,
  subscriptionId: string,
  wantedMonths: number,
): Promise<RenewalQuote> {
  const subscription = await uncancelled(shop, subscriptionId)
  const plans = subscription.grants.map((grant) => currentPlan(shop.registry(), grant))
  const isFree = plans.every((plan) => plan.priceRub === 0)
  if (!isOnOffer(offerOf(shop), isFree ? 0 : 1)) throw new ShopRefusal('closed')
  const months = isFree ? freeMonths : wantedMonths
  if (!Number.isInteger(months) || months < 1 || months > monthsMax) throw new ShopRefusal('months')
  const now = shop.now()
  const isLive = subscription.expiresAt > now
  const start = isLive ? subscription.expiresAt : now
  const anchorDay = isLive ? subscription.anchorDay : dayOfMonth(now)
  const expiresAt = addMonths(start, months, anchorDay)
  if (expiresAt > addMonths(now, monthsMax)) throw new ShopRefusal('months')
  return { months, amountRub: priceRub(plans, months), expiresAt }
}

/**
 * Orders more months, for at most the price that was shown. An earlier order of the subscription
 * that still waits expires.
 *
 * @throws ShopRefusal; not_found for an unknown subscription
 */
export function orderRenewal(
  shop: Shop,
  subscriptionId: string,
  months: number,
  shownRub = Infinity,
): Promise<Placed> {
  return placeOnce(shop, subscriptionId, shownRub, async (inTransaction, { grants }) => {
    const { amountRub, ...quote } = await quoteRenewal(inTransaction, subscriptionId, months)
    return { kind: 'renew', basedOn: null, items: grants, months: quote.months, amountRub }
  })
}

/**
 * What other plans cost for the time that is left. `wanted` names datasets that get another plan,
 * or that are added.
 *
 * @throws ShopRefusal; not_found for an unknown subscription
 */
export async function quoteChange(
  shop: Shop,
  subscriptionId: string,
  wanted: readonly Grant[],
): Promise<ChangeQuote> {
  const registry = shop.registry()
  const { grants, expiresAt } = await liveOne(shop, subscriptionId)
  const before = new Map(grants.map(({ dataset, plan }) => [dataset, plan]))
  const items = wanted.filter(({ dataset, plan }) => before.get(dataset) !== plan)
  if (items.length === 0) throw new ShopRefusal('no-change')
  if (new Set(wanted.map(({ dataset }) => dataset)).size < wanted.length) {
    throw new ShopRefusal('choice')
  }
  const after = new Map([...before, ...items.map(({ dataset, plan }) => [dataset, plan] as const)])
  const offer = offerOf(shop)
  for (const item of items) {
    const plan = currentPlan(registry, item)
    const isListed = registry.datasets.get(item.dataset)?.listed === true
    const isKnown = isListed || before.has(item.dataset)
    if (!isKnown || !isOnOffer(offer, plan.priceRub)) throw new ShopRefusal('choice')
  }
  const prices = { before: monthPrices(registry, before), after: monthPrices(registry, after) }
  const amountRub = changePriceRub({ ...prices, now: shop.now(), expiresAt })
  return { items, amountRub, expiresAt }
}

/**
 * Orders other plans, for at most the price that was shown: it falls as time goes by. An earlier
 * order of the subscription that still waits expires. Plans that are not dearer take effect at
 * once.
 *
 * @throws ShopRefusal; not_found for an unknown subscription
 */
export function orderChange(
  shop: Shop,
  subscriptionId: string,
  wanted: readonly Grant[],
  shownRub = Infinity,
): Promise<Placed> {
  return placeOnce(shop, subscriptionId, shownRub, async (inTransaction) => {
    const { items, amountRub } = await quoteChange(inTransaction, subscriptionId, wanted)
    const basedOn = await newestEntry(inTransaction.store, subscriptionId)
    return { kind: 'change', basedOn, items, months: null, amountRub }
  })
}

/** Everything in one transaction, then its letters. */
async function placeOnce(
  shop: Shop,
  subscriptionId: string,
  shownRub: number,
  quote: (
    inTransaction: Shop,
    subscription: Subscription,
  ) => Promise<Omit<WantedOrder, 'subscriptionId' | 'email' | 'language' | 'buyer'>>,
): Promise<Placed> {
  const placed = await shop.store.write(async (tx) => {
    const inTransaction = { ...shop, store: tx }
    const subscription = await showSubscription(tx, subscriptionId)
    const order = await quote(inTransaction, subscription)
    if (order.amountRub > shownRub) throw new ShopRefusal('price')
    await expireWaiting(inTransaction, subscriptionId)
    const { email, language } = subscription
    const buyer = await buyerOf(tx, subscriptionId)
    return await placeOrder(inTransaction, { ...order, subscriptionId, email, language, buyer })
  })
  shop.sendLetters()
  return placed
}

/** A subscription has one order that waits, so that two can't be paid for the same time. */
async function expireWaiting({ store, now }: OrderParts, subscriptionId: string): Promise<void> {
  const orders = await ordersOfSubscription(store, subscriptionId)
  for (const { orderId } of orders.filter(({ state }) => state === 'waiting')) {
    await endOrder(store, orderId, { state: 'expired', now: now() })
    const details = { reason: 'replaced by a newer order' }
    await recordAction(store, { action: 'order.expired', subject: orderId, details, now: now() })
  }
}

async function uncancelled({ store }: OrderParts, subscriptionId: string): Promise<Subscription> {
  const subscription = await showSubscription(store, subscriptionId)
  if (subscription.cancelledAt !== null) throw new ShopRefusal('over')
  return subscription
}

async function liveOne(shop: OrderParts, subscriptionId: string): Promise<Subscription> {
  const subscription = await uncancelled(shop, subscriptionId)
  if (subscription.expiresAt <= shop.now()) throw new ShopRefusal('over')
  return subscription
}

function currentPlan(registry: Registry, grant: Grant) {
  const plan = planOf(registry, grant)
  if (plan) return plan
  throw new ShopRefusal('choice')
}

function monthPrices(registry: Registry, grants: ReadonlyMap<string, string>): MonthPrices {
  return new Map(
    [...grants].map(([dataset, plan]) => [
      dataset,
      currentPlan(registry, { dataset, plan }).priceRub,
    ]),
  )
}
