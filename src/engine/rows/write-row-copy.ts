import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Column } from '../../columns/column.js'
import { hashBytes } from './hash.js'
import { HistoryCodes } from './history-codes.js'
import { decodeBlock, encodeBlock, endOfRow } from './blocks.js'
import { blockBytesMax, cellEnd, ending, requireSum, rowEnd } from './layout.js'
import type { Footer } from './layout.js'
import { endOfCell, isText, lookUpText, valueOfCell } from './look-up-value.js'
import { HashedRows } from './sorted-hashes.js'

const writtenAtOnce = 1 << 20
/** Blocks that are read back at once. */
const readAtOnce = 512
/** In so many bytes, unless one block has more. */
const readBytesMax = 16 * 1024 ** 2

/** What a row copy is to hold. */
export interface RowCopyPlan {
  readonly path: string
  readonly identity: string
  readonly rows: number
  readonly columns: readonly Column[]
  /** Columns that rows are found by. */
  readonly lookUps: readonly Column[]
  readonly history: Column | null
}

/** A look-up or history column, by the place of its cell. */
interface NotedColumn {
  readonly place: number
  readonly note: (bytes: Buffer, from: number, to: number, row: number) => void
}

/** Rows are missing, repeated or in a wrong order: nothing of the copy may be used. */
export class WrongRowsError extends Error {
  override readonly name = 'WrongRowsError'
}

