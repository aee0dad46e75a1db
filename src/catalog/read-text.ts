import { readFile, stat } from 'node:fs/promises'
import { FileError } from '../versions/opener.js'

/** Far more than a registry, a dictionary or a list of codes needs; reading it stops all else. */
const bytesMax = 4_000_000

/**
 * The text of a UTF-8 file, without a byte order mark.
 * @throws FileError for a file that is missing, unreadable, too large or in another encoding
 */
export async function readText(path: string): Promise<string> {
  let bytes: Uint8Array
  try {
    const { size } = await stat(path)
    if (size > bytesMax) {
      throw new FileError(path, `has ${size} bytes, and at most ${bytesMax} are read`)
    }
    bytes = await readFile(path)
  } catch (cause) {
    if (cause instanceof FileError) throw cause
    const { code } = cause as NodeJS.ErrnoException
    throw new FileError(path, code === 'ENOENT' ? 'is not there' : `can't be read (${code})`, cause)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new FileError(path, 'is not UTF-8: save it in that encoding', cause)
  }
}
