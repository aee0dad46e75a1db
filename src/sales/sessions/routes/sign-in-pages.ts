import { html } from '../../../portal/html.js'
import type { PageContext } from '../../../portal/page-context.js'
import { signInWords } from '../../../portal/sign-in-words.js'
import { titledPage } from '../../../portal/titled-page.js'
import { codePage, emailField, refusalNote } from '../../orders/routes/order-pages.js'
import { shopWordsOf } from '../../orders/routes/shop-words.js'
import type { RefusalReason } from '../../orders/refusals.js'

/** Where people sign in: a subscriber, or an owner of the shop. */
export type SignInPath = '/sign-in' | '/owner/sign-in'

/** Renders the page that asks for an address. */
export function signInPage(
  context: PageContext,
  { email, next, refusal }: { email: string; next: string; refusal: RefusalReason | null },
  path: SignInPath = '/sign-in',
): string {
  const { language, person, canSignIn, link } = context
  const say = signInWords(language)
  if (!canSignIn) return titledPage(context, say.signIn, html`<p class="lead">${say.closed}</p>`)
  const isOwners = path === '/owner/sign-in'
  return titledPage(
    context,
    isOwners ? say.ownerTitle : say.signIn,
    html`${person && html`<p>${say.signedInAs(person.email)}</p>`}
      <p class="lead">${isOwners ? say.ownerLead : say.lead}</p>
      ${refusalNote(context, refusal)}
      <form class="order" method="post" action="${link(path)}">
        ${emailField(context, email, say.emailHint)}
        <input type="hidden" name="next" value="${next}" />
        <p><button type="submit" class="primary">${shopWordsOf(language).sendCode}</button></p>
      </form>`,
  )
}

/** Renders the page that asks for the code: the same for every address. */
export function signInCodePage(
  context: PageContext,
  codeId: string,
  shown: { readonly email: string } | { readonly refusal: RefusalReason },
  path: SignInPath = '/sign-in',
): string {
  const say = signInWords(context.language)
  const shop = shopWordsOf(context.language)
  const above =
    'email' in shown
      ? html`<p class="lead">${shop.codeText(shown.email)} ${say.noLetter}</p>`
      : refusalNote(context, shown.refusal)
  const again = context.link(path === '/sign-in' ? path : '/owner')
  return codePage(context, path, codeId, {
    above,
    button: say.signIn,
    below: html`<p><a href="${again}">${say.again}</a></p>`,
  })
}
