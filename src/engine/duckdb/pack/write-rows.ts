import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { DuckDBBlobValue } from '@duckdb/node-api'
import type { Column } from '../../../columns/column.js'
import { PackError } from '../../../versions/forms/forms-order.js'
import type { FileToCopy, FormsOrder } from '../../../versions/forms/forms-order.js'
import { blockBytes } from '../../rows/layout.js'
import {
  RowCopyWriter,
  WrongRowsError,
  cellSeparator,
  rowSeparator,
} from '../../rows/write-row-copy.js'
import { bindBigint } from '../bind.js'
import { readFailure } from '../duckdb-failure.js'
import { encodeCell } from '../../sql/encode.js'
import { duckdb } from '../dialect.js'
import { selectRows } from '../read/compile.js'
import { SqlParameters } from '../read/condition.js'
import type { RunStatement, Statement } from '../run-statement.js'
import { literal } from '../../sql/quote.js'
import { columnsOf, fileToRead } from './pack-sql.js'

/** The rows of the first statement, which shows how long rows are. */
const firstRows = 1024
/** What a cell takes until then. */
const cellBytes = 8
/** A statement returns about so many bytes, and so many rows at most. */
const statementBytes = 24_000_000
const statementRowsMax = 40_960
/** Rows that are much longer than those before them do not fit in memory: then fewer are read. */
const shrink = 8

/**
 * Writes the row copy of a file, and reads it back. The engine encodes the rows as it does for
 * answers, and makes checksums of the texts before they leave it.
 * @throws PackError if rows are missing, repeated, out of order or changed
 */
export async function writeRows(
  order: FormsOrder,
  file: FileToCopy,
  path: string,
  run: RunStatement,
  report: (rows: number) => void,
): Promise<{ readonly sizeBytes: number; readonly hash: string }> {
  const byName = columnsOf(order)
  const columns = [...byName.values()]
  const writer = await RowCopyWriter.open({
    path,
    identity: basename(path, '.rows'),
    rows: file.rows,
    columns,
    lookUps: order.lookUps.flatMap((source) => byName.get(source) ?? []),
    history: byName.get(order.history ?? '') ?? null,
  })
  try {
    let rowBytes = columns.length * cellBytes
    let rowsMax = firstRows
    for (let from = 0; from < file.rows;) {
      const fit = Math.ceil(statementBytes / rowBytes)
      const to = Math.min(file.rows, from + Math.min(fit, rowsMax))
      const perBlock = Math.max(1, Math.round(blockBytes / rowBytes))
      const found = await run(compileTexts(file, columns, { from, to }, perBlock)).catch(
        (cause: unknown) => {
          if (to - from === 1 || readFailure(cause).type !== 'Out of Memory') throw cause
          return null
        },
      )
      if (!found) {
        rowsMax = Math.ceil((to - from) / shrink)
        continue
      }
      rowsMax = statementRowsMax
      const texts = textsOf(found)
      await writer.add(texts)
      rowBytes = texts.reduce((sum, { length }) => sum + length, 0) / (to - from)
      report(to - from)
      from = to
    }
    return await writer.finish()
  } catch (cause) {
    if (cause instanceof WrongRowsError) {
      throw new PackError(`A row copy differs from its file (${cause.message}).`, cause)
    }
    throw cause
  } finally {
    await writer.close()
  }
}

/** Selects rows as texts, `perBlock` in each, with their checksums. */
function compileTexts(
  file: FileToCopy,
  columns: readonly Column[],
  range: { readonly from: number; readonly to: number },
  perBlock: number,
): Statement {
  const parameters = new SqlParameters()
  const scan = { files: [{ index: 0, file: fileToRead(file) }], range }
  const rows = selectRows(scan, [], parameters, (sqlOf) => {
    const cells = columns.map((column) => encodeCell(duckdb, column, sqlOf(column)))
    const separator = literal(cellSeparator)
    return `file_row_number, concat(${['file_row_number', ...cells].join(`, ${separator}, `)})`
  })
  const block = `(number - ${range.from}) // ${parameters.add(bindBigint(perBlock))}`
  const sql = `SELECT md5(text), encode(text) FROM (
      SELECT ${block} AS block, string_agg(line, ${literal(rowSeparator)}) AS text
      FROM (${rows}) AS rows (number, line) GROUP BY block)
    ORDER BY block`
  return Object.freeze({ sql, values: parameters.values })
}

function textsOf([sums = [], texts = []]: unknown[][]): readonly Buffer[] {
  return texts.map((value, index) => {
    const { buffer, byteOffset, byteLength } = (value as DuckDBBlobValue).bytes
    const text = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
    if (createHash('md5').update(text).digest('hex') === sums[index]) return text
    throw new WrongRowsError('a text changed on its way')
  })
}
