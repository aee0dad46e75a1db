import type { WatchListSummary } from '../control/hooks/watch-lists.js'
import type { Webhook } from '../control/hooks/webhooks.js'
import { codeBlock } from '../portal/code-block.js'
import { fact, html } from '../portal/html.js'
import type { Html } from '../portal/html.js'
import type { PageContext } from '../portal/page-context.js'
import { payerForm } from '../portal/payer-form.js'
import { signInWords } from '../portal/sign-in-words.js'
import { titledPage } from '../portal/titled-page.js'
import { wideTable } from '../portal/wide-table.js'
import type { AccountDescription } from '../service/answer-schemas.js'
import type { OwnConnection } from '../service/own-connections.js'
import { accountForm, actButton, backToAccount, placeOf } from './account-form.js'
import type { AccountView, Proof } from './account-form.js'
import { connectionsSection, watchListsSection, webhooksSection } from './account-hooks.js'
import type { Typed } from './account-hooks.js'
import { ordersSection } from './account-orders.js'
import { accountWords } from './account-words.js'
import { lostTokenLink } from './orders/routes/lost-token-pages.js'
import { codeFields, refusalNote } from './orders/routes/order-pages.js'
import { shopWordsOf } from './orders/routes/shop-words.js'
import type { RefusalReason } from './orders/refusals.js'
import type { ShopAccount } from './orders/shop-account.js'
import type { Shop } from './orders/shop.js'

/** What a subscription may do, has used and has, for its holder. */
export interface OwnAccount {
  readonly proof: Proof
  readonly description: AccountDescription
  /** Null for the demo token. */
  readonly own: OwnThings | null
  /** What was typed into a form that was refused. */
  readonly typed: Typed
}

interface OwnThings {
  readonly shopAccount: ShopAccount
  readonly connections: readonly OwnConnection[]
  readonly webhooks: readonly Webhook[]
  readonly watchLists: readonly WatchListSummary[]
}

interface Shown {
  /** Those of who signed in, or the one of a token. */
  readonly accounts: readonly OwnAccount[]
  readonly isOfToken: boolean
  /** Why a form was refused. */
  readonly note: Html | null
}

/** Renders the account: of a token, or the subscriptions of a person who signed in. */
export function accountPage(context: PageContext, shop: Shop, shown: Shown): string {
  const { accounts, isOfToken, note } = shown
  const { words, person } = context
  const parts = accounts.map((account) => subscriptionPart(context, shop, account))
  const isPersons = person !== null && !isOfToken
  return titledPage(
    context,
    words.account,
    html`${note}
    ${isPersons ? [...personPart(context, person.email, accounts.length), ...parts] : null}
    ${isPersons ? [everywhereForm(context), html`<h2>${words.token}</h2>`] : null}
    ${tokenPart(context, shop, person === null && !isOfToken && note === null)}
    ${isPersons ? null : parts}`,
    words.accountText,
  )
}

function personPart(context: PageContext, email: string, accounts: number): readonly Html[] {
  const say = signInWords(context.language)
  return [
    html`<p class="lead">${say.signedInAs(email)}</p>`,
    accounts === 0 ? html`<p>${say.noSubscription}</p>` : html`${payerForm(context, true)}`,
  ]
}

function everywhereForm({ language, link }: PageContext): Html {
  const say = signInWords(language)
  return html`<form class="order" method="post" action="${link('/sign-out/everywhere')}">
    <p>
      <button type="submit">${say.everywhere}</button>
      <span class="muted">${say.everywhereText}</span>
    </p>
  </form>`
}

/** Where a token is pasted. With `opens`, the script shows the account of the one in this tab. */
function tokenPart(context: PageContext, { isMailOn }: Shop, opens: boolean): Html {
  const { words, link } = context
  return html`<p class="lead">${words.accountText}</p>
    <form
      id="token-form"
      class="line"
      method="post"
      action="${link('/account')}"
      ${opens ? html`data-opens="true"` : null}
    >
      <label for="token">${words.token}</label>
      <input
        id="token"
        name="token"
        type="password"
        autocomplete="off"
        spellcheck="false"
        pattern="[ -~]*"
        title="${words.notToken}"
        required
      />
      <button class="primary">${words.show}</button>
    </form>
    <p id="kept-token" class="line" hidden>
      ${words.usedFromNow} <button type="button">${words.forget}</button>
    </p>
    ${lostTokenLink(context, isMailOn)}`
}

