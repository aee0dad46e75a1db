import type { Hash } from './hash.js'
import { entriesPerPage, pageBytes } from './layout.js'
import type { Pace, SummedParts } from './pace.js'

/** Pages that were read last: the next one of ascending hashes is often among them. */
interface HeldPages {
  first: number
  bytes: Buffer | null
  /** How many are read at once. */
  readonly atOnce: number
}

/** So many pages at most are read at once, where about every second one or more is needed. */
const pagesAtOnceMax = 16
const pagesPerHashMax = 2

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

  /** Pages for so many hashes, which are asked for in ascending order. */
  pages(hashes: number): HeldPages {
    const isDense = this.#firstHighs.length <= hashes * pagesPerHashMax
    return { first: 0, bytes: null, atOnce: isDense ? pagesAtOnceMax : 1 }
  }

  /**
   * The first `limit` rows of a hash from row `from` on, ascending. Another value may have the same
   * hash: the rows themselves decide.
   */
  async rowsOf(
    hash: Hash,
    from: number,
    limit: number,
    pace: Pace,
    held: HeldPages,
  ): Promise<number[]> {
    const rows: number[] = []
    let first = Math.max(0, this.#pagesBefore(hash.high) - 1)
    const end = this.#pagesBefore(hash.high + 1)
    if (end - first > 1) first = await this.#firstPage(first, end, hash, from, pace, held)
    for (let index = first; index < this.#firstHighs.length; index += 1) {
      const page = heldPage(index, held) ?? (await this.#page(index, pace, held))
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
  async #firstPage(
    first: number,
    last: number,
    hash: Hash,
    row: number,
    pace: Pace,
    held: HeldPages,
  ): Promise<number> {
    let [page, end] = [first, last]
    while (end - page > 1) {
      const middle = (page + end) >>> 1
      if (firstNotBefore(await this.#page(middle, pace, held), hash, row) > 0) page = middle
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
  async #page(index: number, pace: Pace, held: HeldPages): Promise<Uint32Array> {
    const known = heldPage(index, held)
    if (known) return known
    const amount = Math.min(held.atOnce, this.#firstHighs.length - index)
    held.bytes = await this.#copy.readPages(this.#offset + index * pageBytes, amount, pace)
    held.first = index
    return entriesAt(held.bytes, 0)
  }
}

function heldPage(index: number, { first, bytes }: HeldPages): Uint32Array | null {
  const at = (index - first) * pageBytes
  return bytes && at >= 0 && at < bytes.length ? entriesAt(bytes, at) : null
}

function entriesAt(bytes: Buffer, start: number): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset + start + 4, pageBytes / 4 - 1)
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
