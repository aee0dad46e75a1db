import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.js'
import { ServiceError, badRequest, isFault } from '../errors.js'
import { exportFormats, mediaTypes } from '../query/page-format.js'
import { parseUrl } from '../query/parse-url.js'
import type { RawQuestion } from '../query/raw-question.js'
import type { Service, RequestContext } from '../service.js'
import type { ExportPart } from '../service/export.js'
import type { Page } from '../service/page.js'
import { pacedBody } from './paced-body.js'
import { acceptedFormat, attachment, csvHeader, headingsIn, linesOf } from './page-formats.js'
import { refuseRanges } from './ranges.js'
import { contextOf } from './request-context.js'
import { versionHeaders } from './version-headers.js'
import type { DatasetRoute } from './request-context.js'

type Part = ExportPart<Page>

/** How long a client may read nothing of an export. */
const silenceMs = 5 * 60_000

/**
 * Sends all rows of a question, page by page, as fast as the client reads. An error before the
 * first page is an ordinary error answer; a later error ends NDJSON with an error line, and breaks
 * the connection for CSV.
 */
export async function answerExport(
  service: Service,
  request: FastifyRequest<DatasetRoute>,
  reply: FastifyReply,
  query: string,
  clock: Clock,
): Promise<FastifyReply> {
  const context = contextOf(request, reply)
  const caller = await service.admit(context, 1)
  const { dataset } = request.params
  const question = () => exportQuestion(query, request)
  if (request.method === 'HEAD') {
    const facts = await service.readPage(caller, { dataset, question, checkOnly: true })
    return withHead(reply, dataset, facts).send()
  }
  const { first, parts } = await service.exportPages(caller, { dataset, question })
  withHead(reply, dataset, first)
  const write = first.format === 'csv' ? csvWriter(reply, headingsIn(first)) : ndjsonOf
  // The socket's own timer sees no progress within a page. Without a listener, Node would close it.
  reply.raw.removeAllListeners('timeout').on('timeout', () => undefined)
  const onSilence = () => {
    request.log.info('export disconnected: the client read nothing')
  }
  const pages = bodyOf(parts, write, request.log, context)
  return reply.send(pacedBody(pages, reply.raw, { clock, silenceMs, onSilence }))
}

/** @throws bad_request for limit and explain; not_acceptable for a format that can't be exported */
function exportQuestion(query: string, request: FastifyRequest): RawQuestion {
  const { headers, raw } = request
  const question = parseUrl(query)
  if (question.limit !== null) {
    throw badRequest(
      'An export has no limit. Leave limit out, or read pages with GET /v1/<dataset>.',
    )
  }
  if (question.explain) throw badRequest('An export explains nothing. Leave explain out.')
  const format = question.format ?? acceptedFormat(headers.accept, exportFormats)
  refuseRanges(request, null)
  if (format !== 'ndjson' && format !== 'csv') {
    throw new ServiceError(
      'not_acceptable',
      'An export is ndjson or csv. Send format=ndjson or format=csv.',
    )
  }
  if (format === 'csv' && raw.httpVersion === '1.0') {
    throw new ServiceError(
      'not_acceptable',
      'CSV needs HTTP/1.1 to show that it is complete, and a proxy may send HTTP/1.0. ' +
        'Send format=ndjson.',
    )
  }
  return { ...question, format }
}

function withHead(
  reply: FastifyReply,
  dataset: string,
  page: Pick<Page, 'version' | 'format' | 'scope'>,
): FastifyReply {
  return reply
    .header('Vary', 'Authorization, Accept')
    .headers(versionHeaders(page))
    .header('Content-Disposition', attachment(dataset, page))
    .type(mediaTypes[page.format])
}

async function* bodyOf(
  parts: AsyncIterable<Part>,
  write: (part: Part) => Buffer,
  log: FastifyBaseLogger,
  { signal, observe }: RequestContext,
): AsyncGenerator<Buffer> {
  for await (const part of parts) {
    if (signal.aborted) break
    if (part.kind === 'failure') {
      observe?.({ kind: 'refusal', code: part.error.code })
      logFailure(log, part.error)
    }
    yield write(part)
  }
}

function logFailure(log: FastifyBaseLogger, error: ServiceError): void {
  if (isFault(error)) log.error({ err: error.cause ?? error }, error.code)
  else log.info({ code: error.code }, 'export ended early')
}

/**
 * Writes rows, and control lines whose first key is `cursor`: no column has that name, so no row
 * begins like a control line.
 */
function ndjsonOf(part: Part): Buffer {
  switch (part.kind) {
    case 'page': {
      const { rows, nextCursor: cursor } = part.page
      return linesOf(cursor === null ? rows : [...rows, controlLine({ cursor })], '\n')
    }
    case 'end': {
      const { rows, version } = part
      const line = { cursor: null, complete: true, rows, version: version.id }
      return linesOf([controlLine(line)], '\n')
    }
    case 'failure': {
      const { cursor, error } = part
      const line = { cursor, error: error.code, detail: error.detail }
      return linesOf([controlLine(line)], '\n')
    }
  }
}

function controlLine(content: object): Buffer {
  return Buffer.from(JSON.stringify(content))
}

/** Writes a header line, then rows. The trailer `X-Rows` confirms the last row. */
function csvWriter(reply: FastifyReply, headings: readonly string[]): (part: Part) => Buffer {
  let rows = 0
  reply.trailer('X-Rows', async () => String(rows))
  let head = [csvHeader(headings)]
  return (part) => {
    switch (part.kind) {
      case 'page': {
        const lines = [...head, ...part.page.rows]
        head = []
        return linesOf(lines, '\r\n')
      }
      case 'end':
        rows = part.rows
        return Buffer.alloc(0)
      case 'failure':
        // Breaks the connection, so no client takes an incomplete file for a complete one.
        throw part.error
    }
  }
}
