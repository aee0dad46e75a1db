import { statfsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isDamage } from '../control/store/failures.js'
import { restoreAdvice } from '../control/store/newest-backup.js'
import { ServiceError } from '../errors.js'

/** `server.db` holds what one server reports of itself when control.db is on a PostgreSQL. */
export type FileName = 'control.db' | 'server.db'

/** What to say of the codes of a cause. */
export interface FailureRule {
  readonly codes: RegExp
  /** What is wrong, and what to do. */
  readonly text: string
}

/** Texts for error codes of the system and of SQLite; the first rule that matches counts. */
const rules: readonly FailureRule[] = [
  {
    codes: /^(ENOSPC|EDQUOT|SQLITE_FULL)$/,
    text: 'the disk is full. Free some space, or use a folder on another disk',
  },
  {
    codes: /^(EROFS|SQLITE_READONLY\w*)$/,
    text: 'it is read-only for this user, or its file system is. Make it writable',
  },
  {
    codes: /^(EACCES|EPERM|SQLITE_(PERM|AUTH|CANTOPEN\w*|IOERR_ACCESS))$/,
    text:
      'this user may not read and write it. Run the command as the user of the service, or give ' +
      'that user the folder and its files: chown -R USER',
  },
  {
    codes: /^SQLITE_(BUSY\w*|LOCKED\w*|PROTOCOL)$/,
    text: 'another process holds control.db locked. Wait until it has finished, and try again',
  },
]

/** What SQLite makes beside a database in order to read it, and some more. */
const freeBytesMin = 64 * 1024

const remakeAdvice =
  'Stop the server and move server.db aside: the server makes it again, and loses nothing.'

const fewFilesText =
  'This process reached its limit of open files. Raise the limit: ' +
  '`ulimit -n 65536` in the shell, `LimitNOFILE=65536` in the systemd unit.'

/**
 * Explains an error of the system or SQLite by a file of the state folder; other errors stay as
 * they are.
 */
export function stateFailure(
  stateFolder: string,
  cause: unknown,
  file: FileName = 'control.db',
): unknown {
  const found = cause instanceof ServiceError ? cause.cause : cause
  const code: unknown = found instanceof Error && 'code' in found ? found.code : undefined
  if (typeof code !== 'string' || !/^(E[A-Z]+|SQLITE_\w+)$/.test(code)) return cause
  if (/^(EMFILE|ENFILE)$/.test(code)) return new Error(fewFilesText, { cause })
  const folder = resolve(stateFolder)
  const why = (found as Error).message
  const what = textOf(join(folder, file), code, why, found)
  const text = `${what} Name another folder with --state or DAS_STATE.`
  return new Error(text, { cause })
}

function textOf(path: string, code: string, why: string, found: unknown): string {
  const what = `The state folder ${dirname(path)} can't be used:`
  if (isDamage(found)) {
    const advice = basename(path) === 'server.db' ? remakeAdvice : restoreAdvice(path, true)
    return `${what} ${why}. ${advice}`
  }
  const known = code.startsWith('SQLITE_IOERR') && isFull(dirname(path)) ? 'SQLITE_FULL' : code
  const rule = rules.find(({ codes }) => codes.test(known))
  return rule ? `${what} ${rule.text} (${why}).` : `${what} ${why}.`
}

/** SQLite calls a full disk an I/O error where it can't make the files beside the database. */
function isFull(folder: string): boolean {
  try {
    const { bavail, bsize, blocks } = statfsSync(folder)
    return blocks > 0 && bavail * bsize < freeBytesMin
  } catch {
    return false
  }
}
