import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesTag } from '../service/entity-tag.js'

/**
 * Sends an answer that is made whole in any case, with an entity tag of its bytes; a caller who has
 * them already gets 304.
 */
export function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: object,
): FastifyReply {
  const body = String(reply.serialize(answer))
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
  void reply
    .header('Cache-Control', 'private, no-cache')
    .header('Vary', 'Authorization')
    .header('ETag', tag)
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(body)
}
