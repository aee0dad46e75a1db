import type { Grant } from './grants.js'
import type { ControlStore } from './store/store.js'

type OrderKind = 'create' | 'extend' | 'change' | 'cancel'

/** An order, and the subscription after it; times in ms since the epoch, UTC. */
export interface Order {
  readonly orderedAt: number
  readonly kind: OrderKind
  /** Months that were bought, or null. */
  readonly months: number | null
  /** Whole roubles; null for an order without a price. */
  readonly priceRub: number | null
  readonly grants: readonly Grant[]
  readonly globalRows: number | null
  readonly expiresAt: number
}

type OrderRow = Omit<Order, 'grants'> & { readonly grants: string }

/**
 * Saves an order and the subscription as it is now; call it after the change, in its transaction.
 * Orders are never edited: they record the agreement, even if the registry changes later.
 */
export function recordOrder(
  store: ControlStore,
  subscriptionId: string,
  order: Pick<Order, 'kind' | 'orderedAt'> & Partial<Pick<Order, 'months' | 'priceRub'>>,
): void {
  const { kind, orderedAt, months = null, priceRub = null } = order
  store.run(
    `INSERT INTO orders
       (subscription_id, ordered_at, kind, months, price_rub, grants, global_rows, expires_at)
     SELECT id, @orderedAt, @kind, @months, @priceRub,
       (SELECT json_group_array(json_object('dataset', dataset, 'plan', plan))
        FROM grants WHERE subscription_id = subscriptions.id),
       global_rows, expires_at
     FROM subscriptions WHERE id = @subscriptionId`,
    { subscriptionId, orderedAt, kind, months, priceRub },
  )
}

/** The orders of a subscription, oldest first. */
export function listOrders(store: ControlStore, subscriptionId: string): Order[] {
  const rows = store.all<OrderRow>(
    `SELECT ordered_at AS orderedAt, kind, months, price_rub AS priceRub, grants,
       global_rows AS globalRows, expires_at AS expiresAt
     FROM orders WHERE subscription_id = @subscriptionId ORDER BY id`,
    { subscriptionId },
  )
  // This file wrote the text, and SQLite checked that it is JSON.
  return rows.map((row) => ({ ...row, grants: JSON.parse(row.grants) as Grant[] }))
}
