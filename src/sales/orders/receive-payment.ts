import { recordAction } from '../../control/audit.js'
import { showOrder } from '../../control/orders.js'
import type { Order } from '../../control/orders.js'
import { findPayment, insertPayment } from '../../control/payments.js'
import type { Payment, PaymentOutcome } from '../../control/payments.js'
import { ServiceError } from '../../errors.js'
import { isoTime } from '../../text.js'
import { confirmOrder } from './confirm-order.js'
import type { OrderParts, Shop } from './shop.js'

/** A payment as a payment system reports it. */
export type ReportedPayment = Pick<Payment, 'paymentId' | 'orderId' | 'amountRub' | 'paidAt'>

/**
 * Takes a reported payment, once, in one transaction. One of the right amount confirms an order
 * that waits; any other is kept for the owner. The same report again changes nothing.
 *
 * @throws not_found for an unknown order; conflict for a known report with other content
 */
export async function receivePayment(
  shop: Shop,
  reported: ReportedPayment,
): Promise<PaymentOutcome> {
  const result = await shop.store.write(async (tx) => {
    const known = await findPayment(tx, reported.paymentId)
    const { paymentId, orderId, amountRub, paidAt } = reported
    if (known) {
      const isSame = known.orderId === orderId && known.amountRub === amountRub
      if (isSame && known.paidAt === paidAt) return known.outcome
      throw new ServiceError('conflict', conflictText)
    }
    const receivedAt = shop.now()
    const outcome = await settle({ ...shop, store: tx }, await showOrder(tx, orderId), amountRub)
    await insertPayment(tx, { ...reported, receivedAt, outcome })
    await recordAction(tx, {
      action: 'payment.received',
      subject: orderId,
      details: { payment: paymentId, amount_rub: amountRub, paid_at: isoTime(paidAt), outcome },
      now: receivedAt,
    })
    return outcome
  })
  shop.sendLetters()
  return result
}

const conflictText =
  'A report with this webhook-id was received with another order, amount or time. ' +
  'Send each payment under an id of its own.'

async function settle(parts: OrderParts, order: Order, paidRub: number): Promise<PaymentOutcome> {
  if (order.state !== 'waiting') return 'not waiting'
  if (paidRub !== order.amountRub) return 'wrong amount'
  try {
    // A transaction in the transaction: if it fails, only its own writes are undone.
    await confirmOrder(parts, order.orderId)
    return 'confirmed'
  } catch (cause) {
    if (cause instanceof ServiceError && cause.code === 'bad_request') return 'not possible'
    throw cause
  }
}
