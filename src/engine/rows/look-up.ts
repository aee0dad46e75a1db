import type { Hash } from './hash.js'
import { entriesPerPage, pageBytes } from './layout.js'
import type { Pace, SummedParts } from './pace.js'

/** Finds the rows of one column's values by their hash. */
export class LookUp {
  readonly #copy: SummedParts
  readonly #offset: number
  /** The upper half of the first hash of each page. */
  readonly #firstHighs: Uint32Array

  constructor(copy: SummedParts, offset: number, firstHighs: Uint32Array) {
    this.#copy = copy
    this.#offset = offset
    this.#firstHighs = firstHighs
  }

  /**
   * The first `limit` rows of a hash from row `from` on, ascending. Another value may have the same
   * hash: the rows themselves decide.
   */
  async rowsOf(hash: Hash, from: number, limit: number, pace: Pace): Promise<number[]> {
    const rows: number[] = []
    const first = await this.#firstPage(hash, from, pace)
    for (let index = first; index < this.#firstHighs.length; index += 1) {
      const page = await this.#page(index, pace)
      let place = firstNotBefore(page, hash, from)
      for (; place < entriesPerPage && rows.length < limit; place += 1) {
        const row = page[2 * entriesPerPage + place] ?? 0
        if (!isOf(page, place, hash) || row >= this.#copy.rows) return rows
        rows.push(row)
      }
      if (rows.length === limit) return rows
    }
    return rows
  }

  /** The last page that begins before (hash, row): of a frequent value, not its first one. */
  async #firstPage(hash: Hash, row: number, pace: Pace): Promise<number> {
    let page = Math.max(0, this.#pagesBefore(hash.high) - 1)
    let end = this.#pagesBefore(hash.high + 1)
    while (end - page > 1) {
      const middle = (page + end) >>> 1
      if (firstNotBefore(await this.#page(middle, pace), hash, row) > 0) page = middle
      else end = middle
    }
    return page
  }

  /** How many pages begin with an upper half below this one. */
  #pagesBefore(high: number): number {
    let [low, end] = [0, this.#firstHighs.length]
    while (low < end) {
      const middle = (low + end) >>> 1
      if ((this.#firstHighs[middle] ?? 0) < high) low = middle + 1
      else end = middle
    }
    return low
  }

  /** The entries of a page, without its checksum. */
  async #page(index: number, pace: Pace): Promise<Uint32Array> {
    const bytes = await this.#copy.readSummed(this.#offset + index * pageBytes, pageBytes, pace)
    return new Uint32Array(bytes.buffer, bytes.byteOffset + 4, pageBytes / 4 - 1)
  }
}

function isOf(page: Uint32Array, place: number, { high, low }: Hash): boolean {
  return page[place] === high && page[entriesPerPage + place] === low
}

/** The place of the first entry that is not before (hash, row). */
function firstNotBefore(page: Uint32Array, { high, low }: Hash, row: number): number {
  let [start, end] = [0, entriesPerPage]
  while (start < end) {
    const middle = (start + end) >>> 1
    const difference =
      (page[middle] ?? 0) - high ||
      (page[entriesPerPage + middle] ?? 0) - low ||
      (page[2 * entriesPerPage + middle] ?? 0) - row
    if (difference < 0) start = middle + 1
    else end = middle
  }
  return start
}
