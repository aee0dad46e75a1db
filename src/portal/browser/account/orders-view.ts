import type { ChoiceJson, OrderJson, ShopAccountJson } from '../../account-api.js'
import { orderStateText } from '../../account-words-en.js'
import { button, element } from '../element.js'
import { words } from '../page-words.js'
import { statusLine, table } from './account-parts.js'
import { say } from './account-words.js'
import { orderForm } from './order-form.js'
import { amountText, paperLink, receiptView } from './receipt-view.js'

const monthChoices = [1, 3, 6, 12, 24, 36] as const
const usualMonths = 12

/** What the subscription can order and has ordered. `shown` receives it once it is known. */
export function ordersView(token: string, shown: (account: ShopAccountJson) => void): HTMLElement {
  const status = statusLine()
  const place = element('div')
  const load = async () => {
    const answer = await status.ask('/account/orders', token)
    if (answer === null) return
    // The server's `orderWriter` wrote it.
    const account = answer as ShopAccountJson
    place.replaceChildren(...formsOf(account), ...listOf(token, account.orders, showReceipt))
    shown(account)
  }
  const ordered = async (order: OrderJson) => {
    await load()
    showReceipt(order)
  }
  const showReceipt = (order: OrderJson) => {
    const back = () => {
      receipt.replaceWith(place)
      status.line.focus()
    }
    const receipt = receiptView(token, order, back)
    place.replaceWith(receipt)
    receipt.focus()
  }
  const formsOf = (account: ShopAccountJson) => {
    const { renewal, choices, contact, terms } = account
    const common = { token, terms, ordered }
    if (renewal === null && choices.length === 0) return contactNote(contact)
    return [
      renewal && renewForm(renewal, common),
      choices.length === 0 ? null : changeForm(choices, common),
    ].filter((form) => form !== null)
  }
  void load()
  return element(
    'section',
    {},
    element('h2', { id: 'orders' }, say.subscriptionOrders),
    status.line,
    place,
  )
}

function listOf(
  token: string,
  orders: readonly OrderJson[],
  showReceipt: (order: OrderJson) => void,
): readonly HTMLElement[] {
  return [
    element('h3', {}, say.orders),
    orders.length === 0
      ? element('p', { class: 'muted' }, say.noOrders)
      : table(
          say.orders,
          [say.number, say.orderedOn, say.what, say.amount, say.state, say.receipt],
          orders.map((order) => [
            paperLink(token, order) ?? order.number,
            words.day(order.ordered_at),
            say.orderKinds[order.kind],
            amountText(order),
            orderStateText(say, order),
            button(say.receipt, () => showReceipt(order), {
              'aria-label': say.receiptOf(order.number),
            }),
          ]),
        ),
  ]
}

type Common = Pick<Parameters<typeof orderForm>[0], 'token' | 'terms' | 'ordered'>

function contactNote(contact: string | null): readonly HTMLElement[] {
  if (contact === null) return []
  const link = element('a', { href: `mailto:${contact}` }, contact)
  return [element('p', {}, `${say.writeTo} `, link, '.')]
}

function renewForm({ months: fixed }: { readonly months: number | null }, common: Common) {
  const select = element(
    'select',
    { id: 'renew-months' },
    ...monthChoices.map((months) =>
      element('option', { value: months, selected: months === usualMonths }, say.months(months)),
    ),
  )
  const field = element(
    'p',
    { class: 'line' },
    element('label', { for: select.id }, say.time),
    select,
  )
  return orderForm({
    ...common,
    id: 'renew',
    title: say.renew,
    text: fixed === null ? say.renewText : say.renewFree(say.months(fixed)),
    fields: fixed === null ? [field] : [],
    wanted: () => ({ kind: 'renew', months: fixed ?? Number(select.value) }),
    effect: ({ expires_at: end }) => say.renewEffect(say.date(end)),
  })
}

function changeForm(choices: readonly ChoiceJson[], common: Common) {
  const selects = choices.map((choice) => ({ choice, select: planSelect(choice) }))
  return orderForm({
    ...common,
    id: 'change',
    title: say.change,
    text: say.changeText,
    fields: selects.map(({ choice, select }) =>
      element('p', { class: 'line' }, element('label', { for: select.id }, choice.title), select),
    ),
    wanted: () => ({
      kind: 'change',
      plans: selects
        .filter(({ select }) => select.value !== '')
        .map(({ choice, select }) => ({ dataset: choice.dataset, plan: select.value })),
    }),
    effect: ({ expires_at: end, moves_term: isMoved, later }) => {
      const stays = isMoved ? say.changeMoves(say.date(end)) : say.changeEffect(say.date(end))
      const plans = later.map((item) => say.changePlan(item.title, item.plan_title)).join('; ')
      return later.length === 0 ? stays : `${stays} ${say.changeLater(plans)}`
    },
  })
}

function planSelect(choice: ChoiceJson): HTMLSelectElement {
  const { dataset, current, at_end: atEnd, is_scheduled: isScheduled, plans } = choice
  const scheduled = isScheduled ? (atEnd ?? say.removed) : null
  const asNow = scheduled === null ? say.asNow : (plan: string) => say.asScheduled(plan, scheduled)
  const kept = current === null ? say.notAdded : asNow(current)
  const options = plans.map(({ name, title, month_rub: month, rows_per_month: rows }) => {
    const price = month === 0 ? words.free : say.aMonth(words.roubles(month))
    return element('option', { value: name }, say.planChoice(title, price, words.number(rows)))
  })
  return element(
    'select',
    { id: `change-${dataset}` },
    element('option', { value: '' }, kept),
    ...options,
  )
}
