import { recordAction } from '../../control/audit.js'
import type { Grant } from '../../control/grants.js'
import { endOrder, newestEntry, ordersOfSubscription } from '../../control/orders.js'
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
import type { Placed } from './place-order.js'
import { ShopRefusal } from './refusals.js'
import type { OrderParts, ShopParts } from './shop-parts.js'

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
  parts: ShopParts,
  subscriptionId: string,
  wantedMonths: number,
): Promise<RenewalQuote> {
  const subscription = await uncancelled(parts, subscriptionId)
  const plans = subscription.grants.map((grant) => currentPlan(parts.registry(), grant))
  const isFree = plans.every((plan) => plan.priceRub === 0)
  if (!isOnOffer(offerOf(parts), isFree ? 0 : 1)) throw new ShopRefusal('closed')
  const months = isFree ? freeMonths : wantedMonths
  if (!Number.isInteger(months) || months < 1 || months > monthsMax) throw new ShopRefusal('months')
  const now = parts.now()
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
  parts: ShopParts,
  subscriptionId: string,
  months: number,
  shownRub = Infinity,
): Promise<Placed> {
  return placed(parts, async (inside) => {
    const quote = await quoteRenewal(inside, subscriptionId, months)
    if (quote.amountRub > shownRub) throw new ShopRefusal('price')
    const { email, language, grants } = await showSubscription(inside.store, subscriptionId)
    await expireWaiting(inside, subscriptionId)
    const facts = { kind: 'renew', subscriptionId, email, language, basedOn: null } as const
    const { amountRub } = quote
    return await placeOrder(inside, { ...facts, items: grants, months: quote.months, amountRub })
  })
}

/**
 * What other plans cost for the time that is left. `wanted` names datasets that get another plan,
 * or that are added.
 *
 * @throws ShopRefusal; not_found for an unknown subscription
 */
export async function quoteChange(
  parts: ShopParts,
  subscriptionId: string,
  wanted: readonly Grant[],
): Promise<ChangeQuote> {
  const registry = parts.registry()
  const { grants, expiresAt } = await liveOne(parts, subscriptionId)
  const before = new Map(grants.map(({ dataset, plan }) => [dataset, plan]))
  const items = wanted.filter(({ dataset, plan }) => before.get(dataset) !== plan)
  if (items.length === 0) throw new ShopRefusal('no-change')
  if (new Set(wanted.map(({ dataset }) => dataset)).size < wanted.length) {
    throw new ShopRefusal('choice')
  }
  const after = new Map([...before, ...items.map(({ dataset, plan }) => [dataset, plan] as const)])
  const offer = offerOf(parts)
  for (const item of items) {
    const plan = currentPlan(registry, item)
    const isListed = registry.datasets.get(item.dataset)?.listed === true
    const isKnown = isListed || before.has(item.dataset)
    if (!isKnown || !isOnOffer(offer, plan.priceRub)) throw new ShopRefusal('choice')
  }
  const prices = { before: monthPrices(registry, before), after: monthPrices(registry, after) }
  const amountRub = changePriceRub({ ...prices, now: parts.now(), expiresAt })
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
  parts: ShopParts,
  subscriptionId: string,
  wanted: readonly Grant[],
  shownRub = Infinity,
): Promise<Placed> {
  return placed(parts, async (inside) => {
    const { items, amountRub } = await quoteChange(inside, subscriptionId, wanted)
    if (amountRub > shownRub) throw new ShopRefusal('price')
    const { email, language } = await showSubscription(inside.store, subscriptionId)
    const basedOn = await newestEntry(inside.store, subscriptionId)
    await expireWaiting(inside, subscriptionId)
    const facts = { kind: 'change', subscriptionId, email, language, basedOn } as const
    return await placeOrder(inside, { ...facts, items, months: null, amountRub })
  })
}

/** Everything in one transaction, then its letters. */
async function placed(
  parts: ShopParts,
  work: (inside: ShopParts) => Promise<Placed>,
): Promise<Placed> {
  const done = await parts.store.write((tx) => work({ ...parts, store: tx }))
  parts.sendLetters()
  return done
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

async function liveOne(parts: OrderParts, subscriptionId: string): Promise<Subscription> {
  const subscription = await uncancelled(parts, subscriptionId)
  if (subscription.expiresAt <= parts.now()) throw new ShopRefusal('over')
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
