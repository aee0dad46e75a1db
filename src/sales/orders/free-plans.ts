import type { Grant } from '../../control/grants.js'
import type { Order } from '../../control/orders.js'
import { liveGrantsOfEmail } from '../../control/subscriber-grants.js'
import { planOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { ShopRefusal } from './refusals.js'
import type { OrderParts } from './shop.js'

/**
 * An address has at most one free subscription to a dataset: live ones count, and orders that wait.
 * The ordered subscription itself does not count.
 *
 * @throws ShopRefusal
 */
export async function requireFreeOnce(
  { store, registry, now }: Pick<OrderParts, 'store' | 'registry' | 'now'>,
  wanted: Pick<Order, 'email' | 'items' | 'subscriptionId'>,
  earlier: readonly Order[],
): Promise<void> {
  const current = registry()
  const free = wanted.items.filter((item) => isFree(current, item))
  if (free.length === 0) return
  const isOther = (id: string | null) => id === null || id !== wanted.subscriptionId
  const held = [
    ...(await liveGrantsOfEmail(store, wanted.email, now())),
    ...earlier.flatMap(({ state, subscriptionId, items }) =>
      state === 'waiting' ? items.map((item) => ({ ...item, subscriptionId })) : [],
    ),
  ].filter(({ subscriptionId, ...grant }) => isOther(subscriptionId) && isFree(current, grant))
  const taken = new Set(held.map(({ dataset }) => dataset))
  if (free.some(({ dataset }) => taken.has(dataset))) throw new ShopRefusal('free-taken')
}

function isFree(registry: Registry, grant: Grant): boolean {
  return planOf(registry, grant)?.priceRub === 0
}
