import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../errors.js'
import { readBody } from '../../../http/body.js'
import { isOwnPage } from '../../../portal/own-page.js'
import type { Site } from '../../../portal/page-context.js'

const formBytesMax = 16 * 1024

/**
 * The fields of a form that a page of this site sent.
 * @throws forbidden when another site sent it; payload_too_large over 16 KiB
 */
export async function readForm(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<URLSearchParams> {
  return new URLSearchParams((await readOwn(site, request, reply)).toString('utf8'))
}

/**
 * The body of what a page of this site sent.
 * @throws forbidden when another site sent it; payload_too_large over 16 KiB
 */
export async function readOwn(
  { publicUrl }: Pick<Site, 'publicUrl'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Buffer> {
  const { protocol, host } = request
  if (!isOwnPage(request, [publicUrl, `${protocol}://${host}`])) {
    throw new ServiceError('forbidden', 'The form was sent by a page of another site.')
  }
  return await readBody(request, reply, formBytesMax)
}
