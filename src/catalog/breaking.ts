import type { Column } from './column.js'
import { typeText } from './data-type.js'
import { quoted } from './nearest.js'
import type { Version } from './version.js'

/** Why the next version is not to be served without the owner's word; null where it may be. */
export function breakingReason(served: Version, next: Version): string | null {
  const changes = breakingChanges(served, next)
  if (changes.length === 0) return null
  const advice = 'say allow_breaking: true in the registry to serve the new files all the same'
  return `the new files would break callers: ${changes.join('; ')}; ${advice}`
}

/**
 * What of the served version's columns the next one's files lack or hold otherwise, so that a
 * caller's program would break. Columns that the registry hides or renames are the owner's word.
 */
function breakingChanges(served: Version, next: Version): readonly string[] {
  const bySource = new Map(next.columns.map((column) => [column.source, column]))
  return served.columns.flatMap((column) => {
    if (column.hidden) return []
    const twin = bySource.get(column.source)
    if (!twin) return [`column ${quoted(column.name)} is gone`]
    if (shapeOf(twin) === shapeOf(column)) return []
    const [was, is] = [typeText(column.type), typeText(twin.type)]
    return [`column ${quoted(column.name)} was ${was} and is ${is}`]
  })
}

const textIntegers: readonly string[] = ['HUGEINT', 'UBIGINT', 'UHUGEINT']

/** Equal for types whose values look alike to a caller: an INTEGER may become a BIGINT. */
function shapeOf({ type, rules }: Column): string {
  const name = typeText(type)
  if (rules.shown === 'json') return name
  if (name === 'TIMESTAMPTZ' || textIntegers.includes(name)) return name
  return rules.shown
}
