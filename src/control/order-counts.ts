import { dayMs } from '../clock.js'
import { ordersWhere } from './orders.js'
import type { Order } from './orders.js'
import { sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'

/** Orders of a day, in days since the epoch, UTC. */
export interface DayCount {
  readonly day: number
  readonly orders: number
  readonly amountRub: number
}

/** The paid orders of each day that has any, the owner's too; in order. */
export function paidByDay(store: ControlStore): Promise<readonly DayCount[]> {
  return store.all<DayCount>(
    sql`SELECT done_at / 86400000 AS day, CAST(count(*) AS bigint) AS orders,
       CAST(sum(amount_rub) AS bigint) AS "amountRub"
     FROM orders WHERE state = 'confirmed' AND amount_rub > 0 GROUP BY 1 ORDER BY 1`,
  )
}

/** A day on which an order of the portal with a price was placed, and how and when it ended. */
export interface OrderDays {
  readonly state: string
  readonly orderedDay: number
  /** Null while it waits. */
  readonly doneDay: number | null
  readonly orders: number
}

/** The orders of the portal with a price that were placed or ended on this day or later. */
export function orderDaysSince(store: ControlStore, day: number): Promise<readonly OrderDays[]> {
  const from = day * dayMs
  return store.all<OrderDays>(
    sql`SELECT state, ordered_at / 86400000 AS "orderedDay", done_at / 86400000 AS "doneDay",
       CAST(count(*) AS bigint) AS orders
     FROM orders WHERE by_owner = 0 AND amount_rub > 0
       AND (ordered_at >= ${from} OR done_at >= ${from})
     GROUP BY 1, 2, 3`,
  )
}

/** The newest orders that can be confirmed or declined, and how many there are. */
export async function openOrders(
  store: ControlStore,
  limit: number,
): Promise<{ readonly newest: readonly Order[]; readonly count: number }> {
  // The rule of `isOpenOrder`: an order without a price never waits.
  const isOpen = sql`state IN ('waiting', 'expired') AND amount_rub > 0`
  const newest = sql`SELECT id FROM orders WHERE ${isOpen} ORDER BY ordered_at DESC, id DESC
     LIMIT ${limit}`
  const orders = await ordersWhere(store, sql`id IN (${newest})`)
  const [counted] = await store.all<{ count: number }>(
    sql`SELECT count(*) AS count FROM orders WHERE ${isOpen}`,
  )
  return { newest: orders.reverse(), count: Math.max(counted?.count ?? 0, orders.length) }
}
