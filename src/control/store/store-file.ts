import { statSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import Database from 'better-sqlite3'
import { damage } from './failures.js'
import { controlMigrations, refuseNewer, versionOf } from './migrations.js'

/** Which file lies at a path, whatever it holds: device and inode; null where none can be found. */
export function fileIdentity(path: string): string | null {
  const found = statIfAny(path)
  return found && `${found.dev}:${found.ino}`
}

/** The same, and another text after each change of the file. */
export function fileState(path: string): string | null {
  const found = statIfAny(path)
  return found && `${found.dev}:${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`
}

/**
 * Reads the structure of the whole database: about 2.5 ms for each MB, 0.1 s for 20,000
 * subscriptions with a year of usage. It finds pages that are not what they should be; it does not
 * compare indexes with tables.
 *
 * @throws SqliteError (SQLITE_CORRUPT, SQLITE_NOTADB) when it is damaged
 */
export function checkStructure(db: Database.Database): void {
  const found = db.pragma('quick_check(1)', { simple: true })
  if (found !== 'ok') throw damage(firstFinding(String(found)))
}

/**
 * Checks the structure of a file before anything is written to it.
 *
 * @throws SqliteError when it is damaged or no control store; Error when it is newer than this
 *   release
 */
export function checkStoreFile(path: string): void {
  const db = new Database(path, { readonly: true })
  try {
    checkStructure(db)
    if (versionOf(db) === 0) throw damage('it holds no subscriptions')
    refuseNewer(db, controlMigrations.length)
  } finally {
    db.close()
  }
}

/** Without SQLite's headings, which name the database. */
function firstFinding(found: string): string {
  return found.split('\n').find((line) => !line.startsWith('***')) ?? found
}

/** A folder that can't be read has no file for us either: the caller then refuses to go on. */
function statIfAny(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true })
  } catch {
    return null
  }
}
