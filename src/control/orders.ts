import type { Language } from '../config.js'
import { notFound } from '../errors.js'
import type { Grant } from './grants.js'
import { nextReceipt } from './receipts.js'
import type { ReceiptNumber } from './receipts.js'
import { insertInto, sql, sqlList } from './store/sql.js'
import type { Sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'
import { createId } from './tokens/base62.js'

/** What is ordered: a subscription, more months of one, or other plans in one. */
export type OrderKind = 'new' | 'renew' | 'change'

export type OrderState = 'waiting' | 'confirmed' | 'declined' | 'expired'

/** The subscription as an order left it. */
interface Effect {
  /** Rises in the order in which orders took effect. */
  readonly entry: number
  readonly grants: readonly Grant[]
  /** Rows a month over all datasets; null = no cap. */
  readonly globalRows: number | null
  readonly expiresAt: number
}

/** The company that an order is for, as its invoice names it. */
export interface Buyer {
  readonly name: string
  readonly inn: string
  readonly kpp: string | null
  readonly address: string | null
}

/**
 * An order of a visitor or a subscriber on the portal, or one that the owner entered. Times in ms
 * since the epoch, UTC.
 */
export interface Order {
  readonly orderId: string
  readonly kind: OrderKind
  readonly state: OrderState
  readonly email: string
  readonly language: Language
  /** Null for a new subscription until the order is confirmed. */
  readonly subscriptionId: string | null
  /** What is ordered; of a renewal, what it renews; plan '' = removed at the end of the term. */
  readonly items: readonly Grant[]
  /** Of a change 1 where the term moves to a month from its confirmation, null where it stays. */
  readonly months: number | null
  /** The whole price, in whole roubles. */
  readonly amountRub: number
  /** Of a change on the portal: the subscription's newest entry when its amount was computed. */
  readonly basedOn: number | null
  readonly orderedAt: number
  /** It expires at this time; one that the owner entered took effect at once. */
  readonly payUntil: number
  readonly byOwner: boolean
  /** Null for a person. */
  readonly buyer: Buyer | null
  /** Its invoice or receipt, as JSON of the shop; null for one that has none. */
  readonly paper: string | null
  /** Null until it is paid, and for one without a price. */
  readonly receipt: ReceiptNumber | null
  /** Of a change to something cheaper, until it takes effect: the end of the term. */
  readonly takesEffectAt: number | null
  /** When it was confirmed or declined, or had expired. */
  readonly doneAt: number | null
  /** Null until it takes effect. */
  readonly effect: Effect | null
}

/** Whether an owner may decide it: one that waits, or was not paid in time. */
export function isOpenOrder({ state, amountRub }: Order): boolean {
  // One without a price can't be paid late: it was scheduled, and a newer order replaced it.
  return state === 'waiting' || (state === 'expired' && amountRub > 0)
}

export type NewOrder = Omit<
  Order,
  'orderId' | 'state' | 'byOwner' | 'paper' | 'receipt' | 'takesEffectAt' | 'doneAt' | 'effect'
> &
  Partial<Pick<Order, 'byOwner' | 'takesEffectAt'>>

interface OrderRow extends Omit<
  Order,
  'items' | 'byOwner' | 'buyer' | 'receipt' | 'takesEffectAt' | 'effect'
> {
  readonly items: string
  readonly byOwner: number
  readonly buyer: string | null
  readonly receiptYear: number | null
  readonly receiptNumber: number | null
  readonly entry: number | null
  readonly grants: string | null
  readonly globalRows: number | null
  readonly expiresAt: number | null
}

const columns = sql`id AS "orderId", kind, state, email, language,
  subscription_id AS "subscriptionId", items, months, amount_rub AS "amountRub",
  based_on AS "basedOn", ordered_at AS "orderedAt", pay_until AS "payUntil",
  by_owner AS "byOwner", done_at AS "doneAt", entry, grants, global_rows AS "globalRows",
  expires_at AS "expiresAt", buyer, paper, receipt_year AS "receiptYear",
  receipt_number AS "receiptNumber"`

/** Stores an order that waits, or a confirmed one of the owner, in the caller's transaction. */
export async function insertOrder(store: ControlStore, order: NewOrder): Promise<Order> {
  const orderId = createId(store.random, 'ord')
  const { byOwner = false, takesEffectAt = null, kind, email, language, subscriptionId } = order
  const { months, amountRub, basedOn, orderedAt, payUntil } = order
  const [state, doneAt] = byOwner
    ? (['confirmed', orderedAt] as const)
    : (['waiting', null] as const)
  await store.run(
    insertInto('orders', {
      ...{ id: orderId, kind, state, email, language, subscriptionId },
      ...{ months, amountRub, basedOn, orderedAt, payUntil, doneAt, expiresAt: takesEffectAt },
      items: JSON.stringify(order.items),
      buyer: order.buyer && JSON.stringify(order.buyer),
      byOwner: Number(byOwner),
    }),
  )
  const unpaid = { paper: null, receipt: null, effect: null } as const
  return { ...order, orderId, state, byOwner, takesEffectAt, doneAt, ...unpaid }
}

/** What was sold; `now` in ms since the epoch. */
export interface Sold {
  readonly kind: OrderKind
  /** Left out for a change that keeps the end. */
  readonly months?: number | undefined
  /** Whole roubles; left out = none was agreed. */
  readonly priceRub?: number | undefined
  /** The order of the portal; left out = the owner enters it. */
  readonly orderId?: string | undefined
  readonly now: number
}

const nextEntry = sql`(SELECT coalesce(max(entry), 0) + 1 FROM orders)`

/**
 * Enters what was sold, with the subscription as it is now: call it after the change, in its
 * transaction. An entry is never edited, even if the registry changes later.
 */
export async function enterSale(
  store: ControlStore,
  subscriptionId: string,
  { kind, months, priceRub = 0, orderId, now }: Sold,
): Promise<void> {
  const granted = await store.all<Grant>(
    sql`SELECT dataset, plan FROM grants WHERE subscription_id = ${subscriptionId}
     ORDER BY dataset`,
  )
  const grants = JSON.stringify(granted)
  const receipt = priceRub > 0 ? await nextReceipt(store, now) : null
  const [year, number] = [receipt?.year ?? null, receipt?.number ?? null]
  if (orderId !== undefined) {
    await store.run(
      sql`UPDATE orders SET state = 'confirmed', subscription_id = ${subscriptionId},
         done_at = ${now}, entry = ${nextEntry}, grants = ${grants},
         receipt_year = ${year}, receipt_number = ${number},
         global_rows = (SELECT global_rows FROM subscriptions WHERE id = ${subscriptionId}),
         expires_at = (SELECT expires_at FROM subscriptions WHERE id = ${subscriptionId})
       WHERE id = ${orderId}`,
    )
    return
  }
  const id = createId(store.random, 'ord')
  await store.run(
    sql`INSERT INTO orders (id, kind, state, email, language, subscription_id, items, months,
       amount_rub, ordered_at, pay_until, by_owner, done_at, entry, grants, global_rows, expires_at,
       receipt_year, receipt_number)
     SELECT ${id}, ${kind}, 'confirmed', p.email, s.language, s.id, ${grants}, ${months ?? null},
       ${priceRub}, ${now}, ${now}, 1, ${now}, ${nextEntry}, ${grants}, s.global_rows, s.expires_at,
       ${year}, ${number}
     FROM subscriptions s JOIN subscribers p ON p.id = s.subscriber_id
     WHERE s.id = ${subscriptionId}`,
  )
}

/** The subscription's newest entry; it has one since it was created. */
export async function newestEntry(store: ControlStore, subscriptionId: string): Promise<number> {
  const [newest] = await store.all<{ entry: number | null }>(
    sql`SELECT max(entry) AS entry FROM orders WHERE subscription_id = ${subscriptionId}`,
  )
  return newest?.entry ?? 0
}

/** @throws not_found when there is no such order */
export async function showOrder(store: ControlStore, orderId: string): Promise<Order> {
  const [row] = await store.all<OrderRow>(sql`SELECT ${columns} FROM orders WHERE id = ${orderId}`)
  if (row) return orderOf(row)
  throw notFound(`There is no order '${orderId}'.`)
}

/** Orders in these states, oldest first. */
export function listOrders(store: ControlStore, states: readonly OrderState[]): Promise<Order[]> {
  return ordersWhere(store, sql`state IN (${sqlList(states)})`)
}

/** The orders of a subscription, oldest first. */
export function ordersOfSubscription(
  store: ControlStore,
  subscriptionId: string,
): Promise<Order[]> {
  return ordersWhere(store, sql`subscription_id = ${subscriptionId}`)
}

/** The company that a subscription was last ordered for; null for a person. */
export async function buyerOf(store: ControlStore, subscriptionId: string): Promise<Buyer | null> {
  const orders = await ordersOfSubscription(store, subscriptionId)
  return orders.findLast(({ byOwner }) => !byOwner)?.buyer ?? null
}

/** Orders of an address on the portal since this time, or not yet in effect, oldest first. */
export function ordersOfEmail(store: ControlStore, email: string, since: number): Promise<Order[]> {
  const isTheirs = store.dialect.isEmail(sql`email`, email)
  const isNew = sql`(state IN ('waiting', 'confirmed') AND entry IS NULL OR ordered_at > ${since})`
  return ordersWhere(store, sql`${isTheirs} AND by_owner = 0 AND ${isNew}`)
}

/** An order of an address; undefined for one of another address, and for an unknown one. */
export async function orderOfEmail(
  store: ControlStore,
  email: string,
  orderId: string,
): Promise<Order | undefined> {
  // A database may refuse other texts.
  if (!/^\w{1,64}$/.test(orderId)) return undefined
  const isTheirs = store.dialect.isEmail(sql`email`, email)
  return (await ordersWhere(store, sql`id = ${orderId} AND ${isTheirs}`))[0]
}

/** Orders that a condition of SQL holds for, oldest first. */
export async function ordersWhere(store: ControlStore, condition: Sql): Promise<Order[]> {
  const rows = await store.all<OrderRow>(
    sql`SELECT ${columns} FROM orders WHERE ${condition}
     ORDER BY ordered_at, coalesce(entry, 0), id`,
  )
  return rows.map(orderOf)
}

/** Saves that an order took no effect, in the caller's transaction. */
export async function endOrder(
  store: ControlStore,
  orderId: string,
  { state, now }: { readonly state: 'declined' | 'expired'; readonly now: number },
): Promise<void> {
  await store.run(
    sql`UPDATE orders SET state = ${state}, done_at = ${now}, expires_at = NULL
     WHERE id = ${orderId}`,
  )
}

/** The orders that were not paid in time and still wait. */
export async function overdueOrders(store: ControlStore, now: number): Promise<readonly string[]> {
  const rows = await store.all<{ orderId: string }>(
    sql`SELECT id AS "orderId" FROM orders WHERE state = 'waiting' AND pay_until <= ${now}`,
  )
  return rows.map(({ orderId }) => orderId)
}

/** Removes orders that ended before this time without a payment or a subscription of their own. */
export function removeUnpaidOrders(store: ControlStore, before: number): Promise<number> {
  // Found by an index first: SQLite would read each order that ended.
  return store.run(
    sql`DELETE FROM orders WHERE id IN (
       SELECT id FROM orders WHERE state IN ('declined', 'expired') AND done_at < ${before})
       AND NOT EXISTS (SELECT 1 FROM payments WHERE order_id = orders.id)`,
  )
}

function orderOf(stored: OrderRow): Order {
  const { entry, grants, globalRows, expiresAt, receiptYear, receiptNumber, ...row } = stored
  const effect =
    entry === null || grants === null || expiresAt === null
      ? null
      : { entry, grants: grantsOf(grants), globalRows, expiresAt }
  return Object.freeze({
    ...row,
    items: grantsOf(row.items),
    byOwner: row.byOwner === 1,
    // `insertOrder` wrote it.
    buyer: row.buyer === null ? null : (JSON.parse(row.buyer) as Buyer),
    receipt:
      receiptYear === null || receiptNumber === null
        ? null
        : { year: receiptYear, number: receiptNumber },
    takesEffectAt: entry === null ? expiresAt : null,
    effect,
  })
}

/** This file wrote the text, and the database checked that it is JSON. */
function grantsOf(text: string): readonly Grant[] {
  return JSON.parse(text) as Grant[]
}
