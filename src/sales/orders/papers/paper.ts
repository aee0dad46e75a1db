import type { Language } from '../../../config.js'
import type { Order } from '../../../control/orders.js'
import { keepPaper } from '../../../control/receipts.js'
import type { ControlStore } from '../../../control/store/store.js'
import { textIn } from '../../../registry/local-text.js'
import { titleIn } from '../../../registry/portal-schema.js'
import type { Legal } from '../../../registry/portal-schema.js'
import { priceRub } from '../../../registry/price.js'
import { grantedTitle, planOf } from '../../../registry/registry.js'
import type { Registry } from '../../../registry/registry.js'
import { paperWords } from './paper-words.js'
import type { PaperWords } from './paper-words.js'
import { sumInWords } from './sum-in-words.js'
import { vatKopecks } from './vat.js'

/**
 * A sheet for a buyer's accounts: the invoice of an order that waits, or the receipt of a paid one.
 * All texts are in the language of the order.
 */
export interface Paper {
  readonly kind: 'invoice' | 'receipt'
  readonly title: string
  /** Seller and buyer. */
  readonly parties: readonly (readonly [name: string, value: string])[]
  readonly headings: readonly [what: string, amount: string]
  /** One for each plan, or one for all of a change. Their sum is the order's amount. */
  readonly lines: readonly (readonly [what: string, amount: string])[]
  /** The sum, its VAT, the sum in words, and until when or what for it is paid. */
  readonly notes: readonly string[]
}

/**
 * The paper of an order, as it was when the order was placed or paid; null for one without a price
 * or that was not paid, and where the registry did not say who sells. The paper of one that the
 * owner entered is made anew.
 */
export function paperOf(registry: Registry | null, order: Order): Paper | null {
  return keptPaper(order) ?? newPaper(registry, order)
}

function keptPaper({ paper }: Order): Paper | null {
  // `writePaper` wrote it.
  return paper === null ? null : (JSON.parse(paper) as Paper)
}

/** Keeps the paper of an order as it is now, in the caller's transaction. */
export async function writePaper(
  store: ControlStore,
  registry: Registry,
  order: Order,
): Promise<void> {
  const paper = newPaper(registry, order)
  if (paper) await keepPaper(store, order.orderId, JSON.stringify(paper))
}

function newPaper(registry: Registry | null, order: Order): Paper | null {
  const legal = registry?.portal.legal
  const { amountRub, receipt, state, orderId, orderedAt, doneAt, payUntil } = order
  if (!registry || !legal || amountRub === 0) return null
  const say = paperWords(order.language)
  if (receipt !== null && doneAt !== null) {
    const number = `${receipt.year}-${receipt.number}`
    const title = say.receiptTitle(number, doneAt)
    return { kind: 'receipt', title, ...content(registry, legal, order, say.paid(orderId)) }
  }
  if (state !== 'waiting') return null
  const title = say.invoiceTitle(orderId, orderedAt)
  return { kind: 'invoice', title, ...content(registry, legal, order, say.payUntil(payUntil)) }
}

function content(
  registry: Registry,
  legal: Legal,
  order: Order,
  note: string,
): Omit<Paper, 'kind' | 'title'> {
  const { language, amountRub } = order
  const say = paperWords(language)
  const amountOf = (roubles: number) => say.kopecks(BigInt(roubles) * 100n)
  const amount = amountOf(amountRub)
  const { vatPercent } = legal
  const vat =
    vatPercent === null
      ? say.noVat
      : say.vat(vatPercent, say.kopecks(vatKopecks(amountRub, vatPercent)))
  return {
    parties: [
      [say.seller, sellerText(legal, order, say)],
      [say.buyer, buyerText(order, say)],
    ],
    headings: [say.what, say.amount],
    // A receipt has those of its invoice: titles and prices may have changed since.
    lines:
      keptPaper(order)?.lines ??
      pricedParts(registry, order).map(([items, roubles]) => [
        subjectOf(registry, { ...order, items }, say),
        amountOf(roubles),
      ]),
    notes: [`${say.total(amount)} ${vat}`, sumInWords(language, amountRub), note],
  }
}

function sellerText(legal: Legal, { language }: Order, say: PaperWords): string {
  const { name, inn, kpp, address, bank, email, phone } = legal
  const [who, where] = [textIn(language, name), textIn(language, address)]
  return joined([
    who,
    say.inn(inn),
    kpp && say.kpp(kpp),
    where,
    bank && textIn(language, bank),
    phone,
    email,
  ])
}

/** Who buys: a company with its details, and the address. */
export function buyerText({ buyer, email }: Order, say: PaperWords): string {
  if (buyer === null) return email
  const { name, inn, kpp, address } = buyer
  return joined([name, say.inn(inn), kpp && say.kpp(kpp), address, email])
}

function joined(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(', ')
}

/** The plans of an order, with the titles of their datasets. */
export function plansText(
  registry: Registry,
  language: Language,
  { items }: Pick<Order, 'items'>,
): string {
  const say = paperWords(language)
  const texts = items.map((item) => {
    const title = registry.datasets.get(item.dataset)?.title ?? item.dataset
    return say.plan(textIn(language, title), grantedTitle(registry, language, item))
  })
  return texts.join('; ')
}

/** The plans of an order, each with its price; all together where these are not its amount. */
function pricedParts(
  registry: Registry,
  { kind, items, months, amountRub }: Order,
): readonly (readonly [items: Order['items'], roubles: number])[] {
  const parts = items.map((item) => {
    const plan = planOf(registry, item)
    return [[item], plan ? priceRub([plan], months ?? 0) : NaN] as const
  })
  const sum = parts.reduce((total, [, roubles]) => total + roubles, 0)
  return kind !== 'change' && sum === amountRub ? parts : [[items, amountRub]]
}

/** What is bought. */
function subjectOf(registry: Registry, order: Order, say: PaperWords): string {
  const { language, months, kind } = order
  const plans = plansText(registry, language, order)
  return say.subject(titleIn(language, registry.portal), kind, plans, months)
}
