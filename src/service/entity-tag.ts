import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import type { Access } from '../access/access.js'
import type { Principal } from '../access/principal.js'
import type { Version } from '../versions/version.js'

/**
 * Equal tags, equal bytes: version, question with its format, and what the caller may see. Without
 * the secret, nothing of that can be guessed from the tag.
 */
export function entityTag(
  secret: Uint8Array,
  version: Version,
  access: Access,
  key: string,
  principal: Principal,
): string {
  const content = JSON.stringify(['entity tag', version.id, access.key, key, principal.id])
  // Not an HMAC, which costs twice as much: a tag is a cut hash, which can't be extended.
  return tagOf(createHash('sha256').update(secret).update(content))
}

/** The entity tag of a whole body: equal tags, equal bytes. */
export function contentTag(content: string | Buffer): string {
  return tagOf(createHash('sha256').update(content))
}

function tagOf(hash: Hash): string {
  return `"${hash.digest('base64url').slice(0, 27)}"`
}

/** Whether `If-None-Match` names the tag; a weak form of it counts (RFC 9110, 13.1.2). */
export function matchesTag(known: string | undefined, tag: string): boolean {
  if (known === undefined) return false
  return known
    .split(',')
    .map((each) => each.trim().replace(/^W\//, ''))
    .some((each) => each === tag || each === '*')
}
