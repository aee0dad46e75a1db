import { parsedJson } from '../text.js'
import { setImmediate } from 'node:timers/promises'
import type { Server } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { ServiceError, badRequest } from '../errors.js'
import { requireBounded } from '../query/scan-json.js'
import { recordOf } from '../registry/shape.js'
import type { Service, RequestContext } from '../service.js'
import type { Call } from './call-tool.js'
import { createExchange } from './exchange.js'
import { allowedHosts, requireAllowed } from './hosts.js'
import { tools } from './tools.js'

/** The paths of the sign-in. */
interface SignInPaths {
  readonly server: string
  readonly resource: string
  readonly register: string
}

/** What the routes of MCP need. */
export interface McpParts {
  readonly signInPaths: SignInPaths
  /** The address of this server for people; without one, that of each request. */
  readonly publicUrl?: string | null
  readonly service: Service
  /** Makes the server for one request; `logFault` takes faults that the operator must fix. */
  readonly serverFor: (call: Call, logFault: (error: ServiceError) => void) => Server
  /** Host names that clients may use, in addition to those of this machine. */
  readonly hosts: readonly string[]
  /** The request in the form that the service takes. */
  readonly contextOf: (request: FastifyRequest, reply: FastifyReply) => RequestContext
  /** How an agent finds where to sign in, for a refused token; null where it can't. */
  readonly challengeOf: (request: FastifyRequest) => string | null
  /** Reads the body; call it after the token was checked. */
  readonly readBody: (request: FastifyRequest, reply: FastifyReply) => Promise<Buffer>
}

const path = '/mcp'

/** After parsing a longer message, other requests have a turn. */
const lettersAtOnce = 100_000

/** Methods that read data; the others are free (contract 2). */
const countedMethods: readonly unknown[] = ['tools/call', 'resources/read']

/** What the log calls a message by. */
const shownNames: readonly string[] = [
  ...tools.map(({ name }) => name),
  'initialize',
  'notifications/initialized',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'server/discover',
  'tools/list',
]

/**
 * Clients look for OAuth here in spite of their static header, or besides its right place; a 404 in
 * JSON ends the search.
 */
const oauthPaths = ({ server, resource, register }: SignInPaths) => [
  server,
  `${server}/*`,
  resource,
  `${resource}/*`,
  '/.well-known/openid-configuration',
  '/.well-known/openid-configuration/*',
  `${path}/.well-known/*`,
  register,
]

/**
 * Adds POST /mcp, which is also /mcp/: a redirect would make clients drop their header. Checks in
 * the order host, method, size, token, rate.
 */
export function addMcp(app: FastifyInstance, parts: McpParts): void {
  const { service, serverFor, hosts, contextOf, readBody } = parts
  const exchange = createExchange()
  const allowed = allowedHosts(hosts)
  app.addHook('onClose', () => exchange.close())
  app.addHook('onRequest', async (request) => {
    if (request.path !== path) return
    requireAllowed(request.headers, allowed)
    request.challenge = parts.challengeOf(request)
  })
  app.route({
    method: 'POST',
    url: path,
    config: { isCompressed: false },
    handler: async (request, reply) => {
      const context = contextOf(request, reply)
      const admitted = await service.admitMessage(context)
      const body = decode(await readBody(request, reply))
      requireBounded(body, 'The body')
      const content = parsedJson(body)
      if (body.length > lettersAtOnce) await setImmediate()
      context.observe?.({ kind: 'tool', name: shownName(content) })
      const isCounted = countedMethods.includes(recordOf(content)['method'])
      const caller = await service.spend(admitted, isCounted ? 'request' : 'free request')
      if (Array.isArray(content)) throw badRequest('Send one message a request, not an array.')
      const site = parts.publicUrl ?? `${request.protocol}://${request.host}`
      const call = { caller, bodyText: body, site: site.replace(/\/$/, '') }
      const logFault = (error: ServiceError) =>
        request.log.error({ err: error.cause ?? error }, error.code)
      const answer = await exchange.answer({ headers: request.headers, content }, () =>
        serverFor(call, logFault),
      )
      if (isError(answer.body)) context.observe?.({ kind: 'refusal', code: 'protocol_error' })
      if (answer.type !== null) reply.type(answer.type)
      // An empty text would get a Content-Type, which some clients can't read.
      return reply.code(answer.status).send(answer.body === '' ? undefined : answer.body)
    },
  })
  addOtherPaths(app, parts)
}

function addOtherPaths(app: FastifyInstance, { challengeOf, signInPaths }: McpParts): void {
  for (const url of oauthPaths(signInPaths)) {
    // The sign-in, if there is one, was added before.
    if (app.hasRoute({ url, method: 'OPTIONS' })) continue
    app.route({
      method: app.supportedMethods as HTTPMethods[],
      url,
      handler: (request) => {
        const isElsewhere = challengeOf(request) !== null
        throw new ServiceError('not_found', isElsewhere ? elsewhereText(signInPaths) : staticText)
      },
    })
  }
}

const staticText =
  'This service has static API tokens, not OAuth: send a valid one as ' +
  '"Authorization: Bearer <token>".'

const elsewhereText = (signInPaths: SignInPaths) =>
  `There is nothing at this path. The OAuth metadata of this service is at ${signInPaths.server} ` +
  `and ${signInPaths.resource}${path}.`

/** The tool, or else the method, for the log: a name that this server knows. */
function shownName(content: unknown): string {
  const { method, params } = recordOf(content)
  const name = method === 'tools/call' ? recordOf(params)['name'] : method
  return shownNames.find((known) => known === name) ?? 'other'
}

/** Whether the answer is an error of JSON-RPC. Texts can't hold these keys: quotes are escaped. */
function isError(body: string): boolean {
  return /"(error|result)":/.exec(body)?.[1] === 'error'
}

/** @throws bad_request for a body that is not UTF-8 */
function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw badRequest('The body is not UTF-8.')
  }
}
