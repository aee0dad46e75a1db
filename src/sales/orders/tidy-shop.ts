import { recordAction } from '../../control/audit.js'
import { codeWindowMs } from '../../control/mailed-codes/code-limits.js'
import { removeCodes } from '../../control/mailed-codes/email-codes.js'
import { removeOrderLinks } from '../../control/order-links.js'
import { endOrder, overdueOrders, removeUnpaidOrders } from '../../control/orders.js'
import { removeSessions } from '../../control/sessions/sessions.js'
import { unpaidOrderKeptMs } from '../../control/order-limits.js'
import type { OrderParts } from './shop.js'
import { applyDueChanges } from './due-changes.js'

/**
 * Ends orders that were not paid in time, applies changes whose time has come, and removes what is
 * no longer needed: codes after an hour, sessions and links of letters that are over, and orders
 * that ended unpaid after 90 days.
 */
export async function tidyShop({
  store,
  now: clock,
}: Pick<OrderParts, 'store' | 'now'>): Promise<void> {
  await store.write(async (tx) => {
    const now = clock()
    for (const orderId of await overdueOrders(tx, now)) {
      await endOrder(tx, orderId, { state: 'expired', now })
      const details = { reason: 'not paid in time' }
      await recordAction(tx, { action: 'order.expired', subject: orderId, details, now })
    }
    await applyDueChanges(tx, now)
    await removeCodes(tx, { until: now - codeWindowMs, ahead: now + codeWindowMs })
    await removeSessions(tx, now)
    await removeOrderLinks(tx, now)
    await removeUnpaidOrders(tx, now - unpaidOrderKeptMs)
  })
}
