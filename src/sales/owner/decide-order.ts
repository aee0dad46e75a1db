import { findOwner } from '../../access/signed-in.js'
import { whoDid } from '../../control/audit.js'
import { orderOfLink } from '../../control/order-links.js'
import { isOpenOrder, showOrder } from '../../control/orders.js'
import type { Order } from '../../control/orders.js'
import { ServiceError, notFound } from '../../errors.js'
import { confirmOrder } from '../orders/confirm-order.js'
import { declineOrder } from '../orders/decline-order.js'
import { isOwner } from '../orders/owners.js'
import type { Shop } from '../orders/shop.js'

/** What an owner does with an order. */
export const decisions = ['confirm', 'decline'] as const
export type Decision = (typeof decisions)[number]

/** Who did it, in the audit trail, where the link of a letter did. */
export const byLink = 'link'

/** The owner whose session this secret of a cookie is: one who still stands in the registry. */
export async function ownerOf(shop: Shop, secret: string | null): Promise<string | null> {
  const email = await findOwner(shop.store, secret, shop.now())
  return email !== null && isOwner(shop.registry(), email) ? email : null
}

/** An order that was decided, or could not be. */
export type Decided =
  | { readonly kind: 'done'; readonly order: Order }
  /** Someone was earlier. */
  | { readonly kind: 'over'; readonly over: OverOrder }
  /** It can't take effect, and waits on. */
  | { readonly kind: 'impossible'; readonly order: Order; readonly cause: ServiceError }

/** An order that can't be decided, and what the audit trail has of its end. */
export interface OverOrder {
  readonly order: Order
  readonly who: Awaited<ReturnType<typeof whoDid>>
}

/**
 * Confirms or declines an order that waits or was not paid in time, in a signed-in owner's name.
 * @throws not_found
 */
export async function decide(
  shop: Shop,
  orderId: string,
  { decision, by }: { readonly decision: Decision; readonly by: string },
): Promise<Decided> {
  // A database may refuse other texts.
  if (!/^\w{1,64}$/.test(orderId)) throw notFound('There is no such order.')
  const order = await showOrder(shop.store, orderId)
  return await carryOut(shop, order, decision, by)
}

/** The order of a link's secret: one that waits, or is over; null for a link that is unknown. */
export async function linkedOrder(shop: Shop, secret: string): Promise<Order | OverOrder | null> {
  const { store, now } = shop
  const orderId = await orderOfLink(store, secret, now())
  if (orderId === null) return null
  const order = await showOrder(store, orderId)
  return order.state === 'waiting' ? order : await overOrder(shop, order)
}

/** Confirms or declines the order of a link, once; null as `linkedOrder`. */
export async function decideByLink(
  shop: Shop,
  secret: string,
  decision: Decision,
): Promise<Decided | null> {
  const found = await linkedOrder(shop, secret)
  if (found === null) return null
  if ('who' in found) return { kind: 'over', over: found }
  return await carryOut(shop, found, decision, byLink)
}

/** Looks at the order again where it fails: another owner may have been earlier. */
async function carryOut(
  shop: Shop,
  { orderId }: Order,
  decision: Decision,
  by: string,
): Promise<Decided> {
  try {
    const isLateAccepted = by !== byLink
    if (decision === 'confirm') await confirmOrder(shop, orderId, { isLateAccepted, by })
    else await declineOrder(shop, orderId, { by })
  } catch (cause) {
    if (!(cause instanceof ServiceError) || cause.code !== 'bad_request') throw cause
    const order = await showOrder(shop.store, orderId)
    if (isOpenOrder(order)) return { kind: 'impossible', order, cause }
    return { kind: 'over', over: await overOrder(shop, order) }
  }
  shop.sendLetters()
  return { kind: 'done', order: await showOrder(shop.store, orderId) }
}

async function overOrder({ store }: Shop, order: Order): Promise<OverOrder> {
  const ends = ['order.confirmed', 'order.declined', 'order.expired'] as const
  return { order, who: await whoDid(store, order.orderId, ends) }
}
