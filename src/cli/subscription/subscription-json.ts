import type { Grant } from '../../control/grants.js'
import type { Agreement } from '../../control/agreements.js'
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
export function orderJson(order: Agreement) {
  return {
    ordered_at: isoTime(order.orderedAt),
    kind: order.kind,
    months: order.months,
    price_rub: order.priceRub,
    expires_at: isoTime(order.expiresAt),
    global_rows: order.globalRows,
    grants: order.grants,
  }
}

/** `financials:pro procurement:start` */
export function grantsText(grants: readonly Grant[]): string {
  return grants.map(({ dataset, plan }) => `${dataset}:${plan}`).join(' ')
}
