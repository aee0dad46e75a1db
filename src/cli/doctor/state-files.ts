import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { keyNames } from '../../control/keys.js'
import { keyBytes } from '../../control/store/key-file.js'
import { fail, ok, reasonOf, warn } from './finding.js'
import type { Finding } from './finding.js'

const check = 'state folder'
/** The bits of a mode that let others in. */
const others = 0o077

/** Whether the state folder and its files belong to one user and are closed to all others. */
export function stateFileFindings(folder: string): readonly Finding[] {
  try {
    const owner = statSync(folder)
    if (!owner.isDirectory()) return [fail(check, `${folder} is not a folder`, nameAnother)]
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    const names = readdirSync(folder).filter((name) => name !== 'tmp')
    const files = names.flatMap((name) => fileFindings(owner, join(folder, name), name))
    const wrong = [...folderFindings(owner, folder), ...files, ...keyFindings(folder, names)]
    return wrong.length > 0 ? wrong : [ok(check, `${folder}, closed to other users`)]
  } catch (cause) {
    return [unusable(folder, cause)]
  }
}

const nameAnother = 'name the folder of the service with --state or DAS_STATE'

function unusable(folder: string, cause: unknown): Finding {
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT') return fail(check, `there is no ${folder}`, nameAnother)
  if (code === 'EACCES' || code === 'EROFS') {
    const why = code === 'EROFS' ? 'its file system is read-only' : "this user can't use it"
    return fail(check, `${folder}: ${why}`, 'run the command as root or as the user of the service')
  }
  return fail(check, reasonOf(cause), nameAnother)
}

function folderFindings({ mode }: Stats, folder: string): readonly Finding[] {
  if ((mode & others) === 0) return []
  return [fail(check, `${folder} has mode ${octal(mode)}: others see it`, `chmod 700 ${folder}`)]
}

function fileFindings({ uid, gid }: Stats, path: string, name: string): readonly Finding[] {
  const found = statSync(path)
  const findings: Finding[] = []
  if (found.uid !== uid && (found.isFile() || name === 'versions')) {
    const what = `${name} belongs to uid ${found.uid}, the folder to uid ${uid}`
    findings.push(fail(check, what, `chown ${uid}:${gid} ${path}`))
  }
  if (found.isFile() && (found.mode & others) !== 0) {
    const what = `${name} has mode ${octal(found.mode)}: others may use it`
    findings.push(fail(check, what, `chmod 600 ${path}`))
  }
  return findings
}

/** Other missing keys are made when they are first needed. */
function keyFindings(folder: string, names: readonly string[]): readonly Finding[] {
  const keys = keyNames.filter((name) => names.includes(name))
  const damaged = keys
    .filter((name) => statSync(join(folder, name)).size !== keyBytes)
    .map((name) => fail(check, `${name} is damaged`, 'docs/runbook.md says how to replace it'))
  if (keys.includes('cursor.key') || !names.includes('control.db')) return damaged
  const advice = 'put it back, or let the next start make one: the cursors of clients then end'
  return [...damaged, warn(check, 'cursor.key is missing', advice)]
}

function octal(mode: number): string {
  return `0${(mode & 0o777).toString(8)}`
}
