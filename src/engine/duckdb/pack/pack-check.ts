import { isFloat } from '../../../columns/data-type.js'
import type { DataType } from '../../../columns/data-type.js'
import type { PackOrder } from '../../../versions/packing/packer.js'
import { textOf } from '../encode/encode-scalar.js'
import { identifier } from '../sql.js'
import { inner, keyColumns, readSql, scanSql } from './pack-sql.js'
import type { PackScan } from './pack-sql.js'

/**
 * SQL for a scan's checksum: the number of rows, and the sum over rows of a 64-bit hash of all
 * their cells. Equal sets of rows have equal sums in any order; different sets collide with a
 * chance of about 2⁻⁶⁴. The hash distinguishes empty from '' and 0, -0.0 from 0.0, and a value from
 * the same one in the next column. It does not distinguish NaNs, nor values inside lists, structs
 * and VARIANTs that have the same text.
 */
export function scanChecksumSql(order: PackOrder, scan: PackScan): string {
  return `${checksumSql(order)} FROM (${scanSql(order, scan, order.columns)})`
}

/** SQL for a packed file's checksum. */
export function packedChecksumSql(order: PackOrder, path: string): string {
  const list = order.columns.map(({ name }, index) => `${identifier(name)} AS ${inner(index)}`)
  return `${checksumSql(order)} FROM (SELECT ${list.join(', ')} FROM ${readSql([path])})`
}

function checksumSql({ columns }: PackOrder): string {
  const parts = columns.flatMap(({ type }, index) => hashParts(inner(index), type))
  return `SELECT count(*), coalesce(sum(CAST(hash(${parts.join(', ')}) AS HUGEINT)), 0)`
}

/**
 * DuckDB gives one hash to 0.0 and -0.0, to [] and null, and to a list and the same list nested.
 */
function hashParts(sql: string, type: DataType): readonly string[] {
  if (isFloat(type)) return [sql, `signbit(${sql})`]
  if (type.kind === 'scalar') {
    return type.name === 'VARIANT' ? [textOf(sql)] : [sql]
  }
  return type.kind === 'decimal' || type.kind === 'enum' ? [sql] : [textOf(sql)]
}

/** SQL for the files, as indexes, whose rows the plan puts in another order than in the file. */
export function mixedSql(plan: string): string {
  return `SELECT DISTINCT f FROM (
      SELECT f, r, lag(r) OVER (PARTITION BY f ORDER BY file_row_number) AS before
      FROM ${readSql([plan])})
    WHERE r < before`
}

/** SQL that counts rows of packed files whose key is less than that of the row before. */
export function disorderSql(order: PackOrder, paths: readonly string[], where = 'true'): string {
  const row = `row(${keyColumns(order)
    .map(({ name }) => identifier(name))
    .join(', ')})`
  return `SELECT count(*) FROM (
      SELECT ${row} AS k, lag(${row}) OVER (ORDER BY file_index, file_row_number) AS before,
        row_number() OVER (ORDER BY file_index, file_row_number) AS n
      FROM ${readSql(paths)} WHERE ${where})
    WHERE n > 1 AND k < before`
}
