import type { Column } from '../columns/column.js'
import { typeText } from '../columns/data-type.js'
import { historyText, isAhead } from '../columns/history-value.js'
import { quoted } from '../text.js'
import type { DataFile, Version } from './version.js'

/** How a version differs from the one that it replaces, so that its owner must agree. */
export interface Difference {
  /**
   * `breaks`: callers lose columns or types; `shrinks`: rows; `repeats`: rows share a key;
   * `future`: a value is too new.
   */
  readonly kind: 'breaks' | 'shrinks' | 'repeats' | 'future'
  /** With its figures. */
  readonly message: string
}

/** What counts as a difference. */
export interface CompareOptions {
  /** The share of rows that the version and each of its files may lose, in percent. */
  readonly shrinkMaxPercent: number
  readonly nowMs: number
}

/** What a delivery changes for callers, in the whole and in each file that it replaces. */
export function compareVersions(
  served: Version,
  next: Version,
  options: CompareOptions,
): readonly Difference[] {
  const pairs = replacedFiles(served, next)
  const gone = lostColumns(served, next)
  return [
    ...gone.map((column) => breaks(`column ${quoted(column.name)} is gone`)),
    ...changedTypes(served, next),
    ...pairs.flatMap(([before, after]) =>
      lostInFile(before, after, served)
        .filter((column) => !gone.includes(column))
        .map(({ name }) =>
          breaks(`${after.name} lacks column ${quoted(name)}, which it had before`),
        ),
    ),
    ...lostRows(served, next, pairs, options),
    ...futureValue(served, next, options),
  ]
}

function breaks(message: string): Difference {
  return { kind: 'breaks', message }
}

/**
 * Files of both versions by their place. Where fewer than half of the old places are still there,
 * the owner has laid the files out again: they say nothing of each other.
 */
function replacedFiles(
  served: Version,
  next: Version,
): readonly (readonly [before: DataFile, after: DataFile])[] {
  const [before, after] = [filesOf(served), filesOf(next)]
  const places = new Map(after.map((file) => [file.below, file]))
  const pairs = before.flatMap((file) => {
    const twin = places.get(file.below)
    return twin ? [[file, twin] as const] : []
  })
  if (pairs.length * 2 < before.length) return []
  return pairs.filter(([old, now]) => old.hash === null || old.hash !== now.hash)
}

/** Whether two versions have files of the same content. */
export function haveSameRows(served: Version, next: Version): boolean {
  return served.rows > 0 && contentOf(served) === contentOf(next)
}

/** Equal for versions of the same files with the same key and history. */
export function rowsIdentity(version: Version): string {
  const columns = [...version.key, version.history].map((column) => column?.source)
  return JSON.stringify([contentOf(version), columns])
}

function contentOf(version: Version): string {
  return JSON.stringify(filesOf(version).map(({ hash, below }) => [hash, below]))
}

/** The files of a version; none of a table. */
export function filesOf({ files, table }: Version): readonly DataFile[] {
  return table ? [] : files
}

/** One file of each layout. */
export function layoutsOf(version: Version): readonly DataFile[] {
  return [...new Map(filesOf(version).map((file) => [file.layout, file])).values()]
}

/**
 * Columns that the next version lacks. Those that the registry hides or renames don't count: the
 * owner decided so.
 */
function lostColumns(served: Version, next: Version): readonly Column[] {
  const sources = new Set(next.columns.map(({ source }) => source))
  return served.columns.filter(({ hidden, source }) => !hidden && !sources.has(source))
}

function lostInFile(before: DataFile, after: DataFile, served: Version): readonly Column[] {
  if (before.types === after.types) return []
  return served.columns.filter(
    ({ hidden, source }) => !hidden && before.types.has(source) && !after.types.has(source),
  )
}

/** Whole numbers may become numbers with a fraction: callers read both. */
function changedTypes(served: Version, next: Version): readonly Difference[] {
  const bySource = new Map(next.columns.map((column) => [column.source, column]))
  return served.columns.flatMap((column) => {
    const twin = bySource.get(column.source)
    if (column.hidden || !twin || shapeOf(twin) === shapeOf(column)) return []
    if (shapeOf(column) === 'integer' && shapeOf(twin) === 'number') return []
    const [was, is] = [typeText(column.type), typeText(twin.type)]
    return [breaks(`column ${quoted(column.name)} was ${was} and is ${is}`)]
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

function lostRows(
  served: Version,
  next: Version,
  pairs: readonly (readonly [DataFile, DataFile])[],
  { shrinkMaxPercent: most }: CompareOptions,
): readonly Difference[] {
  const whole = lostPercent(served.rows, next.rows)
  const what = next.table ? 'the table holds' : 'the new files hold'
  if (whole > most) {
    const figures = `${next.rows} rows, ${shown(whole)} fewer than the ${served.rows} served`
    return [{ kind: 'shrinks', message: `${what} ${figures}` }]
  }
  return pairs.flatMap(([before, after]): Difference[] => {
    const lost = lostPercent(before.rows, after.rows)
    if (lost <= most) return []
    const figures = `${after.rows} rows, ${shown(lost)} fewer than the ${before.rows} it had before`
    return [{ kind: 'shrinks', message: `${after.name} holds ${figures}` }]
  })
}

function lostPercent(before: number, after: number): number {
  return before === 0 ? 0 : (100 * (before - after)) / before
}

function shown(percent: number): string {
  return `${Number(percent.toFixed(1))} %`
}

/** Plans count years back from the newest value: one that can't be yet hides all others. */
function futureValue(
  served: Version,
  next: Version,
  { nowMs }: CompareOptions,
): readonly Difference[] {
  const { history, newestHistory: newest } = next
  const before = served.newestHistory
  if (!history || newest === undefined || before === undefined) return []
  if (!isAhead(history, newest, nowMs) || isAhead(history, before, nowMs)) return []
  const [was, is] = [historyText(history, before), historyText(history, newest)]
  const name = quoted(history.name)
  return [{ kind: 'future', message: `the newest value of ${name} went from ${was} to ${is}` }]
}
