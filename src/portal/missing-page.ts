import { html } from './html.js'
import { layout } from './layout.js'
import type { Setting } from './setting.js'

/** The one page for every path that has none, and for datasets that are not public. */
export function missingPage(setting: Setting): string {
  const { words, link } = setting
  return layout(
    setting,
    `${words.missing} · ${words.service}`,
    html`<section class="about">
      <h1>${words.missing}</h1>
      <p class="lead">${words.missingText} <a href="${link('/')}">${words.missingLink}</a>.</p>
    </section>`,
  )
}
