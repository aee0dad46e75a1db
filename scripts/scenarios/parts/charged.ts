import Database from 'better-sqlite3'
import { PostgresStore } from '../../../src/control/postgres/postgres-store.js'
import { machine } from '../../../test/support/machine.js'
import { Fault } from '../../harness/fault.js'
import type { Charged } from './rule.js'

const sql = 'SELECT subscription_id AS subscription, dataset, period, rows FROM usage'

/**
 * Reads control.db as a crash left it, its write-ahead log included, and leaves it so for the next
 * start: a connection that only reads checkpoints nothing.
 *
 * @throws Fault where SQLite finds damage
 */
export function readCharged(folder: string): readonly Charged[] {
  const path = `${folder}/state/control.db`
  const db = new Database(path, { readonly: true, fileMustExist: true })
  try {
    const integrity = db.pragma('integrity_check', { simple: true })
    const orphans = db.pragma('foreign_key_check')
    const isWell = integrity === 'ok' && Array.isArray(orphans) && orphans.length === 0
    if (!isWell) throw new Fault(`damaged: ${String(integrity)}, ${JSON.stringify(orphans)}`)
    return db.prepare<[], Charged>(sql).all()
  } catch (cause) {
    throw cause instanceof Database.SqliteError ? new Fault(`control.db: ${cause.message}`) : cause
  } finally {
    db.close()
  }
}

/** Reads what a PostgreSQL holds. */
export async function readChargedOf(url: string): Promise<readonly Charged[]> {
  const store = PostgresStore.open(url, { ...machine, size: 1 })
  try {
    return await store.all<Charged>(sql)
  } finally {
    await store.close()
  }
}
