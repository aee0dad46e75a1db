import { sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'

/** The number of a paid order: without gaps within a calendar year, UTC, from 1. */
export interface ReceiptNumber {
  readonly year: number
  readonly number: number
}

/** Takes the next number in the caller's transaction: one that fails leaves no gap. */
export async function nextReceipt(store: ControlStore, now: number): Promise<ReceiptNumber> {
  const year = new Date(now).getUTCFullYear()
  const [row] = await store.all<{ number: number }>(
    sql`INSERT INTO receipt_numbers (year, last) VALUES (${year}, 1)
     ON CONFLICT (year) DO UPDATE SET last = receipt_numbers.last + 1 RETURNING last AS number`,
  )
  if (!row) throw new Error('the database gave no number')
  return { year, number: row.number }
}

/** Keeps the invoice or the receipt of an order, in the caller's transaction. */
export async function keepPaper(
  store: ControlStore,
  orderId: string,
  paper: string,
): Promise<void> {
  await store.run(sql`UPDATE orders SET paper = ${paper} WHERE id = ${orderId}`)
}
