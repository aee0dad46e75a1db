import { randomUUID } from 'node:crypto'
import Fastify, { LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyInstance, HTTPMethods } from 'fastify'
import { ServiceError, badRequest } from '../errors.js'
import { answerBrokenRequest, sendError } from './error-answers.js'
import { addRoutes } from './routes.js'
import type { RouteParts } from './routes.js'
import { limitHeaders } from './visit.js'

export interface ServerParts extends RouteParts {
  readonly logger: FastifyBaseLogger
  /** Networks whose `X-Forwarded-For` is believed; empty = none. */
  readonly trustProxy: readonly string[]
}

const bodyBytesMax = 1024 * 1024
const headerBytesMax = 32 * 1024
const connectionsMax = 10_000

/** The HTTP door: translates requests in and answers out. It holds no rule of the product. */
export function buildServer(parts: ServerParts): FastifyInstance {
  const app = Fastify({
    loggerInstance: parts.logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    bodyLimit: bodyBytesMax,
    requestTimeout: 15_000,
    connectionTimeout: 30_000,
    maxRequestsPerSocket: 1000,
    forceCloseConnections: 'idle',
    trustProxy: parts.trustProxy.length === 0 ? false : [...parts.trustProxy],
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 100 },
    http: { maxHeaderSize: headerBytesMax, headersTimeout: 10_000 },
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(reply, request.id)
      sendError(error, request, reply)
    },
    clientErrorHandler: (error, socket) => {
      answerBrokenRequest(error, socket, randomUUID())
    },
  })
  app.server.maxConnections = connectionsMax
  app.decorateRequest('visit', null)
  acceptJsonOnly(app)
  addHooks(app)
  const methods = collectMethods(app)
  addRoutes(app, parts)
  refuseOtherMethods(app, methods)
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request, reply) => {
    sendError(new ServiceError('not_found', 'There is nothing at this path.'), request, reply)
  })
  return app
}

/** A client's own request id is kept where it is harmless in headers and logs. */
function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(given) ? given : randomUUID()
}

function setCommonHeaders(reply: { header: (name: string, value: string) => unknown }, id: string) {
  reply.header('X-Request-Id', id)
  reply.header('X-Content-Type-Options', 'nosniff')
}

/** Bodies stay bytes until the question is read: their numbers are checked as they are written. */
function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })
}

function addHooks(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    setCommonHeaders(reply, request.id)
    if (request.headers['content-encoding'] !== undefined) {
      throw new ServiceError('unsupported_media_type', 'Send the body uncompressed.')
    }
    if (holdsToken(request.raw.url ?? '')) {
      throw badRequest(
        'A token does not belong in a URL, where logs keep it: send it in the header ' +
          '"Authorization: Bearer <token>".',
      )
    }
  })
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.visit) reply.headers(limitHeaders(request.visit))
    return payload
  })
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        url: loggedUrl(request.raw.url ?? ''),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    )
  })
}

const tokenPattern = /das(?:_|%5f)(?:live|demo)(?:_|%5f)[0-9a-z]*/gi

function holdsToken(url: string): boolean {
  return url.search(tokenPattern) !== -1
}

/** Path and parameter names: values may be anybody's data. */
function loggedUrl(url: string): string {
  const [path = '', query = ''] = url.split('?', 2)
  const names = query.split('&').map((part) => part.split('=', 1)[0] ?? '')
  const text = query === '' ? path : `${path}?${names.join('&')}`
  return text.replaceAll(tokenPattern, '[token]').slice(0, 500)
}

function collectMethods(app: FastifyInstance): ReadonlyMap<string, Set<string>> {
  const methods = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set()
    for (const each of [method].flat()) known.add(each)
    methods.set(url, known)
  })
  return methods
}

/** A wrong method is said before anything else is checked, with those that the path has. */
function refuseOtherMethods(
  app: FastifyInstance,
  methods: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  for (const [url, known] of [...methods]) {
    const others = app.supportedMethods.filter((method) => !known.has(method)) as HTTPMethods[]
    const allow = [...known].join(', ')
    app.route({
      method: others,
      url,
      onRequest: async (_request, reply) => {
        reply.header('Allow', allow)
        throw new ServiceError('method_not_allowed', `This path has ${allow}.`)
      },
      handler: () => undefined,
    })
  }
}
