import { russianAccountWords } from '../portal/account-words-ru.js'
import { englishAccountWords } from '../portal/account-words-en.js'
import { orderStateText } from '../portal/account-words-en.js'
import type { AccountWords } from '../portal/account-words-en.js'
import type { OrderJson } from '../portal/account-api.js'
import { fact, html } from '../portal/html.js'
import type { Html } from '../portal/html.js'
import type { PageContext } from '../portal/page-context.js'
import { payerForm } from '../portal/payer-form.js'
import { signInWords } from '../portal/sign-in-words.js'
import { titledPage } from '../portal/titled-page.js'
import { wideTable } from '../portal/wide-table.js'
import type { AccountDescription } from '../service/account.js'
import { lostTokenLink } from './orders/routes/lost-token-pages.js'

/** A live subscription of a person who signed in: rights, usage, orders. */
export interface OwnSubscription {
  readonly account: AccountDescription
  readonly orders: readonly OrderJson[]
}

/**
 * Renders the account: the subscriptions of a person who signed in, and the place where the script
 * takes a token.
 */
export function accountPage(
  context: PageContext,
  owned: readonly OwnSubscription[],
  isMailOn: boolean,
): string {
  const { words, person } = context
  return titledPage(
    context,
    words.account,
    html`${person ? personPart(context, person.email, owned) : null}
      <p class="lead">${words.accountText}</p>
      <noscript><p>${words.needsScriptAccount}</p></noscript>
      ${lostTokenLink(context, isMailOn)}
      <div id="account-app"></div>`,
    words.accountText,
  )
}

function personPart(
  context: PageContext,
  email: string,
  owned: readonly OwnSubscription[],
): readonly Html[] {
  const say = signInWords(context.language)
  return [
    html`<p class="lead">${say.signedInAs(email)}</p>`,
    owned.length === 0 ? html`<p>${say.noSubscription}</p>` : html`${payerForm(context, true)}`,
    html`${owned.map((each) => subscriptionPart(context, each))}`,
    html`<form class="order" method="post" action="${context.link('/sign-out/everywhere')}">
      <p>
        <button type="submit">${say.everywhere}</button>
        <span class="muted">${say.everywhereText}</span>
      </p>
    </form>`,
    html`<h2>${context.words.token}</h2>`,
  ]
}

function subscriptionPart(context: PageContext, { account, orders }: OwnSubscription): Html {
  const { words, person, language } = context
  const { subscription, expires_at: end, datasets, global } = account
  const say = signInWords(language)
  const isPayer = person?.payer?.id === subscription
  const overAll = global ? [{ name: words.overAll, plan: '', rows: global, ...global }] : []
  return html`<section data-subscription="${subscription}">
    <h2>${say.subscription(subscription)}</h2>
    <dl class="facts">${fact(words.expires, end === null ? words.noEnd : words.day(end))}</dl>
    ${isPayer ? html`<p>${say.pays}</p>` : null}
    <h3>${words.thisMonth}</h3>
    ${wideTable(
      words.thisMonth,
      [words.dataset, words.plan, words.used, words.left, words.rowsPerMonth, words.resets],
      [...datasets, ...overAll].map(({ name, plan, rows, resets_at: resets }) => [
        name,
        plan,
        ...[rows.used, rows.remaining, rows.limit].map((count) =>
          count === null ? '' : words.number(count),
        ),
        resets === null ? '' : words.day(resets),
      ]),
    )}
    ${ordersPart(context, orders)}
  </section>`
}

function ordersPart(context: PageContext, orders: readonly OrderJson[]): Html {
  const { words, language } = context
  const say: AccountWords = language === 'ru' ? russianAccountWords : englishAccountWords
  const waiting = orders.filter(({ payment }) => payment !== null)
  return html`<div class="orders">
    <h3>${say.orders}</h3>
    ${
      orders.length === 0
        ? html`<p class="muted">${say.noOrders}</p>`
        : wideTable(
            say.orders,
            [say.number, say.orderedOn, say.what, say.amount, say.state],
            orders.map((order) => [
              order.paper === null
                ? order.number
                : html`<a href="${context.link(`/account/orders/${order.number}`)}"
                    >${order.number}</a
                  >`,
              words.day(order.ordered_at),
              say.orderKinds[order.kind],
              words.roubles(order.amount_rub),
              orderStateText(say, order),
            ]),
          )
    }
    ${waiting.map(
      ({ number, payment }) =>
        html`<h4>${say.howToPay}: ${number}</h4>
          <p class="payment">${payment}</p>`,
    )}
  </div>`
}
