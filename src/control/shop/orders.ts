import type { Language } from '../../config.js'
import { ServiceError } from '../../errors.js'
import type { Grant } from '../grants.js'
import type { ControlStore } from '../store/store.js'
import { createOrderId } from '../tokens/ids.js'

/** What an order asks for: a subscription, more months of one, or other plans in one. */
export type OrderKind = 'new' | 'renew' | 'change'

export type OrderState = 'waiting' | 'confirmed' | 'declined' | 'expired'

/** What a visitor or a subscriber asked for on the portal; times in ms since the epoch, UTC. */
export interface Order {
  readonly orderId: string
  readonly kind: OrderKind
  readonly state: OrderState
  readonly email: string
  readonly language: Language
  /** Null for a new subscription until the order is confirmed. */
  readonly subscriptionId: string | null
  /** The datasets and plans that are ordered; of a renewal, those that it renews. */
  readonly items: readonly Grant[]
  /** Null for a change, which buys no time. */
  readonly months: number | null
  /** The whole price, in whole roubles. */
  readonly amountRub: number
  /** Of a change: the subscription's newest agreement when its amount was computed. */
  readonly agreementId: number | null
  readonly orderedAt: number
  /** It expires at this time. */
  readonly payUntil: number
  /** When it was confirmed or declined, or had expired. */
  readonly doneAt: number | null
}

export type NewOrder = Omit<Order, 'orderId' | 'state' | 'doneAt'>

type OrderRow = Omit<Order, 'items'> & { readonly items: string }

const columns = `id AS orderId, kind, state, email, language, subscription_id AS subscriptionId,
  items, months, amount_rub AS amountRub, agreement_id AS agreementId, ordered_at AS orderedAt,
  pay_until AS payUntil, done_at AS doneAt`

/** Stores an order that waits, in the caller's transaction. */
export async function insertOrder(store: ControlStore, order: NewOrder): Promise<Order> {
  const orderId = createOrderId(store.random)
  await store.run(
    `INSERT INTO orders (id, kind, state, email, language, subscription_id, items, months,
       amount_rub, agreement_id, ordered_at, pay_until)
     VALUES (@orderId, @kind, 'waiting', @email, @language, @subscriptionId, @items, @months,
       @amountRub, @agreementId, @orderedAt, @payUntil)`,
    { ...order, orderId, items: JSON.stringify(order.items) },
  )
  return { ...order, orderId, state: 'waiting', doneAt: null }
}

/** @throws not_found when there is no such order */
export async function showOrder(store: ControlStore, orderId: string): Promise<Order> {
  const [row] = await store.all<OrderRow>(`SELECT ${columns} FROM orders WHERE id = @orderId`, {
    orderId,
  })
  if (row) return orderOf(row)
  throw new ServiceError('not_found', `There is no order '${orderId}'.`)
}

/** Orders in these states, oldest first. */
export async function listOrders(
  store: ControlStore,
  states: readonly OrderState[],
): Promise<Order[]> {
  const [first = '', second = first, third = first, fourth = first] = states
  return (
    await store.all<OrderRow>(
      `SELECT ${columns} FROM orders
       WHERE state IN (@first, @second, @third, @fourth) ORDER BY ordered_at, id`,
      { first, second, third, fourth },
    )
  ).map(orderOf)
}

/** The orders of a subscription, oldest first. */
export async function ordersOfSubscription(
  store: ControlStore,
  subscriptionId: string,
): Promise<Order[]> {
  return (
    await store.all<OrderRow>(
      `SELECT ${columns} FROM orders WHERE subscription_id = @subscriptionId
       ORDER BY ordered_at, id`,
      { subscriptionId },
    )
  ).map(orderOf)
}

/** The orders of an address since this time, and those that wait, oldest first. */
export async function ordersOfEmail(
  store: ControlStore,
  email: string,
  since: number,
): Promise<Order[]> {
  return (
    await store.all<OrderRow>(
      `SELECT ${columns} FROM orders
       WHERE email = @email AND (state = 'waiting' OR ordered_at > @since)
       ORDER BY ordered_at, id`,
      { email, since },
    )
  ).map(orderOf)
}

/** Saves how an order ended, in the caller's transaction. */
export async function endOrder(
  store: ControlStore,
  orderId: string,
  end: {
    readonly state: Exclude<OrderState, 'waiting'>
    readonly subscriptionId?: string
    readonly now: number
  },
): Promise<void> {
  await store.run(
    `UPDATE orders SET state = @state, done_at = @now,
       subscription_id = coalesce(@subscriptionId, subscription_id)
     WHERE id = @orderId`,
    { orderId, subscriptionId: null, ...end },
  )
}

/** The orders that were not paid in time and still wait. */
export async function overdueOrders(store: ControlStore, now: number): Promise<readonly string[]> {
  const rows = await store.all<{ orderId: string }>(
    `SELECT id AS orderId FROM orders WHERE state = 'waiting' AND pay_until <= @now`,
    { now },
  )
  return rows.map(({ orderId }) => orderId)
}

/** Removes orders that ended before this time without a payment or a subscription of their own. */
export function removeUnpaidOrders(store: ControlStore, before: number): Promise<number> {
  return store.run(
    `DELETE FROM orders WHERE state IN ('declined', 'expired') AND done_at < @before
       AND NOT EXISTS (SELECT 1 FROM payments WHERE order_id = orders.id)`,
    { before },
  )
}

function orderOf(row: OrderRow): Order {
  // This file wrote the text, and the database checked that it is JSON.
  return Object.freeze({ ...row, items: JSON.parse(row.items) as Grant[] })
}
