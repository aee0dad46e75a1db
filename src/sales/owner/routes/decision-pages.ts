import type { Order } from '../../../control/orders.js'
import type { ServiceError } from '../../../errors.js'
import { fact, html } from '../../../portal/html.js'
import type { Html } from '../../../portal/html.js'
import type { PageContext } from '../../../portal/page-context.js'
import { titledPage } from '../../../portal/titled-page.js'
import { isoTime } from '../../../text.js'
import { accountWords } from '../../account-words.js'
import { buyerText, plansText } from '../../orders/papers/paper.js'
import { paperWords } from '../../orders/papers/paper-words.js'
import type { Shop } from '../../orders/shop.js'
import { byLink } from '../decide-order.js'
import type { Decision, OverOrder } from '../decide-order.js'
import { ownerWordsOf } from './owner-words.js'
import type { OwnerWords } from './owner-words.js'

/** A form that confirms or declines an order. */
export function decideForm(
  { language, link }: PageContext,
  path: string,
  fields: Readonly<Record<string, string>>,
): Html {
  const say = ownerWordsOf(language)
  return html`<form method="post" action="${link(path)}">
    ${Object.entries(fields).map(([name, value]) => {
      return html`<input type="hidden" name="${name}" value="${value}" />`
    })}
    <button type="submit" class="primary" name="action" value="confirm">${say.confirm}</button>
    <button type="submit" name="action" value="decline">${say.decline}</button>
  </form>`
}

/** Renders the page of a letter's link: its script sends the secret, which no GET has. */
export function linkPage(context: PageContext): string {
  const { language, link } = context
  const say = ownerWordsOf(language)
  return titledPage(
    context,
    say.title,
    html`<p class="lead">${say.opening} ${ownerLink(context)}.</p>
      <form id="owner-order" method="post" action="${link('/owner/order')}">
        <input type="hidden" name="action" value="show" />
        <input type="hidden" name="secret" value="" />
      </form>`,
  )
}

/** Renders the order of a link, with the buttons that decide, and why it can't be done. */
export function linkedOrderPage(
  context: PageContext,
  shop: Shop,
  order: Order,
  { secret, cause = null }: { readonly secret: string; readonly cause?: ServiceError | null },
): string {
  const { language, words } = context
  const [say, papers] = [ownerWordsOf(language), paperWords(language)]
  return titledPage(
    context,
    say.orderTitle(order.orderId),
    html`${cause && impossibleNote(context, cause)}
      <p class="lead">${say.askText}</p>
      <dl class="facts">
        ${fact(papers.buyer, buyerText(order, papers))}
        ${fact(say.columns.grants, plansText(shop.registry(), language, order))}
        ${order.months === null ? null : fact(say.months, words.number(order.months))}
        ${fact(say.columns.amount_rub, words.roubles(order.amountRub))}
        ${fact(say.payBy, words.day(isoTime(order.payUntil)))}
      </dl>
      ${decideForm(context, '/owner/order', { secret })}`,
  )
}

/** Renders why an order of the owner's page can't be confirmed. */
export function impossiblePage(
  context: PageContext,
  { orderId }: Order,
  cause: ServiceError,
): string {
  const title = ownerWordsOf(context.language).orderTitle(orderId)
  return titledPage(
    context,
    title,
    html`${impossibleNote(context, cause)} ${backToOrders(context)}`,
  )
}

function impossibleNote({ language }: PageContext, { detail }: ServiceError): Html {
  return html`<p class="refusal" role="alert">
    ${ownerWordsOf(language).impossible} <span class="muted" lang="en">${detail}</span>
  </p>`
}

/** Renders what became of an order before: someone else was earlier, or it is too late. */
export function overPage(context: PageContext, { order, who }: OverOrder): string {
  const { language, words } = context
  const say = ownerWordsOf(language)
  const { orderId, state, doneAt } = order
  const at = doneAt === null ? '' : isoTime(doneAt)
  const when = at === '' ? '' : `${words.day(at)}, ${at.slice(11, 16)} UTC`
  return titledPage(
    context,
    say.orderTitle(orderId),
    html`<p class="lead" role="status">
        ${say.over(accountWords(language).orderStates[state], when)} ${howText(say, state, who)}
      </p>
      <p>${say.overText}</p>
      ${backToOrders(context)}`,
  )
}

/** Who decided: an owner, the link of a letter, a payment, or a command. */
function howText(say: OwnerWords, state: Order['state'], who: OverOrder['who']): string | null {
  if (who === null || state === 'expired') return null
  const { actor, by } = who
  if (by !== null) return by === byLink ? say.byLink : say.byOwner(by)
  return actor === 'server' ? say.byPayment : say.byCommand(actor)
}

/** Renders what a link has done. */
export function decidedPage(context: PageContext, orderId: string, decision: Decision): string {
  const say = ownerWordsOf(context.language)
  return titledPage(
    context,
    say.orderTitle(orderId),
    html`<p class="lead" role="status">${say.done[decision]} ${say.doneText}</p>
      ${backToOrders(context)}`,
  )
}

function backToOrders({ language, link }: PageContext): Html {
  return html`<p><a href="${link('/owner')}">${ownerWordsOf(language).title}</a></p>`
}

/** Renders the page of a link whose 14 days are over, or that is unknown: one for both. */
export function goneLinkPage(context: PageContext): string {
  const say = ownerWordsOf(context.language)
  return titledPage(
    context,
    say.goneTitle,
    html`<p class="lead">${say.goneText} ${ownerLink(context)}.</p>`,
  )
}

function ownerLink({ language, link }: PageContext): Html {
  return html`<a href="${link('/owner')}">${ownerWordsOf(language).signIn}</a>`
}
