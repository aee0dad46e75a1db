import type { Predicate } from '../../catalog/predicate.js'
import { filesThatMayHold } from '../../catalog/version.js'
import type { DataFile, Version } from '../../catalog/version.js'
import type { Position } from '../../query/question.js'
import { shortListMax } from './condition.js'

/**
 * A stretch of a version that one statement reads: files laid out alike, in stored order. Rows of
 * the stretch come before rows of every later one.
 */
export interface Piece {
  readonly files: readonly { readonly index: number; readonly file: DataFile }[]
  /** Row numbers from `from` up to but not including `to`, where the piece is part of one file. */
  readonly range: { readonly from: number; readonly to: number } | null
  /** The statement must state the order, since its plan does not keep it. */
  readonly sorted: boolean
}

/**
 * How a question's rows are read in stored order, which DuckDB keeps only for a pure
 * scan–filter–LIMIT:
 * - `scan`: no long list; the order holds as it is, and this is the quickest.
 * - `sorted`: a long `in` becomes a join; its result is small, so sorting it is cheap.
 * - `windows`: a long `not_in` becomes a join over nearly everything, so it is sorted a window of
 *   row numbers at a time, growing until the page is full.
 */
type Strategy = 'scan' | 'sorted' | 'windows'

const windowRowsMin = 8192
const windowRowsMax = 1_048_576

/** The pieces in stored order, from the row after `after`; made one by one, as they are needed. */
export function* planPieces(
  version: Version,
  predicates: readonly Predicate[],
  after: Position | null,
): Generator<Piece> {
  const chosen = filesThatMayHold(version, predicates)
    .filter((index) => after === null || index >= after.file)
    .flatMap((index) => {
      const file = version.files[index]
      return file ? [{ index, file }] : []
    })
  const strategy = strategyOf(predicates)
  const first = chosen[0]
  const from = after !== null && first?.index === after.file ? after.row + 1 : 0
  if (strategy === 'windows') return yield* windows(chosen, from)
  const sorted = strategy === 'sorted'
  if (from > 0 && first) {
    chosen.shift()
    const range = { from, to: first.file.rows }
    if (range.from < range.to) yield { files: [first], range, sorted }
  }
  for (const files of runs(chosen)) yield { files, range: null, sorted }
}

function strategyOf(predicates: readonly Predicate[]): Strategy {
  const isLong = (kind: Predicate['kind']) =>
    predicates.some(
      (predicate) =>
        predicate.kind === kind && 'values' in predicate && predicate.values.length > shortListMax,
    )
  return isLong('not_in') ? 'windows' : isLong('in') ? 'sorted' : 'scan'
}

/** Neighbours with the same layout, which one statement can read. */
function runs(chosen: readonly Piece['files'][number][]): readonly Piece['files'][] {
  const found: Piece['files'][number][][] = []
  for (const entry of chosen) {
    const run = found.at(-1)
    if (run?.[0]?.file.layout === entry.file.layout) run.push(entry)
    else found.push([entry])
  }
  return found
}

/** Whole small files together, large files in slices, so that no sort is larger than its window. */
function* windows(chosen: readonly Piece['files'][number][], start: number): Generator<Piece> {
  let size = windowRowsMin
  let from = start
  let index = 0
  while (index < chosen.length) {
    const batch = wholeFiles(chosen, index, from, size)
    const [first] = batch
    if (first) {
      yield { files: batch, range: null, sorted: true }
      index += batch.length
    } else {
      const entry = chosen[index]
      if (!entry) return
      const to = Math.min(from + size, entry.file.rows)
      if (from < to) yield { files: [entry], range: { from, to }, sorted: true }
      from = to < entry.file.rows ? to : 0
      if (from === 0) index += 1
    }
    size = Math.min(size * 2, windowRowsMax)
  }
}

/** The longest run of whole files, from `index` on, that fits a window; none within a file. */
function wholeFiles(
  chosen: readonly Piece['files'][number][],
  index: number,
  from: number,
  size: number,
): Piece['files'] {
  const batch: Piece['files'][number][] = []
  let rows = 0
  for (const entry of from > 0 ? [] : chosen.slice(index)) {
    rows += entry.file.rows
    if (rows > size || (batch[0] && batch[0].file.layout !== entry.file.layout)) break
    batch.push(entry)
  }
  return batch
}
