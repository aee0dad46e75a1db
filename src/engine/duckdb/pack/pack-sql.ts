import { typeText } from '../../../columns/data-type.js'
import type { DataType } from '../../../columns/data-type.js'
import type { PackOrder, SourceToPack, StoredColumn } from '../../../versions/packing/packer.js'
import { pathsSql, targetSql } from '../paths.js'
import { castSql, identifier, literal } from '../sql.js'
import type { PackLayout } from './pack-layout.js'

/** What one scan reads from the sources: files with the same columns, or some rows of one file. */
export interface PackScan {
  /** Indexes into the order's files. */
  readonly files: readonly number[]
  /** Row numbers from `from` up to but not including `to`; null = all. */
  readonly range: { readonly from: number; readonly to: number } | null
}

/** The name of a dataset column in our statements: it can't clash with a name of ours. */
export function inner(index: number): string {
  return `c${index}`
}

/**
 * The rows of a scan: `f`, the file as an index into the order's; `r`, the row number in it; and
 * the columns by their inner names in the dataset's types, null if the files lack them.
 */
export function scanSql(
  order: PackOrder,
  scan: PackScan,
  columns: readonly StoredColumn[],
): string {
  const files = scan.files.flatMap((index) => order.files[index] ?? [])
  const [first] = files
  if (!first) throw new RangeError('a scan needs at least one file')
  const types = new Map(first.columns.map(({ name, type }) => [name, type]))
  const list = columns.map((column) => {
    const index = order.columns.indexOf(column)
    return `${columnSql(column, types, files)} AS ${inner(index)}`
  })
  const where = scan.range
    ? ` WHERE file_row_number >= ${scan.range.from} AND file_row_number < ${scan.range.to}`
    : ''
  return `SELECT ${chosen(scan.files.map(String))} AS f, file_row_number AS r,
      ${list.join(', ')} FROM ${readSql(files.map(({ path }) => path))}${where}`
}

function columnSql(
  { name, type }: StoredColumn,
  types: ReadonlyMap<string, DataType>,
  files: readonly SourceToPack[],
): string {
  const target = typeText(type)
  if (files.some(({ partition }) => Object.hasOwn(partition, name))) {
    const values = files.map(({ partition }) => partition[name] ?? null)
    const texts = values.map((value) => (value === null ? 'NULL' : literal(value)))
    return `CAST(${chosen(texts)} AS ${target})`
  }
  const stored = types.get(name)
  if (stored === undefined) return `CAST(NULL AS ${target})`
  return castSql(identifier(name), stored, type)
}

/** The value for the file that a row comes from. */
function chosen(values: readonly string[]): string {
  const [only = 'NULL'] = values
  return values.length === 1
    ? only
    : `list_extract([${values.join(', ')}], CAST(file_index AS BIGINT) + 1)`
}

/** SQL that reads the rows of files, with the columns of each file. */
export function readSql(paths: readonly string[]): string {
  return `read_parquet(${pathsSql(paths)}, hive_partitioning = false, union_by_name = false)`
}

/** Writes the order of packed rows: by key, empty values last, then in stored order. */
export function planSql(order: PackOrder, scans: readonly PackScan[], path: string): string {
  const key = keyColumns(order)
  const rows = scans.map((scan) => scanSql(order, scan, key)).join(' UNION ALL ')
  const by = key.map((column) => `${inner(order.columns.indexOf(column))} ASC NULLS LAST`)
  return `COPY (SELECT f, r FROM (${rows}) ORDER BY ${[...by, 'f', 'r'].join(', ')})
    TO ${targetSql(path)} (FORMAT parquet, COMPRESSION zstd)`
}

/** The columns of the key, in its order. */
export function keyColumns({ key, columns }: PackOrder): readonly StoredColumn[] {
  return key.map((name) => {
    const column = columns.find((each) => each.name === name)
    if (!column) throw new RangeError(`the key column ${name} is not in the order`)
    return column
  })
}

/** Selects the ranges of rows, file by file, of the plan's rows from `from` up to `to`. */
export function rangesSql(plan: string, from: number, to: number): string {
  return `SELECT f, min(r), max(r) + 1, count(*) FROM ${readSql([plan])}
    WHERE file_row_number >= ${from} AND file_row_number < ${to} GROUP BY f ORDER BY f`
}

/** Creates a table of the plan's rows from `from` up to `to`, all columns, in their new order. */
export function batchSql(
  order: PackOrder,
  scans: readonly PackScan[],
  { plan, from, to }: { readonly plan: string; readonly from: number; readonly to: number },
): string {
  const rows = scans.map((scan) => scanSql(order, scan, order.columns))
  const list = order.columns.map((_, index) => inner(index)).join(', ')
  return `CREATE OR REPLACE TEMP TABLE batch AS SELECT ${list}
    FROM (${rows.join(' UNION ALL ')})
    JOIN (SELECT CAST(f AS BIGINT) AS pf, r AS pr, file_row_number AS place FROM ${readSql([plan])}
      WHERE file_row_number >= ${from} AND file_row_number < ${to})
    ON r = pr AND CAST(f AS BIGINT) = pf ORDER BY place`
}

/** Writes a file of the batch's rows from `from` up to `to`, with the dataset's column names. */
export function fileSql(
  order: PackOrder,
  layout: PackLayout,
  path: string,
  {
    from,
    to,
    dictionary,
  }: { readonly from: number; readonly to: number; readonly dictionary: string },
): string {
  const list = order.columns.map(({ name }, index) => `${inner(index)} AS ${identifier(name)}`)
  return `COPY (SELECT ${list.join(', ')} FROM batch WHERE rowid >= ${from} AND rowid < ${to})
    TO ${targetSql(path)} ${layoutSql(layout, dictionary)}`
}

/**
 * Geometries by the type of their column: the older way, metadata of their values, leaves columns
 * without a value and nested ones as bytes.
 */
export const shapes = "GEOPARQUET_VERSION 'V2'"

/** The options of COPY for a layout; `dictionary` is of `dictionaryOption`. */
export function layoutSql(layout: Omit<PackLayout, 'fileRows'>, dictionary = ''): string {
  const { codec, parquetVersion, rowGroupRows } = layout
  return `(FORMAT parquet, ${dictionary}${shapes}, COMPRESSION ${codec},
    PARQUET_VERSION ${parquetVersion}, ROW_GROUP_SIZE ${rowGroupRows})`
}
