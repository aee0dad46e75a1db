import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import { varyBy } from './vary.js'

/** What a page may read of an answer besides its body. */
const exposedHeaders = [
  'Content-Disposition',
  'ETag',
  'Link',
  'Retry-After',
  'X-Dataset-Version',
  'X-Next-Cursor',
  'X-Quota-Rows-Limit',
  'X-Quota-Rows-Remaining',
  'X-Quota-Scope',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
]

const preflightSeconds = 3600

/**
 * Lets web pages of these origins read the answers, without cookies: a token is all that counts.
 * Requests of other origins, and those without one, are answered as if there were no CORS. The
 * plugin's hook comes after those of the doors: a door that refuses an origin goes on refusing it.
 */
export function addCors(app: FastifyInstance, origins: readonly string[]): void {
  const isOpen = origins.includes('*')
  const allowed = new Set(origins)
  void app.register(cors, {
    origin: (origin, decide) => {
      if (origin === undefined) decide(null, false)
      else decide(null, isOpen ? '*' : allowed.has(origin) && origin)
    },
    methods: ['GET', 'HEAD', 'POST'],
    allowedHeaders: ['Authorization', 'Content-Type', 'If-None-Match'],
    exposedHeaders,
    maxAge: preflightSeconds,
    strictPreflight: false,
  })
  app.addHook('onSend', async (_request, reply, payload) => {
    varyBy(reply, 'Origin')
    return payload
  })
}
