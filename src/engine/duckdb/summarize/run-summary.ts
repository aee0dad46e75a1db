import type { DuckDBBlobValue } from '@duckdb/node-api'
import type { Summary } from '../../../query/summary.js'
import type { Summarized } from '../../engine.js'
import { summarizeExactly } from '../../sql/summary.js'
import type { Choice } from '../choice.js'
import { readFailure } from '../duckdb-failure.js'
import type { PlainPaths } from '../plain-paths.js'
import type { RunStatement } from '../run-statement.js'
import { compileGroups, compileSummary, compileTable } from './compile-summary.js'
import { takeFile } from '../table-file.js'

/** The columns of the totals come before the lines. */
const totalsCount = 3
const table = 'temp.summary'
/** Groups in a file have no text of their own. */
const noText = Buffer.alloc(0)

/** What a summary needs besides its question. */
export interface SummaryContext {
  /** The files to read, of any form of the version. */
  readonly choice: Choice
  readonly paths: PlainPaths
  /** A folder for files while they are written. */
  readonly folder: () => string
  readonly run: RunStatement
}

/** The groups of a summary. @throws bad_request for a number that no type holds */
export function runSummary(summary: Summary, context: SummaryContext): Promise<Summarized> {
  return summarizeExactly(
    (isAnySize) => runOnce(summary, context, isAnySize),
    (cause) => ['Out of Range', 'Conversion'].includes(readFailure(cause).type ?? ''),
  )
}

/** Null if numbers are out of the range of the faster sums. */
async function runOnce(
  summary: Summary,
  { choice, paths, folder, run }: SummaryContext,
  isAnySize: boolean,
): Promise<Summarized | null> {
  const sql = compileGroups(summary, choice, paths, isAnySize)
  if (summary.format !== 'parquet') {
    const found = await run(compileSummary(sql, summary))
    const totals = totalsOf(found)
    const [lengths, lines] = found.slice(totalsCount).map(([cell]) => cell)
    const rows = linesOf(lengths as string | null, lines as DuckDBBlobValue | null)
    return totals && { ...totals, rows }
  }
  const columns = sql.cells.map(({ column }) => column)
  await run(compileTable(sql, summary, table))
  const totals = totalsOf(await run({ sql: `SELECT * FROM ${table} LIMIT 1` }))
  // Without a group, a row has the totals alone.
  await run({ sql: `DELETE FROM ${table} WHERE place IS NULL` })
  const placed = { name: table, columns, order: 'place' }
  const file = await takeFile(placed, summary.limit, folder(), run)
  if (!totals) return null
  const rows = Array<Buffer>(Math.min(totals.groups, summary.limit)).fill(noText)
  return { ...totals, rows, file }
}

function totalsOf(columns: readonly (readonly unknown[])[]) {
  const [rowsMet, groups, isOutOfRange] = columns.map(([cell]) => cell)
  return isOutOfRange === true ? null : { rowsMet: Number(rowsMet), groups: Number(groups) }
}

function linesOf(lengths: string | null, lines: DuckDBBlobValue | null): readonly Buffer[] {
  if (lengths === null || lines === null) return []
  const { buffer, byteOffset } = lines.bytes
  let start = byteOffset
  return lengths.split(' ').map((length) => {
    const bytes = Number(length)
    start += bytes
    return Buffer.from(buffer, start - bytes, bytes)
  })
}
