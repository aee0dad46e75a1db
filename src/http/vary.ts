import type { FastifyReply } from 'fastify'

/**
 * Adds a header's name to `Vary`. Call it in `onSend`: a route that sets `Vary` itself would
 * overwrite an earlier value.
 */
export function varyBy(reply: FastifyReply, name: string): void {
  const names = String(reply.getHeader('Vary') ?? '').split(/, */)
  if (!names.includes(name)) void reply.header('Vary', [...names, name].filter(Boolean).join(', '))
}
