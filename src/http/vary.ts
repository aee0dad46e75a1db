import type { FastifyReply } from 'fastify'

/**
 * Adds a header's name to those that the answer varies by. It is for `onSend`: a route that sets
 * `Vary` itself would overwrite what was added earlier.
 */
export function varyBy(reply: FastifyReply, name: string): void {
  const names = String(reply.getHeader('Vary') ?? '').split(/, */)
  if (!names.includes(name)) void reply.header('Vary', [...names, name].filter(Boolean).join(', '))
}
