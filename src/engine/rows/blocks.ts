import { crc32 } from 'node:zlib'
import { DamagedCopyError, cellEnd, rowEnd } from './layout.js'
import { endOfCell } from './look-up-value.js'

/**
 * A block is the CRC of the rest of it, the number of its first row, and its rows: the length of
 * each, and its cells. So cells are found without their texts. A cell begins with one byte:
 *
 * | byte     | cell                                                                            |
 * | -------- | ------------------------------------------------------------------------------- |
 * | 0x00 + n | n + 1 empty cells                                                               |
 * | 0x40 + n | n characters of numbers, dates and codes, two in a byte                         |
 * | 0x80 + n | n bytes of text                                                                 |
 * | 0xc0     | a length of four bytes, and so many bytes of text                               |
 *
 * In text, a byte from 0x80 on is a letter of U+0400 to U+047F; other bytes of letters beyond ASCII
 * stand behind an escape.
 */
const [code, text, long] = [0x40, 0x80, 0xc0] as const
const lengthMax = 63
const headBytes = 8
const longBytes = 5
const escape = 0x01
const [firstLead, secondLead] = [0xd0, 0xd1] as const

const characters = Buffer.from('0123456789.-"e+:')
/** By character; others have none. */
const codes = Int8Array.from({ length: 256 }, (_, byte) => characters.indexOf(byte))

/** Rows as a block: each begins with its number, and separators are between cells and rows. */
export function encodeBlock(rows: Buffer, firstRow: number): Buffer {
  // A byte takes two at most, and four more are for each row, which has two bytes at least.
  const block = Buffer.allocUnsafe(headBytes + 4 * (rows.length + 1))
  block.writeUInt32LE(firstRow, 4)
  let end = headBytes
  for (let from = 0; from < rows.length;) {
    const to = endOfRow(rows, from)
    const start = end + 4
    end = encodeCells(rows.subarray(endOfCell(rows, from, to) + 1, to), block, start)
    block.writeUInt32LE(end - start, start - 4)
    from = to + 1
  }
  block.writeUInt32LE(crc32(block.subarray(4, end)), 0)
  return Buffer.from(block.subarray(0, end))
}

/** The rows of a block as they came; others if they had not so many bytes. */
export function decodeBlock(block: Buffer, bytes: number): Buffer {
  const rows = Buffer.alloc(bytes)
  let end = 0
  let number = block.readUInt32LE(4)
  for (let { from, to } = firstRowIn(block); from < block.length && end <= bytes; number += 1) {
    if (end > 0) rows[end++] = rowEnd
    end += rows.write(String(number), Math.min(end, bytes), 'latin1')
    for (let at = from; at < to; at = endOfStored(block, at)) {
      const head = block[at] ?? 0
      const isEmpty = head < code
      for (let cells = isEmpty ? head + 1 : 1; cells > 0; cells -= 1) rows[end++] = cellEnd
      if (!isEmpty) end = copyCell(block, at, rows, end)
    }
    ;({ from, to } = nextRowIn(block, to))
  }
  return rows
}

/** Where the cells of a row are in its block. */
export interface RowPlace {
  readonly from: number
  readonly to: number
}

/** The first row of a block. */
export function firstRowIn(block: Buffer): RowPlace {
  return nextRowIn(block, headBytes)
}

/** The row that begins where the one before ends; an empty one at the end of the block. */
export function nextRowIn(block: Buffer, end: number): RowPlace {
  if (end + 4 > block.length) return { from: block.length, to: block.length }
  const from = end + 4
  return { from, to: from + block.readUInt32LE(end) }
}

/**
 * Finds where the first cells of a row are stored; 0 for an empty one.
 * @throws DamagedCopyError if the row has fewer
 */
export function findCells(
  block: Buffer,
  { from, to }: RowPlace,
  places: Int32Array,
  needed: number,
): void {
  let at = from
  for (let cell = 0; cell < needed;) {
    if (at >= to) throw new DamagedCopyError('a row has too few cells')
    const head = block[at] ?? 0
    if (head < code) {
      for (let end = cell + head; cell <= end; cell += 1) places[cell] = 0
      at += 1
    } else {
      places[cell] = at
      cell += 1
      at = endOfStored(block, at)
    }
  }
}

