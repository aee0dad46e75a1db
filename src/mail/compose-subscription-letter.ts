import { connectionState, showConnection } from '../control/connections/connections.js'
import { redirectTarget } from '../control/connections/redirect-target.js'
import { showOrder } from '../control/orders.js'
import type { ControlStore } from '../control/store/store.js'
import { showSubscription } from '../control/subscriptions.js'
import type { Subscription } from '../control/subscriptions.js'
import { listTokens } from '../control/tokens/tokens.js'
import type { LetterParts, Written } from './letter-parts.js'
import type { LetterTopic, Receipt } from './letter-content.js'
import { writeLetter } from './letter.js'
import { nameGrant } from './name-grant.js'
import { openSecret } from './seal.js'

type Topic = { readonly topic: LetterTopic } | { readonly dropped: string }

const dayMs = 24 * 3_600_000

/** Writes a letter to a subscriber; drops it when the subscription is over. */
export async function composeSubscriptionLetter(
  parts: LetterParts,
  subscriptionId: string,
): Promise<Written> {
  const { store, source, now } = parts
  const subscription = await showSubscription(store, subscriptionId)
  if (subscription.cancelledAt !== null) return { dropped: 'the subscription was cancelled' }
  if (subscription.expiresAt <= now) return { dropped: 'the subscription is over' }
  const made = await topicOf(parts, subscription)
  if ('dropped' in made) return made
  const { email, language, grants } = subscription
  const registry = source.registry()
  const named = {
    ...subscription,
    grants: grants.map((grant) => nameGrant(registry, grant, language)),
  }
  return { to: email, language, text: writeLetter(language, named, made.topic) }
}

async function topicOf(parts: LetterParts, subscription: Subscription): Promise<Topic> {
  const { store, letter } = parts
  switch (letter.kind) {
    case 'reminder':
      return reminderTopic(parts, subscription)
    case 'order-confirmed': {
      const receipt = await receiptOf(store, letter.orderId)
      return receipt === null
        ? { dropped: 'the order was removed' }
        : { topic: { kind: 'order-confirmed', receipt } }
    }
    case 'connection-made':
      return await connectionTopic(parts)
    default:
      return await tokenTopic(parts, subscription)
  }
}

function reminderTopic({ letter, now }: LetterParts, { expiresAt }: Subscription): Topic {
  if (letter.expiresAt !== expiresAt) return { dropped: 'the subscription was extended' }
  return { topic: { kind: 'reminder', daysLeft: Math.ceil((expiresAt - now) / dayMs) } }
}

/** Also of a connection that has ended: who made it has read the subscriber's data. */
async function connectionTopic({ store, letter, source, now }: LetterParts): Promise<Topic> {
  if (letter.connectionId === null) return { dropped: 'the connection was removed' }
  const connection = await showConnection(store, letter.connectionId)
  const { clientName, redirectUri, madeBy, connectedAt } = connection
  return {
    topic: {
      kind: 'connection-made',
      app: clientName,
      target: redirectTarget(redirectUri) ?? { kind: 'computer' },
      madeBy,
      connectedAt: connectedAt ?? letter.createdAt,
      isOver: connectionState(connection, now) !== 'live',
      accountUrl: `${source.base}/account`,
    },
  }
}

async function tokenTopic(parts: LetterParts, { subscriptionId }: Subscription): Promise<Topic> {
  const { store, letter, source, now } = parts
  const tokens = await listTokens(store, subscriptionId)
  const own = tokens.find(({ tokenId }) => tokenId === letter.tokenId)
  if (own === undefined || own.revokedAt !== null) return { dropped: 'the token was revoked' }
  if (own.expiresAt !== null) return { dropped: 'a newer token replaced the token' }
  const token = openSecret(source.key, own.tokenId, letter.sealedSecret ?? Buffer.alloc(0))
  if (token === undefined) {
    return { dropped: "the token can't be opened: mail.key is not the one that it was sealed with" }
  }
  const { base } = source
  if (letter.kind !== 'reissued-token') {
    const receipt = await receiptOf(store, letter.orderId)
    return { topic: { kind: 'new-token', token, base, receipt } }
  }
  const ends = tokens.flatMap(({ expiresAt, revokedAt }) =>
    expiresAt !== null && expiresAt > now && revokedAt === null ? [expiresAt] : [],
  )
  const previousValidUntil = ends.length === 0 ? null : Math.max(...ends)
  return { topic: { kind: 'reissued-token', token, base, previousValidUntil } }
}

/** The receipt of a confirmed order; null for a sale without an order. */
async function receiptOf(store: ControlStore, orderId: string | null): Promise<Receipt | null> {
  if (orderId === null) return null
  const { kind, months, amountRub } = await showOrder(store, orderId)
  return { orderId, kind, months, amountRub }
}
