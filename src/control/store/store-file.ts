import { statSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import Database from 'better-sqlite3'
import { damage } from './failures.js'
import { controlMigrations, refuseNewer, versionOf } from './migrations.js'

/** Identifies the file at a path by device and inode; null without one. */
export function fileIdentity(path: string): string | null {
  const found = statIfAny(path)
  return found && `${found.dev}:${found.ino}`
}

/** The identity of the file at a path, with size and times: changes with the file. */
export function fileState(path: string): string | null {
  const found = statIfAny(path)
  return found && `${found.dev}:${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`
}

/**
 * Checks the structure of the whole database: about 2.5 ms for each MB, 0.1 s for 20,000
 * subscriptions with a year of usage. It finds damaged pages; it does not compare indexes with
 * tables.
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
 * @throws SqliteError when it is damaged or not a control store; Error when it is newer than this
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

/** The first line that is not one of SQLite's headings, which name the database. */
function firstFinding(found: string): string {
  return found.split('\n').find((line) => !line.startsWith('***')) ?? found
}

/** Null also when the folder can't be read. */
function statIfAny(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true })
  } catch {
    return null
  }
}
