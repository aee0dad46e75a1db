import type { Grant } from '../../control/grants.js'
import { ordersOfSubscription } from '../../control/orders.js'
import type { Order } from '../../control/orders.js'
import { grantsAtEnd, paidDatasets } from '../../control/scheduled-changes.js'
import { showSubscription } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { planOf, plansOf } from '../../registry/registry.js'
import type { Plan, Registry } from '../../registry/registry.js'
import { isOnOffer, offerOf } from './offer.js'
import type { Offer } from './offer.js'
import { ShopRefusal } from './refusals.js'
import type { Shop } from './shop.js'
import { quoteRenewal } from './subscription-orders.js'

/** What a subscription can order now, and what it ordered; for the holder of its token. */
export interface ShopAccount {
  readonly offer: Offer
  /** Null when it can't be renewed here. The shop sets `months` for free plans alone. */
  readonly renewal: { readonly months: number | null } | 'early' | null
  /** The datasets that it can get another plan of, or add. */
  readonly choices: readonly PlanChoice[]
  /** Newest first. */
  readonly orders: readonly Order[]
  readonly canReissue: boolean
}

export interface PlanChoice {
  readonly dataset: string
  /** Null for a dataset that would be added. */
  readonly current: string | null
  /** The plan after what is scheduled, for the end of the term; as `current` without such. */
  readonly atEnd: string | null
  /** The other plans that are on offer; the current one where it takes back what is scheduled. */
  readonly plans: readonly Plan[]
}

/**
 * What a subscription can order, and its orders so far.
 * @throws not_found for an unknown subscription
 */
export async function shopAccount(parts: Shop, subscriptionId: string): Promise<ShopAccount> {
  const { store, isMailOn } = parts
  const registry = parts.registry()
  const subscription = await showSubscription(store, subscriptionId)
  const offer = offerOf(parts)
  return {
    offer,
    renewal: await renewalOf(parts, subscriptionId),
    choices: choicesOf(registry, offer, subscription, {
      atEnd: await grantsAtEnd(store, subscription),
      paid: await paidDatasets(store, subscription),
    }),
    orders: await receiptsOf(parts, subscriptionId),
    canReissue: isMailOn,
  }
}

/** One month more shows whether anything can be ordered. */
async function renewalOf(parts: Shop, subscriptionId: string): Promise<ShopAccount['renewal']> {
  try {
    const { months, amountRub } = await quoteRenewal(parts, subscriptionId, 1)
    return { months: amountRub === 0 ? months : null }
  } catch (cause) {
    if (cause instanceof ShopRefusal) return cause.reason === 'early' ? 'early' : null
    throw cause
  }
}

function choicesOf(
  registry: Registry,
  offer: Offer,
  { grants }: Subscription,
  scheduled: { readonly atEnd: readonly Grant[]; readonly paid: readonly string[] },
): readonly PlanChoice[] {
  const held = new Map(grants.map(({ dataset, plan }) => [dataset, plan]))
  const kept = new Map(scheduled.atEnd.map(({ dataset, plan }) => [dataset, plan]))
  // The price of a change is a difference: every plan must have a price.
  if (grants.some((grant) => !planOf(registry, grant))) return []
  return [...registry.datasets].flatMap(([dataset, entry]) => {
    const current = held.get(dataset) ?? null
    const isClosed = current === null && entry.listed !== true
    if (isClosed || scheduled.paid.includes(dataset)) return []
    const atEnd = kept.get(dataset) ?? null
    const plans = [...plansOf(entry).values()].filter(
      ({ name, priceRub }) => name !== atEnd && isOnOffer(offer, priceRub),
    )
    return plans.length === 0 ? [] : [{ dataset, current, atEnd, plans }]
  })
}

/** What the owner changed at once without a price is no sale. */
async function receiptsOf({ store }: Shop, subscriptionId: string): Promise<readonly Order[]> {
  const orders = await ordersOfSubscription(store, subscriptionId)
  return orders
    .filter(
      ({ byOwner, kind, amountRub, takesEffectAt }) =>
        !byOwner || kind !== 'change' || amountRub > 0 || takesEffectAt !== null,
    )
    .reverse()
}
