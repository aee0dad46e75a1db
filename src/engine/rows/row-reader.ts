import type { Row } from '../engine.js'
import type { FilePosition } from '../../query/question.js'
import type { HistoryFilter } from './history-of.js'
import { DamagedCopyError, requireSum, rowEnd } from './layout.js'
import { endOfCell, lookUpText, valueOfCell } from './look-up-value.js'
import type { Pace } from './pace.js'
import type { PageRows } from './page-rows.js'
import type { CopyOfFile, RowConditions } from './plan.js'
import type { RowCopy } from './row-copy.js'
import { inAll, rowsFrom, rowsWith } from './row-set.js'
import type { Found, Wanted } from './row-set.js'
import type { Cells, Splicer } from './splice.js'

/** Blocks that lie side by side are read at once, up to so many bytes. */
const readBytesMax = 65_536
/** Where rows are left out again, so many are looked at together. */
const sparseBatch = 4096

/** Reads the rows of one file that meet the conditions, in order. */
export class RowReader {
  readonly file: CopyOfFile
  readonly #copy: RowCopy
  readonly #wanted: readonly Wanted[]
  readonly #history: HistoryFilter | null
  readonly #pace: Pace
  #cells: Cells | null = null

  /** Null if the copy can't decide every condition. */
  static of(
    file: CopyOfFile,
    copy: RowCopy,
    { wanted, history }: RowConditions,
    pace: Pace,
  ): RowReader | null {
    if (history.length > 0 && !copy.history) return null
    const filter = history.length > 0 ? (copy.history?.filter(history) ?? null) : null
    return new RowReader(file, copy, wanted, filter, pace)
  }

  private constructor(
    file: CopyOfFile,
    copy: RowCopy,
    wanted: readonly Wanted[],
    history: HistoryFilter | null,
    pace: Pace,
  ) {
    this.file = file
    this.#copy = copy
    this.#wanted = wanted
    this.#history = history
    this.#pace = pace
  }

  /**
   * Numbers of rows from `from` on that meet the conditions, some at a time; another value with the
   * hash of a wanted one may be among them.
   * @throws TooManyRowsError if most are left out again
   */
  async *numbers(from: number, amount: () => number): AsyncGenerator<readonly number[]> {
    if (this.#history?.verdict === false) return
    let found: Found = { rows: [], upTo: from - 1, seen: 0 }
    while (found.upTo < this.#copy.rows) {
      await this.#pace.turn()
      found = await this.#next(found.upTo + 1, amount())
      const filter = this.#history
      const passing = filter ? await filter.passing(found.rows, this.#pace) : found.rows
      if (this.#isSparse) this.#pace.leaveOut(found.seen - passing.length)
      yield passing
    }
  }

  /** Reads the blocks of rows into a page, those that lie side by side at once. */
  async read(numbers: readonly number[], page: PageRows): Promise<void> {
    const copy = this.#copy
    for (let at = 0; at < numbers.length;) {
      const first = copy.blockOf(numbers[at] ?? 0)
      const start = copy.placeOf(first)
      const parts: (readonly number[])[] = []
      let next = first
      do {
        next += 1
        const from = at
        at = indexNotBelow(numbers, copy.firstRowOf(next), at)
        parts.push(numbers.slice(from, at))
      } while (
        at < numbers.length &&
        copy.blockOf(numbers[at] ?? 0) === next &&
        copy.placeOf(next + 1) - start <= readBytesMax
      )
      const bytes = await copy.read(page.room(copy.placeOf(next) - start), start, this.#pace)
      for (const [index, part] of parts.entries()) {
        const [from, to] = [copy.placeOf(first + index), copy.placeOf(first + index + 1)]
        requireSum(bytes.subarray(from - start, to - start))
        page.add({ reader: this, block: first + index, numbers: part }, to - from)
      }
      page.flushIfFull()
      await this.#pace.turn()
    }
  }

  /** See `BlockReader`. */
  rowsIn(
    text: Buffer,
    block: number,
    numbers: readonly number[],
    splicer: Splicer,
  ): readonly Row<FilePosition>[] {
    this.#cells ??= splicer.cellsIn(this.#copy)
    const firstRow = this.#copy.firstRowOf(block)
    const rows: Row<FilePosition>[] = []
    for (const number of numbers) {
      const { from, to } = this.#rowIn(text, firstRow, number)
      if (!this.#wanted.every((wanted) => this.#has(wanted, text, from, to))) continue
      const encoded = splicer.splice(this.#cells, text, from, to)
      rows.push({ encoded, position: { file: this.file.index, row: number } })
    }
    return rows
  }

  async #next(from: number, amount: number): Promise<Found> {
    const [pace, copy] = [this.#pace, this.#copy]
    const batch = this.#isSparse ? Math.max(amount, sparseBatch) : amount
    if (this.#wanted.length === 0) return rowsFrom(from, batch, copy.rows)
    const sets: Found[] = []
    let start = from
    for (const wanted of this.#wanted) {
      const lookUp = copy.lookUps.get(wanted.column.source)
      if (!lookUp) throw new DamagedCopyError('it lacks a look-up')
      const set = await rowsWith(lookUp, wanted, start, batch, pace)
      sets.push(set)
      // No row before the first one of a set is in all of them.
      start = set.rows[0] ?? set.upTo + 1
    }
    const found = inAll(sets)
    return { ...found, upTo: Math.max(found.upTo, start - 1) }
  }

  /** Whether rows that are found may be left out again. */
  get #isSparse(): boolean {
    return this.#wanted.length > 1 || (this.#history !== null && this.#history.verdict === null)
  }

  /** @throws DamagedCopyError if the row is not where it should be */
  #rowIn(text: Buffer, firstRow: number, number: number): { from: number; to: number } {
    let from = 0
    for (let row = firstRow; row < number; row += 1) from = endOfRow(text, from) + 1
    const end = endOfCell(text, from, text.length)
    if (Number(text.toString('latin1', from, end)) !== number) {
      throw new DamagedCopyError('a row is not in its place')
    }
    return { from, to: endOfRow(text, from) }
  }

  #has({ column, texts }: Wanted, text: Buffer, from: number, to: number): boolean {
    let start = from
    for (let cell = this.#copy.cellOf(column.source) ?? 0; cell > 0; cell -= 1) {
      start = endOfCell(text, start, to) + 1
    }
    const value = valueOfCell(column, text.toString('utf8', start, endOfCell(text, start, to)))
    return value !== null && texts.has(lookUpText(value))
  }
}

/** The index of the first number that is not below `end`, from one index on. */
function indexNotBelow(numbers: readonly number[], end: number, from: number): number {
  let index = from
  while ((numbers[index] ?? end) < end) index += 1
  return index
}

function endOfRow(text: Buffer, from: number): number {
  const found = text.indexOf(rowEnd, from)
  return found < 0 ? text.length : found
}
