import type { Grant } from '../../control/grants.js'
import { orderItemsMax } from '../../control/order-limits.js'
import { planOf } from '../../registry/registry.js'
import type { Plan, Registry } from '../../registry/registry.js'
import { ShopRefusal } from './refusals.js'
import type { Shop } from './shop.js'

/** What visitors may order now. */
export interface Offer {
  readonly free: boolean
  readonly paid: boolean
  readonly terms: string | null
  readonly contact: string | null
}

/** The offer of the registry; without a mail server nothing can be ordered. */
export function offerOf({ registry, isMailOn }: Pick<Shop, 'registry' | 'isMailOn'>): Offer {
  const { free, paid, terms, contact } = registry().shop
  return { free: free && isMailOn, paid: paid && isMailOn, terms, contact }
}

/** Whether a plan of this price can be ordered. */
export function isOnOffer({ free, paid }: Offer, monthRub: number): boolean {
  return monthRub === 0 ? free : paid
}

/**
 * The plans of the chosen items, in their order. Datasets that are not listed are not on offer.
 * @throws ShopRefusal
 */
export function offeredPlans(
  registry: Registry,
  offer: Offer,
  items: readonly Grant[],
): readonly Plan[] {
  const datasets = new Set(items.map(({ dataset }) => dataset))
  if (items.length === 0 || items.length > orderItemsMax || datasets.size < items.length) {
    throw new ShopRefusal('choice')
  }
  return items.map((item) => {
    const plan = planOf(registry, item)
    const isListed = registry.datasets.get(item.dataset)?.listed === true
    if (!plan || !isListed || !isOnOffer(offer, plan.priceRub)) throw new ShopRefusal('choice')
    return plan
  })
}
