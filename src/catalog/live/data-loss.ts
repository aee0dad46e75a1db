import type { DatasetEntry } from '../../registry/registry-schema.js'
import { compareVersions } from '../../versions/compare-versions.js'
import type { Difference } from '../../versions/compare-versions.js'
import type { FileChecks } from '../../versions/store/file-checks.js'
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

/** `lossReason` of files; null too if the served ones can't be read any more. */
export async function filesLossReason(
  served: Version | null,
  next: Version | null,
  entry: DatasetEntry,
  checks: FileChecks,
  nowMs: number,
): Promise<string | null> {
  if (!served || !next) return null
  const reason = lossReason(served, next, entry, nowMs)
  return reason !== null && (await checks.areIntact(served.files)) ? reason : null
}

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
