import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { ensurePrivateFile, syncPath } from './private-file.js'
import type { ControlStore } from './store.js'
import { vacuumInto } from './vacuum.js'

/** What a backup holds, counted in the backup itself. */
export interface Backup {
  readonly sizeBytes: number
  readonly subscriptions: number
  readonly tokens: number
  /** Months × datasets × subscriptions that were charged. */
  readonly usage: number
  /** Letters that wait; their tokens can be read only with the state folder's own mail.key. */
  readonly letters: number
}

/**
 * Copies the store, as it is at this moment, into a new file for the owner's eyes only (0600),
 * while others read and write it. The copy is on disk, was opened, and was found whole before it
 * gets its name: a file of that name is a good backup.
 *
 * @throws Error, for the operator, when there is such a file already, when it can't be written, or
 *   when the copy is not whole; nothing is left behind then.
 */
export function backUp(store: ControlStore, path: string): Backup {
  if (existsSync(path)) {
    throw new Error(`${path} is there already: name a new file, or remove that one.`)
  }
  if (!existsSync(dirname(path))) throw new Error(`There is no folder ${dirname(path)}.`)
  const draft = `${path}.${process.pid}.partial`
  rmSync(draft, { force: true })
  try {
    ensurePrivateFile(draft)
    vacuumInto(store.db.name, draft)
    syncPath(draft)
    const backup = verify(draft, store.db.pragma('user_version', { simple: true }))
    renameSync(draft, path)
    syncPath(dirname(path))
    return backup
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Opens a copy of the store and looks whether it is whole. @throws Error naming what is not */
function verify(path: string, version: unknown): Backup {
  const db = new Database(path, { readonly: true })
  try {
    const found = [
      db.pragma('integrity_check', { simple: true }),
      (db.pragma('foreign_key_check') as unknown[]).length,
      db.pragma('user_version', { simple: true }),
    ]
    if (JSON.stringify(found) !== JSON.stringify(['ok', 0, version])) {
      throw new Error(`The copy is not whole: ${JSON.stringify(found)}.`)
    }
    const count = (sql: string) => Number(db.prepare(sql).pluck().get())
    return {
      sizeBytes: statSync(path).size,
      subscriptions: count('SELECT count(*) FROM subscriptions'),
      tokens: count('SELECT count(*) FROM tokens'),
      usage: count('SELECT count(*) FROM usage'),
      letters: count("SELECT count(*) FROM letters WHERE state = 'waiting'"),
    }
  } finally {
    db.close()
  }
}
