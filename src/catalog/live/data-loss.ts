import { abortAfter } from '../../clock.js'
import type { Clock } from '../../clock.js'
import type { Column } from '../../columns/column.js'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import { compareVersions, haveSameRows } from '../../versions/compare-versions.js'
import type { Difference } from '../../versions/compare-versions.js'
import type { FileChecks } from '../../versions/store/file-checks.js'
import type { InspectFiles } from '../../versions/inspector.js'
import type { Version } from '../../versions/version.js'

const shrinkMaxDefault = '20%'

/** The key of the registry that allows a kind of difference. */
const permissions = {
  breaks: 'allow_breaking',
  shrinks: 'allow_shrinking',
  future: 'allow_future',
} as const satisfies Readonly<Record<Difference['kind'], keyof DatasetEntry>>

/**
 * Why the next version needs the owner's consent: what callers use is gone or changed, so many rows
 * that some may be missing, or values that can't be yet. Null if it does not.
 */
export function lossReason(
  served: Version,
  next: Version,
  entry: DatasetEntry,
  nowMs: number,
): string | null {
  const shrinkMax = entry.shrink_max ?? shrinkMaxDefault
  const options = { shrinkMaxPercent: Number.parseFloat(shrinkMax), nowMs }
  const differences = compareVersions(served, next, options)
  const what = next.table ? 'the new state of the table' : 'the new files'
  const lines = Object.entries(permissions).flatMap(([kind, permission]) => {
    const found = differences.filter((each) => each.kind === kind).map(({ message }) => message)
    if (found.length === 0 || entry[permission] === true) return []
    const words = kind === 'breaks' ? `${what} would break callers: ` : ''
    const bound = kind === 'shrinks' ? ` (shrink_max is ${shrinkMax})` : ''
    const ways = `${adviceOn(kind, what)}, or ${permission}: true in the registry`
    return [`${words}${listed(found)}${bound}; ${ways}`]
  })
  return lines.length === 0 ? null : lines.join('\n')
}

/** What the comparison of files needs. */
interface CompareParts {
  readonly checks: FileChecks
  readonly clock: Clock
  /** Left out = keys are not counted. */
  readonly inspectFiles?: InspectFiles
}

/**
 * `lossReason` of files, or that rows repeat a key where none did; null too if the served files
 * can't be read any more.
 */
export async function filesLossReason(
  served: Version | null,
  next: Version | null,
  entry: DatasetEntry,
  parts: CompareParts,
): Promise<string | null> {
  if (!served || !next) return null
  const loss = lossReason(served, next, entry, parts.clock.now())
  const reason = loss ?? (await repeatedReason(served, next, entry, parts))
  return reason !== null && (await parts.checks.areIntact(served.files)) ? reason : null
}

async function repeatedReason(
  served: Version,
  next: Version,
  entry: DatasetEntry,
  { clock, inspectFiles }: CompareParts,
): Promise<string | null> {
  if (!inspectFiles || entry.allow_repeated_keys === true || haveSameRows(served, next)) return null
  const columns = [...new Set([...next.key, ...(next.history ? [next.history] : [])])]
  const before = columns.flatMap(
    ({ source }) => served.columns.find((c) => c.source === source) ?? [],
  )
  if (next.key.length === 0 || before.length < columns.length) return null
  const signal = abortAfter(clock, countMsMax)
  const count = async (version: Version, key: readonly Column[]) => {
    const order = { version: { ...version, key }, deep: false, countsKeys: true, subset: null }
    return (await inspectFiles(order, { signal, report: () => undefined })).keys
  }
  const found = await count(next, columns)
  if (!found || found.sharingRows === 0) return null
  if ((await count(served, before).catch(() => null))?.sharingRows !== 0) return null
  const names = columns.map(({ name }) => name).join(', ')
  const example = found.example
    ? ` (${found.example.values.join(', ')} has ${found.example.rows})`
    : ''
  return (
    `${found.sharingRows} rows of the new files share their ${names} with another row${example}, ` +
    'and none did before; deliver each row once, or serve the new files anyway: ' +
    'das dataset reload --force, or allow_repeated_keys: true in the registry'
  )
}

/** How long rows with the same key are looked for. */
const countMsMax = 600_000

const messagesMax = 5

function listed(messages: readonly string[]): string {
  const more = messages.length - messagesMax
  return [...messages.slice(0, messagesMax), ...(more > 0 ? [`${more} more`] : [])].join('; ')
}

function adviceOn(kind: string, what: string): string {
  const force = `serve ${what} anyway: das dataset reload --force`
  if (kind === 'breaks') return `to ${force}`
  return kind === 'shrinks' ? `restore the missing rows, or ${force}` : `correct it, or ${force}`
}
