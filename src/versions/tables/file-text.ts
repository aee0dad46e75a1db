import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { TableError } from './table.js'

const chunkBytes = 256 * 1024

/**
 * The bytes of a file, some at a time; those of a `.gz` are decompressed.
 * @throws TableError for a damaged `.gz`
 */
export async function* fileBytes(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const bytes of openBytes(path)) yield bytes as Buffer
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

/**
 * The text of a file, some at a time, without a byte order mark; U+FFFD for bytes that are not of
 * the encoding.
 * @throws TypeError for such bytes if `isFatal`
 */
export async function* fileText(
  path: string,
  encoding: string,
  isFatal = false,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: isFatal })
  for await (const bytes of fileBytes(path)) yield decoder.decode(bytes, { stream: true })
  yield decoder.decode()
}

/** Whether all bytes of a file are of the encoding. */
export async function isWholly(path: string, encoding: string): Promise<boolean> {
  try {
    for await (const text of fileText(path, encoding, true)) void text
    return true
  } catch (cause) {
    if (cause instanceof TypeError) return false
    throw cause
  }
}
