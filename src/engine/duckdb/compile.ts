import type { Column } from '../../catalog/column.js'
import type { Predicate } from '../../catalog/predicate.js'
import { bindBigint, bindTexts } from './bind.js'
import type { Bound } from './bind.js'
import { Parameters, condition } from './condition.js'
import { columnSql, encodeRow } from './encode.js'
import type { Piece } from './pieces.js'

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
  const types = piece.files[0]?.file.types
  const row = encodeRow(
    columns.map((column) => ({ column, sql: columnSql(column, types?.get(column.source)) })),
  )
  const parameters = new Parameters()
  const order = piece.sorted ? ' ORDER BY file_index, file_row_number' : ''
  const from = fromWhere(piece, predicates, parameters)
  const sql = `SELECT file_index, file_row_number, ${row} ${from}${order} LIMIT ${parameters.add(bindBigint(limit))}`
  return Object.freeze({ sql, values: parameters.values })
}

/** How many rows of a piece meet the predicates. */
export function compileCount(piece: Piece, predicates: readonly Predicate[]): Statement {
  const parameters = new Parameters()
  const sql = `SELECT count(*) ${fromWhere(piece, predicates, parameters)}`
  return Object.freeze({ sql, values: parameters.values })
}

function fromWhere(piece: Piece, predicates: readonly Predicate[], parameters: Parameters): string {
  const types = piece.files[0]?.file.types
  const paths = parameters.add(bindTexts(piece.files.map(({ file }) => file.path)))
  const conditions: string[] = []
  if (piece.range) {
    conditions.push(`file_row_number >= ${parameters.add(bindBigint(piece.range.from))}`)
    conditions.push(`file_row_number < ${parameters.add(bindBigint(piece.range.to))}`)
  }
  for (const predicate of predicates) {
    if (predicate.kind === 'nothing') return `FROM read_parquet(${paths}) WHERE false`
    const sql = columnSql(predicate.column, types?.get(predicate.column.source))
    conditions.push(condition(predicate, sql, parameters))
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  return `FROM read_parquet(${paths}, hive_partitioning = false, union_by_name = false)${where}`
}
