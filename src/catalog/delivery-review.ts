import { Cache } from '../cache.js'
import { abortAfter } from '../clock.js'
import type { Clock } from '../clock.js'
import type { Column } from '../columns/column.js'
import type { DatasetEntry } from '../registry/registry-schema.js'
import { compareVersions, haveSameRows, rowsIdentity } from '../versions/compare-versions.js'
import type { Difference } from '../versions/compare-versions.js'
import { countRows, nothingCounted } from '../versions/count-rows.js'
import type { RowFacts } from '../versions/count-rows.js'
import type { InspectFiles } from '../versions/inspector.js'
import type { Version } from '../versions/version.js'
import { aheadText, versionWarnings } from '../versions/version-warnings.js'
import type { VersionWarning } from '../versions/version-warnings.js'

/** What a review needs. */
export interface ReviewParts {
  readonly clock: Clock
  /** Left out = no rows are counted. */
  readonly inspectFiles?: InspectFiles
}

const shrinkMaxDefault = '20%'
/** How long rows are counted. */
const countMsMax = 600_000
/** Versions whose counted rows are remembered: the served one, and the last ones offered. */
const rememberedMax = 8

/** The key of the registry that allows a kind of difference. */
const permissions = {
  breaks: 'allow_breaking',
  shrinks: 'allow_shrinking',
  repeats: 'allow_repeated_keys',
  future: 'allow_future',
} as const satisfies Readonly<Record<Difference['kind'], keyof DatasetEntry>>

/**
 * Looks at the deliveries of a dataset: which need the owner's consent before they replace what is
 * served, and what their owner should know. `das dataset check` and the server ask the same.
 */
export class DeliveryReview {
  readonly #parts: ReviewParts
  readonly #facts = new Cache<RowFacts>(rememberedMax)

  constructor(parts: ReviewParts) {
    this.#parts = parts
  }

  /**
   * Why the next files must not replace the served ones without the owner's consent; null if they
   * may. What can't be read any more of the served files is not compared. Without served files it
   * counts only what warnings need.
   * @throws the signal's reason; the engine's error
   */
  async reasonAgainst(
    served: Version | null,
    next: Version | null,
    entry: DatasetEntry,
    signal = abortAfter(this.#parts.clock, countMsMax),
  ): Promise<string | null> {
    if (!next) return null
    if (!served) {
      // What can't be counted is not warned of.
      await this.#count(next, false, signal).catch(() => nothingCounted)
      return null
    }
    const facts = await this.#count(next, false, signal)
    const loss = lossReason(served, next, entry, this.#parts.clock.now(), facts)
    return loss ?? refusalText(await this.#repeats(served, next, signal), next, entry)
  }

  /** What callers may misread in a version, by what was counted. */
  warningsOf(version: Version | null): readonly VersionWarning[] {
    if (!version) return []
    const facts = this.#facts.find(rowsIdentity(version)) ?? nothingCounted
    return versionWarnings(version, facts, this.#parts.clock.now())
  }

  /** Rows that share a key where none did. */
  async #repeats(
    served: Version,
    next: Version,
    signal: AbortSignal,
  ): Promise<readonly Difference[]> {
    if (haveSameRows(served, next) || next.key.length === 0) return []
    const { repeats } = await this.#count(next, true, signal)
    if (!repeats?.example) return []
    const before = servedUnder(served, next)
    const known = before && (await this.#count(before, true, signal).catch(() => nothingCounted))
    if (known?.repeats?.sharingRows !== 0) return []
    const names = keyAndHistory(next).map(({ name }) => name)
    const { values, rows } = repeats.example
    const message =
      `${repeats.sharingRows} rows of the new files share their ${names.join(', ')} with another ` +
      `row (${values.join(', ')} has ${rows}), and none did before`
    return [{ kind: 'repeats', message }]
  }

  async #count(version: Version, everyKey: boolean, signal: AbortSignal): Promise<RowFacts> {
    const { inspectFiles, clock } = this.#parts
    const identity = rowsIdentity(version)
    const known = this.#facts.find(identity)
    if (!inspectFiles || (known && (known.repeats !== null || !everyKey))) {
      return known ?? nothingCounted
    }
    const facts = await countRows(version, { inspectFiles, everyKey, nowMs: clock.now(), signal })
    this.#facts.keep(identity, facts)
    return facts
  }
}

function keyAndHistory({ key, history }: Version): readonly Column[] {
  return [...new Set([...key, ...(history ? [history] : [])])]
}

/** The served files with the key that the next ones have; null if they lack a column of it. */
function servedUnder(served: Version, next: Version): Version | null {
  const columnOf = ({ source }: Column) => served.columns.find((each) => each.source === source)
  const key = next.key.flatMap((column) => columnOf(column) ?? [])
  const history = next.history && columnOf(next.history)
  if (key.length < next.key.length || history === undefined) return null
  return { ...served, key, history }
}

/**
 * Why the next version needs the owner's consent, by what is known of both: what callers use is
 * gone or changed, so many rows that some may be missing, or values that can't be yet. Null if it
 * does not.
 */
export function lossReason(
  served: Version,
  next: Version,
  entry: DatasetEntry,
  nowMs: number,
  { rowsAhead }: RowFacts = nothingCounted,
): string | null {
  const shrinkMaxPercent = Number.parseFloat(entry.shrink_max ?? shrinkMaxDefault)
  const differences = compareVersions(served, next, { shrinkMaxPercent, nowMs }).map((each) => {
    if (each.kind !== 'future' || rowsAhead === null || !next.history) return each
    return { ...each, message: `${each.message}; ${aheadText(next.history, rowsAhead, nowMs)}` }
  })
  return refusalText(differences, next, entry)
}

function refusalText(
  differences: readonly Difference[],
  next: Version,
  entry: DatasetEntry,
): string | null {
  const what = next.table ? 'the new state of the table' : 'the new files'
  const lines = Object.entries(permissions).flatMap(([kind, permission]) => {
    const found = differences.filter((each) => each.kind === kind).map(({ message }) => message)
    if (found.length === 0 || entry[permission] === true) return []
    const words = kind === 'breaks' ? `${what} would break callers: ` : ''
    const bound =
      kind === 'shrinks' ? ` (shrink_max is ${entry.shrink_max ?? shrinkMaxDefault})` : ''
    const ways = `${adviceOn(kind, what)}, or ${permission}: true in the registry`
    return [`${words}${listed(found)}${bound}; ${ways}`]
  })
  return lines.length === 0 ? null : lines.join('\n')
}

const messagesMax = 5

function listed(messages: readonly string[]): string {
  const more = messages.length - messagesMax
  return [...messages.slice(0, messagesMax), ...(more > 0 ? [`${more} more`] : [])].join('; ')
}

const remedies: Readonly<Record<string, string>> = {
  shrinks: 'restore the missing rows',
  repeats: 'deliver each row once',
  future: 'correct it',
}

function adviceOn(kind: string, what: string): string {
  const force = `serve ${what} anyway: das dataset reload --force`
  const remedy = remedies[kind]
  return remedy === undefined ? `to ${force}` : `${remedy}, or ${force}`
}
