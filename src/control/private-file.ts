import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

const folderMode = 0o700
const fileMode = 0o600

/**
 * Guarantees that `path` exists and that only its owner can read it (0600), whatever the umask;
 * folders made on the way are 0700, folders that exist keep their mode. SQLite gives `-wal` and
 * `-shm` the mode of the database file, so those follow.
 *
 * An existing file is never opened: closing any descriptor of a database drops the POSIX locks that
 * this process holds on it (sqlite.org/howtocorrupt.html, 2.2).
 *
 * @throws the system's error (EACCES, EPERM, EROFS, …), for the operator.
 */
export function ensurePrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: folderMode })
  try {
    closeSync(openSync(path, 'wx', fileMode))
  } catch (error) {
    if (!isExisting(error)) throw error
  }
  chmodSync(path, fileMode)
}

/** Makes a file, or the names in a folder, durable. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Whether the system refused to make a file because there is one of that name. */
export function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}
