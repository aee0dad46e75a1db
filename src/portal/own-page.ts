import type { FastifyRequest } from 'fastify'
import { isLoopbackName } from '../config.js'

/**
 * Whether a page of this site sent the form, so that no page of another site can send it in a
 * visitor's name. Browsers say so in `Sec-Fetch-Site`, or on plain HTTP in `Origin`; a request with
 * neither is refused. `base` is the address of this site.
 */
export function isOwnPage({ headers }: Pick<FastifyRequest, 'headers'>, base: string): boolean {
  const { 'sec-fetch-site': site, origin } = headers
  if (site !== undefined) return site === 'same-origin'
  const sender = originOf(origin)
  return sender !== null && sender === originOf(base)
}

/** The origin of an address; null for any other text, such as `null`. */
function originOf(text: string | undefined): string | null {
  if (text === undefined || !URL.canParse(text)) return null
  const { protocol, hostname, port, origin } = new URL(text)
  // One server has all names of this machine.
  return isLoopbackName(hostname) ? `${protocol}//localhost:${port}` : origin
}
