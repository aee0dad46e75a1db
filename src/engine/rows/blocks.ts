import { constants, crc32, deflateRaw, inflateRawSync } from 'node:zlib'
import { promisify } from 'node:util'
import { DamagedCopyError } from './layout.js'

/**
 * A block is the CRC of the rest of it, the length of its text, and the text in raw deflate that is
 * flushed, but not ended. So one call inflates many blocks, one after the other: a call takes
 * longer than the text of a block.
 */
const headBytes = 8

const deflate = promisify(deflateRaw)
/** Higher levels take twice the time for three percent; a larger window, twice for nothing. */
const options = {
  level: 1,
  windowBits: 12,
  memLevel: 5,
  finishFlush: constants.Z_FULL_FLUSH,
} as const
/** An empty last part of raw deflate. */
const end = Buffer.from([3, 0])

/** A text as a block. */
export async function deflateBlock(text: Buffer): Promise<Buffer> {
  const packed = await deflate(text, options)
  const block = Buffer.allocUnsafe(headBytes + packed.length)
  block.writeUInt32LE(text.length, 4)
  packed.copy(block, headBytes)
  block.writeUInt32LE(crc32(block.subarray(4)), 0)
  return block
}

/** How long the text of a block is. */
export function textLengthOf(block: Buffer): number {
  return block.readUInt32LE(4)
}

/**
 * The texts of blocks that lie one after the other and have the right sums. `bytes` is used up.
 * @throws DamagedCopyError; zlib's error
 */
export function inflateBlocks(bytes: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const lengths: number[] = []
  let [start, packed, total] = [0, 0, 0]
  for (const size of sizes) {
    const length = bytes.readUInt32LE(start + 4)
    lengths.push(length)
    total += length
    bytes.copyWithin(packed, start + headBytes, start + size)
    packed += size - headBytes
    start += size
  }
  packed += end.copy(bytes, packed)
  const text = inflateRawSync(bytes.subarray(0, packed), { chunkSize: Math.max(64, total + 1) })
  if (text.length !== total) throw new DamagedCopyError('a block has another length')
  let from = 0
  return lengths.map((length) => text.subarray(from, (from += length)))
}
