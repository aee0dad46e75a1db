import { recordAction } from '../../control/audit.js'
import { endOrder, newestEntry } from '../../control/orders.js'
import type { Order } from '../../control/orders.js'
import { dueOrders, moveBasis } from '../../control/scheduled-changes.js'
import type { ControlStore } from '../../control/store/store.js'
import { changeSubscription } from '../../control/subscription-changes.js'
import { ServiceError } from '../../errors.js'

/**
 * Applies changes that were scheduled for the end of a term, once it is over, in the caller's
 * transaction. One that is no longer possible expires: its subscription was cancelled.
 */
export async function applyDueChanges(store: ControlStore, now: number): Promise<void> {
  for (const order of await dueOrders(store, now)) {
    try {
      // A transaction in the transaction: if it fails, only its own writes are undone.
      await store.write((tx) => applyChange(tx, order, now))
    } catch (cause) {
      if (!(cause instanceof ServiceError && cause.code === 'bad_request')) throw cause
      const { orderId } = order
      await endOrder(store, orderId, { state: 'expired', now })
      const details = { reason: cause.detail }
      await recordAction(store, { action: 'order.expired', subject: orderId, details, now })
    }
  }
}

async function applyChange(store: ControlStore, order: Order, now: number): Promise<void> {
  const { orderId, subscriptionId, items } = order
  if (subscriptionId === null) throw new Error(`order ${orderId} has no subscription`)
  const before = await newestEntry(store, subscriptionId)
  await changeSubscription(store, subscriptionId, {
    grants: items.filter(({ plan }) => plan !== ''),
    withdrawn: items.flatMap(({ dataset, plan }) => (plan === '' ? [dataset] : [])),
    orderId,
    now: () => now,
  })
  // The price of an order that waits was computed with this change in mind.
  await moveBasis(store, subscriptionId, before, await newestEntry(store, subscriptionId))
}
