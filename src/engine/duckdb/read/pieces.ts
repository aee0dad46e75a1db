import type { FilePosition } from '../../../query/question.js'
import type { Choice, ChosenFile, RowRange } from '../choice.js'
import { isJoin } from './condition.js'

/**
 * Rows of a version that one statement reads from files of one layout, in stored order. They
 * precede the rows of every later scan.
 */
export interface Scan {
  readonly files: readonly ChosenFile[]
  /** The rows of it, if the scan is a part of one file. */
  readonly range: RowRange | null
  /** The rows that look-ups found in its one file; left out = all. */
  readonly found?: readonly number[]
}

/** A scan for a page. */
export interface Piece extends Scan {
  /**
   * How its rows are read in stored order. `solo`: one thread reads and stops when the page is
   * full. `together`: threads share the work, but each may find a full page of rows, which are
   * discarded. `sorted`: the plan loses the order, so the statement must specify it.
   */
  readonly plan: 'solo' | 'together' | 'sorted'
}

/** The position of a walk: the last row returned, and how many rows the page still lacks. */
export interface Progress {
  readonly after: FilePosition | null
  readonly missing: () => number
}

/** The rows of DuckDB's default row group, the unit in which threads share work. */
export const soloRowsMax = 122_880
/** Planning with a file's statistics costs DuckDB as much as reading this many rows. */
const fileRowsMin = soloRowsMax / 16
/** The next scan is at most this many times as large as the rows already read. */
const growthMax = 8

/**
 * Yields the pieces of a page in stored order, from the row after `after`, as they are needed.
 * DuckDB keeps the stored order for a pure scan–filter–LIMIT, the fastest plan. Most pages fill in
 * their first piece; the pieces grow for a page that does not. A look-up by key reads all of its
 * few files at once. A long list becomes a join, which loses the order: its rows are sorted window
 * by window, so that a page that fills early does not sort all rows.
 */
export function* planPage(
  { files, predicates, isByKey }: Choice,
  progress: Progress,
): Generator<Piece> {
  const { after } = progress
  const chosen = after === null ? files : files.filter(({ index }) => index >= after.file)
  const from = after !== null && chosen[0]?.index === after.file ? after.row + 1 : 0
  if (predicates.some(isJoin)) {
    yield* windows(chosen, from, progress, isByKey ? Infinity : growthMax)
    return
  }
  let size = isByKey ? Infinity : soloRowsMax
  for (const scan of scansOf(chosen, from, () => size)) {
    const cost = costOf(scan)
    // A list of row numbers becomes a join, too.
    const plan = scan.found ? 'sorted' : cost > soloRowsMax ? 'together' : 'solo'
    yield { ...scan, plan }
    size = Math.max(size, cost * growthMax)
  }
}

/** The scans of a count, which needs no order. */
export function planCount({ files }: Pick<Choice, 'files'>): readonly Scan[] {
  return [...scansOf(files, 0, () => Infinity)]
}

const sampleSlicesMax = 8

/** The scans of a sample: all rows if they are few, otherwise slices spread evenly over them. */
export function planSample({ files: chosen }: Choice, rowsMax: number): readonly Scan[] {
  const rows = chosen.reduce((sum, { file }) => sum + file.rows, 0)
  if (rows <= rowsMax) return [...scansOf(chosen, 0, () => Infinity)]
  const slices = Math.min(sampleSlicesMax, rowsMax)
  const size = Math.floor(rowsMax / slices)
  return Array.from({ length: slices }, (_, slice) =>
    slicesFrom(chosen, Math.floor((slice * rows) / slices), size),
  ).flat()
}

/** `size` rows from row `start`, counted over all files; one scan for each file they span. */
function slicesFrom(chosen: readonly ChosenFile[], start: number, size: number): readonly Scan[] {
  let first = 0
  return chosen.flatMap((entry) => {
    const from = Math.max(start - first, 0)
    const to = Math.min(start + size - first, entry.file.rows)
    first += entry.file.rows
    return from < to ? [{ files: [entry], range: { from, to } }] : []
  })
}

const windowRowsMin = 8192
const windowRowsMax = 4_194_304
/** A margin over the expected rows: the next rows may match less often. */
const spare = 1.5

/**
 * Sizes each window by the rows found so far, to fill the rest of the page. A window is at most
 * `growth` times all rows before it, which bounds wasted reads. If the first window holds almost no
 * matching keys, the next may read all the rest.
 */
function* windows(
  chosen: readonly ChosenFile[],
  from: number,
  { missing }: Progress,
  growth: number,
): Generator<Piece> {
  const wanted = missing()
  let [size, read] = [windowRowsMin, 0]
  for (const scan of scansOf(chosen, from, () => size)) {
    yield { ...scan, plan: 'sorted' }
    read += costOf(scan)
    const found = wanted - missing()
    const expected = found === 0 ? Infinity : (spare * missing() * read) / found
    const most = Math.min(Math.max(read, windowRowsMin) * growth, windowRowsMax)
    size = Math.min(Math.max(Math.ceil(expected), windowRowsMin), most)
  }
}

/** The cost of a scan, in rows. */
export function costOf({ files, range }: Scan): number {
  return range ? sizeOf(range) : costOfFiles(files)
}

/** The cost of reading all rows of the files, in rows. */
export function costOfFiles(files: readonly ChosenFile[]): number {
  return files.reduce((sum, chosen) => sum + fileCost(chosen), 0)
}

function fileCost({ file, ranges, found }: ChosenFile): number {
  if (found) return found.length
  const rows = ranges ? ranges.reduce((sum, range) => sum + sizeOf(range), 0) : file.rows
  return Math.max(rows, fileRowsMin)
}

function sizeOf({ from, to }: RowRange): number {
  return to - from
}

/** Groups whole files that fit the size, and splits larger ones, from a row of the first on. */
function* scansOf(
  chosen: readonly ChosenFile[],
  start: number,
  size: () => number,
): Generator<Scan> {
  let from = start
  let index = 0
  for (let entry = chosen[index]; entry; entry = chosen[index]) {
    const batch = from > 0 || isPart(entry) ? [] : wholeFiles(chosen, index, size())
    if (batch.length > 0) {
      yield { files: batch, range: null }
      index += batch.length
      continue
    }
    yield* partsOf(entry, from, size)
    from = 0
    index += 1
  }
}

/** The scans of one file, from a row on. */
function* partsOf(entry: ChosenFile, start: number, size: () => number): Generator<Scan> {
  const { file, found, ranges = [{ from: 0, to: file.rows }] } = entry
  const files = [entry]
  if (found) {
    const rest = found.filter((row) => row >= start)
    if (rest.length > 0) yield { files, range: null, found: rest }
    return
  }
  for (const range of ranges) {
    for (let from = Math.max(start, range.from); from < range.to;) {
      const to = Math.min(from + size(), range.to)
      yield { files, range: { from, to } }
      from = to
    }
  }
}

function isPart({ ranges, found }: ChosenFile): boolean {
  return ranges !== undefined || found !== undefined
}

/**
 * The longest run of whole files from `index` that fits the size; empty if the first does not fit.
 */
function wholeFiles(
  chosen: readonly ChosenFile[],
  index: number,
  size: number,
): readonly ChosenFile[] {
  const batch: ChosenFile[] = []
  let cost = 0
  for (const entry of chosen.slice(index)) {
    cost += fileCost(entry)
    const isOther = batch[0] && batch[0].file.layout !== entry.file.layout
    if (cost > size || isOther || isPart(entry)) break
    batch.push(entry)
  }
  return batch
}
