import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { SignedIn } from '../access/signed-in.js'
import type { Language } from '../config.js'
import { errorStatus } from '../errors.js'
import type { ServiceError } from '../errors.js'
import { curlCommand } from '../service/client-texts.js'
import type { ShownDataset, Showcase } from '../service/showcase.js'
import { ownPages } from '../registry/portal-schema.js'
import { brandHeaders, brandStyle, ownPage } from './brand.js'
import { addEntityPages } from './entity-routes.js'
import type { EntityParts } from './entity-routes.js'
import { llmsText, robotsText, sitemapText } from './crawler-files.js'
import { datasetPage } from './dataset-page.js'
import type { Trial } from './dataset-page.js'
import { guidePage } from './guide-page.js'
import { homePage } from './home-page.js'
import type { FindPlanWay } from './plans.js'
import { listPage } from './list-page.js'
import { missingPage, problemPage } from './problem-pages.js'
import { pageContextOf, visit } from './page-context.js'
import type { PageContext, Site } from './page-context.js'
import { referencePage } from './reference-page.js'
import { noStore, reading, sendPage, sendTagged } from './send-page.js'

export interface PortalParts {
  readonly site: Site
  readonly planWay: FindPlanWay
  readonly showcase: (language: Language) => Showcase
  /** The path and query of a first question that the demo token can ask. */
  readonly firstPath: (dataset: string) => string
  readonly entities: EntityParts
}

/** Renders a page; null = not found. */
type MakePage = (
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
) => string | null | Promise<string | null>

interface DatasetParams {
  readonly dataset: string
}

/** Adds the portal: pages for people that show public datasets only. */
export function addPortal(app: FastifyInstance, parts: PortalParts): void {
  const addPage = (url: string, make: MakePage) => {
    app.route({
      method: reading,
      url,
      handler: async (request, reply) => {
        const context = await visit(parts.site, request)
        const page = await make(context, request, reply)
        return page === null ? reply.callNotFound() : sendPage(request, reply, context, page)
      },
    })
  }
  const wanted = ({ language }: PageContext, params: unknown) => {
    const showcase = parts.showcase(language)
    const { dataset: wantedName } = params as DatasetParams
    return { showcase, dataset: showcase.datasets.find(({ name }) => name === wantedName) }
  }
  addPage('/', (context) => {
    const showcase = parts.showcase(context.language)
    const first = showcase.datasets.find(({ hasDemo }) => hasDemo)
    const trial = first && trialOf(context, first, showcase, parts)
    return homePage(context, showcase.datasets, trial?.line ?? null, parts.planWay)
  })
  addPage('/datasets/:dataset', (context, { params }) => {
    const { dataset, showcase } = wanted(context, params)
    return dataset
      ? datasetPage(context, dataset, trialOf(context, dataset, showcase, parts), parts.planWay)
      : null
  })
  addPage('/datasets/:dataset/list', (context, { params }) => {
    const { dataset, showcase } = wanted(context, params)
    return dataset ? listPage(context, dataset, showcase.demoToken) : null
  })
  addEntityPages(app, parts)
  addPage('/guide', (context) => {
    const showcase = parts.showcase(context.language)
    const dataset = showcase.datasets.find(({ hasDemo }) => hasDemo) ?? showcase.datasets[0]
    if (!dataset) return guidePage(context, null)
    const trial = trialOf(context, dataset, showcase, parts)
    return guidePage(context, { dataset: dataset.name, trial })
  })
  addPage('/docs', (context) => referencePage(context, null, parts.showcase(context.language)))
  addPage('/docs/:dataset', (context, { params }) => {
    const { dataset } = params as DatasetParams
    return referencePage(context, dataset, parts.showcase(context.language))
  })
  for (const name of ownPages) addPage(`/${name}`, (context) => ownPage(context, name))
  addFiles(app, parts)
  addAssets(app, parts.site)
}

