import type { Subscription } from '../../../control/subscriptions.js'
import type { TypedCode } from '../../codes.js'
import type { RefusalReason } from '../refusals.js'
import { html } from '../../../portal/html.js'
import type { Html } from '../../../portal/html.js'
import type { PageContext } from '../../../portal/page-context.js'
import { titledPage } from '../../../portal/titled-page.js'
import { codePage, emailField, refusalNote } from './order-pages.js'
import { shopWordsOf } from './shop-words.js'

/** A link to that page where a token is asked for, in a tab of its own; null without mail. */
export function lostTokenLink({ language, link }: PageContext, isMailOn: boolean): Html | null {
  if (!isMailOn) return null
  const address = link('/lost-token')
  return html`<p>
    <a href="${address}" target="_blank" rel="noreferrer">${shopWordsOf(language).lostToken}</a>
  </p>`
}

/** Renders the page that asks for the address of a subscription. */
export function lostTokenPage(
  context: PageContext,
  email: string,
  refusal: RefusalReason | null,
): string {
  const say = shopWordsOf(context.language)
  return titledPage(
    context,
    say.lostToken,
    html`<p class="lead">${say.lostText}</p>
      ${refusalNote(context, refusal)}
      <form class="order" method="post" action="${context.link('/lost-token')}">
        ${emailField(context, email)}
        <p><button type="submit" class="primary">${say.sendCode}</button></p>
      </form>`,
  )
}

/** Renders the page that asks for the code: the same for every address. */
export function lostTokenCodePage(context: PageContext, email: string, codeId: string): string {
  const say = shopWordsOf(context.language)
  const above = html`<p class="lead">${say.codeText(email)}</p>`
  return codePage(context, '/lost-token', codeId, { above, button: say.sendTyped })
}

/** Renders the choice of a subscription, for the reader of the address's mail. */
export function chooseSubscriptionPage(
  context: PageContext,
  typed: TypedCode,
  subscriptions: readonly Subscription[],
): string {
  const say = shopWordsOf(context.language)
  if (subscriptions.length === 0) {
    return titledPage(context, say.lostToken, html`<p class="lead">${say.nothingFound}</p>`)
  }
  return titledPage(
    context,
    say.lostToken,
    html`<form class="order" method="post" action="${context.link('/lost-token/reissue')}">
      ${subscriptionFields(context, { typed, subscriptions, legend: say.chooseText })}
      <p>
        <label><input type="checkbox" name="earlier" value="end" /> ${say.endsEarlier}</label>
      </p>
      <p><button type="submit" class="primary">${say.reissue}</button></p>
    </form>`,
  )
}

/** The choice of a subscription, with the code that lets its reader choose. */
export function subscriptionFields(
  context: PageContext,
  {
    typed: { codeId, code },
    subscriptions,
    legend,
  }: {
    readonly typed: TypedCode
    readonly subscriptions: readonly Subscription[]
    readonly legend: string
  },
): readonly Html[] {
  const choice = (subscription: Subscription, index: number) =>
    subscriptionChoice(context, subscription, index === 0)
  return [
    html`<input type="hidden" name="id" value="${codeId}" />`,
    html`<input type="hidden" name="code" value="${code}" />`,
    html`<fieldset>
      <legend>${legend}</legend>
      ${subscriptions.map(choice)}
    </fieldset>`,
  ]
}

function subscriptionChoice(
  { language }: PageContext,
  { subscriptionId, grants, expiresAt }: Subscription,
  isFirst: boolean,
): Html {
  const say = shopWordsOf(language)
  const plans = grants.map(({ dataset, plan }) => `${dataset} (${plan})`).join(', ')
  return html`<p>
    <label>
      <input
        type="radio"
        name="subscription"
        value="${subscriptionId}"
        ${isFirst ? html`checked` : null}
      />
      ${say.chosen(subscriptionId, plans, say.date(expiresAt))}
    </label>
  </p>`
}
