import { readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { Check } from 'typebox/value'
import {
  DamagedCopyError,
  FooterSchema,
  ending,
  endingBytes,
  pageBytes,
  requireSum,
} from './layout.js'
import type { Footer } from './layout.js'
import { HistoryOf } from './history-of.js'
import type { KeptPages } from './kept-pages.js'
import { LookUp } from './look-up.js'
import type { Pace, SummedParts } from './pace.js'

interface RowCopyParts {
  readonly file: FileHandle
  readonly pages: KeptPages
  readonly footer: Footer
  readonly directory: Buffer
}

/** A row copy that is open. Its directory is in memory, and pages that were read last. */
export class RowCopy implements SummedParts {
  readonly #file: FileHandle
  /** Single pages; a long list reads many at once, and once. */
  readonly #pages: KeptPages
  readonly #number: number
  /** Where each block begins, and where the last one ends. */
  readonly #places: Float64Array
  /** The first row of each block, and the number of rows. */
  readonly #blockRows: Uint32Array
  readonly #cells: ReadonlyMap<string, number>
  /** By the column's name in the files. */
  readonly lookUps: ReadonlyMap<string, LookUp>
  /** Null if it can't compare the history column. */
  readonly history: HistoryOf | null
  readonly rows: number
  /** What it takes of memory. */
  readonly heldBytes: number

  private constructor({ file, pages, footer, directory }: RowCopyParts) {
    this.#file = file
    this.#pages = pages
    this.#number = pages.nextCopy()
    this.rows = footer.rows
    this.heldBytes = directory.length
    const amount = footer.blocks + 1
    const { buffer } = directory
    this.#places = new Float64Array(buffer, 0, amount)
    this.#blockRows = new Uint32Array(buffer, amount * 8, amount)
    this.#cells = new Map(footer.columns.map((source, index) => [source, index]))
    const lookUps = new Map<string, LookUp>()
    let start = amount * 12
    for (const { column, offset, pages } of footer.lookUps) {
      lookUps.set(column, new LookUp(this, offset, new Uint32Array(buffer, start, pages)))
      start += pages * 4
    }
    this.lookUps = lookUps
    this.history = footer.history && new HistoryOf(this, footer.history)
  }

  /**
   * @throws DamagedCopyError unless it is a whole copy of what the identity names; the system's
   *   error
   */
  static async open(path: string, identity: string, pages: KeptPages): Promise<RowCopy> {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      const end = await fill(Buffer.allocUnsafeSlow(endingBytes), file, size - endingBytes)
      const length = end.readUInt32LE(4)
      const text = await fill(Buffer.allocUnsafeSlow(length), file, size - endingBytes - length)
      const isWhole = end.subarray(8).equals(ending) && crc32(text) === end.readUInt32LE(0)
      const footer: unknown = isWhole ? JSON.parse(text.toString()) : null
      if (!Check(FooterSchema, footer)) throw new DamagedCopyError('it is cut')
      if (footer.identity !== identity) throw new DamagedCopyError('it is of other rows')
      const { offset, bytes, crc } = footer.directory
      const directory = await fill(Buffer.allocUnsafeSlow(bytes), file, offset)
      if (crc32(directory) !== crc) throw new DamagedCopyError('its directory is damaged')
      return new RowCopy({ file, pages, footer, directory })
    } catch (cause) {
      await file.close()
      throw cause
    }
  }

  /** The place of a column's cell in a row; undefined for a column that it does not have. */
  cellOf(source: string): number | undefined {
    return this.#cells.get(source)
  }

  /** The block that holds a row. */
  blockOf(row: number): number {
    let [low, high] = [0, this.#blockRows.length - 2]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if ((this.#blockRows[middle] ?? 0) <= row) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The number of rows before a block. */
  firstRowOf(block: number): number {
    return this.#blockRows[block] ?? this.rows
  }

  /** Where a block begins in the file. */
  placeOf(block: number): number {
    return this.#places[block] ?? 0
  }

  /**
   * Fills `bytes` from the file: from the system's cache at once, from a disk that was slow in
   * another thread.
   * @throws DamagedCopyError if the file is cut; the system's error
   */
  read(bytes: Buffer, offset: number, pace: Pace): Buffer | Promise<Buffer> {
    if (pace.leavesLoop()) return fill(bytes, this.#file, offset)
    const found = pace.timed(() => readSync(this.#file.fd, bytes, 0, bytes.length, offset))
    if (found !== bytes.length) throw new DamagedCopyError('it is cut')
    return bytes
  }

  async readPages(offset: number, pages: number, pace: Pace): Promise<Buffer> {
    const kept = pages === 1 ? this.#pages.find(this.#number, offset) : undefined
    if (kept) return kept
    const bytes = await this.read(Buffer.allocUnsafeSlow(pages * pageBytes), offset, pace)
    for (let start = 0; start < bytes.length; start += pageBytes) {
      requireSum(bytes.subarray(start, start + pageBytes))
    }
    if (pages === 1) this.#pages.keep(this.#number, offset, bytes)
    return bytes
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

async function fill(bytes: Buffer, file: FileHandle, offset: number): Promise<Buffer> {
  if (offset < 0) throw new DamagedCopyError('it is cut')
  const { bytesRead } = await file.read(bytes, 0, bytes.length, offset)
  if (bytesRead !== bytes.length) throw new DamagedCopyError('it is cut')
  return bytes
}
