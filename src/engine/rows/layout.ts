import { crc32 } from 'node:zlib'
import Type from 'typebox'
import type { Static } from 'typebox'

/**
 * How a row copy is laid out. It holds the rows of one file as cells that answers are made of:
 *
 * | part      | holds                                                                             |
 * | --------- | --------------------------------------------------------------------------------- |
 * | blocks    | rows in the order of the file, a few in each: see `blocks.ts`                     |
 * | look-ups  | for each look-up column, pages of (hash of a value, row number), sorted           |
 * | history   | pages of one code for each row; none where all rows have the same value           |
 * | directory | the first row and the place of each block, the first hash of each page            |
 * | footer    | JSON: where the parts are, and what the copy is of; then its CRC and its length   |
 *
 * It is made of rows as texts: the number and the cells, JSON texts, an empty one for null, with
 * separators between them that no JSON text holds unescaped. All numbers are little-endian.
 */

/** Between two rows: ASCII's record separator. */
export const rowEnd = 0x1e
/** Between two cells: ASCII's unit separator. */
export const cellEnd = 0x1f

/** A block has about so many bytes of text, unless one row has more. */
export const blockBytes = 2048
/** A block has at most so many bytes of text, unless it is one row. */
export const blockBytesMax = 65_536

export const pageBytes = 4096
/** After its CRC, a page has the upper halves of hashes, the lower ones, row numbers. */
export const entriesPerPage = 341
/** After the CRC, a page has codes of one or two bytes. */
export const codeBytesPerPage = pageBytes - 4
/** With more values, the history column has no codes, and DuckDB compares it. */
export const historyValuesMax = 65_535

/** The length and CRC of the footer, and this word, are the last bytes. */
export const ending = Buffer.from('DASROWS2', 'latin1')
export const endingBytes = 8 + ending.length

/** Where the pages of a part are. */
const part = { offset: Type.Integer(), pages: Type.Integer() }
export const FooterSchema = Type.Object({
  /** The name of what the copy is of. */
  identity: Type.String(),
  rows: Type.Integer(),
  /** By their names in the files, in the order of the cells. */
  columns: Type.Array(Type.String()),
  blocks: Type.Integer(),
  lookUps: Type.Array(Type.Object({ column: Type.String(), ...part })),
  /** Null if the column has too many values, or there is none. */
  history: Type.Union([
    Type.Null(),
    Type.Object({
      column: Type.String(),
      /** Ascending steps of the column's grid. Code 0 is an empty value, 1 the first of these. */
      values: Type.Array(Type.String()),
      /** The code of all rows, if they have the same one; then there are no pages. */
      only: Type.Union([Type.Null(), Type.Integer()]),
      bytesPerCode: Type.Union([Type.Literal(1), Type.Literal(2)]),
      ...part,
    }),
  ]),
  directory: Type.Object({
    offset: Type.Integer(),
    bytes: Type.Integer(),
    crc: Type.Integer(),
  }),
})

export type Footer = Static<typeof FooterSchema>

/** A row copy does not hold what was written: the files answer instead. */
export class DamagedCopyError extends Error {
  override readonly name = 'DamagedCopyError'
}

/** @throws DamagedCopyError unless the bytes after the first four have that CRC */
export function requireSum(bytes: Buffer): void {
  if (bytes.length < 4 || crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) {
    throw new DamagedCopyError('a part has another checksum')
  }
}
