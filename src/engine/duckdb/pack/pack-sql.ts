import { typeText } from '../../../columns/data-type.js'
import type { DataType } from '../../../columns/data-type.js'
import type { PackOrder, SourceToPack, StoredColumn } from '../../../versions/packer.js'
import { pathsSql, targetSql } from '../paths.js'
import { identifier, literal } from '../sql.js'
import type { PackLayout } from './pack-layout.js'

/** A part of the source that one scan reads: files laid out alike, or some rows of one file. */
export interface PackScan {
  /** Into the order's files. */
  readonly files: readonly number[]
  /** Row numbers from `from` up to but not including `to`; null = all. */
  readonly range: { readonly from: number; readonly to: number } | null
}

/** How a column of the dataset is called inside: no name of the owner's can be in the way. */
export function inner(index: number): string {
  return `c${index}`
}

/**
 * Rows of a strand: `f`, the file as an index into the order's; `r`, the row number in it; and the
 * columns by their inner names, brought to the dataset's types, null where files lack them.
 */
export function scanSql(
  order: PackOrder,
  strand: PackScan,
  columns: readonly StoredColumn[],
): string {
  const files = strand.files.flatMap((index) => order.files[index] ?? [])
  const [first] = files
  if (!first) throw new RangeError('a strand without files')
  const types = new Map(first.columns.map(({ name, type }) => [name, type]))
  const list = columns.map((column) => {
    const index = order.columns.indexOf(column)
    return `${columnSql(column, types, files)} AS ${inner(index)}`
  })
  const where = strand.range
    ? ` WHERE file_row_number >= ${strand.range.from} AND file_row_number < ${strand.range.to}`
    : ''
  return `SELECT ${chosen(strand.files.map(String))} AS f, file_row_number AS r,
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
  return typeText(stored) === target ? identifier(name) : `CAST(${identifier(name)} AS ${target})`
}

/** The value that belongs to the file which a row comes from. */
function chosen(values: readonly string[]): string {
  const [only = 'NULL'] = values
  return values.length === 1
    ? only
    : `list_extract([${values.join(', ')}], CAST(file_index AS BIGINT) + 1)`
}

/** Files as they are. */
export function readSql(paths: readonly string[]): string {
  return `read_parquet(${pathsSql(paths)}, hive_partitioning = false, union_by_name = false)`
}

/** The order of packed rows: by key, empty values last, then as they were stored. */
export function planSql(order: PackOrder, strands: readonly PackScan[], path: string): string {
  const key = keyColumns(order)
  const rows = strands.map((strand) => scanSql(order, strand, key)).join(' UNION ALL ')
  const by = key.map((column) => `${inner(order.columns.indexOf(column))} ASC NULLS LAST`)
  return `COPY (SELECT f, r FROM (${rows}) ORDER BY ${[...by, 'f', 'r'].join(', ')})
    TO ${targetSql(path)} (FORMAT parquet, COMPRESSION zstd)`
}

/** The columns of the key, in its order. */
export function keyColumns({ key, columns }: PackOrder): readonly StoredColumn[] {
  return key.map((name) => {
    const column = columns.find((each) => each.name === name)
    if (!column) throw new RangeError(`no column ${name} to sort by`)
    return column
  })
}

/** Of the plan's rows from `from` up to `to`: which rows of which files they are. */
export function rangesSql(plan: string, from: number, to: number): string {
  return `SELECT f, min(r), max(r) + 1, count(*) FROM ${readSql([plan])}
    WHERE file_row_number >= ${from} AND file_row_number < ${to} GROUP BY f ORDER BY f`
}

/** The plan's rows from `from` up to `to`, with all their columns, as a table in their new order. */
export function batchSql(
  order: PackOrder,
  strands: readonly PackScan[],
  { plan, from, to }: { readonly plan: string; readonly from: number; readonly to: number },
): string {
  const rows = strands.map((strand) => scanSql(order, strand, order.columns))
  const list = order.columns.map((_, index) => inner(index)).join(', ')
  return `CREATE OR REPLACE TEMP TABLE batch AS SELECT ${list}
    FROM (${rows.join(' UNION ALL ')})
    JOIN (SELECT CAST(f AS BIGINT) AS pf, r AS pr, file_row_number AS place FROM ${readSql([plan])}
      WHERE file_row_number >= ${from} AND file_row_number < ${to})
    ON r = pr AND CAST(f AS BIGINT) = pf ORDER BY place`
}

/** A file of the batch's rows from `from` up to `to`, under the dataset's own names. */
export function fileSql(
  order: PackOrder,
  layout: PackLayout,
  path: string,
  from: number,
  to: number,
): string {
  const list = order.columns.map(({ name }, index) => `${inner(index)} AS ${identifier(name)}`)
  return `COPY (SELECT ${list.join(', ')} FROM batch WHERE rowid >= ${from} AND rowid < ${to})
    TO ${targetSql(path)} ${layoutSql(layout)}`
}

/** How COPY is told of a layout. */
export function layoutSql({ codec, parquetVersion, rowGroupRows }: PackLayout): string {
  return `(FORMAT parquet, COMPRESSION ${codec}, PARQUET_VERSION ${parquetVersion},
    ROW_GROUP_SIZE ${rowGroupRows})`
}
