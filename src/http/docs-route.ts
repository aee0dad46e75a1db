import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { Service } from '../service.js'
import { contentSecurity, docsPage, startScript, startStyle } from './docs-page.js'
import { entityOf, sendEntity } from './entity.js'
import type { Entity } from './entity.js'
import { nothingHere } from './error-answers.js'

const reading = ['GET', 'HEAD']

/**
 * `GET /docs`: a viewer of `/openapi.json`; all its files come from this server. File addresses
 * change with their content, so browsers may cache them.
 */
export function addDocs(
  app: FastifyInstance,
  { service, root = '' }: { readonly service: Service; readonly root?: string },
): void {
  let loading: Promise<ReadonlyMap<string, Entity>> | undefined
  const load = () =>
    (loading ??= loadFiles().catch((cause: unknown) => {
      loading = undefined
      throw cause
    }))
  app.route({
    method: reading,
    url: '/docs',
    handler: async (request, reply) => {
      service.admitAnonymous(request.ip)
      const files = await load()
      const addressOf = (name: string) => `docs/${name}?v=${files.get(name)?.tag.slice(1, -1)}`
      const page = Buffer.from(docsPage(root, addressOf, service.showcase('en').demoToken))
      void reply
        .header('Cache-Control', 'no-cache')
        .header('Content-Security-Policy', contentSecurity)
        .header('Referrer-Policy', 'no-referrer')
      return sendEntity(request, reply, entityOf(page, 'text/html; charset=utf-8'))
    },
  })
  app.route<{ Params: { readonly file: string } }>({
    method: reading,
    url: '/docs/:file',
    handler: async (request, reply) => {
      service.admitAnonymous(request.ip)
      const file = (await load()).get(request.params.file)
      if (!file) throw nothingHere()
      void reply.header('Cache-Control', 'public, max-age=31536000, immutable')
      return sendEntity(request, reply, file)
    },
  })
}

const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'

/** Two files come from Swagger UI, wherever its package is installed. */
async function loadFiles(): Promise<ReadonlyMap<string, Entity>> {
  const bundle = import.meta.resolve('@fastify/swagger-ui/static/swagger-ui-bundle.js')
  const sheet = import.meta.resolve('@fastify/swagger-ui/static/swagger-ui.css')
  return new Map([
    ['swagger-ui-bundle.js', entityOf(await readFile(new URL(bundle)), script)],
    ['swagger-ui.css', entityOf(await readFile(new URL(sheet)), style)],
    ['start.js', entityOf(Buffer.from(startScript), script)],
    ['start.css', entityOf(Buffer.from(startStyle), style)],
  ])
}
