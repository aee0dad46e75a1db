import { readFileSync, readdirSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { closeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createPrivateFile } from './private-file.js'

/** Where and when control.db was copied. */
export interface KnownBackup {
  readonly path: string
  /** Ms since the epoch. */
  readonly madeAt: number
}

const recordName = 'last-backup.json'

/** Saves the path of the last backup in the state folder: after damage the server names it. */
export function noteBackup(storePath: string, backup: KnownBackup): void {
  const path = join(dirname(storePath), recordName)
  const draft = `${path}.${process.pid}`
  rmSync(draft, { force: true })
  const file = createPrivateFile(draft)
  try {
    writeSync(file, `${JSON.stringify(backup)}\n`)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}

/**
 * The newest known copy of this control.db: the last one by `das backup`, or one that an upgrade
 * left beside it.
 */
export function newestBackup(storePath: string): KnownBackup | null {
  const known = [readNote(storePath), ...upgradeCopies(storePath)].filter((each) => each !== null)
  return known.sort((left, right) => right.madeAt - left.madeAt)[0] ?? null
}

/** How to restore a damaged control.db, for the operator. `withPath`: with the backup's folder. */
export function restoreAdvice(storePath: string, withPath: boolean): string {
  const backup = newestBackup(storePath)
  const how = 'docs/operating.md, "Restore", says how to put a backup in its place.'
  if (!backup) return `No backup of it is known in the state folder. ${how}`
  const name = withPath ? backup.path : basename(backup.path)
  return `The newest known backup is ${name} of ${new Date(backup.madeAt).toISOString()}. ${how}`
}

/** Null when the note is missing or can't be read: it is only a hint. */
function readNote(storePath: string): KnownBackup | null {
  try {
    const note: unknown = JSON.parse(readFileSync(join(dirname(storePath), recordName), 'utf8'))
    return isBackup(note) ? note : null
  } catch {
    return null
  }
}

function isBackup(note: unknown): note is KnownBackup {
  if (typeof note !== 'object' || note === null) return false
  const { path, madeAt } = note as Partial<Record<keyof KnownBackup, unknown>>
  return typeof path === 'string' && Number.isSafeInteger(madeAt)
}

function upgradeCopies(storePath: string): readonly KnownBackup[] {
  const prefix = `${basename(storePath)}.before-v`
  try {
    return readdirSync(dirname(storePath))
      .filter((name) => name.startsWith(prefix))
      .map((name) => join(dirname(storePath), name))
      .map((path) => ({ path, madeAt: Math.floor(statSync(path).mtimeMs) }))
  } catch {
    return []
  }
}
