import type { FastifyRequest } from 'fastify'

/**
 * Whether a page of this site sent the form, so that no page of another site can send it in a
 * visitor's name. Browsers say so in `Sec-Fetch-Site`, or on plain HTTP in `Origin`; a request with
 * neither is refused. `addresses` are those of this site; null stands for none.
 */
export function isOwnPage(
  { headers }: Pick<FastifyRequest, 'headers'>,
  addresses: readonly (string | null)[],
): boolean {
  const { 'sec-fetch-site': site, origin } = headers
  if (site !== undefined) return site === 'same-origin'
  const sender = originOf(origin)
  return sender !== null && addresses.some((address) => originOf(address) === sender)
}

/** The origin of an address; null for any other text, such as `null`. */
function originOf(text: string | null | undefined): string | null {
  return typeof text === 'string' && URL.canParse(text) ? new URL(text).origin : null
}
