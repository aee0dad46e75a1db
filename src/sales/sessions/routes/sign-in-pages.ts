import { html } from '../../../portal/html.js'
import type { PageContext } from '../../../portal/page-context.js'
import { signInWords } from '../../../portal/sign-in-words.js'
import { titledPage } from '../../../portal/titled-page.js'
import { codePage, emailField, refusalNote } from '../../orders/routes/order-pages.js'
import { shopWordsOf } from '../../orders/routes/shop-words.js'
import type { RefusalReason } from '../../orders/refusals.js'

/** Renders the page that asks for an address. */
export function signInPage(
  context: PageContext,
  { email, next, refusal }: { email: string; next: string; refusal: RefusalReason | null },
): string {
  const { language, person, canSignIn, link } = context
  const say = signInWords(language)
  if (!canSignIn) return titledPage(context, say.signIn, html`<p class="lead">${say.closed}</p>`)
  return titledPage(
    context,
    say.signIn,
    html`${person && html`<p>${say.signedInAs(person.email)}</p>`}
      <p class="lead">${say.lead}</p>
      ${refusalNote(context, refusal)}
      <form class="order" method="post" action="${link('/sign-in')}">
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
): string {
  const say = signInWords(context.language)
  const shop = shopWordsOf(context.language)
  const above =
    'email' in shown
      ? html`<p class="lead">${shop.codeText(shown.email)} ${say.noLetter}</p>`
      : refusalNote(context, shown.refusal)
  return codePage(context, '/sign-in', codeId, {
    above,
    button: say.signIn,
    below: html`<p><a href="${context.link('/sign-in')}">${say.again}</a></p>`,
  })
}
