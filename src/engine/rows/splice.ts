import type { Column } from '../../columns/column.js'
import { cellsBeyond, copyCell, endOfStored, findCells } from './blocks.js'
import type { RowPlace } from './blocks.js'
import type { RowCopy } from './row-copy.js'

/** A page of a few rows takes little memory, a long one few allocations. */
const [chunkBytesMin, chunkBytesMax] = [2048, 65_536]
const nothing = Buffer.from('null')

/** Where the cells of an answer are in the rows of one copy. */
export interface Cells {
  /** In the order of the answer. */
  readonly places: readonly number[]
  /** How many cells of a row have to be found. */
  readonly needed: number
}

/** Makes the JSON objects of one page from rows of copies; reads no text. */
export class Splicer {
  readonly #columns: readonly Column[]
  /** `{"inn":` or `,"year":`, in the order of the answer. */
  readonly #keys: readonly Buffer[]
  readonly #bytesBeside: number
  #found = new Int32Array(0)
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

  /** The object of a row of `block`. */
  splice({ places, needed }: Cells, block: Buffer, row: RowPlace): Buffer {
    if (this.#found.length <= needed + cellsBeyond) {
      this.#found = new Int32Array(needed + cellsBeyond + 1)
    }
    findCells(block, row, this.#found, needed)
    this.#makeRoom(this.#bytesOf(places, block, row) + this.#bytesBeside)
    const start = this.#used
    for (let index = 0; index < this.#keys.length; index += 1) {
      const found = this.#found[places[index] ?? 0] ?? 0
      this.#copy(this.#keys[index] ?? nothing)
      if (found === 0) this.#copy(nothing)
      else this.#used = copyCell(block, found, this.#chunk, this.#used)
    }
    this.#chunk[this.#used] = 0x7d
    this.#used += 1
    return this.#chunk.subarray(start, this.#used)
  }

  /** No less than the cells take. A column is answered once at most, so none is copied twice. */
  #bytesOf(places: Cells['places'], block: Buffer, row: RowPlace): number {
    const most = 2 * (row.to - row.from)
    if (most <= chunkBytesMax) return most
    return places.reduce((sum, place) => {
      const found = this.#found[place] ?? 0
      return found === 0 ? sum : sum + 2 * (endOfStored(block, found) - found)
    }, 0)
  }

  #makeRoom(bytes: number): void {
    if (this.#chunk.length - this.#used >= bytes) return
    const next = Math.min(chunkBytesMax, Math.max(chunkBytesMin, 2 * this.#chunk.length))
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(next, bytes))
    this.#used = 0
  }

  /** Keys are so short that a call of `copy` would cost more. */
  #copy(bytes: Buffer): void {
    const [chunk, used] = [this.#chunk, this.#used]
    this.#used = used + bytes.length
    for (let index = 0; index < bytes.length; index += 1) chunk[used + index] = bytes[index] ?? 0
  }
}
