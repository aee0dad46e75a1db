import Fastify, { LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { holdsToken, tokenInUrlText } from '../control/tokens/token-format.js'
import { ServiceError, badRequest } from '../errors.js'
import { methodAdvice } from '../query/common-mistakes.js'
import type { Random } from '../random.js'
import { SheetWriter } from '../sheet/sheet-writer.js'
import { closeIfUnread, hasBody, readBody, requireSmallBody } from './body.js'
import { addCompression } from './compression.js'
import { addCors, keepCookiesFromCors } from './cors.js'
import { answerBrokenRequest, nothingHere, sendError, wrongMediaType } from './error-answers.js'
import type { SendProblemPage } from './error-answers.js'
import { KnownPaths, pathRules } from './known-paths.js'
import { addReference } from './openapi-route.js'
import { limitHeaders, contextOf } from './request-context.js'
import { RequestLog } from './request-log.js'
import type { OnRequest } from './request-log.js'
import type { AnswerAdmitted } from './data-routes.js'
import { addRoutes } from './routes.js'
import type { RouteParts } from './routes.js'

export interface ServerParts extends Omit<RouteParts, 'sheets'> {
  readonly logger: FastifyBaseLogger
  readonly random: Random
  /** Networks whose `X-Forwarded-For` is trusted; empty = none. */
  readonly trustProxy: readonly string[]
  /** Takes the facts of each answered request. */
  readonly onRequest?: OnRequest
  /** Origins whose web pages may read the answers; `*` alone = any; empty = none. */
  readonly corsOrigins: readonly string[]
  /** Every answer then closes its connection: an open one would delay the stop. */
  readonly isStopping: () => boolean
  /** Add the routes of other doors to the same listener. */
  readonly doors: readonly AddRoutes[]
  /** The address of the service that users see; that of each request if omitted or null. */
  readonly publicUrl?: string | null
  /** Shows a mistake to a browser; false leaves the answer to this server. */
  readonly sendProblemPage?: SendProblemPage
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route whose body is a form, not JSON. */
    readonly takesForm?: boolean
    /** False for a route with CORS of its own. */
    readonly cors?: false
  }
}

/** What a door needs from HTTP; the body is read once the caller is admitted. */
export interface HttpParts {
  readonly contextOf: typeof contextOf
  readonly readBody: typeof readBody
  /** Writes the workbooks of all doors. */
  readonly sheets: SheetWriter
  /** Answers for rows of a dataset that has the name of another path. */
  readonly answerRows: AnswerAdmitted
}

/** Adds the routes of a door. */
export type AddRoutes = (app: FastifyInstance, http: HttpParts) => void

const headerBytesMax = 32 * 1024
const connectionsMax = 10_000

/** Builds the HTTP server: it translates requests and answers, and holds no product rules. */
export function buildServer(parts: ServerParts): FastifyInstance {
  const log = new RequestLog(parts.logger, parts.onRequest)
  const app = createFastify(parts, log)
  app.server.maxConnections = connectionsMax
  // Node answers unknown expectations without a body; RFC 9110 lets a server ignore them.
  app.server.on('checkExpectation', (request, response) => {
    app.routing(request, response)
  })
  // Node would request every body; `readBody` requests only those of admitted callers.
  app.server.on('checkContinue', (request, response) => {
    app.routing(request, response)
  })
  app.decorateRequest('context', null)
  app.decorateRequest('limits', null)
  app.decorateRequest('record', null)
  app.decorateRequest('challenge', null)
  acceptBodies(app)
  refuseOtherMethods(app, new KnownPaths(app))
  addHooks(app, log, parts)
  keepCookiesFromCors(app)
  addCompression(app)
  log.addTo(app)
  const sheets = new SheetWriter()
  app.addHook('onClose', () => sheets.close())
  const answerRows = addRoutes(app, { ...parts, sheets })
  addReference(app, parts)
  for (const addDoor of parts.doors) addDoor(app, { contextOf, readBody, sheets, answerRows })
  if (parts.corsOrigins.length > 0) addCors(app, parts.corsOrigins)
  app.setErrorHandler((cause, request, reply) => {
    sendError(cause, request, reply, parts.sendProblemPage)
  })
  app.setNotFoundHandler((request, reply) => {
    sendError(nothingHere(), request, reply, parts.sendProblemPage)
  })
  return app
}

