import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { ensurePrivateFile } from './private-file.js'

/**
 * The steps of the control store's schema; step N (counted from 1) takes `user_version` N-1 to N.
 * A step that was released is never edited: a change is a new step at the end. All times are
 * milliseconds since the epoch, UTC.
 */
export const controlMigrations: readonly string[] = [
  `
  CREATE TABLE subscribers (
    id INTEGER PRIMARY KEY,
    email TEXT NOT NULL COLLATE NOCASE UNIQUE,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE subscriptions (
    id TEXT NOT NULL PRIMARY KEY,
    subscriber_id INTEGER NOT NULL REFERENCES subscribers (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    cancelled_at INTEGER,
    global_rows INTEGER CHECK (global_rows > 0)
  ) STRICT;

  CREATE TABLE grants (
    subscription_id TEXT NOT NULL REFERENCES subscriptions (id),
    dataset TEXT NOT NULL,
    plan TEXT NOT NULL,
    PRIMARY KEY (subscription_id, dataset)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    subscription_id TEXT NOT NULL REFERENCES subscriptions (id),
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    hint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
  ) STRICT;

  CREATE INDEX tokens_of_subscription ON tokens (subscription_id);

  -- Period before dataset: the newest period and the sum over datasets are one seek each.
  CREATE TABLE usage (
    subscription_id TEXT NOT NULL REFERENCES subscriptions (id),
    period TEXT NOT NULL CHECK (period GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]'),
    dataset TEXT NOT NULL,
    rows INTEGER NOT NULL CHECK (rows >= 0),
    PRIMARY KEY (subscription_id, period, dataset)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE dataset_state (
    dataset TEXT NOT NULL PRIMARY KEY,
    version TEXT,
    status TEXT NOT NULL,
    reason TEXT,
    rows INTEGER,
    updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
]

/**
 * Brings the database to the last of `migrations`, one IMMEDIATE transaction a step: a step that
 * fails leaves no trace, and of two processes that start together one applies it and the other
 * finds it done. A database that holds anything is first copied beside itself, durably and
 * readable by its owner only, as `<path>.before-v<N>`; an older copy of that name is replaced.
 *
 * @throws Error when the database is newer than `migrations`; SQLite's error when a step fails.
 */
export function migrate(db: Database.Database, migrations: readonly string[]): void {
  migrations.forEach((sql, index) => {
    if (versionOf(db) <= index) applyStep(db, sql, index + 1)
  })
  refuseNewer(db, migrations.length)
}

function applyStep(db: Database.Database, sql: string, version: number): void {
  const step = db.transaction(() => {
    // Read again under the lock: another process may have been quicker.
    if (versionOf(db) >= version) return
    if (!isEmpty(db)) backUp(db.name, `${db.name}.before-v${version}`)
    db.exec(sql)
    db.pragma(`user_version = ${version}`)
  })
  step.immediate()
}

function refuseNewer(db: Database.Database, versionMax: number): void {
  const version = versionOf(db)
  if (version <= versionMax) return
  throw new Error(
    `${db.name} was written by a newer release: its schema is version ${version}, this release ` +
      `knows versions up to ${versionMax}. Run the newer release, or restore an older backup.`,
  )
}

/** VACUUM can't run in a transaction; a second connection reads while the first holds the lock. */
function backUp(path: string, backupPath: string): void {
  rmSync(backupPath, { force: true })
  ensurePrivateFile(backupPath)
  const reader = new Database(path, { readonly: true })
  try {
    reader.prepare('VACUUM INTO ?').run(backupPath)
  } finally {
    reader.close()
  }
}

function versionOf(db: Database.Database): number {
  return Number(db.pragma('user_version', { simple: true }))
}

function isEmpty(db: Database.Database): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
}
