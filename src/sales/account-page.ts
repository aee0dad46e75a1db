import { russianAccountWords } from '../portal/account-words-ru.js'
import { englishAccountWords } from '../portal/account-words-en.js'
import { orderStateText } from '../portal/account-words-en.js'
import type { AccountWords } from '../portal/account-words-en.js'
import type { OrderJson, WatchListJson, WebhookJson } from '../portal/account-api.js'
import { fact, html } from '../portal/html.js'
import type { Html } from '../portal/html.js'
import type { PageContext } from '../portal/page-context.js'
import { payerForm } from '../portal/payer-form.js'
import { signInWords } from '../portal/sign-in-words.js'
import { titledPage } from '../portal/titled-page.js'
import { wideTable } from '../portal/wide-table.js'
import type { AccountDescription } from '../service/answer-schemas.js'
import { lostTokenLink } from './orders/routes/lost-token-pages.js'

/** A live subscription of a person who signed in: rights, usage, orders. */
export interface OwnSubscription {
  readonly account: AccountDescription
  readonly orders: readonly OrderJson[]
  readonly webhooks: readonly WebhookJson[]
  readonly watchLists: readonly WatchListJson[]
}

/**
 * Renders the account: the subscriptions of a person who signed in, and the place where the script
 * takes a token; `titles` are those of what it may show.
 */
export function accountPage(
  context: PageContext,
  owned: readonly OwnSubscription[],
  isMailOn: boolean,
  titles: ReadonlyMap<string, string>,
): string {
  const { words, person } = context
  return titledPage(
    context,
    words.account,
    html`${person ? personPart(context, person.email, owned) : null}
      <p class="lead">${words.accountText}</p>
      <noscript><p>${words.needsScriptAccount}</p></noscript>
      ${lostTokenLink(context, isMailOn)}
      <div id="account-app" data-titles="${JSON.stringify([...titles])}"></div>`,
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

function subscriptionPart(context: PageContext, own: OwnSubscription): Html {
  const { account, orders } = own
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
    ${ordersPart(context, orders)} ${hooksPart(context, own)}
  </section>`
}

function ordersPart(context: PageContext, orders: readonly OrderJson[]): Html {
  const { words } = context
  const say = accountWords(context)
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

/** Webhooks and watch lists; the script adds what can be done with them. */
function hooksPart(context: PageContext, { webhooks, watchLists }: OwnSubscription): Html {
  const { words } = context
  const say = accountWords(context)
  const hookTitles = [say.url, say.events, say.watchList, say.state]
  const hooks = webhooks.map(({ url, events, watch, state }) => {
    const types = events.map((type) => say.eventTypes[type]).join(', ')
    return [url, types, watch ?? '', say.webhookStates[state]]
  })
  const lists = watchLists.map(({ name, dataset, column, count }) => {
    return [name, dataset, column, words.number(count)]
  })
  const none = (text: string) => html`<p class="muted">${text}</p>`
  return html`<div class="hooks">
    <h3>${say.webhooks}</h3>
    ${hooks.length === 0 ? none(say.noWebhooks) : wideTable(say.webhooks, hookTitles, hooks)}
    <h3>${say.watchLists}</h3>
    ${
      lists.length === 0
        ? none(say.noWatchLists)
        : wideTable(say.watchLists, [say.name, words.dataset, say.column, say.count], lists)
    }
  </div>`
}

function accountWords({ language }: PageContext): AccountWords {
  return language === 'ru' ? russianAccountWords : englishAccountWords
}
