import type { Damage } from '../../../versions/inspector.js'
import { readFailure } from '../duckdb-failure.js'
import { unreadableReason } from '../open/unreadable.js'
import { bindPaths } from '../paths.js'
import type { Piece } from '../read/pieces.js'
import type { RunStatement } from '../run-statement.js'
import { compileScan } from './scan-job.js'
import type { ScanJob } from './scan-job.js'

/**
 * Finds the cause of a failed scan: each damaged file, its first unreadable column, and the first
 * unreadable row group of that column.
 * @throws the error of the scan, if each part can be read separately
 */
export async function findDamages(
  { files, columns }: ScanJob,
  run: RunStatement,
  cause: unknown,
): Promise<readonly Damage[]> {
  if (!isOfFile(cause)) throw cause
  const damages: Damage[] = []
  for (const each of files) {
    const job = { files: [each], columns }
    const failure = files.length === 1 ? cause : await failureOf(job, null, run)
    if (failure !== undefined) damages.push(await findDamage(job, run, failure))
  }
  if (damages.length === 0) throw cause
  return damages
}

async function findDamage(job: ScanJob, run: RunStatement, failure: unknown): Promise<Damage> {
  const [entry] = job.files
  if (!entry) throw failure
  const { path } = entry.file
  const place = { file: entry.index, column: null, rowGroup: null }
  for (const column of job.columns) {
    const single = { files: job.files, columns: [column] }
    const found = await failureOf(single, null, run)
    if (found === undefined) continue
    const rowGroup = await findRowGroup(single, path, run)
    return { ...place, reason: unreadableReason(found, path), column: column.source, rowGroup }
  }
  return { ...place, reason: unreadableReason(failure, path) }
}

/** Uses a binary search, because a large file has thousands of row groups. */
async function findRowGroup(job: ScanJob, path: string, run: RunStatement): Promise<number | null> {
  const [rows = []] = await run({
    sql: `SELECT any_value(row_group_num_rows) FROM parquet_metadata($1)
      GROUP BY row_group_id ORDER BY row_group_id`,
    values: [bindPaths([path])],
  })
  const starts = [0]
  for (const count of rows) starts.push((starts.at(-1) ?? 0) + Number(count))
  let [low, high] = [0, rows.length]
  const range = (from: number, to: number) => ({ from: starts[from] ?? 0, to: starts[to] ?? 0 })
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    const isBelow = (await failureOf(job, range(low, middle), run)) !== undefined
    if (isBelow) high = middle
    else low = middle
  }
  return (await failureOf(job, range(low, high), run)) === undefined ? null : low
}

/** The reason why a part can't be read; undefined if it can. */
async function failureOf(job: ScanJob, range: Piece['range'], run: RunStatement): Promise<unknown> {
  try {
    await run(compileScan(job, range))
    return undefined
  } catch (cause) {
    if (!isOfFile(cause)) throw cause
    return cause
  }
}

/** False for an error that is not the file's fault, such as too little memory. */
function isOfFile(cause: unknown): boolean {
  const { type } = readFailure(cause)
  return type !== null && type !== 'Out of Memory'
}
