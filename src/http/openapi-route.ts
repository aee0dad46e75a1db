import type { FastifyInstance } from 'fastify'
import { noSuchDataset } from '../access/access.js'
import { Cache } from '../cache.js'
import type { Catalog } from '../catalog.js'
import { badRequest } from '../errors.js'
import type { Service } from '../service.js'
import type { Reference, ReferenceDataset } from '../service/reference.js'
import { quoted } from '../text.js'
import { entityOf, sendEntity } from './entity.js'
import type { Entity } from './entity.js'
import { openApiDocument } from './openapi/document.js'
import { contextOf, queryOf, reading } from './request-context.js'

/** The documents of a catalog that are kept: one for each audience and address. */
const documentsMax = 32

/**
 * `GET /openapi.json`: with a token, the document of its datasets; without one, the document of the
 * listed datasets. `dataset` chooses some of them.
 */
export function addReference(
  app: FastifyInstance,
  { service, publicUrl }: { readonly service: Service; readonly publicUrl?: string | null },
): void {
  const documents = new WeakMap<Catalog, Cache<Entity>>()
  app.route({
    method: reading,
    url: '/openapi.json',
    handler: async (request, reply) => {
      const reference = await service.reference(contextOf(request, reply))
      const chosen = chosenOf(reference, queryOf(request))
      const url = publicUrl ?? `${request.protocol}://${request.host}`
      const known = documents.get(reference.catalog) ?? new Cache<Entity>(documentsMax)
      documents.set(reference.catalog, known)
      void reply.header('Cache-Control', 'private, no-cache').header('Vary', 'Authorization')
      const make = () => makeDocument(chosen, url)
      return sendEntity(request, reply, await known.get(`${url} ${chosen.key}`, make))
    },
  })
}

/**
 * The part of the reference that `dataset=NAME,NAME` or `dataset=NAME&dataset=NAME` chooses; of
 * `dataset=` only what belongs to no dataset.
 * @throws bad_request for another parameter; not_found for a name that the caller can't see
 */
function chosenOf(reference: Reference, query: string): Reference {
  const parameters = new URLSearchParams(query)
  const other = [...parameters.keys()].find((name) => name !== 'dataset')
  if (other !== undefined) {
    throw badRequest(`There is no parameter ${quoted(other)}. The document has one: dataset.`)
  }
  if (!parameters.has('dataset')) return reference
  const chosen = parameters.getAll('dataset')
  const names = chosen.join() === '' ? [] : chosen.flatMap((text) => text.split(','))
  const datasets = reference.datasets.filter(({ name }) => names.includes(name))
  if (datasets.length < new Set(names).size) throw noSuchDataset()
  const key = JSON.stringify([reference.key, datasets.map(({ name }) => name)])
  return { ...reference, key, datasets }
}

async function makeDocument({ datasets, catalog }: Reference, url: string): Promise<Entity> {
  const described: ReferenceDataset[] = []
  for (const dataset of datasets) described.push(await dataset.describe())
  const text = JSON.stringify(openApiDocument(described, catalog.title, url))
  return entityOf(Buffer.from(text), 'application/json; charset=utf-8')
}
