import type { Position } from '../../../query/question.js'
import type { DataFile } from '../../../versions/version.js'
import type { Choice, ChosenFile } from '../choice.js'
import { isJoin } from './condition.js'

/**
 * Rows of a version that one statement reads: of files laid out alike, in stored order. They come
 * before the rows of every later scan.
 */
export interface Scan {
  readonly files: readonly ChosenFile[]
  /** Row numbers from `from` up to but not including `to`, where it is part of one file. */
  readonly range: { readonly from: number; readonly to: number } | null
}

/** A scan of which a page is read. */
export interface Piece extends Scan {
  /**
   * How its rows are read in stored order. `solo`: by a DuckDB of one thread, which stops when the
   * page is full; `together`: by one whose threads share the work, each of which may find as many
   * rows as the page lacks, in vain; `sorted`: by a plan that does not keep the order, so that it
   * must be stated.
   */
  readonly plan: 'solo' | 'together' | 'sorted'
}

/** How far a walk is: the last row already seen, and how many rows the page still lacks. */
export interface Progress {
  readonly after: Position | null
  readonly missing: () => number
}

/** What one thread reads: the rows of DuckDB's usual row group, by which threads share the work. */
export const soloRowsMax = 122_880
/** DuckDB plans with the statistics of every file it is given, which costs as much as such rows. */
const fileRowsMin = soloRowsMax / 16
/** The next scan is at most so many times as large as what was read in vain. */
const growthMax = 8

/**
 * The pieces of a page in stored order, from the row after `after`; made one by one, as they are
 * needed. DuckDB keeps the stored order for a pure scan–filter–LIMIT, the quickest way of all. Most
 * pages fill in their first piece; what fills late is looked for in ever larger ones. A look-up by
 * key is known to need all of the few files chosen. A long list becomes a join, which does not keep
 * the order: then the rows are sorted, window by window, so that a page which fills early does not
 * sort the whole.
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
    yield { ...scan, plan: cost > soloRowsMax ? 'together' : 'solo' }
    size = Math.max(size, cost * growthMax)
  }
}

/** The scans of a count, for which order means nothing. */
export function planCount({ files }: Choice): readonly Scan[] {
  return [...scansOf(files, 0, () => Infinity)]
}

const sampleSlicesMax = 8

/** The scans of a sample: everything if that is little, else slices spread evenly over it. */
export function planSample({ files: chosen }: Choice, rowsMax: number): readonly Scan[] {
  const rows = chosen.reduce((sum, { file }) => sum + file.rows, 0)
  if (rows <= rowsMax) return [...scansOf(chosen, 0, () => Infinity)]
  const slices = Math.min(sampleSlicesMax, rowsMax)
  const size = Math.floor(rowsMax / slices)
  return Array.from({ length: slices }, (_, slice) =>
    slicesFrom(chosen, Math.floor((slice * rows) / slices), size),
  ).flat()
}

/** `size` rows from row `start` on, counted over all files; in parts where files end in between. */
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
/** More than the rows found so far promise: the next ones may be thinner sown. */
const spare = 1.5

/**
 * Windows as large as the rows found so far let expect for the rest of the page. Each is at most
 * `growth` times all before it, so what it may waste is in proportion; after a first one that holds
 * next to none of the keys looked for, all the rest may follow.
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

/** In rows. */
export function costOf({ files, range }: Scan): number {
  return range ? range.to - range.from : costOfFiles(files)
}

/** Of all their rows. */
export function costOfFiles(files: readonly ChosenFile[]): number {
  return files.reduce((sum, { file }) => sum + fileCost(file), 0)
}

function fileCost({ rows }: DataFile): number {
  return Math.max(rows, fileRowsMin)
}

/** Whole files together while they fit the size, larger ones in parts. */
function* scansOf(
  chosen: readonly ChosenFile[],
  start: number,
  size: () => number,
): Generator<Scan> {
  let from = start
  let index = 0
  for (let entry = chosen[index]; entry; entry = chosen[index]) {
    const batch = from > 0 ? [] : wholeFiles(chosen, index, size())
    if (batch.length > 0) {
      yield { files: batch, range: null }
      index += batch.length
      continue
    }
    const to = Math.min(from + size(), entry.file.rows)
    if (from < to) yield { files: [entry], range: { from, to } }
    from = to < entry.file.rows ? to : 0
    if (from === 0) index += 1
  }
}

/**
 * The longest run of whole files from `index` on that fits the size; none when not even one does.
 */
function wholeFiles(
  chosen: readonly ChosenFile[],
  index: number,
  size: number,
): readonly ChosenFile[] {
  const batch: ChosenFile[] = []
  let cost = 0
  for (const entry of chosen.slice(index)) {
    cost += fileCost(entry.file)
    if (cost > size || (batch[0] && batch[0].file.layout !== entry.file.layout)) break
    batch.push(entry)
  }
  return batch
}
