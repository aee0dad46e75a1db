import type { FastifyReply, FastifyRequest } from 'fastify'
import { contentTag, matchesTag } from '../service/entity-tag.js'

/** A complete body with its entity tag. */
export interface Entity {
  readonly body: Buffer
  readonly type: string
  /** Equal tags, equal bytes. */
  readonly tag: string
}

/** The body with the entity tag of its bytes. */
export function entityOf(body: Buffer, type: string): Entity {
  return { body, type, tag: contentTag(body) }
}

/** Sends the body, or 304 if the client has it. */
export function sendEntity(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, type, tag }: Entity,
): FastifyReply {
  void reply.header('ETag', tag)
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type(type).send(body)
}

/** Sends a body that only this caller may see, or 304 if the client has it. */
export function sendOwn(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: object,
): FastifyReply {
  void reply.header('Cache-Control', 'private, no-cache').header('Vary', 'Authorization')
  const body = Buffer.from(String(reply.serialize(answer)))
  return sendEntity(request, reply, entityOf(body, 'application/json; charset=utf-8'))
}
