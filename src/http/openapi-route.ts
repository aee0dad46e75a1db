import type { FastifyInstance } from 'fastify'
import { noSuchDataset } from '../access/access.js'
import type { Catalog } from '../catalog.js'
import { badRequest } from '../errors.js'
import type { Service } from '../service.js'
import type { Reference, ReferenceDataset } from '../service/reference.js'
import { quoted } from '../text.js'
import { entityOf, sendEntity } from './entity.js'
import type { Entity } from './entity.js'
import { openApiDocument } from './openapi/document.js'
import { contextOf, queryOf, reading } from './request-context.js'

/**
 * `GET /openapi.json`: with a token, the document of its datasets; without one, the document of the
 * listed datasets. `dataset` chooses some of them.
 */
export function addReference(
  app: FastifyInstance,
  { service, publicUrl }: { readonly service: Service; readonly publicUrl?: string | null },
): void {
  const documents = new WeakMap<Catalog, Map<string, Entity>>()
  app.route({
    method: reading,
    url: '/openapi.json',
    handler: async (request, reply) => {
      const reference = await service.reference(contextOf(request, reply))
      const chosen = chosenOf(reference, queryOf(request))
      const url = publicUrl ?? `${request.protocol}://${request.host}`
      const known = documents.get(reference.catalog) ?? new Map<string, Entity>()
      documents.set(reference.catalog, known)
      void reply.header('Cache-Control', 'private, no-cache').header('Vary', 'Authorization')
      return sendEntity(request, reply, await documentOf(chosen, url, known))
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

const documentsMax = 32

/** Caches the document of each audience and address per catalog; evicts the oldest. */
async function documentOf(
  { key, datasets }: Reference,
  url: string,
  known: Map<string, Entity>,
): Promise<Entity> {
  const whole = `${url} ${key}`
  const found = known.get(whole)
  if (found) return found
  const described: ReferenceDataset[] = []
  for (const dataset of datasets) described.push(await dataset.describe())
  const [oldest] = known.keys()
  if (known.size >= documentsMax && oldest !== undefined) known.delete(oldest)
  const text = JSON.stringify(openApiDocument(described, url))
  const made = entityOf(Buffer.from(text), 'application/json; charset=utf-8')
  known.set(whole, made)
  return made
}
