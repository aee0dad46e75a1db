import { html } from './html.js'
import { layout } from './layout.js'
import type { PageContext } from './page-context.js'

/** Renders the 404 page. It is the same for unknown paths and for datasets that are not public. */
export function missingPage(context: PageContext): string {
  const { words, link } = context
  return layout(
    context,
    { title: `${words.missing} · ${words.service}`, description: null },
    html`<section class="about">
      <h1>${words.missing}</h1>
      <p class="lead">${words.missingText} <a href="${link('/')}">${words.missingLink}</a>.</p>
    </section>`,
  )
}
