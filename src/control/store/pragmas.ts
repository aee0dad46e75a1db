import Database from 'better-sqlite3'

const retryPauseMs = 10

/**
 * When a commit becomes durable: `commit` = before it returns (better-sqlite3 compiles in NORMAL,
 * which a power cut can roll back); `later` = when the caller has synced the write-ahead log.
 */
export type Syncs = 'commit' | 'later'

const synchronous: Readonly<Record<Syncs, string>> = { commit: 'FULL', later: 'NORMAL' }

/**
 * Sets up a connection: write-ahead log, synced as `syncs` says, foreign keys enforced.
 *
 * @throws Error when the file system does not support a write-ahead log; SQLite's error otherwise.
 */
export function setPragmas(db: Database.Database, busyTimeoutMs: number, syncs: Syncs): void {
  const journalMode = switchToWriteAheadLog(db, busyTimeoutMs)
  if (journalMode !== 'wal') {
    throw new Error(`${db.name} can't have a write-ahead log here (mode ${String(journalMode)})`)
  }
  db.pragma(`synchronous = ${synchronous[syncs]}`)
  db.pragma('foreign_keys = ON')
}

/**
 * Retries: of two processes that open a new database together, SQLite refuses one at once, in spite
 * of `busy_timeout`, because each holds a read lock that the other's switch waits for.
 */
function switchToWriteAheadLog(db: Database.Database, busyTimeoutMs: number): unknown {
  // The pauses are the whole wait.
  db.pragma('busy_timeout = 0')
  for (let waitedMs = 0; ; waitedMs += retryPauseMs) {
    try {
      const journalMode = db.pragma('journal_mode = WAL', { simple: true })
      db.pragma(`busy_timeout = ${busyTimeoutMs}`)
      return journalMode
    } catch (error) {
      if (!isBusy(error) || waitedMs >= busyTimeoutMs) throw error
    }
    pause()
  }
}

/** Whether SQLite gave up on another connection's lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}

/** Blocks the thread: a store is opened before requests are served. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryPauseMs)
}
