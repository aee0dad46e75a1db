import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { ensurePrivateFile, syncPath } from './private-file.js'
import type { SqliteFile } from './sqlite-file.js'
import { vacuumInto } from './vacuum.js'

/** The contents of a backup, counted in the copy. */
export interface Backup {
  readonly sizeBytes: number
  readonly subscriptions: number
  readonly tokens: number
  /** Rows of the usage table: one for each subscription, month and dataset. */
  readonly usage: number
  /** Waiting letters; their tokens can be read only with this state folder's mail.key. */
  readonly letters: number
}

/**
 * Copies the store into a new file that only the owner can read (0600), while other processes read
 * and write it. The copy is synced and verified before it gets its name.
 *
 * @throws Error, for the operator, when the file exists, can't be written, or the copy is damaged;
 *   then no file is left.
 */
export function backUp(store: SqliteFile, path: string): Backup {
  if (existsSync(path)) {
    throw new Error(`${path} exists already: name a new file, or remove that one.`)
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

/** Verifies a copy of the store. @throws Error with the results of the checks */
function verify(path: string, version: unknown): Backup {
  const db = new Database(path, { readonly: true })
  try {
    const found = [
      db.pragma('integrity_check', { simple: true }),
      (db.pragma('foreign_key_check') as unknown[]).length,
      db.pragma('user_version', { simple: true }),
    ]
    if (JSON.stringify(found) !== JSON.stringify(['ok', 0, version])) {
      throw new Error(`The copy is damaged: ${JSON.stringify(found)}.`)
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
