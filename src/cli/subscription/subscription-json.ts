import type { Grant } from '../../control/grants.js'
import type { Order } from '../../control/orders.js'
import type { Subscription } from '../../control/subscriptions.js'
import { isoTime } from '../../text.js'
import { isoTimeOrNull } from '../print.js'

/** A subscription in JSON output. */
export function subscriptionJson(subscription: Subscription) {
  return {
    subscription: subscription.subscriptionId,
    email: subscription.email,
    language: subscription.language,
    created_at: isoTime(subscription.createdAt),
    expires_at: isoTime(subscription.expiresAt),
    cancelled_at: isoTimeOrNull(subscription.cancelledAt),
    global_rows: subscription.globalRows,
    grants: subscription.grants.map(({ dataset, plan }) => ({ dataset, plan })),
  }
}

/** An order in JSON output. */
export function orderJson({ effect, ...order }: Order) {
  return {
    order: order.orderId,
    kind: order.kind,
    state: order.state,
    email: order.email,
    language: order.language,
    subscription: order.subscriptionId,
    items: order.items,
    months: order.months,
    amount_rub: order.amountRub,
    by_owner: order.byOwner,
    ordered_at: isoTime(order.orderedAt),
    pay_until: isoTime(order.payUntil),
    done_at: isoTimeOrNull(order.doneAt),
    after: effect && {
      grants: effect.grants,
      global_rows: effect.globalRows,
      expires_at: isoTime(effect.expiresAt),
    },
  }
}

/** `financials:pro procurement:start` */
export function grantsText(grants: readonly Grant[]): string {
  return grants.map(({ dataset, plan }) => `${dataset}:${plan}`).join(' ')
}
