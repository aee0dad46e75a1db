import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError, badRequest } from '../errors.js'
import { pageFormats } from '../query/page-format.js'
import { parseJsonText } from '../query/parse-json.js'
import { parseUrl } from '../query/parse-url.js'
import type { Caller, Service } from '../service.js'
import {
  AccountSchema,
  DatasetListSchema,
  DatasetSchema,
  ReadySchema,
  StatusSchema,
} from '../service/answer-schemas.js'
import type { PageAnswer, PageRequest } from '../service/page.js'
import { readBody } from './body.js'
import { sendOwn } from './entity.js'
import { answerExport, exportSilenceMs } from './export-route.js'
import { acceptedFormat, mediaTypes, nextLink, pageBody } from './page-formats.js'
import { contextOf } from './request-context.js'
import { versionHeaders } from './version-headers.js'
import type { DatasetRoute } from './request-context.js'

export interface RouteParts {
  readonly service: Service
  /** False while starting, stopping, or unable to serve or to count rows. */
  readonly isReady: () => boolean
  /** False while an older state is served because the newest was refused. */
  readonly isUpToDate: () => boolean
  /** A stored file is damaged and not yet repaired. */
  readonly isDamaged: () => boolean
  /** How long a client may read nothing of an export; five minutes if omitted. */
  readonly exportSilenceMs?: number
}

const reading = ['GET', 'HEAD']

/** Every path of the REST interface (contract 1.1); a path's other methods answer 405. */
export function addRoutes(app: FastifyInstance, parts: RouteParts): void {
  const { service } = parts
  const admit = (request: FastifyRequest, reply: FastifyReply) =>
    service.admit(contextOf(request, reply), 1)
  addHealth(app, parts)
  addDescriptions(app, service, admit)
  addRows(app, parts, admit)
}

type Admit = (request: FastifyRequest, reply: FastifyReply) => Caller

function addHealth(app: FastifyInstance, { isReady, isUpToDate, isDamaged }: RouteParts): void {
  app.route({
    method: reading,
    url: '/healthz',
    schema: { response: { 200: StatusSchema } },
    handler: () => ({ status: 'ok' }),
  })
  app.route({
    method: reading,
    url: '/readyz',
    schema: { response: { 200: ReadySchema } },
    handler: () => {
      if (!isReady()) {
        throw new ServiceError('service_unavailable', notReadyText, { retryAfterSeconds: 5 })
      }
      const reload = isUpToDate() ? 'ok' : 'refused'
      return { status: 'ready', reload, data: isDamaged() ? 'damaged' : 'ok' }
    },
  })
}

const notReadyText = 'The service is not ready. Try again in 5 s.'

function addDescriptions(app: FastifyInstance, service: Service, admit: Admit): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  typed.route({
    method: reading,
    url: '/v1',
    schema: { response: { 200: DatasetListSchema } },
    handler: async (request, reply) => {
      const data = await service.listDatasets(admit(request, reply))
      return sendOwn(request, reply, { data })
    },
  })
  typed.route({
    method: reading,
    url: '/v1/account',
    schema: { response: { 200: AccountSchema } },
    handler: async (request, reply) => service.account(admit(request, reply)),
  })
  typed.route<DatasetRoute>({
    method: reading,
    url: '/v1/:dataset/schema',
    schema: { response: { 200: DatasetSchema } },
    handler: async (request, reply) => {
      const caller = admit(request, reply)
      return sendOwn(request, reply, await service.describeDataset(caller, request.params.dataset))
    },
  })
}

function addRows(app: FastifyInstance, parts: RouteParts, admit: Admit): void {
  const { service, exportSilenceMs: silenceMs = exportSilenceMs } = parts
  app.route<DatasetRoute>({
    method: reading,
    url: '/v1/:dataset/export',
    handler: (request, reply) =>
      answerExport(service, request, reply, queryOf(request.raw.url ?? ''), silenceMs),
  })
  app.route<DatasetRoute>({
    method: reading,
    url: '/v1/:dataset',
    handler: (request, reply) =>
      answerPage(service, admit(request, reply), request, reply, () => {
        const raw = parseUrl(queryOf(request.raw.url ?? ''))
        return { ...raw, format: raw.format ?? acceptedFormat(request.headers.accept, pageFormats) }
      }),
  })
  app.route<DatasetRoute>({
    method: 'POST',
    url: '/v1/:dataset/query',
    handler: async (request, reply) => {
      const caller = admit(request, reply)
      const body = await readBody(request, reply)
      return answerPage(service, caller, request, reply, () => {
        const format = acceptedFormat(request.headers.accept, pageFormats)
        if (queryOf(request.raw.url ?? '') !== '') {
          throw badRequest('POST reads its question from the body. Leave the query string out.')
        }
        return { ...parseJsonText(decodeBody(body)), format }
      })
    },
  })
}

async function answerPage(
  service: Service,
  caller: Caller,
  request: FastifyRequest<DatasetRoute>,
  reply: FastifyReply,
  question: PageRequest['question'],
): Promise<FastifyReply> {
  const answer = await service.readPage(caller, {
    dataset: request.params.dataset,
    question,
    // The target of a POST has no representation to compare: only GET and HEAD get 304 (RFC 9110).
    knownTags: request.method === 'POST' ? undefined : request.headers['if-none-match'],
    checkOnly: request.method === 'HEAD',
  })
  void reply
    .header('Cache-Control', 'private, no-cache')
    .header('Vary', 'Authorization, Accept')
    .headers(versionHeaders(answer))
  if (answer.tag !== null) reply.header('ETag', answer.tag)
  return sendPage(request, reply, answer)
}

function sendPage(request: FastifyRequest, reply: FastifyReply, answer: PageAnswer): FastifyReply {
  if (answer.kind === 'unchanged') return reply.code(304).send()
  void reply.type(mediaTypes[answer.format])
  if (answer.kind !== 'page') return reply.send()
  const { format, nextCursor } = answer
  if (nextCursor !== null) {
    if (format !== 'json') void reply.header('X-Next-Cursor', nextCursor)
    const query = queryOf(request.raw.url ?? '')
    const link = request.method === 'GET' ? nextLink(query, nextCursor) : null
    if (link !== null) void reply.header('Link', link)
  }
  return reply.send(pageBody(answer))
}

function queryOf(url: string): string {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start + 1)
}

/** @throws bad_request for a body that is missing or not UTF-8 */
function decodeBody(body: Buffer): string {
  if (body.length === 0) throw badRequest('The request needs a JSON body. Example: {"limit": 10}')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw badRequest('The body is not UTF-8.')
  }
}
