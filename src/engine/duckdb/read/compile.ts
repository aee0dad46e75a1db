import type { DuckDBBlobValue, DuckDBValue } from '@duckdb/node-api'
import type { Column } from '../../../columns/column.js'
import { typeText } from '../../../columns/data-type.js'
import type { Predicate } from '../../../columns/predicate.js'
import type { FilePosition } from '../../../query/question.js'
import type { FileQuestion } from '../../file-question.js'
import type { Row } from '../../engine.js'
import { bindBigint, bindTexts } from '../bind.js'
import { condition } from '../../sql/condition.js'
import type { NamedColumn } from '../../sql/dialect.js'
import { encodeCsvRow } from '../../sql/encode-csv.js'
import { encodeRow } from '../../sql/encode.js'
import { duckdb } from '../dialect.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import type { Statement } from '../run-statement.js'
import { castSql, columnSql } from '../sql.js'
import { SqlParameters } from './condition.js'
import type { Piece, Scan } from './pieces.js'

/**
 * Turns a question into SQL. The statement returns the rows of a piece as two values for `rowsOf`:
 * a text of numbers (for each row the index of its file in the piece, its row number, its length in
 * bytes), and the bytes of all rows. Fetching rows one by one takes as long as reading them.
 */
export function compileRead(
  piece: Piece,
  { predicates, columns, format }: Pick<FileQuestion, 'predicates' | 'columns' | 'format'>,
  limit: number,
): Statement {
  const parameters = new SqlParameters()
  const rows = pieceSql(piece, predicates, limit, parameters, (sqlOf) => {
    const cells = columns.map((column) => ({ column, sql: sqlOf(column) }))
    return format === 'csv' ? encodeCsvRow(duckdb, cells) : encodeRow(duckdb, cells)
  })
  const numbers = `concat_ws(' ', file, number, strlen(line))`
  const sql = `SELECT string_agg(${numbers}, ' '), encode(string_agg(line, ''))
    FROM (${rows}) AS rows (file, number, line)`
  return Object.freeze({ sql, values: parameters.values })
}

/**
 * The SQL that selects a piece's first rows that meet the predicates. Each row has its file in the
 * piece, its row number, and the expressions that `list` makes from the columns.
 */
export function pieceSql(
  piece: Piece,
  predicates: readonly Predicate[],
  limit: number,
  parameters: SqlParameters,
  list: (sqlOf: (column: Column) => string) => string,
): string {
  const placed = (sqlOf: (column: Column) => string) =>
    `file_index, file_row_number, ${list(sqlOf)}`
  const rows = selectRows(piece, predicates, parameters, placed)
  const order = piece.plan === 'sorted' ? ' ORDER BY file_index, file_row_number' : ''
  return `${rows}${order} LIMIT ${parameters.add(bindBigint(limit))}`
}

/** The rows that `compileRead` selects, in stored order. */
export function rowsOf(
  piece: Piece,
  columns: readonly DuckDBValue[][],
): readonly Row<FilePosition>[] {
  const [[numbers], [lines]] = columns as [[string | null], [DuckDBBlobValue | null]]
  if (numbers === null || lines === null) return []
  const { buffer, byteOffset } = lines.bytes
  const words = numbers.split(' ').map(Number)
  const rows: Row<FilePosition>[] = []
  let start = byteOffset
  for (let word = 0; word < words.length; word += 3) {
    const [place = NaN, row = NaN, bytes = NaN] = words.slice(word, word + 3)
    const position = { file: versionIndex(piece, place), row }
    rows.push({ encoded: Buffer.from(buffer, start, bytes), position })
    start += bytes
  }
  // `string_agg` without ORDER BY guarantees no order.
  return rows.sort(byPosition)
}

/** Converts the index of a file in the scan to its index in the version. */
export function versionIndex(scan: Scan | undefined, place: number): number {
  const file = scan?.files[place]
  if (!file) throw new RangeError('DuckDB returned a file that it was not given')
  return file.index
}

/** Compares rows by stored order. */
export function byPosition(
  { position: a }: Row<FilePosition>,
  { position: b }: Row<FilePosition>,
): number {
  return a.file - b.file || a.row - b.row
}

/** Counts the rows of a scan that meet the predicates. */
export function compileCount(scan: Scan, predicates: readonly Predicate[]): Statement {
  const parameters = new SqlParameters()
  const sql = selectRows(scan, predicates, parameters, () => 'count(*)')
  return Object.freeze({ sql, values: parameters.values })
}

/** The SQL of all rows of the scans that meet the predicates, each column cast to its type. */
export function compileRows(
  scans: readonly Scan[],
  predicates: readonly Predicate[],
  columns: readonly NamedColumn[],
  parameters: SqlParameters,
): string {
  const list = (sqlOf: (column: Column) => string) =>
    columns.map(([name, column]) => `${sqlOf(column)} AS ${name}`).join(', ') || '1'
  const selects = scans.map((scan) => selectRows(scan, predicates, parameters, list))
  const nothing = `SELECT ${list(({ type }) => `CAST(NULL AS ${typeText(type)})`)} WHERE false`
  return selects.join(' UNION ALL ') || nothing
}

/** The SQL of what `list` makes from the columns in a scan's rows that meet the predicates. */
export function selectRows(
  scan: Scan,
  predicates: readonly Predicate[],
  parameters: SqlParameters,
  list: (sqlOf: (column: Column) => string) => string,
): string {
  const sqlOf = columnsOf(scan, parameters)
  const cells = list(sqlOf)
  return `SELECT ${cells} ${fromWhere(scan, predicates, sqlOf, parameters)}`
}

/**
 * SQL of the columns in the dataset's types; null if the files lack them. All files of a scan have
 * one layout; each file determines the values from its path.
 */
function columnsOf({ files }: Scan, parameters: SqlParameters): (column: Column) => string {
  const first = files[0]?.file
  const lists = new Map<string, string>()
  const listOf = (source: string) => {
    const values = () => bindTexts(files.map(({ file }) => file.partition.get(source) ?? null))
    const list = lists.get(source) ?? parameters.add(values())
    lists.set(source, list)
    return list
  }
  return (column) => {
    const [stored, type] = [first?.types.get(column.source), typeText(column.type)]
    if (first?.partition.has(column.source)) {
      const place = 'CAST(file_index AS BIGINT) + 1'
      return `CAST(list_extract(${listOf(column.source)}, ${place}) AS ${type})`
    }
    if (stored === undefined) return `CAST(NULL AS ${type})`
    return castSql(columnSql(column.source, first?.marks.get(column.source)), stored, column.type)
  }
}

function fromWhere(
  { files, range, found }: Scan,
  predicates: readonly Predicate[],
  sqlOf: (column: Column) => string,
  parameters: SqlParameters,
): string {
  const paths = parameters.add(bindPaths(files.map(({ file }) => file.path)))
  const conditions = predicates.map((each) => condition(each, sqlOf, parameters))
  if (range) {
    conditions.push(`file_row_number >= ${parameters.add(bindBigint(range.from))}`)
    conditions.push(`file_row_number < ${parameters.add(bindBigint(range.to))}`)
  }
  if (found) {
    const rows = found.map((row) => parameters.add(bindBigint(row)))
    conditions.push(`file_row_number IN (${rows.join(', ')})`)
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  return `FROM ${boundFilesSql(paths)}${where}`
}
