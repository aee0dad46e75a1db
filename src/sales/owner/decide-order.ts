import { findOwner } from '../../access/signed-in.js'
import { endOrderLinks, orderOfLink } from '../../control/order-links.js'
import { showOrder } from '../../control/orders.js'
import type { Order } from '../../control/orders.js'
import { notFound } from '../../errors.js'
import { confirmOrder } from '../orders/confirm-order.js'
import { declineOrder } from '../orders/decline-order.js'
import { isOwner } from '../orders/owners.js'
import type { Shop } from '../orders/shop.js'

/** What an owner does with an order. */
export const decisions = ['confirm', 'decline'] as const
export type Decision = (typeof decisions)[number]

/** The owner whose session this secret of a cookie is: one who still stands in the registry. */
export async function ownerOf(shop: Shop, secret: string | null): Promise<string | null> {
  const email = await findOwner(shop.store, secret, shop.now())
  return email !== null && isOwner(shop.registry(), email) ? email : null
}

/**
 * Confirms or declines an order that waits or has expired, in the name of a signed-in owner.
 * @throws not_found; bad_request when that is not possible
 */
export async function decide(
  shop: Shop,
  orderId: string,
  { decision, by }: { readonly decision: Decision; readonly by: string },
): Promise<void> {
  // A database may refuse other texts.
  if (!/^\w{1,64}$/.test(orderId)) throw notFound('There is no such order.')
  await shop.store.write((tx) => carryOut({ ...shop, store: tx }, orderId, decision, by))
  shop.sendLetters()
}

/** The order of a link's secret; null for one that was used, is over, or is unknown. */
export async function linkedOrder({ store, now }: Shop, secret: string): Promise<Order | null> {
  const orderId = await orderOfLink(store, secret, now())
  return orderId === null ? null : await showOrder(store, orderId)
}

/**
 * Confirms or declines the order of a link, once; null as `linkedOrder`.
 * @throws bad_request when the order can't take effect; the link stays
 */
export async function decideByLink(
  shop: Shop,
  secret: string,
  decision: Decision,
): Promise<Order | null> {
  const done = await shop.store.write(async (tx) => {
    const orderId = await orderOfLink(tx, secret, shop.now())
    if (orderId === null) return null
    await carryOut({ ...shop, store: tx }, orderId, decision, 'link')
    return await showOrder(tx, orderId)
  })
  shop.sendLetters()
  return done
}

async function carryOut(
  shop: Shop,
  orderId: string,
  decision: Decision,
  by: string,
): Promise<void> {
  if (decision === 'confirm') await confirmOrder(shop, orderId, { isLateAccepted: true, by })
  else await declineOrder(shop, orderId, { by })
  await endOrderLinks(shop.store, orderId)
}
