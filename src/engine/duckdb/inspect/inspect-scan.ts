import type { Column } from '../../../columns/column.js'
import type { Damage } from '../../../versions/inspector.js'
import type { Version } from '../../../versions/version.js'
import type { RunStatement } from '../run-statement.js'
import { findDamages } from './find-damage.js'
import { addScanned, compileScan } from './scan-job.js'
import type { ScanJob, ScannedColumn } from './scan-job.js'

/** Values that one statement reads: about a second's work. */
const jobCellsMax = 20_000_000
const jobColumnsMax = 48
const jobFilesMax = 100

/**
 * Reads every value of these columns in every file, one part at a time. If a part can't be read, it
 * finds the damaged files and continues with the rest.
 */
export async function scanColumns(
  version: Version,
  columns: readonly Column[],
  run: RunStatement,
  report: (done: number) => void,
): Promise<{
  readonly scanned: ReadonlyMap<string, ScannedColumn>
  readonly damages: readonly Damage[]
}> {
  const scanned = new Map<string, ScannedColumn>()
  const damages: Damage[] = []
  const total = version.rows * columns.length
  let done = 0
  for (const job of planJobs(version, columns)) {
    const isKnown = job.files.some(({ index }) => damages.some(({ file }) => file === index))
    if (!isKnown) damages.push(...(await scanJob(job, scanned, run)))
    done += cellsOf(job)
    report(done / total)
  }
  return { scanned: damages.length === 0 ? scanned : new Map(), damages }
}

async function scanJob(
  job: ScanJob,
  scanned: Map<string, ScannedColumn>,
  run: RunStatement,
): Promise<readonly Damage[]> {
  try {
    addScanned(scanned, job, await run(compileScan(job, null)))
    return []
  } catch (cause) {
    return findDamages(job, run, cause)
  }
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
