import Database from 'better-sqlite3'
import type { Charged } from './rule.js'

/** What control.db holds while no server runs. */
export interface ChargedRows {
  readonly charged: readonly Charged[]
  /** What SQLite finds wrong with the file; null = nothing. */
  readonly damage: string | null
}

/**
 * Reads the database as a crash left it, its write-ahead log included, and leaves it so for the
 * next start: a connection that only reads checkpoints nothing.
 */
export function readChargedRows(path: string): ChargedRows {
  const db = new Database(path, { readonly: true, fileMustExist: true })
  try {
    const damage = damageOf(db)
    if (damage !== null) return { charged: [], damage }
    const sql = 'SELECT subscription_id AS subscription, dataset, period, rows FROM usage'
    return { charged: db.prepare<[], Charged>(sql).all(), damage }
  } catch (cause) {
    if (cause instanceof Database.SqliteError) return { charged: [], damage: cause.message }
    throw cause
  } finally {
    db.close()
  }
}

function damageOf(db: Database.Database): string | null {
  const integrity = db.pragma('integrity_check', { simple: true })
  if (integrity !== 'ok') return `integrity_check: ${String(integrity)}`
  const orphans = db.pragma('foreign_key_check')
  if (Array.isArray(orphans) && orphans.length === 0) return null
  return `foreign_key_check: ${JSON.stringify(orphans)}`
}
