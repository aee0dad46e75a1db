import { historyText, isAhead, newestPossible, yearOf } from '../columns/history-value.js'
import type { Column } from '../columns/column.js'
import { listed, many, quoted } from '../text.js'
import { filesOf, layoutsOf } from './compare-versions.js'
import type { RowFacts } from './count-rows.js'
import type { ColumnMark } from './opener.js'
import { oldestHistory } from './version.js'
import type { DataFile, Version } from './version.js'

/** What callers may misread in a version that is served. */
export interface VersionWarning {
  readonly code:
    'columns_missing' | 'history_odd' | 'keys_between_files' | 'nanoseconds_cut' | 'old_calendar'
  readonly message: string
}

/** Looks at what is known of a version, and reads nothing. */
export function versionWarnings(
  version: Version,
  facts: RowFacts,
  nowMs: number,
): readonly VersionWarning[] {
  if (version.rows === 0 || version.table) return []
  return [
    ...missingColumns(version),
    ...historyWarnings(version, facts, nowMs),
    ...keyWarnings(version, facts),
    ...markWarnings(version),
  ]
}

/** A file without rows does not count, because it serves no row. */
function missingColumns(version: Version): readonly VersionWarning[] {
  const files = filesOf(version).filter(({ rows }) => rows > 0)
  const layouts = Map.groupBy(files, ({ layout }) => layout)
  if (layouts.size < 2) return []
  const missing = version.columns.flatMap(({ name, source, hidden }) => {
    const without = [...layouts.values()].flatMap((own) => (own[0]?.types.has(source) ? [] : own))
    const count = without.length
    // A column that no file has comes from the paths.
    if (hidden || count === 0 || count === files.length) return []
    return [`${quoted(name)} in ${count} of ${files.length} files (first ${without[0]?.name})`]
  })
  if (missing.length === 0) return []
  const message =
    `${many(missing.length, 'column')} missing in some files: ${listed(missing)}. ` +
    'Callers get null there; if a file has another name for the column, write the file again'
  return [{ code: 'columns_missing', message }]
}

/** An earlier year is a placeholder for a missing value. */
const yearMin = 1000n

function historyWarnings(
  version: Version,
  { rowsAhead }: RowFacts,
  nowMs: number,
): readonly VersionWarning[] {
  const { history, newestHistory: newest } = version
  if (!history || newest === undefined) return []
  const name = quoted(history.name)
  const warnings: VersionWarning[] = []
  if (isAhead(history, newest, nowMs)) {
    const count = rowsAhead === null ? '' : `, ${aheadText(history, rowsAhead, nowMs)}`
    const message =
      `the history column ${name} reaches ${dayText(history, newest)}${count}: plans count years ` +
      `back from there, so plans of the latest year see no rows of ` +
      `${new Date(nowMs).getUTCFullYear()}; correct the rows`
    warnings.push({ code: 'history_odd', message })
  }
  const oldest = yearOf(history, oldestHistory(version, history))
  if (oldest < yearMin) {
    const message =
      `the history column ${name} goes back to the year ${oldest}: only plans with history: all ` +
      'see those rows; write NULL or the right year'
    warnings.push({ code: 'history_odd', message })
  }
  return warnings
}

/** `1 row is after 2027`. */
export function aheadText(history: Column, rows: number, nowMs: number): string {
  const limit = dayText(history, newestPossible(history, nowMs))
  return `${many(rows, 'row')} ${rows === 1 ? 'is' : 'are'} after ${limit}`
}

function dayText(history: Column, value: bigint): string {
  return historyText(history, value) ?? `the year ${yearOf(history, value)}`
}

/** Of rows that share a key, at least this share must have it once in each of their files. */
const betweenFilesMin = 0.99

function keyWarnings({ key, history }: Version, { repeats }: RowFacts): readonly VersionWarning[] {
  const example = repeats?.example
  if (!example || repeats.betweenFilesRows < repeats.sharingRows * betweenFilesMin) return []
  const names = [...new Set([...key, ...(history ? [history] : [])])].map((column) => column.name)
  const values = names.map((name, index) => `${name} = ${example.values[index] ?? 'null'}`)
  const message =
    `${many(repeats.sharingRows, 'row')} of which other files have the same ${names.join(', ')}, ` +
    `such as ${values.join(', ')} in ${example.rows} files: callers get all of them; take the ` +
    'old file away if the other corrects it' +
    (history ? '' : ', or name the column that tells them apart in history')
  return [{ code: 'keys_between_files', message }]
}

const marked = {
  'cut nanoseconds': {
    code: 'nanoseconds_cut',
    text: (columns: string) =>
      `nanoseconds in ${columns}: DuckDB reads such timestamps to the microsecond, and their ` +
      'last three digits, if they have any, are lost; write microseconds, or nanoseconds ' +
      'without a zone',
  },
  'old calendar': {
    code: 'old_calendar',
    text: (columns: string) =>
      `days before 1582-10-15 or times before 1900 in ${columns}, written in the calendar of ` +
      'Spark and Hive before 2020: they are served as other days; write the files again with ' +
      'spark.sql.parquet.datetimeRebaseModeInWrite=CORRECTED, or NULL for a missing day',
  },
} as const

function markWarnings(version: Version): readonly VersionWarning[] {
  const layouts = layoutsOf(version)
  return Object.entries(marked).flatMap(([mark, { code, text }]): VersionWarning[] => {
    const found = version.columns.filter(({ hidden, source }) => {
      const isMarked = ({ marks }: DataFile) => marks.get(source)?.includes(mark as ColumnMark)
      return !hidden && layouts.some(isMarked)
    })
    if (found.length === 0) return []
    return [{ code, message: text(listed(found.map(({ name }) => quoted(name)))) }]
  })
}
