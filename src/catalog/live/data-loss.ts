import type { Column } from '../../columns/column.js'
import { typeText } from '../../columns/data-type.js'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import { quoted } from '../../text.js'
import type { FileChecks } from '../../versions/store/file-checks.js'
import type { Version } from '../../versions/version.js'

/** Why the next version would break callers; null if it would not. */
function breakingReason(served: Version, next: Version): string | null {
  const changes = breakingChanges(served, next)
  if (changes.length === 0) return null
  const what = next.table ? 'the new state of the table' : 'the new files'
  const advice =
    `to serve ${what} anyway: das dataset reload --force, or allow_breaking: true in the ` +
    'registry'
  return `${what} would break callers: ${changes.join('; ')}; ${advice}`
}

/**
 * The columns that the next version's files lack or hold in another type. Columns that the registry
 * hides or renames don't count: the owner decided so.
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

/** Equal for types that callers can't tell apart: an INTEGER may become a BIGINT. */
function shapeOf({ type, rules }: Column): string {
  const name = typeText(type)
  if (rules.shown === 'json') return name
  if (name === 'TIMESTAMPTZ' || textIntegers.includes(name)) return name
  return rules.shown
}

const shrinkMaxDefault = '20%'

/**
 * Why the next version needs the owner's consent: columns that callers use are gone, or so many
 * rows that some may be missing. Null if it does not.
 */
export function lossReason(served: Version, next: Version, entry: DatasetEntry): string | null {
  const reasons = [
    entry.allow_breaking === true ? null : breakingReason(served, next),
    entry.allow_shrinking === true ? null : shrinkReason(served, next, entry),
  ].filter((reason) => reason !== null)
  return reasons.length === 0 ? null : reasons.join('\n')
}

/** `lossReason` of files; null too if the served ones can't be read any more. */
export async function filesLossReason(
  served: Version | null,
  next: Version | null,
  entry: DatasetEntry,
  checks: FileChecks,
): Promise<string | null> {
  if (!served || !next) return null
  const reason = lossReason(served, next, entry)
  return reason !== null && (await checks.areIntact(served.files)) ? reason : null
}

function shrinkReason(served: Version, next: Version, entry: DatasetEntry): string | null {
  const most = entry.shrink_max ?? shrinkMaxDefault
  const lostPercent = served.rows === 0 ? 0 : (100 * (served.rows - next.rows)) / served.rows
  if (lostPercent <= Number.parseFloat(most)) return null
  if (next.table) {
    return (
      `the table holds ${next.rows} rows, ${Number(lostPercent.toFixed(1))} % fewer than the ` +
      `${served.rows} served (shrink_max is ${most}); restore them, or serve it anyway: ` +
      'das dataset reload --force, or allow_shrinking: true in the registry'
    )
  }
  return (
    `the new files hold ${next.rows} rows, ${Number(lostPercent.toFixed(1))} % fewer than the ` +
    `${served.rows} served (shrink_max is ${most}); restore the missing files, or serve the new ` +
    'ones anyway: das dataset reload --force, or allow_shrinking: true in the registry'
  )
}
