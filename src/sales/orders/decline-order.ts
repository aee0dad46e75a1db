import { recordAction } from '../../control/audit.js'
import { queueLetter } from '../../control/letters.js'
import { endOrder, isOpenOrder, showOrder } from '../../control/orders.js'
import type { Order } from '../../control/orders.js'
import { badRequest } from '../../errors.js'
import type { OrderParts } from './shop.js'

/**
 * Declines an order that waits or was not paid in time, finally; buyer and owners get a letter.
 * `by` says who declined it over HTTP.
 * @throws not_found; bad_request for an order that is over
 */
export function declineOrder(
  { store, now: clock }: Pick<OrderParts, 'store' | 'now'>,
  orderId: string,
  { by }: { readonly by?: string } = {},
): Promise<Order> {
  return store.write(async (tx) => {
    const now = clock()
    const order = await showOrder(tx, orderId)
    if (!isOpenOrder(order)) throw badRequest(`Order '${orderId}' is ${order.state}.`)
    await endOrder(tx, orderId, { state: 'declined', now })
    await queueLetter(tx, { kind: 'order-declined', orderId }, now)
    await queueLetter(tx, { kind: 'order-done', orderId }, now)
    const details = by === undefined ? {} : { by }
    await recordAction(tx, { action: 'order.declined', subject: orderId, details, now })
    return await showOrder(tx, orderId)
  })
}
