import { isIP } from 'node:net'
import Type from 'typebox'
import type { Delivery } from '../../../control/hooks/deliveries.js'
import {
  addWebhook,
  changeSecret,
  earlierSecretMs,
  eventTypes,
} from '../../../control/hooks/webhooks.js'
import type { Webhook } from '../../../control/hooks/webhooks.js'
import type { ControlStore } from '../../../control/store/store.js'
import { badRequest } from '../../../errors.js'
import { shapeReader } from '../../../query/read-shape.js'
import { isoTime } from '../../../text.js'
import { hostOf } from '../../public-host.js'
import { isPublicAddress } from '../../special-addresses.js'
import { webhookSecret } from '../send-message.js'
import type { Receipt } from '../send-message.js'

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

/** @throws bad_request for what is not a plain https address, or is known to be private */
function requireHttps(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.protocol === 'https:' && url.username + url.password + url.hash === ''
  if (!url || !isPlain) {
    throw badRequest(
      'url must be an https address without a user name, a password and a fragment. ' +
        'Example: https://example.org/hooks',
    )
  }
  const host = hostOf(url)
  if (isIP(host) === 0 || isPublicAddress(host)) return url.href
  throw badRequest('url must be the address of a public host: nothing is sent to a private one.')
}

/** A webhook in JSON, without its secret. */
export function webhookJson(webhook: Webhook) {
  const { webhookId, url, events, watch, state, createdAt } = webhook
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
