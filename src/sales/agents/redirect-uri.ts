import { redirectTarget } from '../../control/connections/redirect-target.js'

/**
 * Whether a client with this registered URI may name the other one: they are equal, or differ only
 * in the port of `http` on this computer (RFC 8252, 7.3).
 */
export function matchesRedirect(registered: string, named: string): boolean {
  if (registered === named) return true
  const [one, other] = [anyPort(registered), anyPort(named)]
  return one !== null && one === other
}

/** A URI of `http` on this computer without its port; null for any other. */
function anyPort(uri: string): string | null {
  if (redirectTarget(uri)?.kind !== 'computer') return null
  const url = new URL(uri)
  if (url.protocol !== 'http:') return null
  url.port = ''
  return url.href
}

/** A redirect URI with these parameters added to its query; null values are left out. */
export function withParameters(
  uri: string,
  parameters: Readonly<Record<string, string | null>>,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null) query.set(name, value)
  }
  return `${uri}${uri.includes('?') ? '&' : '?'}${query.toString()}`
}
