import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorStatus, ServiceError } from '../../../errors.js'
import { readBody } from '../../../http/body.js'
import type { PathCondition } from '../../../http/known-paths.js'
import { isOwnPage } from '../../../portal/own-page.js'
import { baseOf, visit } from '../../../portal/page-context.js'
import type { PageContext, Site } from '../../../portal/page-context.js'
import { isRefusal } from '../refusals.js'
import type { RefusalReason } from '../refusals.js'

const formBytesMax = 16 * 1024

/** A form that a page of this site sent. */
export interface SentForm {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly context: PageContext
  readonly fields: URLSearchParams
}

/**
 * Adds a path that takes forms of this site's pages, at most of 16 KiB unless `bytesMax` says else;
 * `condition` says when it exists.
 * @throws as `readOwn`
 */
export function addForm(
  app: FastifyInstance,
  site: Site,
  url: string,
  answer: (sent: SentForm) => Promise<FastifyReply>,
  { bytesMax, ...condition }: PathCondition & { readonly bytesMax?: number } = {},
): void {
  app.route({
    method: 'POST',
    url,
    constraints: { ...condition },
    config: { takesForm: true },
    handler: async (request, reply) => {
      const context = await visit(site, request)
      const body = await readOwn(site, request, reply, bytesMax)
      const fields = new URLSearchParams(body.toString('utf8'))
      return await answer({ request, reply, context, fields })
    },
  })
}

/**
 * Sets the status of a refused form, and returns the reason for its page.
 * @throws what is no refusal
 */
export function refusalOf(reply: FastifyReply, cause: unknown): RefusalReason {
  if (!isRefusal(cause)) throw cause
  const { reason, code, retryAfterSeconds } = cause
  void reply.code(errorStatus[code])
  if (retryAfterSeconds !== undefined) void reply.header('Retry-After', retryAfterSeconds)
  return reason
}

/**
 * The body of what a page of this site sent.
 * @throws forbidden when another site sent it; payload_too_large over 16 KiB, or `bytesMax`
 */
export async function readOwn(
  { publicUrl }: Pick<Site, 'publicUrl'>,
  request: FastifyRequest,
  reply: FastifyReply,
  bytesMax = formBytesMax,
): Promise<Buffer> {
  if (!isOwnPage(request, baseOf(publicUrl, request))) {
    throw new ServiceError('forbidden', 'The form was sent by a page of another site.')
  }
  return await readBody(request, reply, bytesMax)
}
