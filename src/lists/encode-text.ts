import { badRequest } from '../errors.js'
import { firstBytes } from '../versions/tables/byte-text.js'
import type { ReadBytes } from '../versions/tables/table.js'

/** Encodings in which a character is a byte. */
const single = /^(?:windows-\d+|iso-8859-\d+(?:-i)?|koi8-[ru]|ibm866|macintosh|x-mac-cyrillic)$/
const replacement = '?'.charCodeAt(0)

/**
 * Writes text in an encoding. Characters that it lacks become question marks, and `lost` hears how
 * many.
 * @throws bad_request for an encoding that is only read
 */
export function textEncoder(
  encoding: string,
  lost: (count: number) => void,
): (text: string) => Uint8Array {
  const encoder = new TextEncoder()
  if (encoding === 'utf-8') return (text) => encoder.encode(text)
  if (encoding.startsWith('utf-16')) return (text) => inUnits(text, encoding === 'utf-16le')
  if (!single.test(encoding)) {
    throw badRequest(`A list in ${encoding} can't be written again: save it as UTF-8.`)
  }
  const decoder = new TextDecoder(encoding)
  const bytes = Array.from({ length: 256 }, (_, byte) => byte)
  const known = new Map(bytes.map((byte) => [decoder.decode(Uint8Array.of(byte)), byte]))
  return (text) => {
    let count = 0
    const encoded = Uint8Array.from(
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
export async function markOf(bytes: ReadBytes, encoding: string): Promise<string> {
  const mark = '\ufeff'
  if (!encoding.startsWith('utf-')) return ''
  const expected = textEncoder(encoding, () => undefined)(mark)
  const first = await firstBytes(bytes)
  return expected.every((byte, at) => first[at] === byte) ? mark : ''
}

function inUnits(text: string, isLittle: boolean): Uint8Array {
  const units = new DataView(new ArrayBuffer(text.length * 2))
  for (let at = 0; at < text.length; at++) units.setUint16(at * 2, text.charCodeAt(at), isLittle)
  return new Uint8Array(units.buffer)
}
