import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.js'
import { badRequest } from '../errors.js'
import { isSheetFormat, mediaTypes, pageFormats } from '../query/page-format.js'
import type { PageFormat } from '../query/page-format.js'
import { parseChangesUrl } from '../query/parse-changes.js'
import { parseJsonText } from '../query/parse-json.js'
import { parseUrl } from '../query/parse-url.js'
import { parseSummaryJson, parseSummaryUrl } from '../query/summary/parse-summary.js'
import { parseTopUrl } from '../query/parse-top.js'
import type { Caller, Service } from '../service.js'
import type { DataRequest, GroupsAnswer, Page, Room, WithoutData } from '../service/page.js'
import { decodeBody, readBody } from './body.js'
import { usesDecimalComma } from './accept.js'
import { answerExport } from './export-route.js'
import { acceptedFormat, attachment, bodyOf, nextLink } from './page-formats.js'
import { refuseRanges } from './ranges.js'
import { queryOf, reading } from './request-context.js'
import type { DatasetRoute } from './request-context.js'
import { aboutAnswer } from './sheet-about.js'
import { rowsThatFit } from '../sheet/sheet.js'
import type { SheetWriter } from '../sheet/sheet-writer.js'
import { headerText, versionHeaders } from './version-headers.js'

/** Admits the caller of a request, for the price of one request. */
export type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<Caller>

interface DataParts {
  readonly service: Service
  readonly clock: Clock
  readonly sheets: SheetWriter
}

/**
 * The paths that answer with rows or groups of a dataset. Returns what answers for its rows, to a
 * caller who is admitted.
 */
export function addData(app: FastifyInstance, parts: DataParts, admit: Admit): AnswerAdmitted {
  const { service, clock, sheets } = parts
  const answerParts: AnswerParts = { admit, sheets }
  const add = (method: typeof reading | 'POST', path: string, handler: Handler) => {
    app.route<DatasetRoute>({ method, url: `/v1/:dataset${path}`, handler })
  }
  add(reading, '/export', (request, reply) =>
    answerExport(service, request, reply, queryOf(request), clock),
  )
  const answerRows = fromUrl(answerParts, service.readPage, parseUrl)
  add(reading, '', admitted(admit, answerRows))
  add('POST', '/query', fromBody(answerParts, service.readPage, parseJsonText))
  add(reading, '/top', admitted(admit, fromUrl(answerParts, service.top, parseTopUrl)))
  add(
    reading,
    '/aggregate',
    admitted(admit, fromUrl(answerParts, service.summarize, parseSummaryUrl)),
  )
  add(reading, '/changes', admitted(admit, fromUrl(answerParts, service.changes, parseChangesUrl)))
  add('POST', '/aggregate', fromBody(answerParts, service.summarize, parseSummaryJson))
  return answerRows
}

type DataAnswer = WithoutData | Page | GroupsAnswer
type Ask<Raw> = (caller: Caller, request: DataRequest<Raw>) => Promise<DataAnswer>
type Handler = (request: FastifyRequest<DatasetRoute>, reply: FastifyReply) => Promise<FastifyReply>

/** A handler of a caller who is admitted. */
export type AnswerAdmitted = (...asked: [...Parameters<Handler>, Caller]) => Promise<FastifyReply>

function admitted(admit: Admit, answer: AnswerAdmitted): Handler {
  return async (request, reply) => answer(request, reply, await admit(request, reply))
}

interface AnswerParts {
  readonly admit: Admit
  readonly sheets: SheetWriter
}

/** A parsed question; `Accept` decides where it names no format. */
interface Formatted {
  readonly format: PageFormat | null
}

function fromUrl<Raw extends Formatted>(
  parts: AnswerParts,
  ask: Ask<Raw>,
  parse: (query: string) => Raw,
): AnswerAdmitted {
  return async (request, reply, caller) => {
    const answer = await ask(caller, {
      ...asked(request, parts, () => parse(queryOf(request))),
      knownTags: request.headers['if-none-match'],
      checkOnly: request.method === 'HEAD',
    })
    return sendData(request, reply, answer, caller, parts)
  }
}

