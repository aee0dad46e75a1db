import { html } from './html.js'
import type { Html } from './html.js'
import { layout } from './layout.js'
import type { PageContext } from './page-context.js'

/** A page of one section under its title. `description` is for search engines; null = none. */
export function titledPage(
  context: PageContext,
  title: string,
  content: Html,
  description: string | null = null,
): string {
  return layout(
    context,
    { title: `${title} · ${context.words.service}`, description },
    html`<section class="about">
      <h1>${title}</h1>
      ${content}
    </section>`,
  )
}
