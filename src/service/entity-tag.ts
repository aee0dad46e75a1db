import { createHash } from 'node:crypto'
import type { Access } from '../access/access.js'
import type { Principal } from '../access/principal.js'
import type { Version } from '../catalog/version.js'

/** Equal tags, equal bytes: version, question with its format, and what the caller may see. */
export function entityTag(
  version: Version,
  access: Access,
  key: string,
  principal: Principal,
): string {
  return contentTag(JSON.stringify([version.id, access.key, key, principal.id]))
}

/** The entity tag of a whole body: equal tags, equal bytes. */
export function contentTag(content: string | Buffer): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`
}

/** Whether `If-None-Match` names the tag; a weak form of it counts (RFC 9110, 13.1.2). */
export function matchesTag(known: string | undefined, tag: string): boolean {
  if (known === undefined) return false
  return known
    .split(',')
    .map((each) => each.trim().replace(/^W\//, ''))
    .some((each) => each === tag || each === '*')
}
