import type { FastifyInstance } from 'fastify'
import type { Catalog } from '../catalog.js'
import type { Service } from '../service.js'
import type { Reference, ReferenceDataset } from '../service/reference.js'
import { entityOf, sendEntity } from './entity.js'
import type { Entity } from './entity.js'
import { openApiDocument } from './openapi/document.js'
import { contextOf } from './request-context.js'

/**
 * `GET /openapi.json`: with a token, the document of its datasets; without one, the document of the
 * listed datasets.
 */
export function addReference(
  app: FastifyInstance,
  { service, root = '' }: { readonly service: Service; readonly root?: string },
): void {
  const documents = new WeakMap<Catalog, Map<string, Entity>>()
  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    handler: async (request, reply) => {
      const reference = await service.reference(contextOf(request, reply))
      const known = documents.get(reference.catalog) ?? new Map<string, Entity>()
      documents.set(reference.catalog, known)
      void reply.header('Cache-Control', 'private, no-cache').header('Vary', 'Authorization')
      return sendEntity(request, reply, await documentOf(reference, root, known))
    },
  })
}

const audiencesMax = 32

/** Caches the document of each audience per catalog; evicts the oldest. */
async function documentOf(
  { key, datasets }: Reference,
  root: string,
  known: Map<string, Entity>,
): Promise<Entity> {
  const found = known.get(key)
  if (found) return found
  const described: ReferenceDataset[] = []
  for (const dataset of datasets) described.push(await dataset.describe())
  const [oldest] = known.keys()
  if (known.size >= audiencesMax && oldest !== undefined) known.delete(oldest)
  const text = JSON.stringify(openApiDocument(described, root))
  const made = entityOf(Buffer.from(text), 'application/json; charset=utf-8')
  known.set(key, made)
  return made
}
