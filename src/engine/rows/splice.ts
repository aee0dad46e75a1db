import type { Column } from '../../columns/column.js'
import { cellEnd } from './layout.js'
import type { RowCopy } from './row-copy.js'

/** A page of a few rows takes little memory, a long one few allocations. */
const [chunkBytesMin, chunkBytesMax] = [2048, 65_536]
const shortMax = 64
const nothing = Buffer.from('null')

/** Where the cells of an answer are in the rows of one copy. */
export interface Cells {
  /** In the order of the answer. */
  readonly places: readonly number[]
  /** How many cells of a row have to be found. */
  readonly needed: number
}

/** Makes the JSON objects of one page from rows of copies; copies texts, and reads none. */
export class Splicer {
  readonly #columns: readonly Column[]
  /** `{"inn":` or `,"year":`, in the order of the answer. */
  readonly #keys: readonly Buffer[]
  readonly #bytesBeside: number
  #starts = new Int32Array(0)
  #chunk = Buffer.alloc(0)
  #used = 0

  constructor(columns: readonly Column[]) {
    this.#columns = columns
    this.#keys = columns.map(({ name }, index) =>
      Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`),
    )
    const keyBytes = this.#keys.reduce((sum, { length }) => sum + length, 0)
    this.#bytesBeside = keyBytes + this.#keys.length * nothing.length + 1
  }

  /** Finds the cells of the columns in a copy. */
  cellsIn(copy: RowCopy): Cells {
    const places = this.#columns.map(({ source }) => {
      const cell = copy.cellOf(source)
      if (cell === undefined) throw new RangeError('the row copy lacks a column')
      return cell
    })
    return { places, needed: Math.max(...places) + 1 }
  }

  /** The object of the row that is in `text` from `from` up to but not including `to`. */
  splice({ places, needed }: Cells, text: Buffer, from: number, to: number): Buffer {
    this.#findCells(needed, text, from, to)
    // A column is answered once at most, so no cell is copied twice.
    this.#makeRoom(to - from + this.#bytesBeside)
    const start = this.#used
    for (let index = 0; index < this.#keys.length; index += 1) {
      const key = this.#keys[index] ?? nothing
      const cell = places[index] ?? 0
      const cellStart = this.#starts[cell] ?? 0
      const cellStop = (this.#starts[cell + 1] ?? 0) - 1
      this.#copy(key, 0, key.length)
      if (cellStop === cellStart) this.#copy(nothing, 0, nothing.length)
      else this.#copy(text, cellStart, cellStop)
    }
    this.#chunk[this.#used] = 0x7d
    this.#used += 1
    return this.#chunk.subarray(start, this.#used)
  }

  /** Each cell begins after the end of the one before; the last one needed ends before the next. */
  #findCells(needed: number, text: Buffer, from: number, to: number): void {
    if (this.#starts.length <= needed) this.#starts = new Int32Array(needed + 1)
    const starts = this.#starts
    let cell = 1
    starts[0] = from
    for (let at = from; at < to && cell <= needed; at += 1) {
      if (text[at] !== cellEnd) continue
      starts[cell] = at + 1
      cell += 1
    }
    if (cell <= needed) starts[cell] = to + 1
  }

  #makeRoom(bytes: number): void {
    if (this.#chunk.length - this.#used >= bytes) return
    const next = Math.min(chunkBytesMax, Math.max(chunkBytesMin, 2 * this.#chunk.length))
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(next, bytes))
    this.#used = 0
  }

  /** Most cells are so short that a call of `copy` would cost more. */
  #copy(bytes: Buffer, from: number, to: number): void {
    const [chunk, used] = [this.#chunk, this.#used]
    this.#used = used + to - from
    if (to - from > shortMax) bytes.copy(chunk, used, from, to)
    else {
      for (let index = from; index < to; index += 1) chunk[used + index - from] = bytes[index] ?? 0
    }
  }
}
