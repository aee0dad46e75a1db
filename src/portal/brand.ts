import type { OwnPage } from '../registry/portal-schema.js'
import type { LocalText } from '../registry/local-text.js'
import { html, markdown } from './html.js'
import type { Html } from './html.js'
import type { PageContext } from './page-context.js'
import { layout } from './layout.js'

/** An image that is opened by itself runs no script and loads nothing. */
export const brandHeaders = {
  'Cache-Control': 'public, no-cache',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
} as const

/** The owner's accent in both colour schemes: on a dark page a lighter one of the same hue. */
export function brandStyle({ portal: { color } }: PageContext): string | null {
  if (color === null) return null
  const light = `color-mix(in oklab, ${color} 45%, white)`
  return `:root{--accent:light-dark(${color},${light});--s0:light-dark(${color},${light})}\n`
}

/** What the owner wrote above the datasets; null where there is nothing. */
export function intro({ language, portal }: PageContext): Html | null {
  if (portal.intro === null) return null
  return html`<div class="written">${markdown(written(portal.intro, language))}</div>`
}

/** A page that the owner wrote; null where there is none. */
export function ownPage(context: PageContext, name: OwnPage): string | null {
  const { language, portal, words } = context
  const content = portal.pages[name]
  if (content === undefined) return null
  return layout(
    context,
    { title: `${words.ownPages[name]} · ${words.service}`, description: words.ownPages[name] },
    html`<article class="about written">${markdown(written(content, language))}</article>`,
  )
}

/** A text in Markdown, with its lines. */
function written(text: LocalText, language: PageContext['language']): string {
  return typeof text === 'string' ? text : text[language]
}
