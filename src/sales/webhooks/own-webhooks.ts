import Type from 'typebox'
import { listDeliveries, resendDelivery } from '../../control/hooks/deliveries.js'
import type { Delivery } from '../../control/hooks/deliveries.js'
import {
  addWebhook,
  changeSecret,
  endWebhook,
  eventTypes,
  listWebhooks,
} from '../../control/hooks/webhooks.js'
import type { Webhook } from '../../control/hooks/webhooks.js'
import type { ControlStore } from '../../control/store/store.js'
import { ServiceError, badRequest } from '../../errors.js'
import { shapeReader } from '../../query/read-shape.js'
import { isoTime } from '../../text.js'
import { earlierSecretMs, sendMessage, webhookSecret } from './send-message.js'
import type { MessageParts, Receipt } from './send-message.js'

const types = eventTypes.map((type) => Type.Literal(type))
const typeNames = eventTypes.join(', ')
const NewWebhook = Type.Object(
  {
    url: Type.String({ maxLength: 2000, description: 'an https address of at most 2000 letters' }),
    events: Type.Array(Type.Union(types, { description: `one of ${typeNames}` }), {
      minItems: 1,
      description: `a list of ${typeNames}`,
    }),
    watch: Type.Optional(Type.String({ description: 'the name of a watch list' })),
  },
  { additionalProperties: false, description: 'an object {url, events, watch}' },
)
const readWebhook = shapeReader(NewWebhook, 'the body')

/** The answer of a receiver that wants no more messages. */
export const goneStatus = 410

/** Adds the webhook that somebody described, and returns it with its secret. */
export async function addOwnWebhook(
  store: ControlStore,
  key: Uint8Array,
  subscriptionId: string,
  content: unknown,
  now: number,
) {
  const { url, events, watch = null } = readWebhook(content)
  const wanted = { url: requireHttps(url), events: [...new Set(events)], watch }
  const webhook = await addWebhook(store, { ...wanted, subscriptionId, now })
  return { ...webhookJson(webhook), secret: webhookSecret(key, webhook) }
}

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
  throw new ServiceError('not_found', 'This subscription has no such webhook.')
}

/** Gives a webhook a new secret; the earlier one also signs for a day. */
export async function renewSecret(
  store: ControlStore,
  key: Uint8Array,
  webhook: Webhook,
  now: number,
) {
  const changed = await changeSecret(store, webhook, now)
  const earlierEnds = isoTime(now + earlierSecretMs)
  const secret = webhookSecret(key, changed)
  return { ...webhookJson(changed), secret, previous_valid_until: earlierEnds }
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
  throw new ServiceError('not_found', 'There is no such delivery.')
}

function requireActive({ state }: Webhook): void {
  if (state === 'active') return
  throw badRequest('This webhook has ended: its receiver answered 410. Delete it and add it again.')
}

/** @throws bad_request for what is not a plain https address */
function requireHttps(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.protocol === 'https:' && url.username + url.password + url.hash === ''
  if (url && isPlain) return url.href
  throw badRequest(
    'url must be an https address without a user name, a password and a fragment. ' +
      'Example: https://example.org/hooks',
  )
}

/** A webhook in JSON, without its secret. */
export function webhookJson({ webhookId, url, events, watch, state, createdAt }: Webhook) {
  return { id: webhookId, url, events, watch, state, created_at: isoTime(createdAt) }
}

/** The result of a test in JSON. */
export function testJson({ status, error }: Receipt) {
  return { delivered: error === null, status, error }
}

/** A delivery in JSON. */
export function deliveryJson({ n, type, state, attempts, ...delivery }: Delivery) {
  const { status, error, attemptedAt, createdAt, nextAttemptAt } = delivery
  const nextAt = state === 'waiting' ? isoTime(nextAttemptAt) : null
  const at = isoTime(attemptedAt ?? createdAt)
  return { n, at, status, error, type, state, attempts, next_attempt_at: nextAt }
}
