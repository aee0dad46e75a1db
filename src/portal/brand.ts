import type { FastifyInstance } from 'fastify'
import { ownPages } from '../registry/portal-schema.js'
import type { OwnPage } from '../registry/portal-schema.js'
import type { LocalText } from '../registry/local-text.js'
import { html, markdown } from './html.js'
import type { Html } from './html.js'
import { pageContextOf, visit } from './page-context.js'
import type { PageContext, Site } from './page-context.js'
import { reading, sendPage, sendTagged } from './send-page.js'
import { layout } from './layout.js'

/** Adds the owner's pages, colour and logo; each is 404 where the registry has none. */
export function addBrand(app: FastifyInstance, site: Site): void {
  for (const name of ownPages) {
    app.route({
      method: reading,
      url: `/${name}`,
      handler: async (request, reply) => {
        const context = await visit(site, request)
        const page = ownPage(context, name)
        return page === null ? reply.callNotFound() : sendPage(request, reply, context, page)
      },
    })
  }
  const addFile = (
    url: string,
    type: string,
    contentOf: (context: PageContext) => string | null,
  ) => {
    app.route({
      method: reading,
      url,
      handler: (request, reply) => {
        site.admitVisitor(request.ip)
        const content = contentOf(pageContextOf(site, request))
        if (content === null) return reply.callNotFound()
        void reply.headers(fileHeaders)
        return sendTagged(request, reply, type, content)
      },
    })
  }
  addFile(
    '/brand.css',
    'text/css; charset=utf-8',
    ({ portal }) => portal.color && styleOf(portal.color),
  )
  addFile('/logo.svg', 'image/svg+xml', ({ portal }) => portal.logo)
}

/** An image that is opened by itself runs no script and loads nothing. */
const fileHeaders = {
  'Cache-Control': 'public, no-cache',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
} as const

/** The accent of both colour schemes: on a dark page a lighter one of the same hue. */
function styleOf(color: string): string {
  const light = `color-mix(in oklab, ${color} 45%, white)`
  return `:root{--accent:light-dark(${color},${light});--s0:light-dark(${color},${light})}\n`
}

/** What the owner wrote above the datasets; null where there is nothing. */
export function intro({ language, portal }: PageContext): Html | null {
  if (portal.intro === null) return null
  return html`<div class="written">${markdown(written(portal.intro, language))}</div>`
}

function ownPage(context: PageContext, name: OwnPage): string | null {
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
