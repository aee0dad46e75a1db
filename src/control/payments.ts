import { insertInto, sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'

/** What came of a payment; only `confirmed` confirmed its order. */
export type PaymentOutcome = 'confirmed' | 'wrong amount' | 'not waiting' | 'not possible'

/** A payment that a payment system reported; times in ms since the epoch, UTC. */
export interface Payment {
  /** The payment system's id of the report: the header `webhook-id`. */
  readonly paymentId: string
  readonly orderId: string
  readonly amountRub: number
  readonly paidAt: number
  readonly receivedAt: number
  readonly outcome: PaymentOutcome
}

const columns = sql`id AS "paymentId", order_id AS "orderId", amount_rub AS "amountRub",
  paid_at AS "paidAt", received_at AS "receivedAt", outcome`

/** Stores a report, in the caller's transaction. */
export async function insertPayment(store: ControlStore, payment: Payment): Promise<void> {
  const { paymentId: id, orderId, amountRub, paidAt, receivedAt, outcome } = payment
  const row = { id, orderId, amountRub, paidAt, receivedAt, outcome }
  await store.run(insertInto('payments', row))
}

/** The report with this id; undefined when none came. */
export async function findPayment(
  store: ControlStore,
  paymentId: string,
): Promise<Payment | undefined> {
  const [found] = await store.all<Payment>(
    sql`SELECT ${columns} FROM payments WHERE id = ${paymentId}`,
  )
  return found
}

/** The payments for an order, oldest first. */
export function paymentsOf(store: ControlStore, orderId: string): Promise<Payment[]> {
  return store.all<Payment>(
    sql`SELECT ${columns} FROM payments WHERE order_id = ${orderId} ORDER BY received_at, id`,
  )
}