/** More cells than these are never found beyond those that are needed. */
export const cellsBeyond = lengthMax

/** Writes the text of a cell that is stored at `at`, at most twice its bytes; returns its end. */
export function copyCell(block: Buffer, at: number, into: Buffer, start: number): number {
  const head = block[at] ?? 0
  let end = start
  if (head < text) {
    const stop = start + (head & lengthMax)
    for (let next = at + 1; end < stop; next += 1) {
      const pair = block[next] ?? 0
      into[end++] = characters[pair >> 4] ?? 0
      if (end < stop) into[end++] = characters[pair & 15] ?? 0
    }
    return end
  }
  const stop = endOfStored(block, at)
  for (let next = at + (head < long ? 1 : longBytes); next < stop; next += 1) {
    const byte = block[next] ?? 0
    if (byte >= 0x80) {
      into[end++] = byte < 0xc0 ? firstLead : secondLead
      into[end++] = 0x80 | (byte & 0x3f)
    } else if (byte === escape) {
      next += 1
      into[end++] = block[next] ?? 0
    } else into[end++] = byte
  }
  return end
}

/** Where the stored cell ends that begins at `at`. */
export function endOfStored(block: Buffer, at: number): number {
  const head = block[at] ?? 0
  if (head < code) return at + 1
  if (head < text) return at + 1 + (((head & lengthMax) + 1) >> 1)
  return head < long ? at + 1 + (head & lengthMax) : at + longBytes + block.readUInt32LE(at + 1)
}

function encodeCells(cells: Buffer, into: Buffer, start: number): number {
  let end = start
  let empty = -1
  for (let from = 0; from <= cells.length;) {
    const to = endOfCell(cells, from, cells.length)
    if (to > from) {
      end = encodeCell(cells, { from, to }, into, end)
      empty = -1
    } else if (empty >= 0 && (into[empty] ?? 0) < lengthMax) {
      into[empty] = (into[empty] ?? 0) + 1
    } else {
      empty = end
      into[end++] = 0
    }
    from = to + 1
  }
  return end
}

function encodeCell(cells: Buffer, { from, to }: RowPlace, into: Buffer, start: number): number {
  const length = to - from
  if (length > lengthMax || !isCode(cells, from, to)) {
    return encodeText(cells, { from, to }, into, start)
  }
  let end = start
  into[end++] = code + length
  for (let at = from; at < to; at += 2) {
    const second = at + 1 < to ? (codes[cells[at + 1] ?? 0] ?? 0) : 0
    into[end++] = ((codes[cells[at] ?? 0] ?? 0) << 4) | second
  }
  return end
}

function isCode(cells: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if ((codes[cells[at] ?? 0] ?? -1) < 0) return false
  return true
}

function encodeText(cells: Buffer, { from, to }: RowPlace, into: Buffer, start: number): number {
  const first = start + longBytes
  let end = first
  for (let at = from; at < to; at += 1) {
    const [byte, next] = [cells[at] ?? 0, cells[at + 1] ?? 0]
    if ((byte === firstLead || byte === secondLead) && at + 1 < to && next >> 6 === 2) {
      into[end++] = 0x80 | ((byte & 1) << 6) | (next & 0x3f)
      at += 1
    } else {
      if (byte >= 0x80 || byte === escape) into[end++] = escape
      into[end++] = byte
    }
  }
  const length = end - first
  if (length > lengthMax) {
    into[start] = long
    into.writeUInt32LE(length, start + 1)
    return end
  }
  into[start] = text + length
  into.copyWithin(start + 1, first, end)
  return start + 1 + length
}

/** The end of the row that begins at `from`, in a text of rows. */
export function endOfRow(rows: Buffer, from: number): number {
  const found = rows.indexOf(rowEnd, from)
  return found < 0 ? rows.length : found
}
