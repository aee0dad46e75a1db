import { chmodSync, chownSync, closeSync, fchownSync, fstatSync, fsyncSync } from 'node:fs'
import { lchownSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const folderMode = 0o700
const fileMode = 0o600

/**
 * Guarantees that `path` exists and that only its owner can read it (0600), whatever the umask. New
 * folders get 0700, existing folders keep their mode. SQLite gives `-wal` and `-shm` the mode and
 * the owner of the database file.
 *
 * An existing file is never opened: closing any descriptor of a database drops the POSIX locks that
 * this process holds on it (sqlite.org/howtocorrupt.html, 2.2).
 *
 * @throws the system's error (EACCES, EPERM, EROFS, …), for the operator.
 */
export function ensurePrivateFile(path: string): void {
  makePrivateFolder(resolve(dirname(path)))
  try {
    closeSync(createPrivateFile(path))
  } catch (error) {
    if (!isExisting(error)) throw error
  }
  chmodSync(path, fileMode)
}

/**
 * Makes a folder, with those above it, that only its owner can read (0700).
 * What root creates in another user's folder belongs to that user, like a file in it.
 *
 * @throws the system's error
 */
export function makePrivateFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: folderMode })
  if (first === undefined || process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(first))
  for (let made = path; made.length >= first.length; made = dirname(made)) {
    chownSync(made, uid, gid)
  }
}

/**
 * Creates a file that only its owner can read (0600) and returns its descriptor. A file that root
 * creates in another user's folder belongs to that user: a command run as root must not lock the
 * service out.
 *
 * @throws the system's error; EEXIST when the file exists.
 */
export function createPrivateFile(path: string): number {
  const file = openSync(path, 'wx', fileMode)
  try {
    const folder = statSync(dirname(path))
    const made = fstatSync(file)
    const isForeign = folder.uid !== made.uid || folder.gid !== made.gid
    if (process.geteuid?.() === 0 && isForeign) fchownSync(file, folder.uid, folder.gid)
    return file
  } catch (cause) {
    closeSync(file)
    throw cause
  }
}

/**
 * Gives what this process has just made to the owner of the folder that it is in, if this is root:
 * files that an engine writes can't be created by `createPrivateFile`.
 *
 * @throws the system's error
 */
export function giveToFolderOwner(path: string): void {
  if (process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(path))
  // Never the target of a link: the owner of the folder may have put one in its place.
  lchownSync(path, uid, gid)
}

/** Syncs a file, or the names in a folder, to the disk. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Whether a file could not be created because it exists. */
export function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}
