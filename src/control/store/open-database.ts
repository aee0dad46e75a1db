import Database from 'better-sqlite3'
import { controlMigrations, migrate, refuseNewer } from './migrations.js'
import type { BeforeUpgrade } from './migrations.js'
import { setPragmas } from './pragmas.js'
import type { Syncs } from './pragmas.js'

export const busyTimeoutMsDefault = 5000

export interface FileOptions {
  /** How long a statement blocks for another process's lock; then service_unavailable. */
  readonly busyTimeoutMs?: number
  /** `commit` when left out. */
  readonly syncs?: Syncs
  /** May refuse, by throwing, to upgrade an older schema. */
  readonly beforeUpgrade?: BeforeUpgrade
}

/** Opens a database for the store, migrated to this release's schema. */
export function openToWrite(path: string, options: FileOptions): Database.Database {
  const busyTimeoutMs = options.busyTimeoutMs ?? busyTimeoutMsDefault
  return opened(path, busyTimeoutMs, (db) => {
    setPragmas(db, busyTimeoutMs, options.syncs ?? 'commit')
    migrate(db, controlMigrations, options.beforeUpgrade)
  })
}

/** Opens a database read-only, as it is. */
export function openToRead(path: string): Database.Database {
  return opened(path, busyTimeoutMsDefault, (db) => {
    db.pragma('query_only = ON')
    refuseNewer(db, controlMigrations.length)
  })
}

function opened(
  path: string,
  timeout: number,
  prepare: (db: Database.Database) => void,
): Database.Database {
  const db = new Database(path, { timeout, fileMustExist: true })
  try {
    prepare(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Moves the write-ahead log into the database file, if nobody uses it, and closes the file. */
export function closeCheckpointed(db: Database.Database): void {
  if (!db.open) return
  try {
    db.pragma('busy_timeout = 0')
    db.pragma('wal_checkpoint(TRUNCATE)')
  } catch {
    // The log is durable, and the next process to open the file reads it.
  }
  db.close()
}