/** The target of a POST has no representation to compare, so tags are ignored (RFC 9110). */
function fromBody<Raw extends Formatted>(
  parts: AnswerParts,
  ask: Ask<Raw>,
  parse: (text: string) => Raw,
): Handler {
  return async (request, reply) => {
    const caller = await parts.admit(request, reply)
    const body = await readBody(request, reply)
    const parsed = () => {
      if (queryOf(request) !== '') {
        throw badRequest('POST reads its question from the body. Leave the query string out.')
      }
      return parse(decodeBody(body, 'Example: {"limit": 10}'))
    }
    const answer = await ask(caller, asked(request, parts, parsed))
    return sendData(request, reply, answer, caller, parts)
  }
}

/** A request for data. A file that can't be written is refused before its rows are charged. */
function asked<Raw extends Formatted>(
  request: FastifyRequest<DatasetRoute>,
  { sheets }: AnswerParts,
  parse: () => Raw,
): DataRequest<Raw> & { readonly room: Room } {
  let format: PageFormat | undefined
  return {
    dataset: request.params.dataset,
    question: () => {
      const raw = parse()
      format = formatOf(request, raw)
      refuseRanges(request, format)
      if (isSheetFormat(format)) sheets.requirePlace()
      return { ...raw, format }
    },
    room: {
      rowsMax: () => Infinity,
      rowsThatFit: (rows, columns) =>
        format === 'xlsx' ? rowsThatFit(rows, columns.length) : rows.length,
    },
  }
}

function formatOf({ headers }: FastifyRequest, { format }: Formatted): PageFormat {
  const isForExcel = format === 'csv-comma' && usesDecimalComma(headers['accept-language'])
  if (isForExcel) return 'csv-semicolon'
  return format ?? acceptedFormat(headers.accept, pageFormats)
}

async function sendData(
  request: FastifyRequest<DatasetRoute>,
  reply: FastifyReply,
  answer: DataAnswer,
  { catalog }: Caller,
  { sheets }: AnswerParts,
): Promise<FastifyReply> {
  const { tag, format } = answer
  const { dataset } = request.params
  const isForExcel = format === 'csv-comma' || format === 'csv-semicolon'
  void reply
    .header('Cache-Control', 'private, no-cache')
    .header('Vary', `Authorization, Accept${isForExcel ? ', Accept-Language' : ''}`)
    .headers(versionHeaders(answer))
  if (tag !== null) reply.header('ETag', tag)
  if (answer.kind === 'unchanged') return reply.code(304).send()
  void reply.type(mediaTypes[format])
  const isFile = format !== 'json' && format !== 'ndjson'
  if (isFile) void reply.header('Content-Disposition', attachment(dataset, answer))
  if (answer.kind !== 'page' && answer.kind !== 'groups') return reply.send()
  if (answer.quota) void reply.header('X-Rows-Charged', String(answer.charged))
  if (answer.kind === 'page') addPageHeaders(request, reply, answer)
  else addGroupHeaders(reply, answer)
  const found = format === 'xlsx' ? catalog.datasets.get(dataset) : undefined
  const about = found ? aboutAnswer(request, found, answer) : []
  return reply.send(await bodyOf(answer, { dataset, about }, sheets))
}

function addPageHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  { format, hasMore, nextCursor, explanation }: Page,
): void {
  if (explanation) void reply.header('X-Explained', headerText(explanation.text))
  if (nextCursor === null) {
    if (hasMore) void reply.header('X-Truncated', 'true')
    return
  }
  if (format !== 'json') void reply.header('X-Next-Cursor', nextCursor)
  const link = request.method === 'GET' ? nextLink(queryOf(request), nextCursor) : null
  if (link !== null) void reply.header('Link', link)
}

/** JSON has the same facts in its body. */
function addGroupHeaders(
  reply: FastifyReply,
  { format, groups, rowsMet, truncated }: GroupsAnswer,
): void {
  if (format === 'json') return
  void reply.header('X-Groups', String(groups)).header('X-Truncated', String(truncated))
  if (rowsMet !== null) void reply.header('X-Rows-Met', String(rowsMet))
}