/** Writes one row copy; its rows come in the order of the file. */
export class RowCopyWriter {
  readonly #plan: RowCopyPlan
  readonly #file: FileHandle
  readonly #sha = createHash('sha256')
  readonly #lookUps: readonly { readonly column: Column; readonly hashes: HashedRows }[]
  readonly #history: HistoryCodes | null
  readonly #noted: readonly NotedColumn[]
  readonly #blocks: {
    readonly row: number
    readonly offset: number
    readonly bytes: number
    readonly sum: number
  }[] = []
  #pending: Buffer[] = []
  #pendingBytes = 0
  #offset = 0
  #rows = 0

  private constructor(plan: RowCopyPlan, file: FileHandle) {
    this.#plan = plan
    this.#file = file
    this.#lookUps = plan.lookUps.map((column) => ({ column, hashes: new HashedRows(plan.rows) }))
    this.#history = plan.history && new HistoryCodes(plan.history, plan.rows)
    this.#noted = this.#notedColumns().sort((a, b) => a.place - b.place)
  }

  static async open(plan: RowCopyPlan): Promise<RowCopyWriter> {
    return new RowCopyWriter(plan, await open(plan.path, 'w+', 0o600))
  }

  /**
   * Adds rows: each begins with its number, and separators are between cells and rows.
   * @throws WrongRowsError unless they follow the rows before
   */
  async add(texts: readonly Buffer[]): Promise<void> {
    const blocks = texts.flatMap((text) => this.#blocksOf(text))
    for (const { row, text } of blocks) {
      this.#blocks.push({ row, offset: this.#offset, bytes: text.length, sum: crc32(text) })
      await this.#write(encodeBlock(text, row))
    }
  }

  /**
   * Writes the look-ups and reads every block back. Returns the size and the SHA-256 of the copy.
   * @throws WrongRowsError if rows are missing, or were not stored as they came
   */
  async finish(): Promise<{ readonly sizeBytes: number; readonly hash: string }> {
    const { identity, rows, columns } = this.#plan
    if (this.#rows !== rows) throw new WrongRowsError('rows are missing')
    const blocksEnd = this.#offset
    const firsts: Uint32Array[] = []
    const lookUps: Footer['lookUps'] = []
    for (const { column, hashes } of this.#lookUps) {
      const start = this.#offset
      const firstHighs: number[] = []
      for (const { page, firstHigh } of hashes.pages()) {
        firstHighs.push(firstHigh)
        await this.#write(page)
      }
      lookUps.push({ column: column.source, offset: start, pages: firstHighs.length })
      firsts.push(Uint32Array.from(firstHighs))
    }
    const history = await this.#writeHistory()
    const places = Float64Array.from([...this.#blocks.map(({ offset }) => offset), blocksEnd])
    const blockRows = Uint32Array.from([...this.#blocks.map(({ row }) => row), rows])
    const parts = [places, blockRows, ...firsts].map(bytesOf)
    const directory = Buffer.concat(parts)
    const footer: Footer = {
      ...{ identity, rows, columns: columns.map(({ source }) => source) },
      ...{ blocks: this.#blocks.length, lookUps, history },
      directory: { offset: this.#offset, bytes: directory.length, crc: crc32(directory) },
    }
    await this.#write(directory)
    const text = Buffer.from(JSON.stringify(footer))
    const sizes = Buffer.alloc(8)
    sizes.writeUInt32LE(crc32(text), 0)
    sizes.writeUInt32LE(text.length, 4)
    await this.#write(Buffer.concat([text, sizes, ending]))
    await this.#flush()
    await this.#file.sync()
    await this.#readBack(blocksEnd)
    return { sizeBytes: this.#offset, hash: this.#sha.digest('hex') }
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  #notedColumns(): NotedColumn[] {
    const { columns, history } = this.#plan
    const placeOf = (column: Column) => {
      const place = columns.findIndex(({ source }) => source === column.source)
      if (place < 0) throw new RangeError('a look-up column is not among the columns')
      return place
    }
    const noted = this.#lookUps.map(({ column, hashes }): NotedColumn => {
      return { place: placeOf(column), note: hashNoter(column, hashes) }
    })
    const codes = this.#history
    if (!history || !codes) return noted
    const note: NotedColumn['note'] = (bytes, from, to) => {
      codes.add(bytes.toString('latin1', from, to))
    }
    return [...noted, { place: placeOf(history), note }]
  }

  /** Notes the rows of a text, and splits it where it is long. */
  #blocksOf(text: Buffer): readonly { readonly row: number; readonly text: Buffer }[] {
    const blocks: { readonly row: number; readonly text: Buffer }[] = []
    let [start, firstRow] = [0, this.#rows]
    for (let from = 0; from < text.length;) {
      const to = endOfRow(text, from)
      if (from > start && to - start > blockBytesMax) {
        blocks.push({ row: firstRow, text: text.subarray(start, from - 1) })
        ;[start, firstRow] = [from, this.#rows]
      }
      this.#noteRow(text, from, to)
      from = to + 1
    }
    if (text.length > start) blocks.push({ row: firstRow, text: text.subarray(start) })
    return blocks
  }

  #noteRow(text: Buffer, from: number, to: number): void {
    let end = endOfCell(text, from, to)
    if (Number(text.toString('latin1', from, end)) !== this.#rows) {
      throw new WrongRowsError('rows are not in the order of the file')
    }
    let place = 0
    for (const noted of this.#noted) {
      for (; place < noted.place; place += 1) end = endOfCell(text, end + 1, to)
      const start = end + 1
      noted.note(text, start, endOfCell(text, start, to), this.#rows)
    }
    this.#rows += 1
  }

  async #writeHistory(): Promise<Footer['history']> {
    const finished = this.#history?.finish()
    if (!finished) return null
    const { head, pages } = finished
    const part = { offset: this.#offset, pages: pages.length }
    for (const page of pages) await this.#write(page)
    return { ...head, ...part }
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.length
    this.#offset += bytes.length
    if (this.#pendingBytes >= writtenAtOnce) await this.#flush()
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pending)
    this.#pending = []
    this.#pendingBytes = 0
    this.#sha.update(bytes)
    for (let written = 0; written < bytes.length;) {
      written += (await this.#file.write(bytes, written)).bytesWritten
    }
  }

  async #readBack(blocksEnd: number): Promise<void> {
    const blocks = this.#blocks.map((block, index) => {
      return { ...block, end: this.#blocks[index + 1]?.offset ?? blocksEnd }
    })
    for (let first = 0; first < blocks.length;) {
      const start = blocks[first]?.offset ?? 0
      let last = first + 1
      while (last - first < readAtOnce && (blocks[last]?.end ?? Infinity) - start <= readBytesMax) {
        last += 1
      }
      const run = blocks.slice(first, last)
      const bytes = Buffer.allocUnsafe((run.at(-1)?.end ?? start) - start)
      await this.#file.read(bytes, 0, bytes.length, start)
      for (const { offset, end, bytes: size, sum } of run) {
        const block = bytes.subarray(offset - start, end - start)
        requireSum(block)
        if (crc32(decodeBlock(block, size)) !== sum) {
          throw new WrongRowsError('rows are not stored as they came')
        }
      }
      first += run.length
    }
  }
}

function hashNoter(column: Column, hashes: HashedRows): NotedColumn['note'] {
  const hash = { high: 0, low: 0 }
  const isPlain = isText(column)
  return (bytes, from, to, row) => {
    if (from === to) return
    // Most texts stand in their cell as they are, between quotes.
    if (isPlain && !bytes.subarray(from, to).includes(0x5c)) {
      hashBytes(bytes, from + 1, to - 1, hash)
    } else {
      const value = valueOfCell(column, bytes.toString('utf8', from, to))
      if (value === null) return
      const text = Buffer.from(lookUpText(value))
      hashBytes(text, 0, text.length, hash)
    }
    hashes.add(hash, row)
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}

/** Between cells, in SQL and here alike. */
export const cellSeparator = String.fromCharCode(cellEnd)
export const rowSeparator = String.fromCharCode(rowEnd)
