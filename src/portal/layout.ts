import type { Language } from '../config.js'
import { textIn } from '../registry/local-text.js'
import { ownPages } from '../registry/portal-schema.js'
import type { OwnPage } from '../registry/portal-schema.js'
import { html, pageText } from './html.js'
import type { Html } from './html.js'
import { languages } from './language.js'
import { signInLink } from './page-context.js'
import type { PageContext } from './page-context.js'
import { searchTags } from './search-tags.js'
import type { PageFacts } from './search-tags.js'
import { signInWords } from './sign-in-words.js'

// Inline, because the pages load no other files. It shows a table in the colours of the style.
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
  "%3Crect width='16' height='16' rx='3' fill='%232f5bd0'/%3E" +
  "%3Cpath d='M4 5h8M4 8h8M4 11h5' stroke='white' stroke-width='1.5'/%3E%3C/svg%3E"

/** Renders a whole page: head, menu, content. */
export function layout(context: PageContext, facts: PageFacts, content: Html): string {
  const { language, words, assets, base, root, person, portal } = context
  const payer = person?.payer ? html`data-payer="${person.payer.id}"` : null
  return pageText(
    html`<html lang="${language}" data-base="${base}" data-root="${root}" ${payer}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${facts.title}</title>
        ${searchTags(context, facts)}
        <link rel="icon" href="${portal.logo === null ? icon : `${root}/logo.svg`}" />
        ${assets.style && html`<link rel="stylesheet" href="${root}${assets.style.path}" />`}
        ${portal.color && html`<link rel="stylesheet" href="${root}/brand.css" />`}
        ${assets.script && html`<script type="module" src="${root}${assets.script.path}"></script>`}
      </head>
      <body>
        <a class="skip" href="#content">${words.skip}</a>
        ${header(context)}
        <main id="content">${content}</main>
        ${footer(context)}
      </body>
    </html>`,
  )
}

function header(context: PageContext): Html {
  const { words, path, link } = context
  const { datasets, reference, account } = words.navigation
  const item = (to: string, text: string) =>
    html`<li>
      <a href="${link(to)}" ${to === path ? html`aria-current="page"` : null}>${text}</a>
    </li>`
  return html`<header class="top">
    <a class="brand" href="${link('/')}">${logo(context)}${words.service}</a>
    <nav aria-label="${words.menu}">
      <ul>
        ${item('/', datasets)}${item('/docs', reference)}${item('/account', account)}
      </ul>
    </nav>
    ${personBar(context)}
    <nav class="languages" aria-label="${words.languages}">
      <ul>
        ${languages.map(([code, name]) => languageLink(context, code, name))}
      </ul>
    </nav>
  </header>`
}

function logo({ portal, root }: PageContext): Html | null {
  return portal.logo === null ? null : html`<img src="${root}/logo.svg" alt="" height="24" />`
}

/** What the owner says of the site, its own pages, and who sells. */
function footer({ words, link, portal, language }: PageContext): Html {
  const { pages, legal } = portal
  const links = ownPages.filter((name) => pages[name] !== undefined)
  const item = (name: OwnPage) =>
    html`<li><a href="${link(`/${name}`)}">${words.ownPages[name]}</a></li>`
  return html`<footer class="foot">
    <p>${words.footer}</p>
    ${
      links.length === 0
        ? null
        : html`<ul>
            ${links.map(item)}
          </ul>`
    }
    ${legal && html`<p>${textIn(language, legal.name)}, ${words.inn(legal.inn)}</p>`}
  </footer>`
}

/** Who is signed in, with the way out; the way in for visitors. */
function personBar(context: PageContext): Html | null {
  const { person, canSignIn, language, link, here, path, portal } = context
  const say = signInWords(language)
  if (person) {
    return html`<form class="person" method="post" action="${link('/sign-out')}">
      <span class="muted">${person.email}</span>
      <button type="submit">${say.signOut}</button>
    </form>`
  }
  const isOwners = portal.owners.length > 0 && path.startsWith('/owner')
  if (!canSignIn || path === '/sign-in' || isOwners) return null
  const to = signInLink(context, here)
  return html`<a class="person" rel="nofollow" href="${to}">${say.signIn}</a>`
}

function languageLink(context: PageContext, code: Language, name: string): Html {
  const mark = code === context.language ? html`aria-current="true"` : null
  return html`<li>
    <a href="${context.languageLink(code)}" hreflang="${code}" lang="${code}" ${mark}>${name}</a>
  </li>`
}
