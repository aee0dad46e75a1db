import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { matchesTag } from '../service/entity-tag.js'
import type { ShownDataset, Showcase } from '../service/showcase.js'
import type { Assets } from './assets.js'
import { datasetPage } from './dataset-page.js'
import type { Trial } from './dataset-page.js'
import { homePage } from './home-page.js'
import { languageOf, isLanguage } from './language.js'
import type { Setting } from './layout.js'
import { missingPage } from './missing-page.js'
import { snippetsOf } from './snippets.js'
import { usagePage } from './usage-page.js'
import { wordsOf } from './words.js'

export interface PortalParts {
  readonly showcase: () => Showcase
  /** A first question that the demo token can ask of a dataset, path and query. */
  readonly firstPath: (dataset: string) => string
  readonly assets: Assets
  /** The address that users see; null where it is the one that they asked at. */
  readonly publicUrl: string | null
}

/** Nothing but our own files: no script of a page's text can run, nobody is told of the visit. */
const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
  Vary: 'Accept-Language',
} as const

const reading = ['GET', 'HEAD']

/** The portal door: pages for people, over what anybody may see. */
export function addPortal(app: FastifyInstance, parts: PortalParts): void {
  const { showcase, assets } = parts
  app.route({
    method: reading,
    url: '/',
    handler: (request, reply) => {
      const setting = settingOf(request, parts)
      const shown = showcase()
      const first = shown.datasets.find(({ hasDemo }) => hasDemo)
      const line = first ? trialOf(setting, first, shown, parts).line : null
      return sendPage(request, reply, setting, homePage(setting, shown, line))
    },
  })
  app.route<{ Params: { dataset: string } }>({
    method: reading,
    url: '/datasets/:dataset',
    handler: (request, reply) => {
      const shown = showcase()
      const dataset = shown.datasets.find(({ name }) => name === request.params.dataset)
      if (!dataset) return reply.callNotFound()
      const setting = settingOf(request, parts)
      const trial = trialOf(setting, dataset, shown, parts)
      return sendPage(request, reply, setting, datasetPage(setting, dataset, trial))
    },
  })
  app.route({
    method: reading,
    url: '/usage',
    handler: (request, reply) => {
      const setting = settingOf(request, parts)
      return sendPage(request, reply, setting, usagePage(setting))
    },
  })
  for (const asset of [assets.script, assets.style]) {
    if (!asset) continue
    app.route({
      method: reading,
      url: asset.path,
      handler: (_request, reply) =>
        reply
          .header('Cache-Control', 'public, max-age=31536000, immutable')
          .type(asset.type)
          .send(asset.content),
    })
  }
}

/** What a browser gets for a path that nothing is at; false where it is not a browser that asks. */
export function sendMissingPage(
  parts: PortalParts,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  const isPage = request.headers.accept?.includes('text/html') ?? false
  if (!reading.includes(request.method) || !isPage || /^\/(v1|mcp)\b/.test(request.url))
    return false
  const setting = settingOf(request, parts)
  sendPage(request, reply.code(404), setting, missingPage(setting))
  return true
}

function settingOf(request: FastifyRequest, { assets, publicUrl }: PortalParts): Setting {
  const [path = '', query] = request.url.split('?', 2)
  const chosen = new URLSearchParams(query).get('lang')
  const language = languageOf(chosen, request.headers['accept-language'])
  const root = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
  const suffix = isLanguage(chosen) ? `?lang=${chosen}` : ''
  return {
    language,
    words: wordsOf(language),
    assets,
    base: publicUrl ?? `${request.protocol}://${request.host}`,
    root,
    path,
    link: (to) => `${root}${to}${suffix}`,
  }
}

function trialOf(
  { base }: Setting,
  { name, hasDemo }: ShownDataset,
  { demoToken }: Showcase,
  { firstPath }: PortalParts,
): Trial {
  const token = hasDemo ? demoToken : null
  const [, query = ''] = hasDemo ? firstPath(name).split('?', 2) : []
  const request = { baseUrl: base, dataset: name, query, token: token ?? 'YOUR_TOKEN' }
  return { token, query, line: snippetsOf(request)[0]?.text ?? '' }
}

function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { language }: Setting,
  page: string,
): FastifyReply {
  const tag = `"${createHash('sha256').update(page).digest('base64url').slice(0, 27)}"`
  void reply.headers(pageHeaders).header('Content-Language', language).header('ETag', tag)
  const isKnown = reply.statusCode === 200 && matchesTag(request.headers['if-none-match'], tag)
  if (isKnown) return reply.code(304).send()
  return reply.type('text/html; charset=utf-8').send(page)
}
