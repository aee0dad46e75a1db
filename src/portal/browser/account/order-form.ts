import { button, element, onSubmit } from '../element.js'
import { words } from '../page-words.js'
import type { OrderJson, QuoteJson } from '../../account-api.js'
import { statusLine } from './account-parts.js'
import { say } from './account-words.js'

interface OrderFormParts {
  readonly token: string
  readonly id: 'renew' | 'change'
  readonly title: string
  readonly text: string
  readonly fields: readonly HTMLElement[]
  /** What is wanted now, as the server reads it. */
  readonly wanted: () => object
  /** What will be, after the price. */
  readonly effect: (quote: QuoteJson) => string
  readonly terms: string | null
  readonly ordered: (order: OrderJson) => Promise<void>
}

/** A form that shows the price of what is chosen, and then orders it at that price. */
export function orderForm(parts: OrderFormParts): HTMLElement {
  const { token, id, wanted } = parts
  const status = statusLine()
  const price = element('div')
  const order = async (body: object, { amount_rub: amount }: QuoteJson) => {
    price.querySelector('button')?.setAttribute('disabled', '')
    const request = { method: 'POST', body: { ...body, amount_rub: amount } } as const
    const placed = await status.ask('/account/orders', token, request)
    price.replaceChildren()
    // The server's `orderWriter` wrote it.
    if (placed !== null) await parts.ordered(placed as OrderJson)
  }
  const quote = async () => {
    const body = wanted()
    price.replaceChildren()
    const answer = await status.ask('/account/quotes', token, { method: 'POST', body })
    if (answer === null) return
    const found = answer as QuoteJson
    const amount = found.amount_rub === 0 ? words.free : words.roubles(found.amount_rub)
    status.say(`${say.price}: ${amount}. ${parts.effect(found)}`)
    const text = found.amount_rub === 0 ? say.orderFree : say.order
    price.replaceChildren(
      ...termsNote(parts.terms),
      button(text, () => order(body, found), { class: 'primary' }),
    )
  }
  const form = element(
    'form',
    {},
    ...parts.fields,
    element('p', {}, element('button', {}, say.showPrice)),
  )
  onSubmit(form, quote)
  form.addEventListener('change', () => {
    price.replaceChildren()
    status.say('')
  })
  return element(
    'section',
    {},
    element('h3', { id }, parts.title),
    element('p', { class: 'muted' }, parts.text),
    form,
    status.line,
    price,
  )
}

function termsNote(terms: string | null): readonly HTMLElement[] {
  if (terms === null) return []
  const link = element('a', { href: terms }, say.termsLink)
  return [element('p', { class: 'muted' }, `${say.terms} `, link, '.')]
}
