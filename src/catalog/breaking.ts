import type { Column } from './column.js'
import { typeText } from './data-type.js'
import { quoted } from './nearest.js'
import type { Version } from './version.js'

/**
 * What of the served version's columns the next one's files lack or hold otherwise, so that a
 * caller's program would break. Columns that the registry hides or renames are the owner's word.
 */
export function breakingChanges(served: Version, next: Version): readonly string[] {
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
