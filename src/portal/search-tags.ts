import type { Language } from '../config.js'
import { html, jsonLd } from './html.js'
import type { Html } from './html.js'
import { languages } from './language.js'
import type { PageContext } from './page-context.js'

/** What a page says of itself. */
export interface PageFacts {
  readonly title: string
  /** Null = not for search engines. */
  readonly description: string | null
  /** Of schema.org, for search engines. */
  readonly data?: object
}

const locales: Readonly<Record<Language, string>> = { en: 'en_US', ru: 'ru_RU' }

/** The tags of a public page for search engines and for previews of links; none of any other. */
export function searchTags(
  context: PageContext,
  { title, description, data }: PageFacts,
): readonly Html[] | null {
  if (description === null) return null
  const { words, address, language } = context
  const shown = {
    'og:type': 'website',
    'og:site_name': words.service,
    'og:title': title,
    'og:description': description,
    'og:url': address,
    'og:locale': locales[language],
  }
  return [
    html`<meta name="description" content="${description}" />`,
    html`<link rel="canonical" href="${address}" />`,
    ...versionsOf(context.base, context.path).map(
      ({ code, href }) => html`<link rel="alternate" hreflang="${code}" href="${href}" />`,
    ),
    ...Object.entries(shown).map(
      ([name, value]) => html`<meta property="${name}" content="${value}" />`,
    ),
    ...(data ? [jsonLd(data)] : []),
  ]
}

/** The addresses of one page: in each language, and in that of the visitor. */
export function versionsOf(
  base: string,
  path: string,
): readonly { readonly code: string; readonly href: string }[] {
  return [
    ...languages.map(([code]) => ({ code, href: `${base}${path}?lang=${code}` })),
    { code: 'x-default', href: `${base}${path}` },
  ]
}
