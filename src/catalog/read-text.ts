import { readFile } from 'node:fs/promises'
import { FileError } from '../versions/opener.js'

/**
 * The text of a UTF-8 file, without a byte order mark.
 * @throws FileError for a file that is missing, unreadable or in another encoding
 */
export async function readText(path: string): Promise<string> {
  let bytes: Uint8Array
  try {
    bytes = await readFile(path)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new FileError(path, code === 'ENOENT' ? 'is not there' : `can't be read (${code})`, cause)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new FileError(path, 'is not UTF-8: save it in that encoding', cause)
  }
}
