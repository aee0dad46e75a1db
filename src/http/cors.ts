import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import { hasSessionCookie } from '../access/session-cookie.js'
import { varyBy } from './vary.js'

/** Headers of an answer that a web page may read. */
const exposedHeaders = [
  'Content-Disposition',
  'ETag',
  'Link',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'Retry-After',
  'Server-Timing',
  'X-Dataset-Version',
  'X-Explained',
  'X-Groups',
  'X-Next-Cursor',
  'X-Quota-Rows-Limit',
  'X-Quota-Rows-Remaining',
  'X-Quota-Scope',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  'X-Rows-Charged',
  'X-Rows-Met',
  'X-Scope',
  'X-Hint',
  'X-Truncated',
]

/** Headers of a request that a web page may send. */
const allowedHeaders = [
  'Authorization',
  'Content-Type',
  'If-None-Match',
  'Last-Event-ID',
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'Mcp-Session-Id',
]

const preflightSeconds = 3600

/** No page of another origin reads an answer to the cookie of a person who signed in. */
export function keepCookiesFromCors(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (hasSessionCookie(request.headers.cookie)) {
      for (const name of Object.keys(reply.getHeaders())) {
        if (name.startsWith('access-control-')) reply.removeHeader(name)
      }
    }
    done(null, payload)
  })
}

/**
 * Lets web pages of these origins read the answers, without cookies: only the token counts.
 * Requests of other origins, or without an origin, get the same answers as without CORS. The
 * plugin's hook runs after those of the doors: a door that refuses an origin still refuses it.
 */
export function addCors(app: FastifyInstance, origins: readonly string[]): void {
  const isOpen = origins.includes('*')
  const allowed = new Set(origins)
  void app.register(cors, {
    origin: (origin, decide) => {
      if (origin === undefined) decide(null, false)
      else decide(null, isOpen ? '*' : allowed.has(origin) && origin)
    },
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowedHeaders,
    exposedHeaders,
    maxAge: preflightSeconds,
    strictPreflight: false,
  })
  app.addHook('onSend', async (_request, reply, payload) => {
    varyBy(reply, 'Origin')
    return payload
  })
}
