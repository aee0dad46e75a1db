import { html } from '../portal/html.js'
import type { Html } from '../portal/html.js'
import type { PageContext } from '../portal/page-context.js'

/** What a form of the account acts with: a token, or a subscription of who signed in. */
export interface Proof {
  readonly name: 'token' | 'subscription'
  readonly value: string
}

/** A page about one subscription. */
export interface AccountView {
  readonly context: PageContext
  readonly proof: Proof
  readonly subscriptionId: string
}

/** The place of a section on the page. Each subscription of a person has its own. */
export function placeOf({ subscriptionId }: AccountView, section: string): string {
  return `${section}-${subscriptionId}`
}

/** A form that acts for the subscription; its answer is read from a section on. */
export function accountForm(
  view: AccountView,
  section: string,
  content: Html | readonly Html[],
  look: 'order' | 'line' = 'order',
): Html {
  const { context, proof } = view
  const to = `${context.link('/account')}#${placeOf(view, section)}`
  return html`<form class="${look}" method="post" action="${to}">
    ${hidden(proof.name, proof.value)} ${content}
  </form>`
}

/** A field that nobody types. */
export function hidden(name: string, value: string | number): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`
}

/** A button for something that the account does; of an item in a list, its label says of which. */
export function actButton(act: string, text: string, label: string | null = null): Html {
  const named = label === null ? null : html`aria-label="${label}"`
  return html`<button name="act" value="${act}" ${named}>${text}</button>`
}

/** The way back to the account, from a page that answers a form. */
export function backToAccount(view: AccountView): Html {
  const { words, link } = view.context
  if (view.proof.name === 'subscription') {
    return html`<p><a href="${link('/account')}">${words.account}</a></p>`
  }
  return accountForm(view, 'orders', html`<p><button>${words.account}</button></p>`)
}
