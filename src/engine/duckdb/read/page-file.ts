import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Column } from '../../../columns/column.js'
import { typeText } from '../../../columns/data-type.js'
import type { FilePosition } from '../../../query/question.js'
import type { FileQuestion } from '../../file-question.js'
import type { Row, Rows } from '../../engine.js'
import { bindBigint } from '../bind.js'
import { unwritable } from '../duckdb-failure.js'
import { parquetType, parquetValue } from '../encode/parquet-types.js'
import { bindTarget } from '../paths.js'
import type { RunStatement, Statement } from '../run-statement.js'
import { identifier } from '../../sql/quote.js'
import { byPosition, pieceSql, versionIndex } from './compile.js'
import { dictionaryOption } from '../dictionary-option.js'
import { SqlParameters } from './condition.js'
import type { Piece } from './pieces.js'
import { readPieces } from './read-pieces.js'
import type { ReadContext } from './read-pieces.js'

/** A temporary table that collects the pieces before they are written. */
const table = 'temp.page'
/** Every Parquet reader supports it. */
const codec = 'snappy'
/** More rows than any page has, so that a page is one row group. */
const rowGroupRows = 122_880
/** How every file of an answer is written; `dictionary` is of `dictionaryOption`. */
export function fileOptions(dictionary: string): string {
  return `(FORMAT parquet, ${dictionary}COMPRESSION ${codec}, ROW_GROUP_SIZE ${rowGroupRows})`
}
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
  const cells = columns.map(({ type }, index) => ({ sql: `c${index}`, type: parquetType(type) }))
  const dictionary = await dictionaryOption((each) => run(statement(each.sql)), table, cells)
  const file = await writeFile(folder, (path) =>
    run(compileWrite(columns, found.rows.length, path, dictionary)),
  )
  await run(statement(`DROP TABLE ${table}`))
  return { ...found, file }
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

/** Excludes the extra row that only shows whether more rows follow. */
function compileWrite(
  columns: readonly Column[],
  rows: number,
  path: string,
  dictionary: string,
): Statement {
  const list = columns.map(({ name }, index) => `c${index} AS ${identifier(name)}`)
  const sql = `COPY (SELECT ${list.join(', ')} FROM ${table} ORDER BY piece, file, number LIMIT $1)
    TO $2 ${fileOptions(dictionary)}`
  return statement(sql, [bindBigint(rows), bindTarget(path)])
}

/**
 * Returns the bytes of the file that `write` creates, and removes the file, also after a failure.
 * @throws service_unavailable when no file can be written there
 */
export async function writeFile(
  folder: string,
  write: (path: string) => Promise<unknown>,
): Promise<Buffer> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const own = await mkdtemp(join(folder, 'page-'))
    try {
      const path = join(own, 'page.parquet')
      await write(path)
      return await readFile(path)
    } finally {
      await rm(own, { recursive: true, force: true })
    }
  } catch (cause) {
    throw unwritable(cause, folder)
  }
}
