import type { Column } from '../../catalog/column.js'
import { typeText } from '../../catalog/data-type.js'
import type { Predicate } from '../../catalog/predicate.js'
import { bindBigint, bindTexts } from './bind.js'
import type { Bound } from './bind.js'
import { Parameters, condition } from './condition.js'
import { encodeRow } from './encode.js'
import type { Piece } from './pieces.js'
import { identifier } from './sql.js'

/** What the executor takes: text made of our own literals and catalog names, values to bind. */
export interface Statement {
  readonly sql: string
  readonly values: readonly Bound[]
}

/** Rows of a piece with their positions: (index into the piece's files, row number, JSON text). */
export function compileRead(
  piece: Piece,
  predicates: readonly Predicate[],
  columns: readonly Column[],
  limit: number,
): Statement {
  const parameters = new Parameters()
  const sqlOf = columnsOf(piece, parameters)
  const row = encodeRow(columns.map((column) => ({ column, sql: sqlOf(column) })))
  const from = fromWhere(piece, predicates, sqlOf, parameters)
  const order = piece.sorted ? ' ORDER BY file_index, file_row_number' : ''
  const end = `${order} LIMIT ${parameters.add(bindBigint(limit))}`
  const sql = `SELECT file_index, file_row_number, ${row} ${from}${end}`
  return Object.freeze({ sql, values: parameters.values })
}

/** How many rows of a piece meet the predicates. */
export function compileCount(piece: Piece, predicates: readonly Predicate[]): Statement {
  const parameters = new Parameters()
  const sqlOf = columnsOf(piece, parameters)
  const sql = `SELECT count(*) ${fromWhere(piece, predicates, sqlOf, parameters)}`
  return Object.freeze({ sql, values: parameters.values })
}

/** The SQL of a piece's rows that meet the predicates, with each column brought to its type. */
export function compileRows(
  piece: Piece,
  predicates: readonly Predicate[],
  columns: readonly (readonly [name: string, column: Column])[],
  parameters: Parameters,
): string {
  const sqlOf = columnsOf(piece, parameters)
  const list = columns.map(([name, column]) => `${sqlOf(column)} AS ${name}`)
  return `SELECT ${list.join(', ')} ${fromWhere(piece, predicates, sqlOf, parameters)}`
}

/**
 * Columns as a piece's files hold them, brought to the dataset's type; null where the files lack
 * them. All files of a piece are laid out alike; what stands in their paths is found by the file.
 */
function columnsOf({ files }: Piece, parameters: Parameters): (column: Column) => string {
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
    const name = identifier(column.source)
    return typeText(stored) === type ? name : `CAST(${name} AS ${type})`
  }
}

function fromWhere(
  { files, range }: Piece,
  predicates: readonly Predicate[],
  sqlOf: (column: Column) => string,
  parameters: Parameters,
): string {
  const paths = parameters.add(bindTexts(files.map(({ file }) => file.path)))
  const conditions = predicates.map((predicate) => condition(predicate, sqlOf, parameters))
  if (range) {
    conditions.push(`file_row_number >= ${parameters.add(bindBigint(range.from))}`)
    conditions.push(`file_row_number < ${parameters.add(bindBigint(range.to))}`)
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  return `FROM read_parquet(${paths}, hive_partitioning = false, union_by_name = false)${where}`
}
