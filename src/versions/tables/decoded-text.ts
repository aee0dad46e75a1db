import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { badRequest } from '../../errors.js'
import { quoted } from '../../text.js'
import { TableError } from './table.js'
import type { BadLines } from './table.js'

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
    throw new TableError([`error: the gzip file is damaged or cut (${code})`])
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
 * The label of an encoding, in lower case.
 * @throws bad_request for an unknown encoding
 */
export function requireEncoding(label: string): string {
  try {
    return new TextDecoder(label).encoding
  } catch {
    throw badRequest(
      `${quoted(label)} is not a known encoding. Known are utf-8, utf-16le, utf-16be, ` +
        'windows-1251, windows-1252, ibm866, koi8-r and others of the Encoding Standard.',
    )
  }
}

/** Bytes that are not of the encoding. */
class BadBytes extends Error {}

interface TextPart {
  readonly text: string
  /** No text follows. */
  readonly isEnd: boolean
}

/**
 * The text of a file, some at a time, without a byte order mark. If some bytes are not of the
 * encoding, or a character is NUL, their lines are reported, and no part is the end.
 */
export async function* decodedText(
  path: string,
  encoding: string,
  bad: BadLines,
): AsyncGenerator<TextPart> {
  try {
    for await (const text of chunks(path, encoding, true)) {
      if (text.includes('\0')) throw new BadBytes()
      yield { text, isEnd: false }
    }
    yield { text: '', isEnd: true }
  } catch (cause) {
    if (!(cause instanceof BadBytes)) throw cause
    await reportBadBytes(path, encoding, bad)
  }
}

/** The text of the beginning of a file, of at least this many characters if it has as many. */
export async function beginningOf(path: string, encoding: string, letters: number) {
  let beginning = ''
  for await (const text of chunks(path, encoding, false)) {
    beginning += text
    if (beginning.length >= letters) break
  }
  return beginning
}

async function* chunks(path: string, encoding: string, fatal: boolean): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal })
  const decode = (bytes?: Buffer) => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()
    } catch (cause) {
      throw new BadBytes('bytes of another encoding', { cause })
    }
  }
  for await (const bytes of fileBytes(path)) yield decode(bytes)
  yield decode()
}

async function reportBadBytes(path: string, encoding: string, bad: BadLines): Promise<void> {
  let [line, reported, endsInReturn] = [1, 0, false]
  for await (const text of chunks(path, encoding, false)) {
    // A line may end between the two characters of a line break.
    const rest = endsInReturn && text.startsWith('\n') ? text.slice(1) : text
    endsInReturn = text.endsWith('\r')
    for (const [index, part] of rest.split(/\r\n|\r|\n/).entries()) {
      if (index > 0) line += 1
      if (line === reported || !/[\ufffd\0]/.test(part)) continue
      reported = line
      const what = part.includes('\0') ? 'a NUL character' : `bytes that are not ${encoding}`
      bad.add(line, `${what}: ${quoted(part.trim().slice(0, 60))}`)
    }
  }
}
