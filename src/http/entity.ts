import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesTag } from '../service/entity-tag.js'

/** A body that was made before anybody asked. */
export interface Entity {
  readonly body: Buffer
  readonly type: string
  /** Equal tags, equal bytes. */
  readonly tag: string
}

/** The body with the entity tag of its bytes. */
export function entityOf(body: Buffer, type: string): Entity {
  const digest = createHash('sha256').update(body).digest('base64url')
  return { body, type, tag: `"${digest.slice(0, 27)}"` }
}

/** Sends the body, or 304 to whom it is known. */
export function sendEntity(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, type, tag }: Entity,
): FastifyReply {
  void reply.header('ETag', tag)
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type(type).send(body)
}
