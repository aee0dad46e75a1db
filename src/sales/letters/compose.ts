import { sessionCookieAt } from '../../access/session-cookie.js'
import { dayMs } from '../../clock.js'
import type { Language } from '../../config.js'
import { connectionState, showConnection } from '../../control/connections/connections.js'
import type { AskedConnection } from '../../control/connections/make-connection.js'
import { redirectTarget } from '../../control/connections/redirect-target.js'
import type { Grant } from '../../control/grants.js'
import type { Letter } from '../../control/letters.js'
import { codeLifeMs } from '../../control/mailed-codes/code-limits.js'
import { findCode } from '../../control/mailed-codes/email-codes.js'
import { showOrder } from '../../control/orders.js'
import type { ControlStore } from '../../control/store/store.js'
import { showSubscription } from '../../control/subscriptions.js'
import { listTokens } from '../../control/tokens/tokens.js'
import { textIn } from '../../registry/local-text.js'
import { titleIn } from '../../registry/portal-schema.js'
import { grantedTitle, planOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { paymentText } from '../../registry/payment-text.js'
import type { LetterGrant, LetterSubscription, LetterText, LetterTopic, Receipt } from './letter.js'
import type { MailMessage } from './mailer.js'
import { orderReaders } from '../orders/owners.js'
import { paperFor } from './paper-file.js'
import { renderHtml, renderText } from './render.js'
import { openSecret } from './seal.js'
import { writeLetter } from './write-letter.js'

/** The data of letters that is not in the control store. */
export interface LetterSource {
  /** Decrypts sealed tokens and codes. */
  readonly key: Uint8Array
  /** Titles and plans; null when it can't be read: then letters leave them out. */
  readonly registry: () => Registry | null
  /** The server's address for subscribers. */
  readonly base: string
}

/** A message, or the reason why the letter is dropped. */
export type Composed = { readonly message: MailMessage } | Dropped

interface Dropped {
  readonly dropped: string
}

/** What a letter is written from. */
interface LetterParts {
  readonly store: ControlStore
  readonly letter: Letter
  readonly source: LetterSource
  readonly now: number
}

/** What a letter says, and to whom. */
interface Addressed {
  readonly to: string | readonly string[]
  readonly language: Language
  readonly topic: LetterTopic
}

/** Writes a letter with the data of `now`; drops it when it is no longer true. */
export async function composeLetter(
  store: ControlStore,
  letter: Letter,
  source: LetterSource,
  now: number,
): Promise<Composed> {
  const addressed = await addressedTopic({ store, letter, source, now })
  if ('dropped' in addressed) return addressed
  const { to, language, topic } = addressed
  const paper = await paperFor(store, letter, source.registry())
  const text = signed(writeLetter(language, topic), language, source.registry())
  return {
    message: {
      // With the time: a new control.db counts letters from 1 again.
      id: `letter-${letter.letterId}-${letter.createdAt}`,
      to,
      language,
      subject: text.subject,
      text: renderText(text),
      html: renderHtml(text, language),
      ...(paper && { attachments: [paper] }),
      writtenAt: now,
    },
  }
}

/** With the name of the service at the end, where the owner gave it one. */
function signed(letter: LetterText, language: Language, registry: Registry | null): LetterText {
  if (!registry || registry.portal.title === null) return letter
  const name = { kind: 'text', text: titleIn(language, registry.portal) } as const
  return { ...letter, blocks: [...letter.blocks, name] }
}

async function addressedTopic(parts: LetterParts): Promise<Addressed | Dropped> {
  const { kind, subscriptionId, orderId, codeId } = parts.letter
  switch (kind) {
    case 'order-received':
    case 'order-declined':
    case 'new-order':
    case 'order-done':
      return await orderLetter(parts, kind, idOf(orderId))
    case 'code':
      return await codeLetter(parts, idOf(codeId))
    default:
      return await subscriberLetter(parts, idOf(subscriptionId))
  }
}

/** Every letter was queued with the id of what it is about. */
function idOf(id: string | null): string {
  if (id !== null) return id
  throw new Error('a letter is about nothing')
}

/** To a subscriber; dropped when the subscription is over. */
async function subscriberLetter(
  parts: LetterParts,
  subscriptionId: string,
): Promise<Addressed | Dropped> {
  const { store, source, now, letter } = parts
  const found = await showSubscription(store, subscriptionId)
  if (found.cancelledAt !== null) return { dropped: 'the subscription was cancelled' }
  if (found.expiresAt <= now) return { dropped: 'the subscription is over' }
  const { email, language, grants } = found
  const named = grants.map((grant) => nameGrant(source.registry(), grant, language))
  const subscription = { ...found, grants: named }
  const topic = await subscriberTopics[letter.kind]?.(parts, subscription)
  if (!topic) throw new Error(`a letter '${letter.kind}' is not to a subscriber`)
  return 'dropped' in topic ? topic : { to: email, language, topic }
}

type SubscriberTopic = (
  parts: LetterParts,
  subscription: LetterSubscription,
) => Promise<LetterTopic | Dropped>

const subscriberTopics: Readonly<Partial<Record<Letter['kind'], SubscriberTopic>>> = {
  'new-token': tokenTopic,
  'reissued-token': tokenTopic,
  'connection-made': connectionTopic,
  reminder: async ({ letter, now, source }, subscription) => {
    const { expiresAt } = subscription
    if (letter.expiresAt !== expiresAt) return { dropped: 'the subscription was extended' }
    const daysLeft = Math.ceil((expiresAt - now) / dayMs)
    return { kind: 'reminder', subscription, daysLeft, base: source.base }
  },
  'order-confirmed': async ({ store, letter, source }, subscription) => {
    const order = await showOrder(store, idOf(letter.orderId))
    const { state, takesEffectAt: at, items, language } = order
    if (state !== 'confirmed') return { dropped: `the order is ${state}` }
    const named = items.map((item) => nameGrant(source.registry(), item, language))
    const later = at === null ? null : { at, items: named }
    return { kind: 'order-confirmed', subscription, receipt: order, later, base: source.base }
  },
}

/** Also of a connection that has ended: who made it has read the subscriber's data. */
async function connectionTopic(
  { store, letter, source, now }: LetterParts,
  subscription: LetterSubscription,
): Promise<LetterTopic | Dropped> {
  if (letter.connectionId === null) return { dropped: 'the connection was removed' }
  const connection = await showConnection(store, letter.connectionId)
  const { clientName, redirectUri, madeBy, connectedAt } = connection
  return {
    kind: 'connection-made',
    subscription,
    app: clientName,
    target: redirectTarget(redirectUri) ?? { kind: 'computer' },
    madeBy,
    connectedAt: connectedAt ?? letter.createdAt,
    isOver: connectionState(connection, now) !== 'live',
    accountUrl: `${source.base}/account`,
  }
}

async function tokenTopic(
  { store, letter, source, now }: LetterParts,
  subscription: LetterSubscription,
): Promise<LetterTopic | Dropped> {
  const tokens = await listTokens(store, subscription.subscriptionId)
  const issued = tokens.find(({ tokenId }) => tokenId === letter.tokenId)
  if (issued === undefined || issued.revokedAt !== null) return { dropped: 'the token was revoked' }
  if (issued.expiresAt !== null) return { dropped: 'a newer token replaced the token' }
  const token = openSecret(source.key, issued.tokenId, letter.sealedSecret ?? Buffer.alloc(0))
  if (token === undefined) return unopened('token')
  const { base } = source
  if (letter.kind !== 'reissued-token') {
    const receipt = await receiptOf(store, letter.orderId)
    return { kind: 'new-token', subscription, token, base, receipt }
  }
  const ends = tokens.flatMap(({ expiresAt, revokedAt }) =>
    expiresAt !== null && expiresAt > now && revokedAt === null ? [expiresAt] : [],
  )
  const previousValidUntil = ends.length === 0 ? null : Math.max(...ends)
  return { kind: 'reissued-token', subscription, token, base, previousValidUntil }
}

function unopened(what: string): Dropped {
  const why = 'mail.key is not the one that it was sealed with'
  return { dropped: `the ${what} can't be opened: ${why}` }
}

/** The receipt of a confirmed order; null for a sale without an order. */
async function receiptOf(store: ControlStore, orderId: string | null): Promise<Receipt | null> {
  return orderId === null ? null : await showOrder(store, orderId)
}

/** About an order, to its buyer or to the owners; dropped when out of date. */
async function orderLetter(
  { store, source, letter }: LetterParts,
  kind: 'order-received' | 'order-declined' | 'new-order' | 'order-done',
  orderId: string,
): Promise<Addressed | Dropped> {
  const found = await showOrder(store, orderId)
  const registry = source.registry()
  const { email, language, state } = found
  const items = found.items.map((item) => nameGrant(registry, item, language))
  const order = { ...found, items }
  if (kind === 'order-declined') return { to: email, language, topic: { kind, order } }
  if (state !== 'waiting' && kind !== 'order-done') return { dropped: `the order is ${state}` }
  if (kind === 'order-received') {
    const payment = paymentText(registry?.shop.payment ?? null, language, found)
    return { to: email, language, topic: { kind, order, payment } }
  }
  const to = registry && orderReaders(registry)
  if (to === null) return { dropped: 'the registry has no portal.owners and no shop.contact' }
  if (kind === 'order-done') return { to, language, topic: { kind, order, email, state } }
  return { to, language, topic: { kind, order, email, link: orderLink(source, letter, orderId) } }
}

/** The page that confirms the order; its secret is in a part of the address that no server sees. */
function orderLink(
  { base, key, registry }: LetterSource,
  { sealedSecret }: Letter,
  orderId: string,
): string | null {
  if (sealedSecret === null || registry()?.portal.owners.length === 0) return null
  const secret = openSecret(key, orderId, sealedSecret)
  return secret === undefined || !sessionCookieAt(base) ? null : `${base}/owner/order#${secret}`
}

/** With a code; dropped when the code is used or over. */
async function codeLetter(
  { store, letter, source, now }: LetterParts,
  codeId: string,
): Promise<Addressed | Dropped> {
  const found = await findCode(store, codeId)
  if (found === undefined || found.usedAt !== null || found.createdAt + codeLifeMs <= now) {
    return { dropped: 'the code is over' }
  }
  const code = openSecret(source.key, codeId, letter.sealedSecret ?? Buffer.alloc(0))
  if (code === undefined) return unopened('code')
  const { email: to, language, purpose, subject } = found
  const shown = { code, site: new URL(source.base).host }
  if (purpose !== 'connect') return { to, language, topic: { kind: 'code', purpose, ...shown } }
  // The sign-in wrote the subject.
  const { clientName, redirectUri } = JSON.parse(subject) as AskedConnection
  const target = redirectTarget(redirectUri) ?? { kind: 'computer' }
  const app = linklessName(clientName)
  return { to, language, topic: { kind: 'connect-code', ...shown, app, target } }
}

const nameLettersMax = 40

/**
 * A name as a letter to any address may show it. A visitor who is not known chooses both: what
 * mail programs turn into a link, such as `evil.example/gift`, is taken apart.
 */
function linklessName(name: string): string {
  const plain = name.replaceAll(/[^\p{L}\p{M}\p{N}-]+/gu, ' ').trim()
  return [...plain].slice(0, nameLettersMax).join('')
}

/** A grant with the dataset's title and the plan's limits, as far as the registry has them. */
function nameGrant(
  registry: Registry | null,
  { dataset, plan }: Grant,
  language: Language,
): LetterGrant {
  const entry = registry?.datasets.get(dataset)
  const offer = planOf(registry, { dataset, plan }) ?? null
  const title = entry ? textIn(language, entry.title) : dataset
  return { title, dataset, plan: grantedTitle(registry, language, { dataset, plan }), offer }
}