function createFastify(parts: ServerParts, log: RequestLog): FastifyInstance {
  const { logger, clock, random, trustProxy } = parts
  return Fastify({
    loggerInstance: logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    requestTimeout: 15_000,
    connectionTimeout: 30_000,
    maxRequestsPerSocket: 1000,
    forceCloseConnections: 'idle',
    // Serves requests that arrived before the close; Fastify's own 503 has another shape.
    return503OnClosing: false,
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    exposeHeadRoutes: false,
    routerOptions: pathRules,
    http: {
      maxHeaderSize: headerBytesMax,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2000,
      // Node's refusal has no body; the hook below sends one.
      requireHostHeader: false,
    },
    genReqId: (request) => requestIdOf(request.headers['x-request-id'], random),
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply)
      closeIfUnread(request, reply, clock)
      sendError(error, request, reply)
      log.answered(request, reply)
    },
    clientErrorHandler: (error, socket) => {
      const requestId = random.uuid()
      const { remoteAddress: address } = socket
      const status = answerBrokenRequest(error, socket, requestId, clock)
      if (status) log.broken(requestId, { address, status, reason: error.code })
    },
  })
}

/** Keeps a client's own request id if it is safe in headers and logs. */
function requestIdOf(given: string | string[] | undefined, random: Random): string {
  return typeof given === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(given) ? given : random.uuid()
}

function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  void reply
    .header('X-Request-Id', request.id)
    .header('X-Content-Type-Options', 'nosniff')
    .header('Cache-Control', 'no-store')
}

/**
 * Accepts JSON, or the forms of browsers and of OAuth where a route takes them. A body stays unread
 * until a route has admitted the caller.
 */
function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const accept = (type: string, takesForm: boolean) => {
    app.addContentTypeParser(type, ({ headers, routeOptions }, _body, done) => {
      if ((routeOptions.config.takesForm ?? false) !== takesForm) throw wrongMediaType(!takesForm)
      requireSmallBody(headers)
      done(null)
    })
  }
  accept('application/json', false)
  accept('application/x-www-form-urlencoded', true)
}

/** The hooks of every request are not async functions: each of those costs several promises. */
function addHooks(app: FastifyInstance, log: RequestLog, { isStopping, clock }: ServerParts): void {
  app.addHook('onRequest', (request, reply, done) => {
    whenAnswerable(reply, () => {
      setCommonHeaders(request, reply)
      log.begin(request, reply)
      done(refusalOf(request))
    })
  })
  app.addHook('preParsing', ({ headers, method }, _reply, payload, done) => {
    const isUnread = (method === 'GET' || method === 'HEAD') && hasBody(headers)
    done(isUnread ? badRequest(unreadBodyText(method)) : null, payload)
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.limits) reply.headers(limitHeaders(request.limits))
    if (isStopping()) reply.header('Connection', 'close')
    closeIfUnread(request, reply, clock)
    done(null, payload)
  })
}

function unreadBodyText(method: string): string {
  return (
    `A ${method} has no body here, and it would not be read: put the question into the URL, or ` +
    'send it with POST to /v1/<dataset>/query or /v1/<dataset>/aggregate.'
  )
}

/** Why a request is refused before its route is asked. */
function refusalOf({ headers, raw }: FastifyRequest): ServiceError | undefined {
  if (headers.host === undefined && raw.httpVersion !== '1.0') {
    return badRequest('The header Host is missing. Send it.')
  }
  const hosts = raw.rawHeaders.filter((name, at) => at % 2 === 0 && /^host$/i.test(name))
  if (hosts.length > 1) return badRequest('The header Host is given more than once. Send one.')
  if (headers['content-encoding'] !== undefined) {
    return new ServiceError(
      'unsupported_media_type',
      'The body is compressed. Send it uncompressed.',
    )
  }
  return holdsToken(raw.url ?? '') ? badRequest(tokenInUrlText) : undefined
}

/**
 * Pipelined requests are answered one after another. A response without a socket can't detect that
 * the client disconnects, so its work begins when it gets one.
 */
function whenAnswerable({ raw }: FastifyReply, begin: () => void): void {
  if (raw.socket === null) raw.once('socket', begin)
  else begin()
}

/** Refuses a wrong method before the body is looked at, and lists the allowed methods. */
function refuseOtherMethods(app: FastifyInstance, paths: KnownPaths): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const path = paths.ofWrongMethod(request)
    if (!path) return done(null, payload)
    const { url, methods } = path
    reply.header('Allow', methods.join(', '))
    // Clients try GET, and take a body for a message.
    if (url === '/mcp') {
      reply.code(405).send()
      return
    }
    const verb = methods.length === 1 ? 'is' : 'are'
    const advice = methodAdvice.get(url)
    const only = `Only ${methods.join(' and ')} ${verb} allowed here.`
    const text = advice === undefined ? only : `${only} ${advice}`
    done(new ServiceError('method_not_allowed', text))
  })
}
