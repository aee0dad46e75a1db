import { crc32 } from 'node:zlib'
import { entriesPerPage, pageBytes } from './layout.js'
import type { Hash } from './hash.js'

const digitBits = 16
const digits = 1 << digitBits

/** Collects the hashes of a look-up column's values with their rows, and sorts them. */
export class HashedRows {
  readonly #high: Uint32Array
  readonly #low: Uint32Array
  readonly #rows: Uint32Array
  #size = 0

  /** For at most so many rows. */
  constructor(rowsMax: number) {
    this.#high = new Uint32Array(rowsMax)
    this.#low = new Uint32Array(rowsMax)
    this.#rows = new Uint32Array(rowsMax)
  }

  /** Rows come in ascending order. */
  add({ high, low }: Hash, row: number): void {
    this.#high[this.#size] = high
    this.#low[this.#size] = low
    this.#rows[this.#size] = row
    this.#size += 1
  }

  /** The pages of the sorted entries; rows with one hash stay in order. */
  *pages(): Generator<{ readonly page: Buffer; readonly firstHigh: number }> {
    const order = this.#sorted()
    for (let first = 0; first < this.#size; first += entriesPerPage) {
      const page = Buffer.alloc(pageBytes)
      const words = new Uint32Array(page.buffer, page.byteOffset, pageBytes / 4)
      const end = Math.min(first + entriesPerPage, this.#size)
      for (let at = first; at < end; at += 1) {
        const entry = order[at] ?? 0
        const place = 1 + at - first
        words[place] = this.#high[entry] ?? 0
        words[place + entriesPerPage] = this.#low[entry] ?? 0
        words[place + 2 * entriesPerPage] = this.#rows[entry] ?? 0
      }
      // A full page of the largest hash and row sorts behind every entry.
      for (let place = 1 + end - first; place <= entriesPerPage; place += 1) {
        words[place] = words[place + entriesPerPage] = words[place + 2 * entriesPerPage] = ~0
      }
      page.writeUInt32LE(crc32(page.subarray(4)), 0)
      yield { page, firstHigh: words[1] ?? 0 }
    }
  }

  /** The entries in order, by a radix sort from the lowest digit up, which is stable. */
  #sorted(): Uint32Array {
    let order = Uint32Array.from({ length: this.#size }, (_, entry) => entry)
    let next = new Uint32Array(this.#size)
    for (const [halves, shift] of [
      [this.#low, 0],
      [this.#low, digitBits],
      [this.#high, 0],
      [this.#high, digitBits],
    ] as const) {
      const starts = new Uint32Array(digits + 1)
      const digitOf = (entry: number) => ((halves[entry] ?? 0) >>> shift) & (digits - 1)
      for (const entry of order) starts[digitOf(entry) + 1] = (starts[digitOf(entry) + 1] ?? 0) + 1
      for (let digit = 0; digit < digits; digit += 1) {
        starts[digit + 1] = (starts[digit + 1] ?? 0) + (starts[digit] ?? 0)
      }
      for (const entry of order) {
        const digit = digitOf(entry)
        const place = starts[digit] ?? 0
        next[place] = entry
        starts[digit] = place + 1
      }
      ;[order, next] = [next, order]
    }
    return order
  }
}