function subscriptionPart(context: PageContext, shop: Shop, account: OwnAccount): Html {
  const { description, own, proof, typed } = account
  const { words, person, language } = context
  const { subscription, expires_at: end, rate_limit: rate } = description
  const say = signInWords(language)
  const view = { context, proof, subscriptionId: subscription }
  const isPayer = person?.payer?.id === subscription
  return html`<section data-subscription="${subscription}">
    <h2>${say.subscription(subscription)}</h2>
    <dl class="facts">
      ${fact(words.expires, end === null ? words.noEnd : words.day(end))}
      ${fact(words.requestsPerMinute, words.number(rate.per_minute))}
    </dl>
    ${isPayer ? html`<p>${say.pays}</p>` : null} ${usageParts(context, description)}
    ${own && ordersSection(view, shop, own.shopAccount)}
    ${own && connectionsSection(view, own.connections)}
    ${own && webhooksSection(view, own.webhooks, typed)}
    ${own && watchListsSection(view, own.watchLists, typed)}
    ${own?.shopAccount.canReissue ? reissueSection(view) : null}
  </section>`
}

/** The rows of this month by dataset, and of the months before. */
function usageParts({ words }: PageContext, account: AccountDescription): readonly Html[] {
  const { datasets, global, months } = account
  const overAll = global ? [{ name: words.overAll, plan: '', rows: global, ...global }] : []
  const used = months.filter(({ rows }) => rows > 0)
  const most = Math.max(...used.map(({ rows }) => rows))
  const meter = (rows: number, max: number, name: string) =>
    html`<span class="used">
      ${words.number(rows)}
      <meter max="${max}" value="${rows}" aria-label="${words.used}: ${name}"></meter>
    </span>`
  return [
    html`<h3>${words.thisMonth}</h3>`,
    wideTable(
      words.thisMonth,
      [words.dataset, words.plan, words.used, words.left, words.rowsPerMonth, words.resets],
      [...datasets, ...overAll].map(({ name, plan, rows, resets_at: resets }) =>
        rows.limit === null
          ? [name, plan, words.unlimited, '', '', '']
          : [
              name,
              plan,
              meter(rows.used, rows.limit, name),
              words.number(rows.remaining),
              words.number(rows.limit),
              resets === null ? '' : words.day(resets),
            ],
      ),
    ),
    html`<h3>${words.months}</h3>`,
    used.length === 0
      ? html`<p class="muted">${words.noUsage}</p>`
      : wideTable(
          words.months,
          [words.month, words.dataset, words.rows],
          used.map(({ month, dataset, rows }) => {
            const name = words.monthName(month)
            return [name, dataset, meter(rows, most, `${name}, ${dataset}`)]
          }),
        ),
  ]
}

function reissueSection(view: AccountView): Html {
  const { language } = view.context
  const say = accountWords(language)
  return html`<h3 id="${placeOf(view, 'reissue')}">${say.reissue}</h3>
    <p>${say.reissueText}</p>
    ${accountForm(
      view,
      'reissue',
      html`<p>${actButton('code', shopWordsOf(language).sendCode)}</p>`,
    )}`
}

/** Renders the page that asks for the code of a new token. */
export function reissueCodePage(
  view: AccountView,
  codeId: string,
  refusal: RefusalReason | null,
): string {
  const { context } = view
  const say = accountWords(context.language)
  return titledPage(
    context,
    say.reissue,
    html`${refusalNote(context, refusal) ?? html`<p class="lead">${say.codeSent}</p>`}
    ${accountForm(
      view,
      'reissue',
      html`${codeFields(context, codeId)}
        <p>
          <label>
            <input type="checkbox" name="earlier" value="end" />
            ${shopWordsOf(context.language).endsEarlier}
          </label>
        </p>
        <p>${actButton('reissue', say.getToken)}</p>`,
    )}
    ${accountForm(
      view,
      'reissue',
      html`<p>${actButton('code', signInWords(context.language).again)}</p>`,
    )}
    ${backToAccount(view)}`,
  )
}

/** Renders the secret of a webhook, once. */
export function secretPage(view: AccountView, url: string, secret: string): string {
  const { context } = view
  const say = accountWords(context.language)
  return titledPage(
    context,
    say.webhooks,
    html`<p class="lead">${say.secretShown}</p>
      <p>${url}</p>
      ${codeBlock(context.words, secret)} ${backToAccount(view)}`,
  )
}

/** Renders how a test of a webhook ended. */
export function testPage(view: AccountView, url: string, error: string | null): string {
  const { context } = view
  const say = accountWords(context.language)
  return titledPage(
    context,
    say.webhooks,
    html`<p class="lead" role="status">${error ?? say.tested}</p>
      <p>${url}</p>
      ${backToAccount(view)}`,
  )
}
