import { join, resolve } from 'node:path'
import { isDamage } from '../control/store/failures.js'
import { restoreAdvice } from '../control/store/newest-backup.js'
import { ServiceError } from '../errors.js'

interface Rule {
  readonly codes: RegExp
  /** What is wrong, and what to do. */
  readonly text: string
}

/** Texts for error codes of the system and of SQLite; the first rule that matches counts. */
const rules: readonly Rule[] = [
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

const fewFilesText =
  'This process reached its limit of open files. Raise the limit: ' +
  '`ulimit -n 65536` in the shell, `LimitNOFILE=65536` in the systemd unit.'

/** Explains an error of the system or SQLite by the state folder; other errors stay as they are. */
export function stateFailure(stateFolder: string, cause: unknown): unknown {
  const found = cause instanceof ServiceError ? cause.cause : cause
  const code: unknown = found instanceof Error && 'code' in found ? found.code : undefined
  if (typeof code !== 'string' || !/^(E[A-Z]+|SQLITE_\w+)$/.test(code)) return cause
  if (/^(EMFILE|ENFILE)$/.test(code)) return new Error(fewFilesText, { cause })
  const folder = resolve(stateFolder)
  const why = (found as Error).message
  const text = `${textOf(folder, code, why, found)} Name another folder with --state or DAS_STATE.`
  return new Error(text, { cause })
}

function textOf(folder: string, code: string, why: string, found: unknown): string {
  const what = `The state folder ${folder} can't be used:`
  if (isDamage(found)) {
    return `${what} ${why}. ${restoreAdvice(join(folder, 'control.db'), true)}`
  }
  const rule = rules.find(({ codes }) => codes.test(code))
  return rule ? `${what} ${rule.text} (${why}).` : `${what} ${why}.`
}
