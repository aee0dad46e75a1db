import { html } from './html.js'
import { layout } from './layout.js'
import type { PageContext } from './page-context.js'

/** Renders the page where a subscriber enters a token. The script then shows its account. */
export function usagePage(context: PageContext): string {
  const { words } = context
  return layout(
    context,
    { title: `${words.usage} · ${words.service}`, description: words.usageText },
    html`<section class="about">
      <h1>${words.usage}</h1>
      <p class="lead">${words.usageText}</p>
      <noscript><p>${words.needsScriptUsage}</p></noscript>
      <div id="usage-app"></div>
    </section>`,
  )
}
