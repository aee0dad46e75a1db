import type { Grant } from './grants.js'
import type { ControlStore } from './store/store.js'

type OrderKind = 'create' | 'extend' | 'change' | 'cancel'

/** What was ordered, and what the subscription was after it; times in ms since the epoch, UTC. */
export interface Order {
  readonly orderedAt: number
  readonly kind: OrderKind
  /** Months that were bought; null where none were. */
  readonly months: number | null
  /** Whole roubles; null where nothing was priced. */
  readonly priceRub: number | null
  readonly grants: readonly Grant[]
  readonly globalRows: number | null
  readonly expiresAt: number
}

type OrderRow = Omit<Order, 'grants'> & { readonly grants: string }

/**
 * Writes down an order and what the subscription is now; called after the change, in its
 * transaction. Orders are never edited: they are what was agreed, whatever the registry says later.
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
  // The text is this file's own, and SQLite checked that it is JSON.
  return rows.map((row) => ({ ...row, grants: JSON.parse(row.grants) as Grant[] }))
}
