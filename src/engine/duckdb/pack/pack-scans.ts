import type { PackOrder } from '../../../versions/packer.js'
import type { PackScan } from './pack-sql.js'

/** Rows of one file that are wanted: from the first to the one after the last. */
export interface FileRange {
  readonly file: number
  readonly from: number
  readonly to: number
}

/** Four row groups as most writers make them: a scan of so many ends where a group ends. */
const checkRowsMax = 4 * 122_880
/** Smaller files are read whole: there is little to leave out. */
const ownScanRowsMin = 2 * 122_880
/** Each scan of its own lengthens the statement by every column. */
const ownScansMax = 64

/** Everything, in as few scans as layouts allow. */
export function wholeScans(order: PackOrder): readonly PackScan[] {
  const strands = alike(order, [...order.files.keys()])
  return strands.map((files) => ({ files, range: null }))
}

/**
 * The scans that find rows of these stretches, and others with them. A large file of which little
 * is wanted has a scan of its own that leaves the rest alone: in files sorted like the target,
 * that is nearly all.
 */
export function batchScans(order: PackOrder, stretches: readonly FileRange[]): readonly PackScan[] {
  const own = stretches
    .filter((stretch) => {
      const rows = rowsOf(order, stretch.file)
      return rows >= ownScanRowsMin && (stretch.to - stretch.from) * 2 < rows
    })
    .sort((a, b) => rowsOf(order, b.file) - rowsOf(order, a.file))
    .slice(0, ownScansMax)
  const others = stretches.filter((stretch) => !own.includes(stretch)).map(({ file }) => file)
  const strands = [
    ...own.map(({ file, from, to }) => ({ files: [file], range: { from, to } })),
    ...alike(order, others).map((files) => ({ files, range: null })),
  ]
  return strands.length > 0 ? strands : [{ files: [0], range: { from: 0, to: 0 } }]
}

/** Everything in bites with their number of rows: many small files, or a part of a large one. */
export function* checkScans(
  order: PackOrder,
): Generator<{ readonly strand: PackScan; readonly rows: number }> {
  for (const files of alike(order, [...order.files.keys()])) {
    let bite: number[] = []
    let rows = 0
    for (const file of files) {
      const more = rowsOf(order, file)
      if (more > checkRowsMax) {
        yield* slices(file, more)
        continue
      }
      if (rows + more > checkRowsMax) {
        yield { strand: { files: bite, range: null }, rows }
        ;[bite, rows] = [[], 0]
      }
      bite.push(file)
      rows += more
    }
    if (bite.length > 0) yield { strand: { files: bite, range: null }, rows }
  }
}

function* slices(
  file: number,
  rows: number,
): Generator<{ readonly strand: PackScan; readonly rows: number }> {
  for (let from = 0; from < rows; from += checkRowsMax) {
    const to = Math.min(from + checkRowsMax, rows)
    // The last one has no end, so that rows beyond the number said are found too.
    const range = { from, to: to === rows ? Number.MAX_SAFE_INTEGER : to }
    yield { strand: { files: [file], range }, rows: to - from }
  }
}

/** One scan reads files with the same columns; what it is given is kept in order. */
function alike(order: PackOrder, files: readonly number[]): readonly (readonly number[])[] {
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
