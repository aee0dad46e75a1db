import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { holdsToken } from '../control/tokens/token-format.js'
import { errorCodes, errorStatus } from '../errors.js'
import { placeOf } from './place.js'
import type { Door } from './place.js'
import { recordOf } from './request-record.js'
import type { Outcome, RequestRecord } from './request-record.js'

/** The line of one request. A key that is not known or has no meaning is left out. */
export interface RequestLine {
  readonly address: string | undefined
  readonly status: number
  readonly outcome: Outcome
  readonly door: Door
  readonly tool?: string | undefined
  readonly dataset?: string | undefined
  readonly subscription?: string | undefined
  readonly tokenId?: string | undefined
  /** Of an agent that signed in. */
  readonly connectionId?: string | undefined
  /** Of a person who signed in. */
  readonly sessionId?: string | undefined
  readonly rows: number
  readonly charged: number
  /** Everything sent, headers too. */
  readonly bytes?: number | undefined
  readonly queueMs: number
  readonly engineMs: number
  readonly totalMs: number
  readonly version?: string | undefined
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Why Node's parser refused the request. */
  readonly reason?: string | undefined
}

/** Takes each line, to count it. */
export type OnRequest = (line: RequestLine) => void

/** A request that Node refused before Fastify saw it. */
interface BrokenRequest {
  readonly address: string | undefined
  readonly status: number
  readonly reason: string | undefined
}

/** nginx's status for a client that disconnected before its answer; for the log only. */
const clientGoneStatus = 499

/** Writes one line for every request, when it is answered or its client has disconnected. */
export class RequestLog {
  readonly #logger: FastifyBaseLogger
  readonly #onRequest: OnRequest | undefined

  constructor(logger: FastifyBaseLogger, onRequest: OnRequest | undefined) {
    this.#logger = logger
    this.#onRequest = onRequest
  }

  /** Adds the hooks that time and write. Call it after every other `onSend` hook was added. */
  addTo(app: FastifyInstance): void {
    app.addHook('onSend', (request, reply, payload, done) => {
      const record = recordOf(request)
      if (record.dataset !== null) reply.header('Server-Timing', serverTiming(record, reply))
      done(null, payload)
    })
    app.addHook('onResponse', (request, reply, done) => {
      this.answered(request, reply)
      done()
    })
  }

  /** Call it once a request can be answered. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    recordOf(request).bytesBefore = request.socket.bytesWritten
    reply.raw.once('close', () => {
      const isGone = request.socket.destroyed && !reply.raw.writableFinished
      if (isGone) this.#write(request, reply, clientGoneStatus, 'client_gone')
    })
  }

  /** Call it when the answer is sent. */
  answered(request: FastifyRequest, reply: FastifyReply): void {
    const { statusCode } = reply
    this.#write(request, reply, statusCode, outcomeOf(statusCode))
  }

  /** Writes the line of a request that Node refused. */
  broken(requestId: string, known: BrokenRequest): void {
    const line: RequestLine = {
      address: known.address,
      status: known.status,
      outcome: outcomeOf(known.status),
      door: 'none',
      ...nothing,
      totalMs: 0,
      reason: known.reason,
    }
    this.#logger.info({ requestId, ...line }, 'request')
    this.#onRequest?.(line)
  }

  #write(request: FastifyRequest, reply: FastifyReply, status: number, outcome: Outcome): void {
    const record = recordOf(request)
    if (record.isWritten) return
    record.isWritten = true
    const { door, tool } = placeOf(request.path)
    const { principal, bytesBefore } = record
    const subscriber = principal?.kind === 'subscriber' ? principal : null
    const bytes = request.socket.bytesWritten - bytesBefore
    const line: RequestLine = {
      address: request.ip,
      status,
      outcome: record.outcome ?? outcome,
      door,
      tool: record.tool ?? tool ?? undefined,
      dataset: record.dataset ?? undefined,
      subscription: principal?.id,
      tokenId: subscriber?.tokenId ?? undefined,
      sessionId: subscriber?.sessionId,
      connectionId: principal?.connectionId,
      rows: record.rows,
      charged: record.charged,
      bytes: Number.isFinite(bytes) ? bytes : undefined,
      queueMs: tenths(record.queueMs),
      engineMs: tenths(record.engineMs),
      totalMs: tenths(reply.elapsedTime),
      version: record.version ?? undefined,
      method: request.method,
      url: loggedUrl(request.raw.url ?? ''),
    }
    request.log.info(line, 'request')
    this.#onRequest?.(line)
  }
}

const nothing = { rows: 0, charged: 0, queueMs: 0, engineMs: 0 }

/** The time until the answer begins (W3C Server Timing), in milliseconds. */
function serverTiming({ queueMs, engineMs }: RequestRecord, { elapsedTime }: FastifyReply): string {
  const [queue, engine, total] = [queueMs, engineMs, elapsedTime].map(tenths)
  return `queue;dur=${queue}, engine;dur=${engine}, total;dur=${total}`
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}

/** The outcome of an answer that was not sent as an error of this service. */
function outcomeOf(status: number): Outcome {
  if (status < 400) return 'ok'
  const usual = status < 500 ? 'bad_request' : 'internal_error'
  return errorCodes.find((code) => errorStatus[code] === status) ?? usual
}

/** Keeps only the path and parameter names; values may be personal data. */
function loggedUrl(url: string): string {
  if (holdsToken(url)) return '[a URL with a token]'
  const [path = '', query = ''] = url.split('?', 2)
  const names = query.split('&').map((part) => part.split('=', 1)[0] ?? '')
  return (query === '' ? path : `${path}?${names.join('&')}`).slice(0, 500)
}
