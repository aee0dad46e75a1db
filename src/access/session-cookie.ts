import { isLoopbackName } from '../config.js'
import { ownerSessionLifeMs } from '../control/sessions/sessions.js'
import type { SessionKind } from '../control/sessions/sessions.js'

/** How the cookie of a session is written at an address of this service. */
export interface SessionCookie {
  readonly name: string
  readonly attributes: string
  readonly maxAgeSeconds: number
}

const common = 'Path=/; HttpOnly; SameSite=Lax'
/** Of a subscriber the browser's limit: the server ends a session 30 days after its last use. */
const cookies = {
  subscriber: { name: 'das', maxAgeSeconds: 400 * 86_400 },
  owner: { name: 'das-owner', maxAgeSeconds: ownerSessionLifeMs / 1000 },
} as const
const names = Object.values(cookies).flatMap(({ name }) => [name, `__Host-${name}`])

/**
 * The cookie at this address: over https, or on this machine alone. Null elsewhere: who listens on
 * the way could take it.
 */
export function sessionCookieAt(
  base: string,
  kind: SessionKind = 'subscriber',
): SessionCookie | null {
  // Without a public address it is what a client sent as `Host`.
  if (!URL.canParse(base)) return null
  const { protocol, hostname } = new URL(base)
  const { name, maxAgeSeconds } = cookies[kind]
  if (protocol === 'https:') {
    return { name: `__Host-${name}`, attributes: `${common}; Secure`, maxAgeSeconds }
  }
  return isLoopbackName(hostname) ? { name, attributes: common, maxAgeSeconds } : null
}

/** The header that gives a browser the secret of a session; null = that takes it away. */
export function cookieHeader(
  { name, attributes, maxAgeSeconds }: SessionCookie,
  secret: string | null,
): string {
  return `${name}=${secret ?? ''}; Max-Age=${secret === null ? 0 : maxAgeSeconds}; ${attributes}`
}

/** The secret of a session in the header `Cookie`, at this address; null without it. */
export function sessionSecret(
  base: string,
  header: string | undefined,
  kind?: SessionKind,
): string | null {
  const cookie = sessionCookieAt(base, kind)
  return cookie && cookieValue(header, cookie.name)
}

/** The value of a cookie in the header `Cookie`; null without it. */
function cookieValue(header: string | undefined, name: string): string | null {
  for (const part of (header ?? '').split(';')) {
    const [key, value] = part.split('=', 2)
    if (key?.trim() === name && value !== undefined) return value.trim()
  }
  return null
}

/** Whether a request came with the cookie of a session of any kind. */
export function hasSessionCookie(header: string | undefined): boolean {
  return header !== undefined && names.some((name) => cookieValue(header, name) !== null)
}
