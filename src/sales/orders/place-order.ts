import { dayMs } from '../../clock.js'
import type { Language } from '../../config.js'
import { recordAction } from '../../control/audit.js'
import { grantTexts } from '../../control/grants.js'
import type { Grant } from '../../control/grants.js'
import { queueLetter } from '../../control/letters.js'
import { makeOrderLink } from '../../control/order-links.js'
import { insertOrder, ordersOfEmail } from '../../control/orders.js'
import type { NewOrder, Order } from '../../control/orders.js'
import {
  orderLifeMs,
  ordersPerEmailAndDayMax,
  waitingOrdersPerEmailMax,
} from '../../control/order-limits.js'
import { liveGrantsOfEmail } from '../../control/subscriber-grants.js'
import { planOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { isoTime } from '../../text.js'
import { sealSecret } from '../letters/seal.js'
import { confirmOrder } from './confirm-order.js'
import type { Confirmed } from './confirm-order.js'
import { writePaper } from './papers/paper.js'
import { ShopRefusal } from './refusals.js'
import type { OrderParts } from './shop.js'

/** An order that was placed: one without a price is confirmed at once. */
export type Placed =
  | { readonly kind: 'waiting'; readonly order: Order }
  | { readonly kind: 'confirmed'; readonly confirmed: Confirmed }

/** What is ordered, at a price that was shown. */
export interface WantedOrder extends Pick<
  NewOrder,
  'kind' | 'subscriptionId' | 'months' | 'amountRub' | 'basedOn' | 'buyer' | 'takesEffectAt'
> {
  readonly email: string
  readonly language: Language
  readonly items: readonly Grant[]
}

/**
 * Places an order of a verified address, or of a subscription, in one transaction. One without a
 * price is confirmed in it. Any other waits for its payment: its buyer and the owner get a letter.
 *
 * @throws ShopRefusal over the limits of the address, or for a second free plan of a dataset
 */
export async function placeOrder(parts: OrderParts, wanted: WantedOrder): Promise<Placed> {
  return await parts.store.write(async (tx) => {
    const inTransaction = { ...parts, store: tx }
    const now = parts.now()
    const earlier = await ordersOfEmail(tx, wanted.email, now - dayMs)
    requireRoom(earlier, now)
    await requireFreeOnce(inTransaction, wanted, earlier)
    const order = await insertOrder(tx, { ...wanted, orderedAt: now, payUntil: now + orderLifeMs })
    await recordAction(tx, {
      action: 'order.placed',
      subject: order.orderId,
      details: {
        kind: order.kind,
        email: order.email,
        ...(order.subscriptionId !== null && { subscription: order.subscriptionId }),
        items: grantTexts(order.items),
        months: order.months,
        amount_rub: order.amountRub,
        ...(order.takesEffectAt === null
          ? { pay_until: isoTime(order.payUntil) }
          : { takes_effect_at: isoTime(order.takesEffectAt) }),
      },
      now,
    })
    if (order.amountRub === 0) {
      return { kind: 'confirmed', confirmed: await confirmOrder(inTransaction, order.orderId) }
    }
    await writePaper(tx, parts.registry(), order)
    await queueLetter(tx, { kind: 'order-received', orderId: order.orderId }, now)
    await tellOwners(inTransaction, order, now)
    return { kind: 'waiting', order }
  })
}

/** Where the owner's page is, the letter has a link that confirms or declines the order. */
async function tellOwners(
  { store, registry, mailKey }: OrderParts,
  order: Order,
  now: number,
): Promise<void> {
  const { orderId } = order
  const hasPage = registry().portal.owners.length > 0
  const secret = hasPage ? await makeOrderLink(store, order, now) : null
  const sealedSecret = secret === null ? null : sealSecret(store.random, mailKey, orderId, secret)
  await queueLetter(store, { kind: 'new-order', orderId, sealedSecret }, now)
}

function requireRoom(earlier: readonly Order[], now: number): void {
  const waiting = earlier.filter(({ state }) => state === 'waiting')
  const ofDay = earlier.filter(({ orderedAt }) => orderedAt > now - dayMs)
  if (waiting.length >= waitingOrdersPerEmailMax || ofDay.length >= ordersPerEmailAndDayMax) {
    throw new ShopRefusal('too-many-orders')
  }
}

/**
 * An address has at most one free subscription to a dataset: live ones count, and orders that wait
 * for their payment or for the end of a term.
 * The ordered subscription itself does not count.
 *
 * @throws ShopRefusal
 */
async function requireFreeOnce(
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
    ...earlier.flatMap(({ state, takesEffectAt, subscriptionId, items }) =>
      state === 'waiting' || takesEffectAt !== null
        ? items.map((item) => ({ ...item, subscriptionId }))
        : [],
    ),
  ].filter(({ subscriptionId, ...grant }) => isOther(subscriptionId) && isFree(current, grant))
  const taken = new Set(held.map(({ dataset }) => dataset))
  if (free.some(({ dataset }) => taken.has(dataset))) throw new ShopRefusal('free-taken')
}

function isFree(registry: Registry, grant: Grant): boolean {
  return planOf(registry, grant)?.priceRub === 0
}
