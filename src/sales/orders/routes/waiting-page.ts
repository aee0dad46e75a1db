import type { Order } from '../../../control/orders.js'
import { fact, html } from '../../../portal/html.js'
import type { Html } from '../../../portal/html.js'
import type { PageContext } from '../../../portal/page-context.js'
import { titledPage } from '../../../portal/titled-page.js'
import type { Paper } from '../papers/paper.js'
import { paperView } from './paper-view.js'
import { shopWordsOf } from './shop-words.js'

/** Renders an order that waits: number, amount, how to pay, and its invoice. */
export function waitingPage(
  context: PageContext,
  order: Order,
  {
    payment,
    paper,
    summary,
  }: { readonly payment: string; readonly paper: Paper | null; readonly summary: Html },
): string {
  const say = shopWordsOf(context.language)
  return titledPage(
    context,
    say.waitingTitle,
    html`<p class="lead">${say.waitingText}</p>
      <dl class="facts">
        ${fact(say.orderNumber, html`<code>${order.orderId}</code>`)}
        ${fact(say.payUntil, say.date(order.payUntil))}
      </dl>
      ${summary}
      <h2>${say.howToPay}</h2>
      <p class="payment">${payment}</p>
      <p>${say.tokenLater}</p>
      ${paper && html`<p class="muted">${say.printHint}</p>`} ${paper && paperView(paper)}`,
  )
}
