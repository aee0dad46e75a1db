import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { contentTag, matchesTag } from '../service/entity-tag.js'
import type { ShownDataset, Showcase } from '../service/showcase.js'
import type { Assets } from './assets.js'
import { datasetPage } from './dataset-page.js'
import type { Trial } from './dataset-page.js'
import { homePage } from './home-page.js'
import { missingPage } from './missing-page.js'
import { settingOf } from './setting.js'
import type { Setting } from './setting.js'
import { snippetsOf } from './snippets.js'
import { usagePage } from './usage-page.js'

export interface PortalParts {
  readonly showcase: () => Showcase
  /** Takes one of the free requests of an address, or refuses it. */
  readonly admitVisitor: (address: string) => void
  /** A first question that the demo token can ask of a dataset, path and query. */
  readonly firstPath: (dataset: string) => string
  readonly assets: Assets
  /** The address that users see; null where it is the one that they ask at. */
  readonly publicUrl: string | null
}

/** Makes a page; null where there is none. */
type MakePage = (setting: Setting, request: FastifyRequest) => string | null

interface DatasetParams {
  readonly dataset: string
}

/** Our own files alone are loaded and run, and no other site is told of the visit. */
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
  const addPage = (url: string, make: MakePage) => {
    app.route({
      method: reading,
      url,
      handler: (request, reply) => {
        parts.admitVisitor(request.ip)
        const setting = settingOf(request, parts.assets, parts.publicUrl)
        const page = make(setting, request)
        return page === null ? reply.callNotFound() : sendPage(request, reply, setting, page)
      },
    })
  }
  addPage('/', (setting) => {
    const showcase = parts.showcase()
    const first = showcase.datasets.find(({ hasDemo }) => hasDemo)
    const trial = first && trialOf(setting, first, showcase, parts)
    return homePage(setting, showcase.datasets, trial?.line ?? null)
  })
  addPage('/datasets/:dataset', (setting, { params }) => {
    const showcase = parts.showcase()
    const { dataset: wanted } = params as DatasetParams
    const dataset = showcase.datasets.find(({ name }) => name === wanted)
    return dataset
      ? datasetPage(setting, dataset, trialOf(setting, dataset, showcase, parts))
      : null
  })
  addPage('/usage', usagePage)
  addAssets(app, parts)
}

/** Answers a browser where no page is; false where it is not a page that was asked for. */
export function sendMissingPage(
  { assets, publicUrl, admitVisitor }: PortalParts,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  const wantsPage =
    reading.includes(request.method) &&
    request.headers.accept?.includes('text/html') === true &&
    !/^\/(v1|mcp)\b/.test(request.url)
  if (!wantsPage) return false
  admitVisitor(request.ip)
  const setting = settingOf(request, assets, publicUrl)
  sendPage(request, reply.code(404), setting, missingPage(setting))
  return true
}

function addAssets(app: FastifyInstance, { assets, admitVisitor }: PortalParts): void {
  for (const asset of [assets.script, assets.style]) {
    if (!asset) continue
    app.route({
      method: reading,
      url: asset.path,
      handler: (request, reply) => {
        admitVisitor(request.ip)
        return reply
          .header('Cache-Control', 'public, max-age=31536000, immutable')
          .type(asset.type)
          .send(asset.content)
      },
    })
  }
}

/** How to try a dataset out; without a demo, with a token that is still to be had. */
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
  const tag = contentTag(page)
  void reply.headers(pageHeaders).header('Content-Language', language)
  if (reply.statusCode === 200) {
    void reply.header('ETag', tag)
    if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  }
  return reply.type('text/html; charset=utf-8').send(page)
}
