import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Language } from '../../config.js'
import type { RequestContext } from '../../service/caller.js'
import type { Reference, ReferenceDataset } from '../../service/reference.js'
import type { Showcase } from '../../service/showcase.js'
import type { Assets } from '../assets.js'
import { pageContextOf } from '../page-context.js'
import { reading, sendPage } from '../send-page.js'
import { datasetReference } from './dataset-reference.js'
import type { Part } from './parts.js'
import { referencePage } from './reference-page.js'

export interface ReferenceParts {
  readonly showcase: (language: Language) => Showcase
  readonly assets: Assets
  /** The public address; null = the address of the request. */
  readonly publicUrl: string | null
  /** The request in the form that the service takes. */
  readonly contextOf: (request: FastifyRequest, reply: FastifyReply) => RequestContext
  /**
   * The datasets of the request's token; without one, the listed ones.
   * @throws unauthorized, rate_limit_exceeded
   */
  readonly reference: (context: RequestContext) => Promise<Reference>
  /** The OpenAPI document of these datasets. */
  readonly openApi: (datasets: readonly ReferenceDataset[]) => Part
}

interface DatasetParams {
  readonly dataset: string
}

/** The page depends on the token, so no cache may show it to others. */
const ownHeaders = {
  'Cache-Control': 'private, no-cache',
  Vary: 'Accept-Language, Authorization',
} as const

/** Adds `/docs` with what all datasets share, and a page for each dataset below it. */
export function addReference(app: FastifyInstance, parts: ReferenceParts): void {
  const { assets, publicUrl, contextOf, reference, openApi } = parts
  app.route({
    method: reading,
    url: '/docs',
    handler: async (request, reply) => {
      const { datasets } = await reference(contextOf(request, reply))
      const context = pageContextOf(request, assets, publicUrl)
      const token = tokenFor(parts, request, true)
      const page = referencePage(context, datasets, openApi([]), token)
      return sendPage(request, reply, context, page, ownHeaders)
    },
  })
  app.route<{ Params: DatasetParams }>({
    method: reading,
    url: '/docs/:dataset',
    handler: async (request, reply) => {
      const { datasets } = await reference(contextOf(request, reply))
      const entry = datasets.find(({ name }) => name === request.params.dataset)
      if (!entry) return reply.callNotFound()
      const context = pageContextOf(request, assets, publicUrl)
      const document = openApi([await entry.describe()])
      const token = tokenFor(parts, request, entry.hasDemo)
      const page = datasetReference(context, entry, document, token)
      return sendPage(request, reply, context, page, ownHeaders)
    },
  })
}

/** The public demo token where it works; never the token of the request. */
function tokenFor({ showcase }: ReferenceParts, request: FastifyRequest, hasDemo: boolean): string {
  const { demoToken } = showcase('en')
  const isVisitor = request.headers.authorization === undefined
  return (isVisitor && hasDemo ? demoToken : null) ?? 'YOUR_TOKEN'
}
