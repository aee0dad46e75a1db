import type { DataType } from '../../../columns/data-type.js'
import type { PackOrder } from '../../../versions/packer.js'
import { identifier } from '../sql.js'
import { inner, keyColumns, readSql, scanSql } from './pack-sql.js'
import type { PackScan } from './pack-sql.js'

/**
 * The statement that finds a strand's checksum: how many rows, and the sum over rows of a 64-bit
 * hash of all their cells. Two sets of rows have equal sums if they are equal in whatever order
 * and, but for a chance of about 2⁻⁶⁴, only then. It tells empty from '' and 0, -0.0 from 0.0, and
 * a value from the same one in the next column. It does not tell NaNs from one another, nor values
 * inside lists, structs and VARIANTs that have the same text.
 */
export function scanChecksumSql(order: PackOrder, strand: PackScan): string {
  return `${checksumSql(order)} FROM (${scanSql(order, strand, order.columns)})`
}

/** The statement that finds a packed file's checksum. */
export function packedChecksumSql(order: PackOrder, path: string): string {
  const list = order.columns.map(({ name }, index) => `${identifier(name)} AS ${inner(index)}`)
  return `${checksumSql(order)} FROM (SELECT ${list.join(', ')} FROM ${readSql([path])})`
}

function checksumSql({ columns }: PackOrder): string {
  const parts = columns.flatMap(({ type }, index) => hashParts(inner(index), type))
  return `SELECT count(*), coalesce(sum(CAST(hash(${parts.join(', ')}) AS HUGEINT)), 0)`
}

/** DuckDB hashes 0.0 and -0.0 alike, an empty list and none, a list and the same nested deeper. */
function hashParts(sql: string, type: DataType): readonly string[] {
  if (type.kind === 'scalar') {
    if (type.name === 'FLOAT' || type.name === 'DOUBLE') return [sql, `signbit(${sql})`]
    return type.name === 'VARIANT' ? [asText(sql)] : [sql]
  }
  return type.kind === 'decimal' || type.kind === 'enum' ? [sql] : [asText(sql)]
}

function asText(sql: string): string {
  return `CAST(${sql} AS VARCHAR)`
}

/** The statement that counts the rows of packed files that come before the row ahead of them. */
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
