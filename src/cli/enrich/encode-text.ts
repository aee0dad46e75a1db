import { open } from 'node:fs/promises'
import { badRequest } from '../../errors.js'

/** Encodings in which a character is a byte. */
const single = /^(?:windows-\d+|iso-8859-\d+(?:-i)?|koi8-[ru]|ibm866|macintosh|x-mac-cyrillic)$/
const replacement = '?'.charCodeAt(0)

/**
 * Writes text in an encoding. Characters that it lacks become question marks, and `lost` hears how
 * many.
 * @throws bad_request for an encoding that is only read
 */
export function textEncoder(encoding: string, lost: (count: number) => void) {
  if (encoding === 'utf-8') return (text: string) => Buffer.from(text)
  if (encoding === 'utf-16le') return (text: string) => Buffer.from(text, 'utf16le')
  if (encoding === 'utf-16be') return (text: string) => Buffer.from(text, 'utf16le').swap16()
  if (!single.test(encoding)) {
    throw badRequest(`A list in ${encoding} can't be written again: save it as UTF-8.`)
  }
  const decoder = new TextDecoder(encoding)
  const bytes = Array.from({ length: 256 }, (_, byte) => byte)
  const known = new Map(bytes.map((byte) => [decoder.decode(Uint8Array.of(byte)), byte]))
  return (text: string) => {
    let count = 0
    const encoded = Buffer.from(
      Array.from(text, (letter) => {
        const byte = known.get(letter)
        count += byte === undefined ? 1 : 0
        return byte ?? replacement
      }),
    )
    if (count > 0) lost(count)
    return encoded
  }
}

/** The byte order mark at the start of a file, which readers leave out; empty without one. */
export async function markOf(path: string, encoding: string): Promise<string> {
  const mark = '\ufeff'
  if (!encoding.startsWith('utf-')) return ''
  const expected = textEncoder(encoding, () => undefined)(mark)
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(expected.length), 0)
  return buffer.subarray(0, bytesRead).equals(expected) ? mark : ''
}
