import { closeSync, existsSync, fsyncSync, linkSync, readFileSync, rmSync } from 'node:fs'
import { statSync, writeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Random } from '../../random.js'
import { createPrivateFile, isExisting, syncPath } from './private-file.js'

export const keyBytes = 32

/**
 * Reads the 256-bit key in this file. Creates the file once, durably, readable by its owner only
 * (0600). A key that root creates in another user's folder belongs to that user.
 *
 * @throws like `readKey`
 */
export function keyIn(path: string, random: Random): Buffer {
  if (!existsSync(path)) makeKey(path, random.bytes(keyBytes))
  return readKey(path)
}

/**
 * Reads the 256-bit key in this file.
 *
 * @throws Error, for the operator, when the file holds no key or this user can't read it; the
 *   system's error otherwise.
 */
export function readKey(path: string): Buffer {
  const key = readReadable(path)
  if (key.length === keyBytes) return key
  throw new Error(
    `${basename(path)} in the state folder is damaged; remove it to start with a new one`,
  )
}

function readReadable(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EACCES') throw cause
    const name = basename(path)
    throw new Error(
      `this user (uid ${process.geteuid?.()}) can't read ${name} in the state folder: it belongs ` +
        `to uid ${statSync(path).uid}. Give it to the user of the service: chown USER ${name}`,
      { cause },
    )
  }
}

/** Writes a draft, then links it into place: of two processes, only one creates the key. */
function makeKey(path: string, key: Buffer): void {
  const draft = `${path}.${process.pid}`
  rmSync(draft, { force: true })
  const file = createPrivateFile(draft)
  try {
    writeSync(file, key)
    fsyncSync(file)
    linkSync(draft, path)
  } catch (cause) {
    if (!isExisting(cause)) throw cause
  } finally {
    closeSync(file)
    rmSync(draft, { force: true })
  }
  syncPath(dirname(path))
}
