import type { ReadBytes } from './table.js'

/** The first bytes of a file, as many as are read at a time. */
export async function firstBytes(bytes: ReadBytes): Promise<Uint8Array> {
  const all = bytes()[Symbol.asyncIterator]()
  const { value, done } = await all.next()
  await all.return?.()
  return done ? Uint8Array.of() : value
}

/**
 * The text of a file, some at a time, without a byte order mark; U+FFFD for bytes that are not of
 * the encoding.
 * @throws TypeError for such bytes if `isFatal`
 */
export async function* textIn(
  bytes: ReadBytes,
  encoding: string,
  isFatal = false,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: isFatal })
  for await (const part of bytes()) yield decoder.decode(part, { stream: true })
  yield decoder.decode()
}

/** Whether all bytes of a file are of the encoding. */
export async function isWholly(bytes: ReadBytes, encoding: string): Promise<boolean> {
  try {
    for await (const text of textIn(bytes, encoding, true)) void text
    return true
  } catch (cause) {
    if (cause instanceof TypeError) return false
    throw cause
  }
}
