import { html } from './html.js'
import { layout } from './layout.js'
import type { Setting } from './setting.js'

/** Where a subscriber enters a token to see its account; the script asks for it and shows it. */
export function usagePage(setting: Setting): string {
  const { words } = setting
  return layout(
    setting,
    `${words.usage} · ${words.service}`,
    html`<section class="about">
      <h1>${words.usage}</h1>
      <p class="lead">${words.usageText}</p>
      <noscript><p>${words.needsScriptUsage}</p></noscript>
      <div id="usage-app"></div>
    </section>`,
  )
}
