import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { TableError } from './table.js'

const chunkBytes = 256 * 1024

/** A table in a `.gz` of a few megabytes has no more; a file made to fill a disk does. */
const unpackedFree = 1_000_000_000
const unpackedTimesMax = 200

/**
 * The bytes of a file, some at a time; those of a `.gz` are decompressed.
 * @throws TableError for a damaged `.gz`, or one that unpacks to far more than a table
 */
export async function* fileBytes(path: string): AsyncGenerator<Buffer> {
  try {
    const most = Math.max(unpackedFree, (await stat(path)).size * unpackedTimesMax)
    let unpacked = 0
    for await (const bytes of openBytes(path)) {
      unpacked += (bytes as Buffer).length
      if (unpacked > most) {
        throw new TableError(`error: the gzip file unpacks to over ${most} bytes; unpack it first`)
      }
      yield bytes as Buffer
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (!code?.startsWith('Z_')) throw cause
    throw new TableError(`error: the gzip file is damaged or cut (${code})`)
  }
}

function openBytes(path: string): Readable {
  const bytes = createReadStream(path, { highWaterMark: chunkBytes })
  if (!/\.gz$/i.test(path)) return bytes
  const plain = createGunzip({ chunkSize: chunkBytes })
  bytes.on('error', (cause) => plain.destroy(cause))
  return bytes.pipe(plain)
}
