import { curlCommand } from '../../../service/client-texts.js'
import type { ShownDataset, ShownPlan } from '../../../service/showcase.js'
import { isOnOffer } from '../offer.js'
import type { TypedBuyer } from '../buyer.js'
import type { Offer } from '../offer.js'
import type { RefusalReason } from '../refusals.js'
import type { Quote } from '../new-order.js'
import { codeBlock } from '../../../portal/code-block.js'
import { html } from '../../../portal/html.js'
import type { Html } from '../../../portal/html.js'
import { signInLink } from '../../../portal/page-context.js'
import type { PageContext } from '../../../portal/page-context.js'
import { titledPage } from '../../../portal/titled-page.js'
import { orderSummary } from './order-summary.js'
import { contactLink } from './plan-way.js'
import { shopWordsOf } from './shop-words.js'

const monthChoices = [1, 3, 6, 12, 24, 36] as const

/** What a visitor has filled in so far. */
export interface OrderForm {
  /** `dataset:plan`. */
  readonly plans: readonly string[]
  readonly months: number
  readonly email: string
  readonly buyer: TypedBuyer
}

interface FormParts {
  readonly datasets: readonly ShownDataset[]
  readonly offer: Offer
  /** What is chosen, with its price; null where it can't be ordered. */
  readonly quote: Quote | null
}

/** Renders the form of an order: plans, months, address, and the total of what is chosen. */
export function orderFormPage(
  context: PageContext,
  { datasets, offer, quote }: FormParts,
  form: OrderForm,
  refusal: RefusalReason | null,
): string {
  const say = shopWordsOf(context.language)
  const isOpen = offer.free || offer.paid
  return titledPage(
    context,
    say.order,
    isOpen
      ? html`<p class="lead">${say.orderText}</p>
          ${refusalNote(context, refusal)}
          <form class="order" method="post" action="${context.link('/order')}">
            ${datasets.map((dataset) => planField(context, dataset, offer, form.plans))}
            ${offer.paid ? monthsField(context, form.months) : null}
            ${emailField(context, form.email)}
            ${offer.paid && context.portal.legal ? buyerFields(context, form.buyer) : null}
            ${termsNote(context, offer)}
            <div id="order-total" role="status">
              ${quote && orderSummary(context, datasets, quote)}
            </div>
            <p>
              <button type="submit" class="primary">${say.sendCode}</button>
              <button type="submit" id="show-total" name="total" value="show" formnovalidate>
                ${say.showTotal}
              </button>
            </p>
          </form>
          <p><a href="${context.link('/lost-token')}">${say.lostToken}</a></p>`
      : closedNote(context, offer),
  )
}

function planField(
  { language, words }: PageContext,
  { name, title, plans }: ShownDataset,
  offer: Offer,
  chosen: readonly string[],
): Html | null {
  const say = shopWordsOf(language)
  const offered = plans.filter((plan) => isOnOffer(offer, plan.monthRub))
  if (offered.length === 0) return null
  const price = ({ monthRub }: ShownPlan) =>
    monthRub === 0 ? say.noCharge : say.aMonth(words.roubles(monthRub))
  const option = (plan: ShownPlan) => {
    const value = `${name}:${plan.name}`
    const mark = chosen.includes(value) ? html`selected` : null
    const text = say.planChoice(plan.title, price(plan), words.number(plan.rowsPerMonth))
    return html`<option value="${value}" ${mark}>${text}</option>`
  }
  return html`<p>
    <label for="plan-${name}">${title}</label>
    <select id="plan-${name}" name="plan">
      <option value="">${say.noPlan}</option>
      ${offered.map(option)}
    </select>
  </p>`
}

/** The choice of months; its parts have ids of their own. */
export function monthsField({ language }: PageContext, chosen: number, id = 'months'): Html {
  const say = shopWordsOf(language)
  const choices = [...monthChoices, chosen].filter((each) => Number.isInteger(each) && each > 0)
  const option = (months: number) => {
    const mark = months === chosen ? html`selected` : null
    return html`<option value="${months}" ${mark}>${say.monthsText(months)}</option>`
  }
  return html`<p>
    <label for="${id}">${say.months}</label>
    <select id="${id}" name="months" aria-describedby="${id}-hint">
      ${[...new Set(choices)].map(option)}
    </select>
    <span class="muted" id="${id}-hint">${say.yearHint}</span>
  </p>`
}

/** The field for the address that a code is sent to, and what else is. */
export function emailField(
  { language }: PageContext,
  email: string,
  hint: string = shopWordsOf(language).emailHint,
): Html {
  const say = shopWordsOf(language)
  return html`<p>
    <label for="email">${say.email}</label>
    <input
      id="email"
      name="email"
      type="email"
      required
      maxlength="254"
      autocomplete="email"
      aria-describedby="email-hint"
      value="${email}"
    />
    <span class="muted" id="email-hint">${hint}</span>
  </p>`
}

