import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.js'
import { reportHeader } from '../control/server-report.js'
import type { SeenRequest } from '../control/server-report.js'
import { unavailable } from '../errors.js'
import { parseSchemaUrl } from '../query/parse-schema-url.js'
import type { Service } from '../service.js'
import type { SheetWriter } from '../sheet/sheet-writer.js'
import {
  AccountSchema,
  DatasetListSchema,
  DatasetSchema,
  ReadySchema,
  StatusSchema,
  VersionListSchema,
} from '../service/answer-schemas.js'
import { addData } from './data-routes.js'
import type { Admit, AnswerAdmitted } from './data-routes.js'
import { sendOwn } from './entity.js'
import { addFind } from './find-routes.js'
import { contextOf, queryOf, reading, requireNoQuery, seenRequest } from './request-context.js'
import type { DatasetRoute } from './request-context.js'

export interface RouteParts {
  readonly service: Service
  readonly sheets: SheetWriter
  /** False while starting, stopping, or unable to serve or to count rows. */
  readonly isReady: () => Promise<boolean>
  /** False while an older state is served because the newest was refused. */
  readonly isUpToDate: () => boolean
  /** A stored file is damaged and not yet repaired. */
  readonly isDamaged: () => boolean
  /** Reports to `das doctor`; no reports if omitted. */
  readonly reportTo?: ReportTo
  readonly clock: Clock
}

/** A report as the value of a header; null when the proof does not hold. */
export type ReportTo = (proof: string, request: SeenRequest) => string | null

/**
 * Paths of the REST interface (contract 1.1); a path's other methods answer 405. Returns what
 * answers for rows of a dataset, where its name is that of another path.
 */
export function addRoutes(app: FastifyInstance, parts: RouteParts): AnswerAdmitted {
  const { service } = parts
  const admit = (request: FastifyRequest, reply: FastifyReply) =>
    service.admit(contextOf(request, reply), 1)
  addHealth(app, parts)
  addDescriptions(app, service, admit)
  const answerRows = addData(app, parts, admit)
  addFind(app, service, admit, answerRows)
  return answerRows
}

function addHealth(app: FastifyInstance, parts: RouteParts): void {
  const { isReady, isUpToDate, isDamaged } = parts
  app.route({
    method: reading,
    url: '/healthz',
    schema: { response: { 200: StatusSchema } },
    handler: (request, reply) => {
      report(request, reply, parts)
      return { status: 'ok' }
    },
  })
  app.route({
    method: reading,
    url: '/readyz',
    schema: { response: { 200: ReadySchema } },
    handler: async () => {
      if (!(await isReady())) {
        throw unavailable(notReadyText, 5)
      }
      const reload = isUpToDate() ? 'ok' : 'refused'
      return { status: 'ready', reload, data: isDamaged() ? 'damaged' : 'ok' }
    },
  })
}

/** Tells a command that can read the state folder how its request arrived. */
function report(request: FastifyRequest, reply: FastifyReply, { reportTo }: RouteParts): void {
  const { [reportHeader]: proof } = request.headers
  if (typeof proof !== 'string') return
  const value = reportTo?.(proof, seenRequest(request)) ?? null
  if (value !== null) reply.header(reportHeader, value)
}

const notReadyText = 'The service is not ready. Try again in 5 s.'

function addDescriptions(app: FastifyInstance, service: Service, admit: Admit): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  typed.route({
    method: reading,
    url: '/v1',
    schema: { response: { 200: DatasetListSchema } },
    handler: async (request, reply) => {
      const caller = await admit(request, reply)
      requireNoQuery(request)
      const data = await service.listDatasets(caller)
      return sendOwn(request, reply, { data })
    },
  })
  typed.route({
    method: reading,
    url: '/v1/account',
    schema: { response: { 200: AccountSchema } },
    handler: async (request, reply) => {
      const caller = await admit(request, reply)
      requireNoQuery(request)
      return service.account(caller)
    },
  })
  typed.route<DatasetRoute>({
    method: reading,
    url: '/v1/:dataset/versions',
    schema: { response: { 200: VersionListSchema } },
    handler: async (request, reply) => {
      const caller = await admit(request, reply)
      requireNoQuery(request)
      const data = await service.listVersions(caller, request.params.dataset)
      return sendOwn(request, reply, { data })
    },
  })
  typed.route<DatasetRoute>({
    method: reading,
    url: '/v1/:dataset/schema',
    schema: { response: { 200: DatasetSchema } },
    handler: async (request, reply) => {
      const caller = await admit(request, reply)
      const { dataset } = request.params
      const { facts, labels } = parseSchemaUrl(queryOf(request))
      const answer = facts
        ? await service.describeFacts(caller, dataset, labels)
        : await service.describeDataset(caller, dataset)
      return sendOwn(request, reply, answer)
    },
  })
}
