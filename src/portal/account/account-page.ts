import { html } from '../html.js'
import { layout } from '../layout.js'
import type { PageContext } from '../page-context.js'
import { lostTokenLink } from '../shop/lost-token-pages.js'

/** Renders the page where a subscriber enters a token. The script then shows its account. */
export function accountPage(context: PageContext, isMailOn: boolean): string {
  const { words } = context
  return layout(
    context,
    { title: `${words.account} · ${words.service}`, description: words.accountText },
    html`<section class="about">
      <h1>${words.account}</h1>
      <p class="lead">${words.accountText}</p>
      <noscript><p>${words.needsScriptAccount}</p></noscript>
      ${lostTokenLink(context, isMailOn)}
      <div id="account-app"></div>
    </section>`,
  )
}
