import type { OrderJson } from '../../account-api.js'
import { orderStateText } from '../../account-words-en.js'
import { root } from '../ask-page.js'
import { button, element } from '../element.js'
import { words } from '../page-words.js'
import { sessionMark } from '../tab-store.js'
import { facts, table } from './account-parts.js'
import { say } from './account-words.js'

/** The invoice or receipt of an order, for who signed in; null for a token, or without one. */
export function paperLink(
  token: string,
  { paper, number }: OrderJson,
  text = number,
): HTMLElement | null {
  if (paper === null || !token.startsWith(sessionMark)) return null
  const href = `${root}/account/orders/${number}${location.search}`
  return element('a', { href }, text)
}

/** An order on a sheet of its own; printed, nothing else of the page is on it. */
export function receiptView(token: string, order: OrderJson, back: () => void): HTMLElement {
  const { number, kind, items, months, payment } = order
  const { ordered_at: orderedAt, done_at: doneAt, pay_until: payUntil } = order
  const titleId = 'receipt'
  const paper = order.paper && paperLink(token, order, say.papers[order.paper])
  return element(
    'article',
    { class: 'receipt', tabindex: -1, 'aria-labelledby': titleId },
    element('h3', { id: titleId }, say.orderNumber(number)),
    element('p', { class: 'muted' }, `${words.service}, ${location.host}`),
    facts([
      [say.orderedOn, say.date(orderedAt)],
      [say.what, say.orderKinds[kind]],
      [say.state, orderStateText(say, order)],
      ...(doneAt === null || order.takes_effect_at !== null
        ? []
        : [[say.doneOn, say.date(doneAt)] as const]),
      ...(months === null ? [] : [[say.time, say.months(months)] as const]),
      [say.amount, amountText(order)],
      ...(payUntil === null ? [] : [[say.payUntil, say.date(payUntil)] as const]),
    ]),
    table(
      say.plans,
      [words.dataset, words.plan],
      items.map((item) => [item.title, item.plan === '' ? say.removed : item.plan_title]),
    ),
    ...(payment === null
      ? []
      : [element('h4', {}, say.howToPay), element('p', { class: 'payment' }, payment)]),
    element(
      'p',
      { class: 'line receipt-actions' },
      button(say.print, () => print(), { class: 'primary' }),
      button(say.back, back),
      ...(paper === null ? [] : [paper]),
    ),
  )
}

/** What an order costs. */
export function amountText({ amount_rub: amount }: OrderJson): string {
  return amount === 0 ? words.free : words.roubles(amount)
}
