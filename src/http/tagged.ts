import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesTag } from '../service/entity-tag.js'

/** An answer of bytes that are there whoever asks: equal tags, equal bytes. */
export interface Tagged {
  readonly body: Buffer
  readonly type: string
  readonly tag: string
}

/** The bytes with the entity tag of their content. */
export function tagged(body: Buffer, type: string): Tagged {
  const digest = createHash('sha256').update(body).digest('base64url')
  return { body, type, tag: `"${digest.slice(0, 27)}"` }
}

/** Sends the bytes, or 304 to whom they are known. */
export function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, type, tag }: Tagged,
): FastifyReply {
  void reply.header('ETag', tag)
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type(type).send(body)
}
