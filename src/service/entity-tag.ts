import { hash } from 'node:crypto'
import type { Access } from '../access/access.js'
import type { Principal } from '../access/principal.js'

/**
 * The tag of a page: equal tags mean equal bytes. It covers the version, the question with its
 * format, and the caller's access. Without the secret, the tag reveals none of them.
 */
export function entityTag(
  secret: Uint8Array,
  { version, key: seen }: Access,
  key: string,
  principal: Principal,
): string {
  const content = JSON.stringify(['entity tag', version.id, seen, key, principal.id])
  // HMAC would cost twice as much. It is not needed: a truncated hash can't be extended.
  return contentTag(Buffer.concat([secret, Buffer.from(content)]))
}

/** The entity tag of a whole body: equal tags mean equal bytes. */
export function contentTag(content: string | Buffer): string {
  return `"${hash('sha256', content, 'base64url').slice(0, 27)}"`
}

/** Reports whether `If-None-Match` names the tag; its weak form also matches (RFC 9110, 13.1.2). */
export function matchesTag(known: string | undefined, tag: string): boolean {
  if (known === undefined) return false
  return known
    .split(',')
    .map((each) => each.trim().replace(/^W\//, ''))
    .some((each) => each === tag || each === '*')
}
