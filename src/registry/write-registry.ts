import type { Stats } from 'node:fs'
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Random } from '../random.js'

/** A registry's text before a change. */
export interface RegistryText {
  readonly path: string
  /** Null if there is no file. */
  readonly text: string | null
}

const modeBits = 0o7777

/**
 * Reads a registry for a change, byte for byte.
 * @throws the system's error if the file can't be read; Error if it is not UTF-8
 */
export async function readRegistryText(path: string): Promise<RegistryText> {
  return { path, text: await textOf(path) }
}

/**
 * Replaces a registry's text atomically: a reader finds the whole old or the whole new text. Keeps
 * the file's permissions and a symbolic link to it.
 * @throws Error if the file has changed since it was read; the system's error
 */
export async function writeRegistry(
  read: RegistryText,
  text: string,
  random: Random,
): Promise<void> {
  const target = read.text === null ? read.path : await realpath(read.path)
  const temp = join(dirname(target), `.${basename(target)}.${random.bytes(6).toString('hex')}`)
  try {
    await writeDurably(temp, text, read.text === null ? null : await stat(target))
    if ((await textOf(read.path)) !== read.text) {
      throw new Error(`${basename(read.path)} has changed; nothing was written, try again`)
    }
    await rename(temp, target)
  } catch (cause) {
    await rm(temp, { force: true })
    throw cause
  }
  await syncFolder(dirname(target))
}

async function textOf(path: string): Promise<string | null> {
  try {
    const bytes = await readFile(path)
    // Keeps a byte order mark, to write back what was read.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    if (cause instanceof TypeError) throw new Error(`${basename(path)} is not UTF-8`, { cause })
    throw cause
  }
}

/** Gives the file the mode of the one that it replaces and, as root, its owner. */
async function writeDurably(path: string, text: string, like: Stats | null): Promise<void> {
  await using file = await open(path, 'wx')
  if (like && process.getuid?.() === 0) await file.chown(like.uid, like.gid)
  if (like) await file.chmod(like.mode & modeBits)
  await file.writeFile(text)
  await file.sync()
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r')
  await folder.sync()
}