/** The fields of a company; left empty by a person. */
function buyerFields({ language }: PageContext, buyer: TypedBuyer): Html {
  const say = shopWordsOf(language)
  const field = (name: keyof TypedBuyer, label: string, isNumber = false) =>
    html`<p>
      <label for="buyer-${name}">${label}</label>
      <input
        id="buyer-${name}"
        name="buyer-${name}"
        maxlength="500"
        ${isNumber ? html`inputmode="numeric"` : null}
        value="${buyer[name]}"
      />
    </p>`
  return html`<fieldset>
    <legend>${say.company}</legend>
    <p class="muted">${say.companyHint}</p>
    ${field('name', say.companyName)} ${field('inn', say.companyInn, true)}
    ${field('kpp', say.companyKpp)} ${field('address', say.companyAddress)}
  </fieldset>`
}

/** The owner's terms; null without them. */
export function termsNote({ language }: PageContext, { terms }: Offer): Html | null {
  if (terms === null) return null
  const say = shopWordsOf(language)
  return html`<p class="muted terms">${say.terms} <a href="${terms}">${say.termsLink}</a>.</p>`
}

function closedNote({ language }: PageContext, { contact }: Offer): Html {
  const say = shopWordsOf(language)
  const write = contact === null ? null : html` ${say.writeTo} ${contactLink(contact)}.`
  return html`<p class="lead">${say.closedText}${write}</p>`
}

/** Renders the page that asks for the code: what is ordered, for how much, and the code. */
export function orderCodePage(
  context: PageContext,
  datasets: readonly ShownDataset[],
  {
    codeId,
    email,
    quote,
  }: { readonly codeId: string; readonly email: string; readonly quote: Quote },
): string {
  const say = shopWordsOf(context.language)
  return codePage(context, '/order', codeId, {
    above: html`<p class="lead">${say.codeText(email)}</p>
      ${orderSummary(context, datasets, quote)}`,
    button: quote.amountRub === 0 ? say.startFree : say.placeOrder,
  })
}

/** The field for a code, and the hidden id of the page that asked for it. */
export function codeFields({ language }: PageContext, codeId: string): Html {
  const say = shopWordsOf(language)
  return html`<input type="hidden" name="id" value="${codeId}" />
    <p>
      <label for="code">${say.code}</label>
      <input
        id="code"
        name="code"
        required
        inputmode="numeric"
        autocomplete="one-time-code"
        maxlength="20"
      />
    </p>`
}

/** Renders a code that was not accepted: the same form again. */
export function codeAgainPage(
  context: PageContext,
  path: '/order' | '/lost-token',
  codeId: string,
  refusal: RefusalReason,
  summary: Html | null,
): string {
  const say = shopWordsOf(context.language)
  return codePage(context, path, codeId, {
    above: html`${refusalNote(context, refusal)} ${summary}`,
    button: say.sendTyped,
    below: html`<p><a href="${context.link(path)}">${say.again}</a></p>`,
  })
}

/** A page whose form sends a code to `path`. */
export function codePage(
  context: PageContext,
  path: '/order' | '/lost-token' | '/sign-in' | '/owner/sign-in',
  codeId: string,
  parts: { readonly above: Html | null; readonly button: string; readonly below?: Html },
): string {
  return titledPage(
    context,
    shopWordsOf(context.language).codeTitle,
    html`${parts.above}
      <form class="order" method="post" action="${context.link(`${path}/code`)}">
        ${codeFields(context, codeId)}
        <p><button type="submit" class="primary">${parts.button}</button></p>
      </form>
      ${parts.below ?? null}`,
  )
}

/** Renders a new token, once. */
export function tokenPage(
  context: PageContext,
  token: string,
  expiresAt: number,
  below: Html | null = null,
): string {
  const say = shopWordsOf(context.language)
  const { words, base } = context
  return titledPage(
    context,
    say.tokenTitle,
    html`<p class="lead">${say.tokenText}</p>
      ${codeBlock(words, token)}
      <p>${say.tokenUntil(say.date(expiresAt))}</p>
      ${portalNote(context)}
      <p>${say.tryIt}</p>
      ${codeBlock(words, curlCommand(`${base}/v1/`, token))}
      <p>${say.mcpAt} <code>${base}/mcp/</code></p>
      ${below}`,
  )
}

/** Where the data is for people, who need no token there. */
function portalNote(context: PageContext): Html | null {
  const { language, canSignIn, person, link } = context
  const { inBrowser, toData, signInFirst } = shopWordsOf(language)
  if (person) return html`<p><a href="${link('/')}">${toData}</a></p>`
  if (!canSignIn) return null
  return html`<p>${inBrowser} <a href="${signInLink(context, '/')}">${signInFirst}</a></p>`
}

/** Why the form was refused, for everybody to notice. */
export function refusalNote({ language }: PageContext, reason: RefusalReason | null): Html | null {
  if (reason === null) return null
  return html`<p class="refusal" role="alert">${shopWordsOf(language).refusals[reason]}</p>`
}
