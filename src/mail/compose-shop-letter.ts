import type { Language } from '../config.js'
import type { AskedConnection } from '../control/connections/make-connection.js'
import { redirectTarget } from '../control/connections/redirect-target.js'
import { findCode } from '../control/mailed-codes/email-codes.js'
import type { EmailCode } from '../control/mailed-codes/email-codes.js'
import { showOrder } from '../control/orders.js'
import type { Order } from '../control/orders.js'
import { codeLifeMs } from '../control/mailed-codes/code-limits.js'
import { paymentText } from '../registry/shop/payment-text.js'
import type { Registry } from '../registry/registry.js'
import type { LetterParts, Written } from './letter-parts.js'
import { nameGrant } from './name-grant.js'
import { openSecret } from './seal.js'
import { writeShopLetter } from './shop/shop-letter.js'
import type { LetterOrder, ShopTopic } from './shop/shop-content.js'

type OrderLetterKind = 'order-received' | 'order-declined' | 'new-order'

/** Writes a letter about an order, to its buyer or to the owner; drops it when out of date. */
export async function composeOrderLetter(
  { store, source }: LetterParts,
  kind: OrderLetterKind,
  orderId: string,
): Promise<Written> {
  const order = await showOrder(store, orderId)
  const registry = source.registry()
  const { email, language } = order
  const named = nameOrder(registry, order, language)
  if (kind === 'order-declined') {
    return { to: email, language, text: writeShopLetter(language, { kind, order: named }) }
  }
  if (order.state !== 'waiting') return { dropped: `the order is ${order.state}` }
  if (kind === 'order-received') {
    const payment = paymentText(registry?.shop.payment ?? null, language, order)
    return { to: email, language, text: writeShopLetter(language, { kind, order: named, payment }) }
  }
  const owner = registry?.shop.contact ?? null
  if (owner === null) return { dropped: 'the registry has no shop.contact' }
  return { to: owner, language, text: writeShopLetter(language, { kind, order: named, email }) }
}

/** Writes the letter with a code; drops it when the code is used or over. */
export async function composeCodeLetter(
  { store, letter, source, now }: LetterParts,
  codeId: string,
): Promise<Written> {
  const found = await findCode(store, codeId)
  if (found === undefined || found.usedAt !== null || found.createdAt + codeLifeMs <= now) {
    return { dropped: 'the code is over' }
  }
  const code = openSecret(source.key, codeId, letter.sealedSecret ?? Buffer.alloc(0))
  if (code === undefined) {
    return { dropped: "the code can't be opened: mail.key is not the one that it was sealed with" }
  }
  const { email, language } = found
  const site = new URL(source.base).host
  return { to: email, language, text: writeShopLetter(language, codeTopic(found, { code, site })) }
}

function codeTopic(
  { purpose, subject }: EmailCode,
  shown: { readonly code: string; readonly site: string },
): ShopTopic {
  if (purpose !== 'connect') return { kind: 'code', purpose, ...shown }
  // The sign-in wrote the subject.
  const { clientName, redirectUri } = JSON.parse(subject) as AskedConnection
  const target = redirectTarget(redirectUri) ?? { kind: 'computer' }
  return { kind: 'connect-code', ...shown, app: linklessName(clientName), target }
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

function nameOrder(registry: Registry | null, order: Order, language: Language): LetterOrder {
  return { ...order, items: order.items.map((item) => nameGrant(registry, item, language)) }
}
