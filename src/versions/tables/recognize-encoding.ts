import { TableError } from './table.js'
import { fileBytes } from './decoded-text.js'

const marks: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/** Bytes at the start in which UTF-16 without a mark shows by its zeros. */
const headBytes = 4096
const zeroShareMin = 0.3
const cyrillicShareMin = 0.9
const pairedShareMin = 0.5

/**
 * The encoding of a file, from its byte order mark or from all its bytes: UTF-8, UTF-16 or
 * Windows-1251. A file that is mostly valid UTF-8 is UTF-8 with bad lines.
 * @throws TableError if no encoding is likely
 */
export async function recognizeEncoding(path: string, file: string): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isFirst = true
  try {
    for await (const bytes of fileBytes(path)) {
      const sure = isFirst ? markedEncoding(bytes) : null
      if (sure !== null) return sure
      isFirst = false
      decoder.decode(bytes, { stream: true })
    }
    decoder.decode()
    return 'utf-8'
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
  }
  return await likelyEncoding(path, file)
}

function markedEncoding(bytes: Buffer): string | null {
  for (const [encoding, mark] of marks) {
    if (mark.every((byte, index) => bytes[index] === byte)) return encoding
  }
  const head = bytes.subarray(0, headBytes)
  const zeros = [0, 0]
  for (const [index, byte] of head.entries()) {
    if (byte === 0) zeros[index % 2] = zeroAt(zeros, index)
  }
  const isMany = (count = 0) => count > (head.length / 2) * zeroShareMin
  if (isMany(zeros[1]) && !isMany(zeros[0])) return 'utf-16le'
  if (isMany(zeros[0]) && !isMany(zeros[1])) return 'utf-16be'
  return null
}

function zeroAt(zeros: readonly number[], index: number): number {
  return (zeros[index % 2] ?? 0) + 1
}

/**
 * In Russian words, letters of Windows-1251 stand side by side. In Western languages a letter with
 * an accent stands alone.
 */
async function likelyEncoding(path: string, file: string): Promise<string> {
  const decoder = new TextDecoder('utf-8')
  let [high, paired, cyrillic, wrong, right] = [0, 0, 0, 0, 0]
  let last = 0
  for await (const chunk of fileBytes(path)) {
    for (const byte of chunk) {
      if (byte >= 0x80) {
        high += 1
        if (last >= 0x80) paired += 1
        if (byte >= 0xc0 || otherLetters.has(byte)) cyrillic += 1
      }
      last = byte
    }
    for (const letter of decoder.decode(chunk, { stream: true })) {
      if (letter === '\ufffd') wrong += 1
      else if (letter > '\x7f') right += 1
    }
  }
  if (right >= wrong) return 'utf-8'
  if (cyrillic / high >= cyrillicShareMin && paired / high >= pairedShareMin) return 'windows-1251'
  throw new TableError([
    `error: ${file} is not UTF-8, and its encoding can't be recognised.`,
    'Name it with --encoding, for example --encoding windows-1252 or ibm866.',
  ])
}

/** ё, Ё, №, quotation marks, dashes and the no-break space in Windows-1251. */
const otherLetters: ReadonlySet<number> = new Set([
  0xb8, 0xa8, 0xb9, 0xab, 0xbb, 0x93, 0x94, 0x84, 0x96, 0x97, 0xa0,
])
