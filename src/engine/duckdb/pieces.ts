import type { Predicate } from '../../catalog/predicate.js'
import { filesThatMayHold } from '../../catalog/choose-files.js'
import type { DataFile, Version } from '../../catalog/version.js'
import type { Position } from '../../query/question.js'
import { isJoin } from './condition.js'

/**
 * A stretch of a version that one statement reads: files laid out alike, in stored order. Rows of
 * the stretch come before rows of every later one.
 */
export interface Piece {
  readonly files: readonly PieceFile[]
  /** Row numbers from `from` up to but not including `to`, where the piece is part of one file. */
  readonly range: { readonly from: number; readonly to: number } | null
  /** The statement must state the order, since its plan does not keep it. */
  readonly sorted: boolean
}

interface PieceFile {
  /** Into the version's files. */
  readonly index: number
  readonly file: DataFile
}

/** Where a walk stands: the last row already seen, and how many rows are wanted still. */
export interface Progress {
  readonly after: Position | null
  readonly missing: () => number
}

/**
 * The pieces of a page in stored order, from the row after `after`; made one by one, as they are
 * needed. DuckDB keeps the stored order for a pure scan–filter–LIMIT, the quickest way of all. A
 * long list becomes a join, which does not keep it: then the rows are sorted, window by window,
 * so that a page which fills early never sorts the whole.
 */
export function planPage(
  version: Version,
  predicates: readonly Predicate[],
  progress: Progress,
): Generator<Piece> {
  const { after } = progress
  const chosen = chooseFiles(version, predicates).filter(
    ({ index }) => after === null || index >= after.file,
  )
  const from = after !== null && chosen[0]?.index === after.file ? after.row + 1 : 0
  if (!predicates.some(isJoin)) return scans(chosen, from, firstFilesMax)
  // Keys mostly find few rows each: a first window that holds next to none is followed by all.
  const isOfKeys = predicates.some(
    (predicate) =>
      predicate.kind === 'in' &&
      isJoin(predicate) &&
      predicate.column.name === version.key[0]?.name,
  )
  return windows(chosen, from, progress, isOfKeys ? Infinity : growthMax)
}

/** The pieces of a count, for which order means nothing. */
export function planCount(version: Version, predicates: readonly Predicate[]): readonly Piece[] {
  return [...scans(chooseFiles(version, predicates), 0)]
}

const sampleSlicesMax = 8

/** The pieces of a sample: everything where that is little, else slices evenly spread over it. */
export function planSample(
  version: Version,
  predicates: readonly Predicate[],
  rowsMax: number,
): readonly Piece[] {
  const chosen = chooseFiles(version, predicates)
  const rows = chosen.reduce((sum, { file }) => sum + file.rows, 0)
  if (rows <= rowsMax) return [...scans(chosen, 0)]
  const slices = Math.min(sampleSlicesMax, rowsMax)
  const size = Math.floor(rowsMax / slices)
  return Array.from({ length: slices }, (_, slice) =>
    stretch(chosen, Math.floor((slice * rows) / slices), size),
  ).flat()
}

/** `size` rows from row `start` on, counted over all files; in parts where files end in between. */
function stretch(chosen: readonly PieceFile[], start: number, size: number): readonly Piece[] {
  let first = 0
  return chosen.flatMap((entry) => {
    const from = Math.max(start - first, 0)
    const to = Math.min(start + size - first, entry.file.rows)
    first += entry.file.rows
    return from < to ? [{ files: [entry], range: { from, to }, sorted: false }] : []
  })
}

function chooseFiles(version: Version, predicates: readonly Predicate[]): readonly PieceFile[] {
  return filesThatMayHold(version, predicates).flatMap((index) => {
    const file = version.files[index]
    return file ? [{ index, file }] : []
  })
}

/** Files of a page's first statement: DuckDB plans with the statistics of every file it is given. */
const firstFilesMax = 16
const filesGrowth = 8

/**
 * The rest of the first file, then runs of neighbours that one statement can read: at first of at
 * most so many files, then of ever more.
 */
function* scans(chosen: readonly PieceFile[], from: number, firstMax = Infinity): Generator<Piece> {
  let filesMax = firstMax
  const [first] = chosen
  const isPart = from > 0 && first !== undefined
  if (isPart && from < first.file.rows) {
    yield { files: [first], range: { from, to: first.file.rows }, sorted: false }
  }
  let run: PieceFile[] = []
  for (const entry of isPart ? chosen.slice(1) : chosen) {
    if (run.length === filesMax || (run[0] && run[0].file.layout !== entry.file.layout)) {
      yield { files: run, range: null, sorted: false }
      if (run.length === filesMax) filesMax *= filesGrowth
      run = []
    }
    run.push(entry)
  }
  if (run.length > 0) yield { files: run, range: null, sorted: false }
}

const windowRowsMin = 8192
const windowRowsMax = 4_194_304
/** A window is at most this many times all before it, so what it may waste is in proportion. */
const growthMax = 8
/** More than the rows found so far promise: the next ones may be thinner sown. */
const spare = 1.5

/** Windows as large as the rows found so far let expect for the rest of the page. */
function* windows(
  chosen: readonly PieceFile[],
  from: number,
  { missing }: Progress,
  growth: number,
): Generator<Piece> {
  const wanted = missing()
  let [size, read] = [windowRowsMin, 0]
  for (const piece of slices(chosen, from, () => size)) {
    yield piece
    read += rowsOf(piece)
    const found = wanted - missing()
    const expected = found === 0 ? Infinity : (spare * missing() * read) / found
    const most = Math.min(Math.max(read, windowRowsMin) * growth, windowRowsMax)
    size = Math.min(Math.max(Math.ceil(expected), windowRowsMin), most)
  }
}

function rowsOf({ files, range }: Piece): number {
  return range ? range.to - range.from : files.reduce((sum, { file }) => sum + file.rows, 0)
}

/** Whole files together while they fit the size, larger ones in parts. */
function* slices(
  chosen: readonly PieceFile[],
  start: number,
  size: () => number,
): Generator<Piece> {
  let from = start
  let index = 0
  for (let entry = chosen[index]; entry; entry = chosen[index]) {
    const batch = from > 0 ? [] : wholeFiles(chosen, index, size())
    if (batch.length > 0) {
      yield { files: batch, range: null, sorted: true }
      index += batch.length
      continue
    }
    const to = Math.min(from + size(), entry.file.rows)
    if (from < to) yield { files: [entry], range: { from, to }, sorted: true }
    from = to < entry.file.rows ? to : 0
    if (from === 0) index += 1
  }
}

/** The longest run of whole files from `index` on that fits the size; none when not even one does. */
function wholeFiles(
  chosen: readonly PieceFile[],
  index: number,
  size: number,
): readonly PieceFile[] {
  const batch: PieceFile[] = []
  let rows = 0
  for (const entry of chosen.slice(index)) {
    rows += entry.file.rows
    if (rows > size || (batch[0] && batch[0].file.layout !== entry.file.layout)) break
    batch.push(entry)
  }
  return batch
}
