import type { FastifyRequest } from 'fastify'
import type { Subscriber } from '../access/principal.js'
import { entityWords } from './entity-words.js'
import { html } from './html.js'
import type { Html } from './html.js'
import type { PageContext } from './page-context.js'
import { payerForm } from './payer-form.js'
import { signInWords } from './sign-in-words.js'
import { titledPage } from './titled-page.js'

/** Who reads the rows of a page: a visitor for nothing, or a payer, who may first be asked. */
export type Paying =
  | { readonly kind: 'visitor' }
  | { readonly kind: 'payer'; readonly payer: Subscriber }
  | { readonly kind: 'ask' }

/** Decides who pays for a page of a dataset. Who has no grant for it sees what visitors see. */
export function payingFor(
  { person }: Pick<PageContext, 'person'>,
  request: Pick<FastifyRequest, 'headers' | 'method'>,
  dataset: string,
  isFree: boolean,
): Paying {
  if (isFree || person === null || person.subscriptions.length === 0) return { kind: 'visitor' }
  const { payer } = person
  if (payer === null) return { kind: 'ask' }
  if (!payer.grants.has(dataset)) return { kind: 'visitor' }
  return isWanted(request) ? { kind: 'payer', payer } : { kind: 'ask' }
}

/**
 * Whether a person opened the page by an address or a link of this site: a link of another site, or
 * a browser that loads pages ahead, must not cost anything, nor HEAD, which shows nothing.
 */
function isWanted({ headers, method }: Pick<FastifyRequest, 'headers' | 'method'>): boolean {
  const { 'sec-fetch-site': site, 'sec-purpose': purpose } = headers
  return (site === 'same-origin' || site === 'none') && purpose === undefined && method !== 'HEAD'
}

/** Renders what a page would cost, with a button that opens it. It reads no rows. */
export function pricePage(context: PageContext, title: string, price: string): string {
  const { person, root, here } = context
  const say = entityWords(context.language)
  const button = html`<p><a class="button" href="${root}${here}">${say.show}</a></p>`
  return titledPage(
    context,
    title,
    html`<p class="lead">${price}</p>
      ${payerForm(context, true)} ${person?.payer ? button : null}`,
  )
}

/** What a page cost, and the subscription that pays; null for visitors. */
export function paidLine(context: PageContext, paying: Paying, charged: number): Html | null {
  if (paying.kind !== 'payer') return null
  const { language } = context
  const payer = signInWords(language).subscription(paying.payer.id)
  return html`<p class="muted">${entityWords(language).charged(charged)} ${payer}.</p>`
}
