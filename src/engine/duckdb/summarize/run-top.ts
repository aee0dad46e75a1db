import type { DuckDBBlobValue } from '@duckdb/node-api'
import type { Column } from '../../../columns/column.js'
import { typeText } from '../../../columns/data-type.js'
import type { Top } from '../../../query/top.js'
import type { FilePosition } from '../../../query/question.js'
import type { Row, Rows } from '../../engine.js'
import { encodeCsvRow } from '../../sql/encode-csv.js'
import { encodeRow } from '../../sql/encode.js'
import { comparableValue } from '../../sql/values.js'
import { bindBigint } from '../bind.js'
import { duckdb } from '../dialect.js'
import { parquetValue } from '../encode/parquet-types.js'
import { selectRows, versionIndex } from '../read/compile.js'
import { SqlParameters } from '../read/condition.js'
import { planCount } from '../read/pieces.js'
import type { Scan } from '../read/pieces.js'
import type { Statement } from '../run-statement.js'
import type { SummaryContext } from './run-summary.js'
import { takeFile } from '../table-file.js'

const table = 'temp.top'
/** Rows in a file have no text of their own. */
const noText = Buffer.alloc(0)
/** The numbers of a row: its scan, its file in the scan, its row number, its length in bytes. */
const wordsPerRow = 4

/** The first rows by a column, in that order. */
export async function runTop(top: Top, context: SummaryContext): Promise<Rows<FilePosition>> {
  const { choice, paths, folder, run } = context
  const scans = planCount(choice).map((scan) => paths.scan(scan))
  if (top.format !== 'parquet') {
    return within(top, rowsOf(scans, await run(compileTop(scans, top))))
  }
  await run(compileTable(scans, top))
  const places = await run({
    sql: `SELECT string_agg(concat_ws(' ', scan, file, number, 0), ' ' ORDER BY place), NULL
      FROM ${table}`,
  })
  const placed = { name: table, columns: top.columns, order: 'place' }
  const file = await takeFile(placed, top.limit, folder(), run)
  return { ...within(top, rowsOf(scans, places)), file }
}

function within({ limit }: Top, rows: readonly Row<FilePosition>[]): Rows<FilePosition> {
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit }
}

function compileTop(scans: readonly Scan[], top: Top): Statement {
  const parameters = new SqlParameters()
  const cells = top.columns.map((column, index) => ({ column, sql: `c${index}` }))
  const line = top.format === 'csv' ? encodeCsvRow(duckdb, cells) : encodeRow(duckdb, cells)
  const sql = `WITH ${compileFirst(scans, top, parameters)},
    lines AS (SELECT scan, file, number, place, ${line} AS line FROM first)
    SELECT string_agg(concat_ws(' ', scan, file, number, strlen(line)), ' ' ORDER BY place),
      encode(string_agg(line, '' ORDER BY place)) FROM lines`
  return Object.freeze({ sql, values: parameters.values })
}

function compileTable(scans: readonly Scan[], top: Top): Statement {
  const parameters = new SqlParameters()
  const cells = top.columns.map(
    ({ type }, index) => `${parquetValue(type, `c${index}`)} AS c${index}`,
  )
  const sql = `CREATE TEMP TABLE ${table} AS WITH ${compileFirst(scans, top, parameters)}
    SELECT scan, file, number, place, ${cells.join(', ')} FROM first`
  return Object.freeze({ sql, values: parameters.values })
}

/** The rows of the answer, and one more that shows whether more follow. */
function compileFirst(scans: readonly Scan[], top: Top, parameters: SqlParameters): string {
  const { by, isDescending, columns, predicates, limit } = top
  const rows = scans.map((scan, index) =>
    selectRows(scan, predicates, parameters, (sqlOf) => {
      const cells = columns.map((column, place) => `${sqlOf(column)} AS c${place}`)
      const place = `${index} AS scan, file_index AS file, file_row_number AS number`
      return `${place}, ${comparableValue(duckdb, by, sqlOf(by))} AS rank, ${cells.join(', ')}`
    }),
  )
  const order = `ORDER BY rank ${isDescending ? 'DESC' : 'ASC'}, scan, file, number`
  const from = rows.join(' UNION ALL ') || nothing(columns)
  const most = parameters.add(bindBigint(limit + 1))
  return `limited AS (SELECT * FROM (${from}) ${order} LIMIT ${most}),
    first AS (SELECT *, row_number() OVER (${order}) AS place FROM limited)`
}

function nothing(columns: readonly Column[]): string {
  const cells = columns.map(({ type }, index) => `CAST(NULL AS ${typeText(type)}) AS c${index}`)
  return `SELECT 0 AS scan, 0 AS file, 0 AS number, 0 AS rank, ${cells.join(', ')} WHERE false`
}

function rowsOf(scans: readonly Scan[], columns: unknown[][]): readonly Row<FilePosition>[] {
  const [numbers, lines] = columns.map(([cell]) => cell) as [string | null, DuckDBBlobValue | null]
  if (numbers === null) return []
  const words = numbers.split(' ').map(Number)
  const rows: Row<FilePosition>[] = []
  let start = 0
  for (let word = 0; word < words.length; word += wordsPerRow) {
    const [scan = NaN, file = NaN, row = NaN, bytes = NaN] = words.slice(word, word + wordsPerRow)
    const encoded = lines ? textAt(lines, start, bytes) : noText
    rows.push({ encoded, position: { file: versionIndex(scans[scan], file), row } })
    start += bytes
  }
  return rows
}

function textAt({ bytes: { buffer, byteOffset } }: DuckDBBlobValue, start: number, bytes: number) {
  return Buffer.from(buffer, byteOffset + start, bytes)
}
