import type { PackOrder } from '../../../versions/packing/packer.js'
import type { PackScan } from './pack-sql.js'

/** Rows of one file, from `from` up to but not including `to`. */
export interface FileRange {
  readonly file: number
  readonly from: number
  readonly to: number
}

/** A scan with its number of rows. */
interface CheckScan {
  readonly scan: PackScan
  readonly rows: number
}

/** Four row groups of the default size, so that a scan usually ends where a row group ends. */
const checkRowsMax = 4 * 122_880
/** Smaller files are read whole: a separate scan would skip few rows. */
const ownScanRowsMin = 2 * 122_880
/** Each separate scan lengthens the statement by every column. */
const ownScansMax = 64

/** All rows, in as few scans as the layouts of the files allow. */
export function wholeScans(order: PackOrder): readonly PackScan[] {
  return sameColumns(order, [...order.files.keys()]).map((files) => ({ files, range: null }))
}

/**
 * Scans that find the rows of these ranges, and possibly others. A large file of which few rows are
 * needed has its own scan for only those: nearly every file, if files are sorted like the target.
 */
export function batchScans(order: PackOrder, ranges: readonly FileRange[]): readonly PackScan[] {
  const own = ranges
    .filter(({ file, from, to }) => {
      const rows = rowsOf(order, file)
      return rows >= ownScanRowsMin && (to - from) * 2 < rows
    })
    .sort((a, b) => rowsOf(order, b.file) - rowsOf(order, a.file))
    .slice(0, ownScansMax)
  const others = ranges.filter((range) => !own.includes(range)).map(({ file }) => file)
  const scans = [
    ...own.map(({ file, from, to }) => ({ files: [file], range: { from, to } })),
    ...sameColumns(order, others).map((files) => ({ files, range: null })),
  ]
  return scans.length > 0 ? scans : [{ files: [0], range: { from: 0, to: 0 } }]
}

/** All rows in parts of limited size: many small files, or a part of a large one. */
export function* checkScans(order: PackOrder): Generator<CheckScan> {
  for (const files of sameColumns(order, [...order.files.keys()])) {
    let part: number[] = []
    let rows = 0
    for (const file of files) {
      const more = rowsOf(order, file)
      if (more > checkRowsMax) {
        yield* slices(file, more)
        continue
      }
      if (rows + more > checkRowsMax) {
        yield { scan: { files: part, range: null }, rows }
        ;[part, rows] = [[], 0]
      }
      part.push(file)
      rows += more
    }
    if (part.length > 0) yield { scan: { files: part, range: null }, rows }
  }
}

function* slices(file: number, rows: number): Generator<CheckScan> {
  for (let from = 0; from < rows; from += checkRowsMax) {
    const to = Math.min(from + checkRowsMax, rows)
    // The last slice is open-ended, to find rows beyond the expected number.
    const range = { from, to: to === rows ? Number.MAX_SAFE_INTEGER : to }
    yield { scan: { files: [file], range }, rows: to - from }
  }
}

/** Groups files with the same columns, which one scan can read; keeps their order. */
function sameColumns(order: PackOrder, files: readonly number[]): readonly (readonly number[])[] {
  const groups = new Map<string, number[]>()
  for (const index of files) {
    const file = order.files[index]
    const layout = JSON.stringify([file?.columns, Object.keys(file?.partition ?? {})])
    const group = groups.get(layout)
    if (group) group.push(index)
    else groups.set(layout, [index])
  }
  return [...groups.values()]
}

function rowsOf(order: PackOrder, file: number): number {
  return order.files[file]?.rows ?? 0
}
