import type { Column } from '../../../columns/column.js'
import { typeText } from '../../../columns/data-type.js'
import type { FilePosition } from '../../../query/question.js'
import type { FileQuestion } from '../../file-question.js'
import type { Row, Rows } from '../../engine.js'
import { bindBigint } from '../bind.js'
import { parquetType, parquetValue } from '../encode/parquet-types.js'
import type { RunStatement, Statement } from '../run-statement.js'
import { byPosition, pieceSql, versionIndex } from './compile.js'
import { takeFile } from '../table-file.js'
import { SqlParameters } from './condition.js'
import type { Piece } from './pieces.js'
import { readPieces } from './read-pieces.js'
import type { ReadContext } from './read-pieces.js'

/** A temporary table that collects the pieces before they are written. */
const table = 'temp.page'
/** Rows in a file have no text of their own. */
const noText = Buffer.alloc(0)

/**
 * The page as one Parquet file: the same rows as in any other format, in stored order, with the
 * public column names. The file is in `folder` only while it is written.
 * @throws service_unavailable when no file can be written there
 */
export async function readPageFile(
  question: FileQuestion,
  folder: string,
  reading: ReadContext,
  run: RunStatement,
): Promise<Rows<FilePosition>> {
  const { columns } = question
  await run(statement(`CREATE TEMP TABLE page (${tableColumns(columns)})`))
  let pieces = 0
  const found = await readPieces(question, reading, async (piece, limit) => {
    pieces += 1
    return placesOf(piece, await run(compileGather(piece, pieces, question, limit)))
  })
  const inFile = columns.map(({ name, type }) => ({ name, type: parquetType(type) }))
  const gathered = { name: table, columns: inFile, order: 'piece, file, number' }
  // Without the extra row that only shows whether more rows follow.
  return { ...found, file: await takeFile(gathered, found.rows.length, folder, run) }
}

function statement(sql: string, values: Statement['values'] = []): Statement {
  return Object.freeze({ sql, values })
}

/** Names columns by number, so that they can't clash with names of ours. */
function tableColumns(columns: readonly Column[]): string {
  const cells = columns.map(({ type }, index) => `c${index} ${typeText(parquetType(type))}`)
  return ['piece BIGINT', 'file BIGINT', 'number BIGINT', ...cells].join(', ')
}

/** Adds a piece's rows to the table and returns their positions. */
function compileGather(
  piece: Piece,
  count: number,
  { predicates, columns }: FileQuestion,
  limit: number,
): Statement {
  const parameters = new SqlParameters()
  const rows = pieceSql(piece, predicates, limit, parameters, (sqlOf) =>
    columns.map((column) => parquetValue(column.type, sqlOf(column))).join(', '),
  )
  const number = parameters.add(bindBigint(count))
  const sql = `INSERT INTO ${table} SELECT ${number}, * FROM (${rows}) RETURNING file, number`
  return statement(sql, parameters.values)
}

function placesOf(
  piece: Piece,
  [files = [], numbers = []]: unknown[][],
): readonly Row<FilePosition>[] {
  const rows = files.map((file, index) => {
    const position = { file: versionIndex(piece, Number(file)), row: Number(numbers[index]) }
    return { encoded: noText, position }
  })
  return rows.sort(byPosition)
}
