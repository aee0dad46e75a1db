import { listDeliveries, resendDelivery } from '../../control/hooks/deliveries.js'
import type { Delivery } from '../../control/hooks/deliveries.js'
import { endWebhook, listWebhooks } from '../../control/hooks/webhooks.js'
import type { Webhook } from '../../control/hooks/webhooks.js'
import type { ControlStore } from '../../control/store/store.js'
import { badRequest, notFound } from '../../errors.js'
import { sendMessage } from './send-message.js'
import type { MessageParts, Receipt } from './send-message.js'

/** The answer of a receiver that wants no more messages. */
export const goneStatus = 410

/**
 * A webhook of this subscription, or of any (null); one text for an unknown webhook and for another
 * subscription's.
 * @throws not_found
 */
export async function findWebhook(
  store: ControlStore,
  subscriptionId: string | null,
  id: string,
): Promise<Webhook> {
  const [webhook] = await listWebhooks(store, subscriptionId, id)
  if (webhook) return webhook
  throw notFound('This subscription has no such webhook.')
}

/**
 * Sends a message of the type `test` now, and ends a webhook whose receiver is gone.
 * @throws bad_request for a webhook that has ended
 */
export async function sendTest(
  parts: MessageParts & { readonly store: ControlStore },
  webhook: Webhook,
): Promise<Receipt> {
  requireActive(webhook)
  const id = `msg_${parts.store.random.uuid()}`
  const data = { webhook: webhook.webhookId }
  const receipt = await sendMessage(parts, webhook, { id, type: 'test', data })
  if (receipt.status === goneStatus) await endWebhook(parts.store, webhook, parts.clock.now())
  return receipt
}

/**
 * Makes the delivery of this number due now.
 * @throws not_found; bad_request for a webhook that has ended
 */
export async function resend(
  store: ControlStore,
  webhook: Webhook,
  number: string,
  now: number,
): Promise<Delivery> {
  requireActive(webhook)
  const n = /^\d{1,9}$/.test(number) ? Number(number) : 0
  await resendDelivery(store, webhook.webhookId, n, now)
  const [delivery] = await listDeliveries(store, webhook.webhookId, { upTo: n, limit: 1 })
  if (delivery?.n === n) return delivery
  throw notFound('There is no such delivery.')
}

function requireActive({ state }: Webhook): void {
  if (state === 'active') return
  throw badRequest('This webhook has ended: its receiver answered 410. Delete it and add it again.')
}
