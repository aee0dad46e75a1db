import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { accessibleDatasets } from '../access/access.js'
import { parseFindUrl } from '../query/parse-find.js'
import type { Caller, Service } from '../service.js'
import type { FoundAnswer } from '../service/find.js'
import type { Admit, AnswerAdmitted } from './data-routes.js'
import { acceptedFormat } from './page-formats.js'
import { refuseRanges } from './ranges.js'
import { queryOf, reading } from './request-context.js'
import type { DatasetRoute } from './request-context.js'

/**
 * The paths that find entities by key or name: in one dataset, or in all. A caller who can read a
 * dataset of the name `find` gets its rows.
 */
export function addFind(
  app: FastifyInstance,
  service: Service,
  admit: Admit,
  answerRows: AnswerAdmitted,
): void {
  const find = async (
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Caller,
    dataset: string | null,
  ) => {
    const question = parseFindUrl(queryOf(request))
    acceptedFormat(request.headers.accept, ['json'])
    refuseRanges(request, 'json')
    const isHead = request.method === 'HEAD'
    return send(request, reply, await service.find(caller, dataset, question, isHead))
  }
  app.route<DatasetRoute>({
    method: reading,
    url: '/v1/:dataset/find',
    handler: async (request, reply) =>
      find(request, reply, await admit(request, reply), request.params.dataset),
  })
  app.route<DatasetRoute>({
    method: reading,
    url: '/v1/:dataset(^find$)',
    handler: async (request, reply) => {
      const caller = await admit(request, reply)
      if (canRead(caller, request.params.dataset)) return answerRows(request, reply, caller)
      return find(request, reply, caller, null)
    },
  })
}

/** Whether the caller can read a dataset of this name, which then wins over a path of this name. */
export function canRead({ principal, catalog }: Caller, name: string): boolean {
  const seen = accessibleDatasets(principal, catalog)
  return seen.some(({ dataset }) => dataset.name === name)
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { entries, explained, isCounted, leftOut, charged }: FoundAnswer,
): FastifyReply {
  void reply
    .header('Cache-Control', 'private, no-store')
    .header('Vary', 'Authorization')
    .type('application/json; charset=utf-8')
  if (request.method === 'HEAD') return reply.send()
  if (isCounted) void reply.header('X-Rows-Charged', String(charged))
  if (leftOut.length > 0) void reply.header('X-Left-Out', leftOut.join(', '))
  const why = explained ? `,"explained":${JSON.stringify(explained)}` : ''
  return reply.send(`{"data":[${entries.join()}]${why}}`)
}
