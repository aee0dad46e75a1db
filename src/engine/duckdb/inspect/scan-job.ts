import type { Column } from '../../../columns/column.js'
import { servedText } from '../../sql/encode.js'
import { duckdb } from '../dialect.js'
import { compileRows } from '../read/compile.js'
import { SqlParameters } from '../read/condition.js'
import type { Piece } from '../read/pieces.js'
import { textOrNull } from '../run-statement.js'
import type { Statement } from '../run-statement.js'
import { isRounded } from './rounded.js'

/** Files of one layout, and the columns that one statement reads from them. */
export interface ScanJob {
  readonly files: Piece['files']
  readonly columns: readonly Column[]
}

/** What a scan finds in a column. */
export interface ScannedColumn {
  /** Rows with a value. */
  readonly values: number
  readonly notFiniteRows: number
  readonly roundedRows: number
  readonly roundedExample: string | null
}

const aggregatesPerColumn = 5

/**
 * Aggregates of each column. The hash makes DuckDB decode every value: it may take counts from the
 * footer.
 */
export function compileScan({ files, columns }: ScanJob, range: Piece['range']): Statement {
  const parameters = new SqlParameters()
  const named = columns.map((column, index) => [`c${index}`, column] as const)
  const aggregates = named.flatMap(([name, column]) => {
    const { type } = column
    const rounded = isRounded(type, name)
    return [
      `bit_xor(hash(${name}))`,
      `count(${name})`,
      duckdb.mayBeInfinite(column) ? countWhere(`NOT isfinite(${name})`) : '0',
      rounded === 'false' ? '0' : countWhere(rounded),
      rounded === 'false'
        ? 'NULL'
        : servedText(duckdb, type, `max(CASE WHEN ${rounded} THEN ${name} END)`),
    ]
  })
  const rows = compileRows([{ files, range }], [], named, parameters)
  return { sql: `SELECT ${aggregates.join(', ')} FROM (${rows})`, values: parameters.values }
}

/** Avoids FILTER, with which DuckDB copies every column of a chunk for every aggregate. */
function countWhere(condition: string): string {
  return `count(CASE WHEN ${condition} THEN 1 END)`
}

/** Adds the results of one statement to earlier results, by the column names in the files. */
export function addScanned(
  scanned: Map<string, ScannedColumn>,
  { columns }: ScanJob,
  found: readonly unknown[][],
): void {
  for (const [index, { source }] of columns.entries()) {
    const cells = found.slice(index * aggregatesPerColumn, (index + 1) * aggregatesPerColumn)
    const [, values, notFinite, rounded, example] = cells.map(([cell]) => cell)
    const before = scanned.get(source)
    scanned.set(source, {
      values: (before?.values ?? 0) + Number(values),
      notFiniteRows: (before?.notFiniteRows ?? 0) + Number(notFinite),
      roundedRows: (before?.roundedRows ?? 0) + Number(rounded),
      roundedExample: before?.roundedExample ?? textOrNull(example),
    })
  }
}
