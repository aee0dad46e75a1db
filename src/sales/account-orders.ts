import type { Grant } from '../control/grants.js'
import type { Order } from '../control/orders.js'
import { fact, html } from '../portal/html.js'
import type { Html } from '../portal/html.js'
import type { PageContext } from '../portal/page-context.js'
import { titledPage } from '../portal/titled-page.js'
import { wideTable } from '../portal/wide-table.js'
import { grantedTitle, planTitle } from '../registry/registry.js'
import { isoTime } from '../text.js'
import { accountForm, actButton, backToAccount, hidden, placeOf } from './account-form.js'
import type { AccountView } from './account-form.js'
import { accountWords, orderStateText } from './account-words.js'
import { offerOf } from './orders/offer.js'
import { paperOf } from './orders/papers/paper.js'
import { monthsField, termsNote } from './orders/routes/order-pages.js'
import { contactLink } from './orders/routes/plan-way.js'
import { shopWordsOf } from './orders/routes/shop-words.js'
import type { PlanChoice, ShopAccount } from './orders/shop-account.js'
import { howToPay, titleOf } from './orders/shop.js'
import type { Shop } from './orders/shop.js'
import type { ChangeQuote, RenewalQuote } from './orders/subscription-orders.js'

const usualMonths = 12

/** More months, or other plans. */
export type Wanted = { readonly months: number } | { readonly plans: readonly Grant[] }

/** What a subscription can order, and what it ordered. */
export function ordersSection(
  view: AccountView,
  shop: Shop,
  { offer, renewal, choices, orders }: ShopAccount,
): Html {
  const { language } = view.context
  const say = accountWords(language)
  const isClosed = renewal === null && choices.length === 0
  const waiting = orders.filter(({ state }) => state === 'waiting')
  return html`<h3 id="${placeOf(view, 'orders')}">${say.subscriptionOrders}</h3>
    ${isClosed && offer.contact ? html`<p>${say.writeTo} ${contactLink(offer.contact)}.</p>` : null}
    ${renewal === 'early' ? html`<p>${shopWordsOf(language).refusals.early}</p>` : null}
    ${renewal && renewal !== 'early' ? renewForm(view, renewal.months) : null}
    ${choices.length === 0 ? null : changeForm(view, shop, choices)}
    <h4>${say.orders}</h4>
    ${
      orders.length === 0
        ? html`<p class="muted">${say.noOrders}</p>`
        : ordersTable(view, shop, orders)
    }
    ${waiting.map(
      (order) =>
        html`<h5>${shopWordsOf(language).howToPay}: ${order.orderId}</h5>
          <p class="payment">${howToPay(shop, language, order)}</p>`,
    )}`
}

function ordersTable(view: AccountView, shop: Shop, orders: readonly Order[]): Html {
  const { context } = view
  const { words, language } = context
  const say = accountWords(language)
  return wideTable(
    say.orders,
    [say.number, say.orderedOn, say.what, say.amount, say.state, say.receipt],
    orders.map((order) => [
      paperLink(context, shop, order, order.orderId) ?? order.orderId,
      words.day(isoTime(order.orderedAt)),
      say.orderKinds[order.kind],
      amountText(context, order),
      orderStateText(context, order),
      accountForm(
        view,
        'orders',
        html`${hidden('order', order.orderId)}
        ${actButton('receipt', say.receipt, `${say.receipt} ${order.orderId}`)}`,
        'line',
      ),
    ]),
  )
}

/** The invoice or receipt of an order, for who signed in; null for a token, or without one. */
function paperLink(context: PageContext, shop: Shop, order: Order, text: string): Html | null {
  if (context.person === null || paperOf(shop.registry(), order) === null) return null
  return html`<a href="${context.link(`/account/orders/${order.orderId}`)}">${text}</a>`
}

function amountText({ words }: PageContext, { amountRub }: Pick<Order, 'amountRub'>): string {
  return amountRub === 0 ? words.free : words.roubles(amountRub)
}

function renewForm(view: AccountView, fixed: number | null): Html {
  const { language } = view.context
  const [say, shop] = [accountWords(language), shopWordsOf(language)]
  return html`<h4>${say.renew}</h4>
    <p class="muted">${fixed === null ? say.renewText : say.renewFree(shop.monthsText(fixed))}</p>
    ${accountForm(
      view,
      'orders',
      html`${
          fixed === null
            ? monthsField(view.context, usualMonths, placeOf(view, 'months'))
            : hidden('months', fixed)
        }
        <p>${actButton('quote', say.showPrice, `${say.showPrice}: ${say.renew}`)}</p>`,
    )}`
}

function changeForm(view: AccountView, shop: Shop, choices: readonly PlanChoice[]): Html {
  const say = accountWords(view.context.language)
  return html`<h4>${say.change}</h4>
    <p class="muted">${say.changeText}</p>
    ${accountForm(
      view,
      'orders',
      html`${choices.map((choice) => planField(view, shop, choice))}
        <p>${actButton('quote', say.showPrice, `${say.showPrice}: ${say.change}`)}</p>`,
    )}`
}

