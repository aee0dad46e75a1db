import type { Column } from '../../../columns/column.js'
import type { Version } from '../../../versions/version.js'
import { servedText } from '../../sql/encode.js'
import { duckdb } from '../dialect.js'
import { compileRows } from '../read/compile.js'
import { SqlParameters } from '../read/condition.js'
import type { Piece } from '../read/pieces.js'
import { textOrNull } from '../run-statement.js'
import type { RunStatement, Statement } from '../run-statement.js'
import { isRounded } from './rounded.js'

/** Files of one layout, and the columns that one statement reads from them. */
interface ScanJob {
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

/** Values that one statement reads: about a second's work. */
const jobCellsMax = 20_000_000
const jobColumnsMax = 48
const jobFilesMax = 100
const aggregatesPerColumn = 4

/** Reads every value of these columns in every file, one part at a time. */
export async function scanColumns(
  version: Version,
  columns: readonly Column[],
  run: RunStatement,
  report: (done: number) => void,
): Promise<ReadonlyMap<string, ScannedColumn>> {
  const scanned = new Map<string, ScannedColumn>()
  const total = version.rows * columns.length
  let done = 0
  for (const job of planJobs(version, columns)) {
    addScanned(scanned, job, await run(compileScan(job)))
    done += cellsOf(job)
    report(done / total)
  }
  return scanned
}

/** Groups small adjacent files of one layout into one job; reads a large file by columns. */
function* planJobs(version: Version, columns: readonly Column[]): Generator<ScanJob> {
  let files: { index: number; file: Version['files'][number] }[] = []
  let rows = 0
  for (const [index, file] of version.files.entries()) {
    const isFull = (rows + file.rows) * jobColumnsMax > jobCellsMax || files.length === jobFilesMax
    if (files[0] && (isFull || files[0].file.layout !== file.layout)) {
      yield* sliceColumns(files, rows, columns)
      files = []
      rows = 0
    }
    if (file.rows === 0) continue
    files.push({ index, file })
    rows += file.rows
  }
  if (files.length > 0) yield* sliceColumns(files, rows, columns)
}

function* sliceColumns(
  files: ScanJob['files'],
  rows: number,
  columns: readonly Column[],
): Generator<ScanJob> {
  const width = Math.max(1, Math.min(jobColumnsMax, Math.floor(jobCellsMax / rows)))
  for (let from = 0; from < columns.length; from += width) {
    yield { files, columns: columns.slice(from, from + width) }
  }
}

function cellsOf({ files, columns }: ScanJob): number {
  return columns.length * files.reduce((sum, { file }) => sum + file.rows, 0)
}

/** Aggregates of each column. */
function compileScan({ files, columns }: ScanJob): Statement {
  const parameters = new SqlParameters()
  const named = columns.map((column, index) => [`c${index}`, column] as const)
  const aggregates = named.flatMap(([name, column]) => {
    const { type } = column
    const rounded = isRounded(type, name)
    return [
      `count(${name})`,
      duckdb.mayBeInfinite(column) ? countWhere(`NOT isfinite(${name})`) : '0',
      rounded === 'false' ? '0' : countWhere(rounded),
      rounded === 'false'
        ? 'NULL'
        : servedText(duckdb, type, `max(CASE WHEN ${rounded} THEN ${name} END)`),
    ]
  })
  const rows = compileRows([{ files, range: null }], [], named, parameters)
  return { sql: `SELECT ${aggregates.join(', ')} FROM (${rows})`, values: parameters.values }
}

/** Avoids FILTER, with which DuckDB copies every column of a chunk for every aggregate. */
function countWhere(condition: string): string {
  return `count(CASE WHEN ${condition} THEN 1 END)`
}

/** Adds the results of one statement to earlier results, by the column names in the files. */
function addScanned(
  scanned: Map<string, ScannedColumn>,
  { columns }: ScanJob,
  found: readonly unknown[][],
): void {
  for (const [index, { source }] of columns.entries()) {
    const cells = found.slice(index * aggregatesPerColumn, (index + 1) * aggregatesPerColumn)
    const [values, notFinite, rounded, example] = cells.map(([cell]) => cell)
    const before = scanned.get(source)
    scanned.set(source, {
      values: (before?.values ?? 0) + Number(values),
      notFiniteRows: (before?.notFiniteRows ?? 0) + Number(notFinite),
      roundedRows: (before?.roundedRows ?? 0) + Number(rounded),
      roundedExample: before?.roundedExample ?? textOrNull(example),
    })
  }
}
