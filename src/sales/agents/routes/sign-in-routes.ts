import { parsedJson } from '../../../text.js'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { signInPaths } from '../resource.js'
import type { SignIn } from '../sign-in.js'
import { readBody } from '../../../http/body.js'
import { nothingHere } from '../../../http/error-answers.js'
import { reading } from '../../../http/request-context.js'
import { sendOAuthError } from './oauth-answers.js'

export interface SignInRouteParts {
  readonly signIn: SignIn
  /** The issuer for a request with this `Host`; null where agents can't sign in. */
  readonly issuerFor: (host: string | undefined) => string | null
  /** Counts a request without a token against its address. @throws rate_limit_exceeded */
  readonly admitVisitor: (address: string) => void
}

interface SignInRoute extends Pick<RouteOptions, 'config' | 'method' | 'url'> {
  readonly answer: (
    issuer: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => object | Promise<object | undefined> | undefined
}

/** Far more than clients send. */
const bodyBytesMax = 16 * 1024
const preflightSeconds = 3600

/** Adds the metadata and the endpoints that agents call to sign in; the page is the portal's. */
export function addSignIn(app: FastifyInstance, parts: SignInRouteParts): void {
  const { signIn } = parts
  const add = (route: SignInRoute) => {
    addRoute(app, parts, route)
  }
  add({
    method: reading,
    url: signInPaths.resource,
    answer: (issuer) => signIn.resourceMetadata(issuer, false),
  })
  add({
    method: reading,
    url: `${signInPaths.resource}/mcp`,
    answer: (issuer, { url }) => signIn.resourceMetadata(issuer, hasSlash(url)),
  })
  add({
    method: reading,
    url: signInPaths.server,
    answer: (issuer) => signIn.serverMetadata(issuer),
  })
  add({
    method: 'POST',
    url: signInPaths.register,
    answer: async (_issuer, request, reply) => {
      const body = parsedJson(await readText(request, reply))
      void reply.code(201)
      return signIn.register(body)
    },
  })
  add({
    method: 'POST',
    url: signInPaths.token,
    config: { takesForm: true },
    answer: async (issuer, request, reply) =>
      signIn.exchange(await readText(request, reply), issuer),
  })
  add({
    method: 'POST',
    url: signInPaths.revoke,
    config: { takesForm: true },
    answer: async (_issuer, request, reply) => {
      await signIn.revoke(await readText(request, reply))
      return {}
    },
  })
}

/** Whether a path ends with a slash. */
export function hasSlash(url: string): boolean {
  return (url.split('?', 1)[0] ?? '').endsWith('/')
}

function addRoute(app: FastifyInstance, parts: SignInRouteParts, route: SignInRoute): void {
  const { issuerFor, admitVisitor } = parts
  const { method, url, config, answer } = route
  app.route({
    method,
    url,
    // Clients in web pages of any site may sign in: no cookie is involved.
    config: { ...config, cors: false },
    errorHandler: sendOAuthError,
    onRequest: (_request, reply, done) => {
      reply.header('Access-Control-Allow-Origin', '*')
      done()
    },
    handler: async (request, reply) => {
      const issuer = issuerFor(request.headers.host)
      if (issuer === null) throw nothingHere()
      admitVisitor(request.ip)
      return await answer(issuer, request, reply)
    },
  })
  app.route({
    method: 'OPTIONS',
    url,
    config: { cors: false },
    handler: (_request, reply) =>
      reply
        .code(204)
        .header('Access-Control-Allow-Origin', '*')
        .header('Access-Control-Allow-Methods', [method].flat().join(', '))
        .header('Access-Control-Allow-Headers', 'Authorization, Content-Type, MCP-Protocol-Version')
        .header('Access-Control-Max-Age', String(preflightSeconds))
        .send(),
  })
}

/** @throws payload_too_large */
async function readText(request: FastifyRequest, reply: FastifyReply): Promise<string> {
  return (await readBody(request, reply, bodyBytesMax)).toString()
}