function planField(view: AccountView, shop: Shop, choice: PlanChoice): Html {
  const { language, words } = view.context
  const say = shopWordsOf(language)
  const { dataset, plans } = choice
  const id = placeOf(view, `plan-${dataset}`)
  const options = plans.map((plan) => {
    const { name, priceRub, rowsPerMonth } = plan
    const price = priceRub === 0 ? words.free : say.aMonth(words.roubles(priceRub))
    const text = say.planChoice(planTitle(language, plan), price, words.number(rowsPerMonth))
    return html`<option value="${dataset}:${name}">${text}</option>`
  })
  return html`<p>
    <label for="${id}">${titleOf(shop, language, dataset)}</label>
    <select id="${id}" name="plan">
      <option value="">${keptText(view, shop, choice)}</option>
      ${options}
    </select>
  </p>`
}

/** What stays where nothing is chosen. */
function keptText(
  { context: { language } }: AccountView,
  shop: Shop,
  { dataset, current, atEnd }: PlanChoice,
): string {
  const say = accountWords(language)
  if (current === null) return say.notAdded
  const titleOfPlan = (plan: string) => grantedTitle(shop.registry(), language, { dataset, plan })
  if (atEnd === current) return say.asNow(titleOfPlan(current))
  return say.asScheduled(titleOfPlan(current), atEnd === null ? say.removed : titleOfPlan(atEnd))
}

/** Renders the price of what is wanted, and what it changes, with the button that orders it. */
export function quotePage(
  view: AccountView,
  shop: Shop,
  wanted: Wanted,
  quote: RenewalQuote | ChangeQuote,
): string {
  const { context } = view
  const { amountRub } = quote
  const say = accountWords(context.language)
  const fields =
    'months' in wanted
      ? hidden('months', wanted.months)
      : wanted.plans.map(({ dataset, plan }) => hidden('plan', `${dataset}:${plan}`))
  const { orderButton, placeOrder } = shopWordsOf(context.language)
  return titledPage(
    context,
    'months' in wanted ? say.renew : say.change,
    html`<p class="lead">
        ${say.price}: ${amountText(context, quote)}. ${effectText(context, shop, quote)}
      </p>
      ${termsNote(context, offerOf(shop))}
      ${accountForm(
        view,
        'orders',
        html`${fields} ${hidden('amount', amountRub)}
          <p>${actButton('order', amountRub === 0 ? orderButton : placeOrder)}</p>`,
      )}
      ${backToAccount(view)}`,
  )
}

function effectText(context: PageContext, shop: Shop, quote: RenewalQuote | ChangeQuote): string {
  const say = accountWords(context.language)
  const end = context.words.day(isoTime(quote.expiresAt))
  if (!('later' in quote)) return say.renewEffect(end)
  const now = quote.months === null ? say.changeEffect(end) : say.changeMoves(end)
  if (quote.later.length === 0) return now
  return `${now} ${say.changeLater(planTexts(context, shop, quote.later).join('; '))}`
}

function planTexts(
  { language }: PageContext,
  shop: Shop,
  items: readonly Grant[],
): readonly string[] {
  const say = accountWords(language)
  return items.map((item) => {
    const plan = item.plan === '' ? say.removed : grantedTitle(shop.registry(), language, item)
    return `${titleOf(shop, language, item.dataset)}: ${plan}`
  })
}

/** Renders an order on a sheet of its own; printed, nothing else of the page is on it. */
export function receiptPage(view: AccountView, shop: Shop, order: Order): string {
  const { context } = view
  const { language, words, base } = context
  const [say, shopSay] = [accountWords(language), shopWordsOf(language)]
  const { orderId, kind, state, months, doneAt, takesEffectAt, payUntil } = order
  const day = (ms: number) => words.day(isoTime(ms))
  const paper = paperOf(shop.registry(), order)
  return titledPage(
    context,
    say.receipt,
    html`<article class="paper">
        <h2>${say.orderNumber(orderId)}</h2>
        <p class="muted">${words.service}, ${new URL(base).host}</p>
        <dl class="facts">
          ${fact(say.orderedOn, day(order.orderedAt))} ${fact(say.what, say.orderKinds[kind])}
          ${fact(say.state, orderStateText(context, order))}
          ${doneAt === null || takesEffectAt !== null ? null : fact(say.doneOn, day(doneAt))}
          ${months === null ? null : fact(shopSay.months, shopSay.monthsText(months))}
          ${fact(say.amount, amountText(context, order))}
          ${state === 'waiting' ? fact(shopSay.payUntil, day(payUntil)) : null}
        </dl>
        <h3>${say.plans}</h3>
        <ul>
          ${planTexts(context, shop, order.items).map((text) => html`<li>${text}</li>`)}
        </ul>
        ${
          state === 'waiting'
            ? html`<h3>${shopSay.howToPay}</h3>
                <p class="payment">${howToPay(shop, language, order)}</p>`
            : null
        }
      </article>
      ${paper && html`<p>${paperLink(context, shop, order, say.papers[paper.kind])}</p>`}
      ${backToAccount(view)}`,
  )
}
