import { stat, statfs } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { typeText } from '../../../columns/data-type.js'
import { machineMemory } from '../../../machine.js'
import { PackError } from '../../../versions/packing/packer.js'
import type { PackOrder } from '../../../versions/packing/packer.js'
import { pathsSql } from '../paths.js'
import type { RunStatement } from '../run-statement.js'

/** Limits of one packing. */
export interface PackLimits {
  readonly memoryLimitBytes: number
  readonly threads: number
  /** For sorts that don't fit in memory. */
  readonly tempSizeMaxBytes: number
}

/** More memory hardly speeds packing up. */
const memoryBytesMax = 2 * 1024 ** 3
const memoryShareMax = 0.4
/** With less memory per thread, threads slow each other down. */
const threadBytesMin = 256 * 1024 ** 2
/** Packed files are usually smaller than their sources, unless the sources use a stronger codec. */
const growth = 1.25
/** Bytes per row while the plan is sorted: a key and a position. */
const planRowBytes = 64
const reserveBytes = 256 * 1024 ** 2

/**
 * The limits of packing on this machine.
 * @throws PackError if the disk has too little space for so many more bytes of files
 */
export async function requireSpace(
  order: PackOrder,
  folder: string,
  filesBytes: number,
): Promise<PackLimits> {
  const memoryLimitBytes = order.memoryLimitBytes ?? ownMemory()
  const { bavail, bsize } = await statfs(folder)
  const [freeBytes, rows] = [bavail * bsize, order.files.reduce((sum, { rows }) => sum + rows, 0)]
  const spillBytes = rows * planRowBytes + Math.min(memoryLimitBytes, filesBytes * 4)
  const wantedBytes = filesBytes + spillBytes + reserveBytes
  if (freeBytes < wantedBytes) {
    throw new PackError(
      `Packing may need ${gigabytes(wantedBytes)} GB of disk beside the target, and ` +
        `${gigabytes(freeBytes)} GB are free. Free some space, or pack to another disk.`,
    )
  }
  return {
    memoryLimitBytes,
    threads: Math.max(1, Math.min(availableParallelism(), memoryLimitBytes / threadBytesMin)) | 0,
    tempSizeMaxBytes: freeBytes - filesBytes - reserveBytes / 2,
  }
}

/** The most bytes that the packed files of an order have. */
export async function packedBytesMax({ files }: PackOrder): Promise<number> {
  let sourceBytes = 0
  for (const { path } of files) sourceBytes += (await stat(path)).size
  return sourceBytes * growth
}

function ownMemory(): number {
  return Math.min(memoryBytesMax, Math.floor(machineMemory() * memoryShareMax))
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1)
}

/** The share of memory for the rows of one batch; sorting them takes the same amount again. */
const batchShare = 0.3
const widthFilesMax = 16
/** What DuckDB keeps of a text in the row; it stores a text of more than 12 bytes elsewhere. */
const textBytes = 16

/** The number of files to sort and write at once; at least one. */
export async function filesPerBatch(
  run: RunStatement,
  order: PackOrder,
  { memoryLimitBytes }: PackLimits,
  fileRows: number,
): Promise<number> {
  const files = [...order.files].sort((a, b) => b.rows - a.rows).slice(0, widthFilesMax)
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const [sizes = []] = await run({
    sql: `SELECT CAST(coalesce(sum(total_uncompressed_size), 0) AS DOUBLE)
     FROM parquet_metadata(${pathsSql(files.map(({ path }) => path))})`,
  })
  const storedBytes = Number(sizes[0] ?? 0) / Math.max(rows, 1)
  const cellBytes = order.columns.reduce((sum, { type }) => sum + widthOf(typeText(type)), 0)
  const fit = (memoryLimitBytes * batchShare) / (storedBytes + cellBytes) / fileRows
  return Math.max(1, Math.floor(fit))
}

function widthOf(type: string): number {
  if (/^(BOOLEAN|U?TINYINT)$/.test(type)) return 1
  if (/^(U?SMALLINT)$/.test(type)) return 2
  if (/^(U?INTEGER|DATE|FLOAT)$/.test(type)) return 4
  if (/^(U?BIGINT|DOUBLE|TIME|TIMESTAMP.*|DECIMAL\(1?\d,.*)$/.test(type)) return 8
  return textBytes
}