/** Adds what search engines and language models look for at an address, and the owner's files. */
function addFiles(app: FastifyInstance, { site, showcase }: PortalParts): void {
  const add = (
    url: string,
    type: string,
    headers: Readonly<Record<string, string>>,
    make: (context: PageContext, request: FastifyRequest) => string | null,
  ) => {
    app.route({
      method: reading,
      url,
      handler: (request, reply) => {
        site.admitVisitor(request.ip)
        const text = make(pageContextOf(site, request), request)
        if (text === null) return reply.callNotFound()
        return sendTagged(request, reply.headers(headers), type, text)
      },
    })
  }
  const [plain, xml] = ['text/plain; charset=utf-8', 'application/xml; charset=utf-8'] as const
  const json = 'application/json; charset=utf-8'
  add('/robots.txt', plain, crawlerHeaders, ({ base, root }) => robotsText(base, root))
  add('/sitemap.xml', xml, crawlerHeaders, (context) =>
    sitemapText(context, showcase('en').datasets),
  )
  add('/llms.txt', plain, crawlerHeaders, (context) => llmsText(context, showcase('en')))
  add('/datasets/:dataset/names', json, nameHeaders, ({ language }, request) =>
    codeNames(showcase(language), request),
  )
  add('/brand.css', 'text/css; charset=utf-8', brandHeaders, brandStyle)
  add('/logo.svg', 'image/svg+xml', brandHeaders, ({ portal }) => portal.logo)
}

const crawlerHeaders = { 'Cache-Control': 'public, max-age=300' } as const
const nameHeaders = { ...crawlerHeaders, Vary: 'Accept-Language' } as const

/** The names of these codes of a column, for tables that a script draws; null = not found. */
function codeNames({ datasets }: Showcase, { params, url }: FastifyRequest): string | null {
  const { dataset: wanted } = params as DatasetParams
  const query = new URLSearchParams(url.split('?', 2)[1])
  const dataset = datasets.find(({ name }) => name === wanted)
  const column = dataset?.columns.find(({ name }) => name === query.get('column'))
  if (!column?.codeNames) return null
  const { codeNames: names } = column
  const known = query.getAll('code').filter((code) => names.has(code))
  return JSON.stringify(Object.fromEntries(known.map((code) => [code, names.get(code)])))
}

/** Addresses that ignore the cookie, also where they refuse: the OpenAPI document and OAuth. */
const ofMachines = /^\/(?:openapi\.json|token|register|revoke|authorize|\.well-known)\b/

/** Shows an error to a browser. Returns false if the request does not ask for a page. */
export function sendProblemPage(
  site: Site,
  error: ServiceError,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  const wantsPage =
    request.headers.accept?.includes('text/html') === true && !/^\/(v1|mcp)\b/.test(request.url)
  if (!wantsPage) return false
  // A route that found a mistake has counted the visit.
  if (request.is404 && error.code === 'not_found') site.admitVisitor(request.ip)
  const send = (person: SignedIn | null) => {
    // What was refused stays out of the page: there may be a token in the address.
    const languageLink = (to: Language) => `?lang=${to}`
    const context = { ...pageContextOf(site, request, person), languageLink }
    const page = error.code === 'not_found' ? missingPage(context) : problemPage(context, error)
    sendPage(request, reply.code(errorStatus[error.code]), context, page, noStore)
  }
  // A page without a person still says what went wrong, when it can't be read who it is.
  const isOfMachines = ofMachines.test(request.url)
  const person = isOfMachines ? Promise.resolve(null) : site.signedIn.find(request)
  void person.then(send, () => {
    send(null)
  })
  return true
}

function addAssets(app: FastifyInstance, { assets, admitVisitor }: Site): void {
  for (const asset of [
    assets.script,
    assets.datasetScript,
    assets.listScript,
    assets.style,
    assets.referenceScript,
    assets.referenceStyle,
  ]) {
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

/** How to try a dataset: with the demo token, or with a placeholder if it has no demo. */
function trialOf(
  { base }: PageContext,
  { name, hasDemo }: ShownDataset,
  { demoToken }: Showcase,
  { firstPath }: PortalParts,
): Trial {
  const token = hasDemo ? demoToken : null
  const [, query = ''] = hasDemo ? firstPath(name).split('?', 2) : []
  const url = `${base}/v1/${name}${query === '' ? '' : `?${query}`}`
  return { token, query, line: curlCommand(url, token ?? 'YOUR_TOKEN') }
}
