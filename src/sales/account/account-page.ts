import { html } from '../../portal/html.js'
import type { PageContext } from '../../portal/page-context.js'
import { lostTokenLink } from '../orders/pages/lost-token-pages.js'
import { titledPage } from '../../portal/titled-page.js'

/** Renders the page where a subscriber enters a token. The script then shows its account. */
export function accountPage(context: PageContext, isMailOn: boolean): string {
  const { words } = context
  return titledPage(
    context,
    words.account,
    html`<p class="lead">${words.accountText}</p>
      <noscript><p>${words.needsScriptAccount}</p></noscript>
      ${lostTokenLink(context, isMailOn)}
      <div id="account-app"></div>`,
    words.accountText,
  )
}
