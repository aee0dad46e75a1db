import type { FastifyReply, FastifyRequest } from 'fastify'
import { contentTag, matchesTag } from '../service/entity-tag.js'
import type { PageContext } from './page-context.js'

/** The methods of a page. */
export const reading = ['GET', 'HEAD']

/** Only the portal's own files are loaded, and no other site learns of the visit. */
const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
  Vary: 'Accept-Language, Cookie',
} as const

/** For a page that is true once. */
export const noStore = { 'Cache-Control': 'no-store' } as const

/** With `no-referrer` the browser would send the form of a page with `Origin: null`. */
export const sameOrigin = { 'Referrer-Policy': 'same-origin' } as const

/** The headers of pages with forms. */
export const formHeaders = { ...sameOrigin, ...noStore } as const

/**
 * Sends a page, or 304 if the client has it; `own` replaces headers that are the same for all. A
 * page that is not stored has no tag: none for a person who signed in is, and each has a form.
 */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { language, person }: PageContext,
  page: string,
  own: Readonly<Record<string, string>> = {},
): FastifyReply {
  const headers = { ...pageHeaders, ...(person && formHeaders), ...own }
  void reply.headers(headers).header('Content-Language', language)
  const type = 'text/html; charset=utf-8'
  if (reply.statusCode === 200 && headers['Cache-Control'] !== 'no-store') {
    return sendTagged(request, reply, type, page)
  }
  return reply.type(type).send(page)
}

/** Sends a text with its entity tag, or 304 if the client has it. */
export function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  text: string,
): FastifyReply {
  const tag = contentTag(text)
  void reply.header('ETag', tag)
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type(type).send(text)
}
