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
  const facts = JSON.stringify([version.id, access.key, key, principal.id])
  return `"${createHash('sha256').update(facts).digest('base64url').slice(0, 27)}"`
}

/** Whether `If-None-Match` names the tag; a weak form of it counts (RFC 9110, 13.1.2). */
export function matchesTag(known: string | undefined, tag: string): boolean {
  if (known === undefined) return false
  return known
    .split(',')
    .map((each) => each.trim().replace(/^W\//, ''))
    .some((each) => each === tag || each === '*')
}
