import { isDeepStrictEqual } from 'node:util'
import { recordAction } from '../../control/audit.js'
import type { Grant } from '../../control/grants.js'
import { inOrder } from '../../control/in-order.js'
import { buyerOf, endOrder, newestEntry, ordersOfSubscription } from '../../control/orders.js'
import type { Order } from '../../control/orders.js'
import { freeMonths } from '../../control/order-limits.js'
import { grantsAtEnd, paidDatasets } from '../../control/scheduled-changes.js'
import { addMonths, dayOfMonth, monthsMax, showSubscription } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { priceRub } from '../../registry/price.js'
import { planOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { termsOfChange } from './change-price.js'
import type { ChangeTerms } from './change-price.js'
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

/** Other plans of a subscription: dearer ones from the confirmation on, cheaper ones later. */
export interface ChangeQuote extends Omit<ChangeTerms, 'later'> {
  /** What changes at once. */
  readonly items: readonly Grant[]
  /** What changes at the end of the term, as an order of its own. */
  readonly later: readonly Grant[]
  /** The end of the term, ms since the epoch; one that moves counts from the confirmation. */
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
  const grants = await grantsAtEnd(shop.store, subscription)
  const plans = grants.map((grant) => currentPlan(shop.registry(), grant))
  const isFree = plans.every((plan) => plan.priceRub === 0)
  if (!isOnOffer(offerOf(shop), isFree ? 0 : 1)) throw new ShopRefusal('closed')
  const months = isFree ? freeMonths : wantedMonths
  if (!Number.isInteger(months) || months < 1 || months > monthsMax) throw new ShopRefusal('months')
  const now = shop.now()
  const isLive = subscription.expiresAt > now
  const start = isLive ? subscription.expiresAt : now
  const anchorDay = isLive ? subscription.anchorDay : dayOfMonth(now)
  const expiresAt = addMonths(start, months, anchorDay)
  // What is free can be ended for all within about a year.
  if (isFree && expiresAt > addMonths(now, months + 1)) throw new ShopRefusal('early')
  if (expiresAt > addMonths(now, monthsMax)) throw new ShopRefusal('months')
  return { months, amountRub: priceRub(plans, months), expiresAt }
}

/**
 * Orders more months, for at most the price that was shown. An earlier order of the subscription
 * that still waits expires. A second press of a free renewal returns the one that was made.
 *
 * @throws ShopRefusal; not_found for an unknown subscription
 */
export async function orderRenewal(
  shop: Shop,
  subscriptionId: string,
  months: number,
  shownRub = Infinity,
): Promise<Placed> {
  try {
    return await placeOnce(shop, subscriptionId, shownRub, async (inTransaction, subscription) => {
      const { amountRub, ...quote } = await quoteRenewal(inTransaction, subscriptionId, months)
      const items = await grantsAtEnd(inTransaction.store, subscription)
      return [{ kind: 'renew', basedOn: null, items, months: quote.months, amountRub }]
    })
  } catch (cause) {
    const isEarly = cause instanceof ShopRefusal && cause.reason === 'early'
    const made = isEarly ? await freeRenewalJustNow(shop, subscriptionId) : undefined
    if (made) return made
    throw cause
  }
}

/** The free renewal that a first press of the button made. */
async function freeRenewalJustNow(
  { store, now }: OrderParts,
  subscriptionId: string,
): Promise<Placed | undefined> {
  const orders = await ordersOfSubscription(store, subscriptionId)
  const order = orders.findLast(
    ({ kind, byOwner, amountRub }) => kind === 'renew' && !byOwner && amountRub === 0,
  )
  if (!order?.effect || !isJustNow(order, now())) return undefined
  const { expiresAt } = order.effect
  return { kind: 'confirmed', confirmed: { order, subscriptionId, expiresAt, token: null } }
}

/**
 * What other plans cost, and when they begin. `wanted` names datasets that get another plan, or
 * that are added; the plan of now takes back what was scheduled.
 *
 * @throws ShopRefusal; not_found for an unknown subscription
 */
export async function quoteChange(
  shop: Shop,
  subscriptionId: string,
  wanted: readonly Grant[],
): Promise<ChangeQuote> {
  const registry = shop.registry()
  const subscription = await liveOne(shop, subscriptionId)
  const { grants, expiresAt, anchorDay } = subscription
  const atEnd = plansOf(await grantsAtEnd(shop.store, subscription))
  const items = wanted.filter(({ dataset, plan }) => atEnd.get(dataset) !== plan)
  if (items.length === 0) throw new ShopRefusal('no-change')
  if (new Set(wanted.map(({ dataset }) => dataset)).size < wanted.length) {
    throw new ShopRefusal('choice')
  }
  const paid = await paidDatasets(shop.store, subscription)
  if (items.some(({ dataset }) => paid.includes(dataset))) throw new ShopRefusal('scheduled')
  const before = plansOf(grants)
  const offer = offerOf(shop)
  for (const item of items) {
    const plan = currentPlan(registry, item)
    const isListed = registry.datasets.get(item.dataset)?.listed === true
    const isKnown = isListed || before.has(item.dataset)
    if (!isKnown || !isOnOffer(offer, plan.priceRub)) throw new ShopRefusal('choice')
  }
  const { later, ...terms } = termsOfChange({
    before: monthPrices(registry, before),
    after: monthPrices(registry, new Map([...before, ...plansOf(items)])),
    now: shop.now(),
    expiresAt,
    anchorDay,
  })
  return {
    ...terms,
    items: items.filter(({ dataset }) => !later.has(dataset)),
    later: items.filter(({ dataset }) => later.has(dataset)),
    expiresAt: terms.months === null ? expiresAt : addMonths(shop.now(), terms.months),
  }
}

/**
 * Orders other plans, for at most the price that was shown. An earlier order of the subscription
 * that still waits expires. Cheaper plans are an order of their own, for the end of the term; it is
 * returned where nothing changes at once.
 *
 * @throws ShopRefusal; not_found for an unknown subscription
 */
export function orderChange(
  shop: Shop,
  subscriptionId: string,
  wanted: readonly Grant[],
  shownRub = Infinity,
): Promise<Placed> {
  return placeOnce(shop, subscriptionId, shownRub, async (inTransaction, { expiresAt }) => {
    const { items, later, amountRub, months } = await quoteChange(
      inTransaction,
      subscriptionId,
      wanted,
    )
    const basedOn = await newestEntry(inTransaction.store, subscriptionId)
    const scheduled = { items: later, months: null, amountRub: 0, takesEffectAt: expiresAt }
    return [scheduled, { items, months, amountRub }].flatMap((order) =>
      order.items.length === 0 ? [] : [{ kind: 'change', basedOn, ...order }],
    )
  })
}

type QuotedOrder = Omit<WantedOrder, 'subscriptionId' | 'email' | 'language' | 'buyer'>

/** Everything in one transaction, then its letters; returns the last of the orders. */
async function placeOnce(
  shop: Shop,
  subscriptionId: string,
  shownRub: number,
  quote: (inTransaction: Shop, subscription: Subscription) => Promise<readonly QuotedOrder[]>,
): Promise<Placed> {
  const placed = await shop.store.write(async (tx) => {
    const inTransaction = { ...shop, store: tx }
    const subscription = await showSubscription(tx, subscriptionId)
    const orders = await quote(inTransaction, subscription)
    if (orders.some(({ amountRub }) => amountRub > shownRub)) throw new ShopRefusal('price')
    const earlier = await ordersOfSubscription(tx, subscriptionId)
    const waiting = earlier.filter(({ state }) => state === 'waiting')
    const again = waiting.find((order) => isPressedAgain(order, orders, shop.now()))
    if (again) return [{ kind: 'waiting', order: again } as const]
    await expire(inTransaction, waiting)
    const { email, language } = subscription
    const buyer = await buyerOf(tx, subscriptionId)
    const facts = { subscriptionId, email, language, buyer }
    return await inOrder(orders, (order) => placeOrder(inTransaction, { ...order, ...facts }))
  })
  shop.sendLetters()
  const last = placed.at(-1)
  if (last === undefined) throw new Error('nothing was ordered')
  return last
}

/** The same again within this time is a second press, and no second order. */
const pressedAgainMs = 10 * 60_000

function isJustNow({ orderedAt }: Order, now: number): boolean {
  return Math.abs(now - orderedAt) < pressedAgainMs
}

function isPressedAgain(waiting: Order, wanted: readonly QuotedOrder[], now: number): boolean {
  const { kind, items, months, amountRub, basedOn } = waiting
  const [order, ...more] = wanted
  const isOne = order !== undefined && more.length === 0 && order.takesEffectAt == null
  if (!isOne || !isJustNow(waiting, now)) return false
  const isSame = order.kind === kind && order.months === months && order.amountRub === amountRub
  return isSame && order.basedOn === basedOn && isDeepStrictEqual(order.items, items)
}

/** A subscription has one order that waits, so that two can't be paid for the same time. */
async function expire({ store, now }: OrderParts, orders: readonly Order[]): Promise<void> {
  for (const { orderId } of orders) {
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

function plansOf(grants: readonly Grant[]): ReadonlyMap<string, string> {
  return new Map(grants.map(({ dataset, plan }) => [dataset, plan]))
}

function monthPrices(registry: Registry, grants: ReadonlyMap<string, string>) {
  return new Map(
    [...grants].map(([dataset, plan]) => [
      dataset,
      currentPlan(registry, { dataset, plan }).priceRub,
    ]),
  )
}
