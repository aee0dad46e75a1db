import type { Row } from '../engine.js'
import type { FilePosition } from '../../query/question.js'
import type { HistoryFilter } from './history-of.js'
import { cellsBeyond, copyCell, endOfStored, findCells, firstRowIn, nextRowIn } from './blocks.js'
import type { RowPlace } from './blocks.js'
import { DamagedCopyError, requireSum } from './layout.js'
import { lookUpText, valueOfCell } from './look-up-value.js'
import type { Pace } from './pace.js'
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
  #found = new Int32Array(0)
  /** Holds blocks that are read, until the next ones are. */
  #room = Buffer.alloc(0)
  #text = Buffer.alloc(0)

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

  /**
   * Adds the rows of these numbers, as the splicer makes them. Blocks that lie side by side are
   * read at once. A row of another value with the same hash is left out.
   */
  async read(
    numbers: readonly number[],
    splicer: Splicer,
    rows: Row<FilePosition>[],
  ): Promise<void> {
    const [copy, pace] = [this.#copy, this.#pace]
    for (let at = 0; at < numbers.length;) {
      const first = copy.blockOf(numbers[at] ?? 0)
      const start = copy.placeOf(first)
      let next = first + 1
      let end = indexNotBelow(numbers, copy.firstRowOf(next), at)
      while (
        end < numbers.length &&
        copy.blockOf(numbers[end] ?? 0) === next &&
        copy.placeOf(next + 1) - start <= readBytesMax
      ) {
        next += 1
        end = indexNotBelow(numbers, copy.firstRowOf(next), end)
      }
      const read = copy.read(this.#roomFor(copy.placeOf(next) - start), start, pace)
      const bytes = read instanceof Promise ? await read : read
      for (let block = first; block < next; block += 1) {
        const part = bytes.subarray(copy.placeOf(block) - start, copy.placeOf(block + 1) - start)
        at = this.#addRows(part, block, numbers, at, splicer, rows)
      }
      if (pace.isLong) await pace.turn()
    }
  }

  #roomFor(bytes: number): Buffer {
    if (this.#room.length < bytes) this.#room = Buffer.allocUnsafe(bytes)
    return this.#room.subarray(0, bytes)
  }

  /**
   * Adds the rows of one block, from one index of the numbers on; returns the first index beyond.
   * @throws DamagedCopyError if they are not where they should be
   */
  #addRows(
    bytes: Buffer,
    block: number,
    numbers: readonly number[],
    from: number,
    splicer: Splicer,
    rows: Row<FilePosition>[],
  ): number {
    requireSum(bytes)
    const end = this.#copy.firstRowOf(block + 1)
    let row = this.#copy.firstRowOf(block)
    if (bytes.readUInt32LE(4) !== row) throw new DamagedCopyError('a row is not in its place')
    this.#cells ??= splicer.cellsIn(this.#copy)
    let place = firstRowIn(bytes)
    let index = from
    for (; index < numbers.length; index += 1) {
      const number = numbers[index] ?? end
      if (number >= end) break
      for (; row < number; row += 1) place = nextRowIn(bytes, place.to)
      if (!this.#hasAll(bytes, place)) continue
      const encoded = splicer.splice(this.#cells, bytes, place)
      rows.push({ encoded, position: { file: this.file.index, row: number } })
    }
    return index
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

  /** Whether a row has a wanted value in each column: another one may have the same hash. */
  #hasAll(block: Buffer, row: RowPlace): boolean {
    for (const { column, texts } of this.#wanted) {
      const cell = this.#copy.cellOf(column.source) ?? 0
      if (this.#found.length <= cell + cellsBeyond) {
        this.#found = new Int32Array(cell + cellsBeyond + 1)
      }
      findCells(block, row, this.#found, cell + 1)
      const found = this.#found[cell] ?? 0
      if (found === 0) return false
      const end = copyCell(block, found, this.#textFor(2 * (endOfStored(block, found) - found)), 0)
      const value = valueOfCell(column, this.#text.toString('utf8', 0, end))
      if (value === null || !texts.has(lookUpText(value))) return false
    }
    return true
  }

  #textFor(bytes: number): Buffer {
    if (this.#text.length < bytes) this.#text = Buffer.allocUnsafe(bytes)
    return this.#text
  }
}

/** The index of the first number that is not below `end`, from one index on. */
function indexNotBelow(numbers: readonly number[], end: number, from: number): number {
  let index = from
  while ((numbers[index] ?? end) < end) index += 1
  return index
}
