import { typeText } from '../../../columns/data-type.js'
import type { ColumnMark, FileColumn } from '../../../versions/opener.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import { textOrNull } from '../run-statement.js'
import type { RunStatement } from '../run-statement.js'
import { identifier } from '../../sql/quote.js'
import { anyPart } from './any-part.js'
import { int96 } from './schema-tree.js'

/** What the writer of a file is known to have done otherwise than the format says today. */
export interface Writer {
  /** Columns with bounds in the old order. */
  readonly oldBounds: readonly string[]
  /** Its early days and times may be in another calendar. */
  readonly hasOldCalendar: boolean
}

/**
 * Columns whose smallest and largest value may be in the order of signed bytes, as writers before
 * 2018 stored them: DuckDB would use them to leave rows out.
 */
const oldBoundsTexts = `
  SELECT file_name, CAST(to_json(list(DISTINCT path_in_schema)) AS VARCHAR)
  FROM parquet_metadata($1)
  WHERE stats_min IS NOT NULL AND stats_min_value IS NULL
    AND type IN ('BYTE_ARRAY', 'FIXED_LEN_BYTE_ARRAY', 'INT32', 'INT64', '${int96}')
  GROUP BY file_name`

/**
 * Files of Spark before 3.0 (it names its version only since), of later ones that were told to
 * write the same way, and of Hive that says so.
 */
const oldCalendarTexts = `
  SELECT file_name, 'old' FROM (
    SELECT file_name, CAST(key AS VARCHAR) AS name, CAST(value AS VARCHAR) AS text
    FROM parquet_kv_metadata($1))
  GROUP BY file_name
  HAVING bool_or(name IN ('org.apache.spark.legacyDateTime', 'org.apache.spark.legacyINT96'))
    OR bool_or(name = 'writer.date.proleptic' AND text = 'false')
    OR bool_or(name = 'org.apache.spark.version' AND text < '3')
    OR bool_or(name = 'org.apache.spark.sql.parquet.row.metadata')
      AND NOT bool_or(name = 'org.apache.spark.version')`

/** The writers of files, by path. */
export async function readWriters(
  run: RunStatement,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Writer>> {
  const bounds = await readTexts(run, oldBoundsTexts, paths)
  const calendars = await readTexts(run, oldCalendarTexts, paths)
  return new Map(
    paths.map((path) => [
      path,
      {
        // What the statement above writes.
        oldBounds: JSON.parse(bounds.get(path) ?? '[]') as readonly string[],
        hasOldCalendar: calendars.has(path),
      },
    ]),
  )
}

/** Marks the columns of files of one layout and writer. */
export async function markColumns(
  run: RunStatement,
  paths: readonly string[],
  columns: readonly FileColumn[],
  writer: Writer | undefined,
): Promise<readonly FileColumn[]> {
  const early = writer?.hasOldCalendar ? await earlyColumns(run, paths, columns) : new Set()
  return columns.map((column): FileColumn => {
    const marks: readonly ColumnMark[] = [
      ...(column.marks ?? []),
      ...(writer?.oldBounds.includes(column.name) ? (['old statistics'] as const) : []),
      ...(early.has(column.name) ? (['old calendar'] as const) : []),
    ]
    return marks.length === 0 ? column : { ...column, marks }
  })
}

/** Before these, the calendars differ; for times their zones do, too. */
const changes: Readonly<Record<string, string>> = {
  DATE: "DATE '1582-10-15'",
  TIMESTAMP: "TIMESTAMP '1900-01-01'",
  TIMESTAMP_NS: "TIMESTAMP '1900-01-01'",
  TIMESTAMPTZ: "TIMESTAMPTZ '1900-01-01 00:00:00+00'",
}

/** Columns that have a value before the calendars agree. */
async function earlyColumns(
  run: RunStatement,
  paths: readonly string[],
  columns: readonly FileColumn[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const { name, type } of columns) {
    const early = anyPart(identifier(name), type, (value, part) => {
      const change = changes[typeText(part)]
      return change === undefined ? null : `${value} < ${change}`
    })
    if (early === null) continue
    const [[isEarly] = []] = await run({
      sql: `SELECT count(*) > 0 FROM (
        SELECT 1 FROM ${boundFilesSql('$1')} WHERE ${early} LIMIT 1)`,
      values: [bindPaths(paths)],
    })
    if (isEarly === true) found.add(name)
  }
  return found
}

/** Times that the engine reads without their last three digits. */
export function isCut(logicalType: string | null): boolean {
  if (logicalType === int96) return true
  return logicalType?.startsWith(utc) === true && logicalType.includes(nanoseconds)
}

/** How DuckDB writes a schema's logical types. */
const utc = 'TimestampType(isAdjustedToUTC=1'
const nanoseconds = 'NANOS=NanoSeconds()'

/** A text of each file, by path. */
export async function readTexts(
  run: RunStatement,
  sql: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const [names = [], texts = []] = await run({ sql, values: [bindPaths(paths)] })
  return new Map(names.map((name, index) => [String(name), textOrNull(texts[index]) ?? '']))
}
