import { crc32 } from 'node:zlib'
import type { Column } from '../../columns/column.js'
import { codeBytesPerPage, historyValuesMax, pageBytes } from './layout.js'
import type { Footer } from './layout.js'
import { valueOfCell } from './look-up-value.js'

/** Collects the history column's value of each row of a file as a code. */
export class HistoryCodes {
  readonly #column: Column
  readonly #codes: Uint16Array
  /** By cell, in the order in which they were found. */
  readonly #found = new Map<string, number>()
  #rows = 0

  constructor(column: Column, rowsMax: number) {
    this.#column = column
    this.#codes = new Uint16Array(rowsMax)
  }

  add(cell: string): void {
    const known = this.#found.get(cell)
    const code = known ?? this.#found.size
    if (known === undefined && code <= historyValuesMax) this.#found.set(cell, code)
    this.#codes[this.#rows] = code
    this.#rows += 1
  }

  /** Null if there are too many values. */
  finish(): { readonly head: HistoryHead; readonly pages: readonly Buffer[] } | null {
    if (this.#found.size > historyValuesMax) return null
    const values = [...this.#found].map(([cell, code]) => {
      return { code, value: valueOfCell(this.#column, cell) as bigint | null }
    })
    const present = values.flatMap(({ code, value }) => (value === null ? [] : [{ code, value }]))
    const ascending = present.sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0))
    const final = new Uint16Array(values.length)
    for (const [index, { code }] of ascending.entries()) final[code] = index + 1
    const head = {
      column: this.#column.source,
      values: ascending.map(({ value }) => String(value)),
      only: values.length === 1 ? (final[0] ?? 0) : null,
      bytesPerCode: ascending.length < 256 ? 1 : 2,
    } as const
    return { head, pages: head.only === null ? this.#pages(final, head.bytesPerCode) : [] }
  }

  #pages(final: Uint16Array, bytesPerCode: 1 | 2): readonly Buffer[] {
    const perPage = codeBytesPerPage / bytesPerCode
    const pages: Buffer[] = []
    for (let first = 0; first < this.#rows; first += perPage) {
      const page = Buffer.alloc(pageBytes)
      const end = Math.min(first + perPage, this.#rows)
      for (let row = first; row < end; row += 1) {
        const place = 4 + (row - first) * bytesPerCode
        page.writeUIntLE(final[this.#codes[row] ?? 0] ?? 0, place, bytesPerCode)
      }
      page.writeUInt32LE(crc32(page.subarray(4)), 0)
      pages.push(page)
    }
    return pages
  }
}

/** What the footer says of the history column, but for the place of its pages. */
type HistoryHead = Omit<NonNullable<Footer['history']>, 'offset' | 'pages'>
