import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { isExisting, syncPath } from './private-file.js'

const keyBytes = 32

/**
 * The 256-bit key in this file; made once, durably and for the owner's eyes only (0600), and kept.
 *
 * @throws Error, for the operator, when the file is no key; the system's error otherwise.
 */
export function readKey(path: string): Buffer {
  if (!existsSync(path)) makeKey(path)
  const key = readFileSync(path)
  if (key.length === keyBytes) return key
  throw new Error(
    `${basename(path)} in the state folder is damaged; remove it to start with a new one`,
  )
}

/** Written aside, then linked into its place whole: of two processes, one makes the key. */
function makeKey(path: string): void {
  const draft = `${path}.${process.pid}`
  rmSync(draft, { force: true })
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, randomBytes(keyBytes))
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
