import { plainColumn } from '../../../columns/column.js'
import type { Column } from '../../../columns/column.js'
import { isFloat } from '../../../columns/data-type.js'
import type { DataType } from '../../../columns/data-type.js'
import type { FileToCopy, FormsOrder } from '../../../versions/forms/forms-order.js'
import type { DataFile } from '../../../versions/version.js'
import { textOf } from '../../sql/encode.js'
import { pathsSql } from '../paths.js'
import { planCount } from '../read/pieces.js'
import type { Scan } from '../read/pieces.js'
import { identifier } from '../../sql/quote.js'

/** A column of a file, with its type there. */
export type FileColumn = readonly [name: string, type: DataType]

/** The columns of an order, by their names in the files. */
export function columnsOf({ columns }: FormsOrder): ReadonlyMap<string, Column> {
  return new Map(
    columns.map(({ source, type, asText }) => [source, { ...plainColumn(source, type), asText }]),
  )
}

/** A file of an order, to read: the forms that it has are not used. */
export function fileToRead(file: FileToCopy): DataFile {
  return { ...file, bounds: new Map(), rowCopy: null, pages: null }
}

/** The rows of all files of an order; files are counted in the version's order. */
export function scansOfAll({ files }: FormsOrder): readonly Scan[] {
  const filled = files.map((file, index) => ({ index, file: fileToRead(file) }))
  return planCount({ files: filled.filter(({ file }) => file.rows > 0) })
}

/** SQL that reads the rows of one file. */
export function readSql(path: string): string {
  return `read_parquet(${pathsSql([path])}, hive_partitioning = false)`
}

/**
 * Geometries by the type of their column: the older way, metadata of their values, leaves columns
 * without a value and nested ones as bytes.
 */
export const shapes = "GEOPARQUET_VERSION 'V2'"

/** The options of COPY for small files to read; `dictionary` is of `dictionaryOption`. */
export function layoutSql(rowGroupRows: number, dictionary = ''): string {
  // LZ4 is 7 % larger than zstd and reads a third faster.
  return `(FORMAT parquet, ${dictionary}${shapes}, COMPRESSION lz4_raw, PARQUET_VERSION V2,
    ROW_GROUP_SIZE ${rowGroupRows})`
}

/**
 * SQL for a file's checksum: the number of rows, and the sum over rows of a 64-bit hash of the
 * row's number and all its cells. Equal rows in the same order have equal sums; different ones
 * collide with a chance of about 2⁻⁶⁴. The hash distinguishes empty from '' and 0, -0.0 from 0.0,
 * and a value from the same one in the next column. It does not distinguish NaNs, nor values inside
 * lists, structs and VARIANTs that have the same text.
 */
export function checksumSql(columns: readonly FileColumn[], path: string): string {
  const parts = columns.flatMap(([name, type]) => hashParts(identifier(name), type))
  const hash = `CAST(hash(${['file_row_number', ...parts].join(', ')}) AS HUGEINT)`
  return `SELECT count(*), coalesce(sum(${hash}), 0) FROM ${readSql(path)}`
}

/**
 * What of a value is hashed: DuckDB gives one hash to 0.0 and -0.0, to [] and null, and to a list
 * and the same list nested.
 */
export function hashParts(sql: string, type: DataType): readonly string[] {
  if (isFloat(type)) return [sql, `signbit(${sql})`]
  if (type.kind === 'scalar') {
    return type.name === 'VARIANT' ? [textOf(sql)] : [sql]
  }
  return type.kind === 'decimal' || type.kind === 'enum' ? [sql] : [textOf(sql)]
}
