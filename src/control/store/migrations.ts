import { rmSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { connectionTables } from './connection-tables.js'
import { agreementTable, grantTables, serverTables } from './first-tables.js'
import { laterSteps } from './later-steps.js'
import { ensurePrivateFile } from './private-file.js'
import type { SchemaWords } from './schema-words.js'
import { codeTable, letterIndexes, letterTable, orderTables } from './shop-tables.js'
import { vacuumInto } from './vacuum.js'

const words: SchemaWords = {
  integer: 'INTEGER',
  text: 'TEXT',
  bytes: 'BLOB',
  id: 'INTEGER PRIMARY KEY',
  email: 'TEXT COLLATE NOCASE',
  emailKey: 'email',
  json: (column) => `TEXT NOT NULL CHECK (json_valid(${column}))`,
  listLength: (column) => `json_array_length(${column})`,
  isMonth: "period GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]'",
  yearOf: (column) => `CAST(strftime('%Y', ${column} / 1000, 'unixepoch') AS INTEGER)`,
  orderId: "printf('ord_%016d', a.id)",
  anyPurpose: `
  ALTER TABLE email_codes ADD COLUMN purposes TEXT NOT NULL DEFAULT '';
  UPDATE email_codes SET purposes = purpose;
  ALTER TABLE email_codes DROP COLUMN purpose;
  ALTER TABLE email_codes RENAME COLUMN purposes TO purpose;
  `,
  end: 'STRICT',
  keyed: 'STRICT, WITHOUT ROWID',
}

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
  ${grantTables(words)}
  CREATE TABLE dataset_state (
    dataset TEXT NOT NULL PRIMARY KEY,
    version TEXT,
    status TEXT NOT NULL,
    reason TEXT,
    rows INTEGER,
    updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The day of the month on which paid time ends, in months that have it.
  ALTER TABLE subscriptions ADD COLUMN anchor_day INTEGER NOT NULL DEFAULT 1
    CHECK (anchor_day BETWEEN 1 AND 31);
  UPDATE subscriptions
    SET anchor_day = CAST(strftime('%d', created_at / 1000, 'unixepoch') AS INTEGER);

  ALTER TABLE subscriptions ADD COLUMN language TEXT NOT NULL DEFAULT 'en'
    CHECK (language IN ('en', 'ru'));

  -- Called agreements since portals have orders.
  ${agreementTable('orders', words)}
  INSERT INTO orders (subscription_id, ordered_at, kind, grants, global_rows, expires_at)
  SELECT id, created_at, 'create',
    (SELECT json_group_array(json_object('dataset', dataset, 'plan', plan)) FROM grants
     WHERE subscription_id = subscriptions.id),
    global_rows, expires_at
  FROM subscriptions ORDER BY created_at, id;

  CREATE TABLE letters (
    id INTEGER PRIMARY KEY,
    subscription_id TEXT NOT NULL REFERENCES subscriptions (id),
    kind TEXT NOT NULL CHECK (kind IN ('new-token', 'reissued-token', 'reminder')),
    -- Only in a letter with a token; sealed_token is NULL once the letter is done.
    token_id TEXT REFERENCES tokens (id),
    sealed_token BLOB,
    -- Only in a reminder: the end of the subscription.
    expires_at INTEGER,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed', 'dropped')),
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER NOT NULL,
    -- While a process sends the letter: until then no other process takes it.
    held_until INTEGER,
    last_error TEXT,
    done_at INTEGER
  ) STRICT;

  CREATE INDEX letters_waiting ON letters (next_attempt_at) WHERE state = 'waiting';
  CREATE UNIQUE INDEX one_reminder_an_end ON letters (subscription_id, expires_at)
    WHERE kind = 'reminder';
  `,
  `
  DROP TABLE dataset_state;
  ${serverTables(words)}
  `,
  `
  -- Every change by a command or by the server. Rows are only added: an id is never used again, so
  -- a gap shows that the file was changed by other means.
  CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    recorded_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_type(details) = 'object')
  ) STRICT;

  CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
  CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
  -- INSERT OR REPLACE deletes without calling the trigger above.
  CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit
  WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
  BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
  `,
  `
  -- What a change of a subscription agreed on; an order is what a visitor asked for on the portal.
  ALTER TABLE orders RENAME TO agreements;
  DROP INDEX orders_of_subscription;
  CREATE INDEX agreements_of_subscription ON agreements (subscription_id, id);
  ${orderTables(words)}
  ${codeTable(words)}
  ${letterTable('new_letters', words)}
  INSERT INTO new_letters (id, kind, subscription_id, token_id, sealed_secret, expires_at, state,
    created_at, attempts, next_attempt_at, held_until, last_error, done_at)
  SELECT id, kind, subscription_id, token_id, sealed_token, expires_at, state,
    created_at, attempts, next_attempt_at, held_until, last_error, done_at
  FROM letters;
  DROP TABLE letters;
  ALTER TABLE new_letters RENAME TO letters;
  ${letterIndexes}
  `,
  connectionTables(words),
  ...laterSteps(words),
]

/** May refuse, by throwing, to upgrade a database that has this version and is not empty. */
export type BeforeUpgrade = (version: number) => void

/**
 * Applies the missing `migrations` in one IMMEDIATE transaction: an upgrade that fails changes
 * nothing, and of two processes that start together only one upgrades. A database that is not empty
 * is first copied to `<path>.before-v<N>`, durably and readable by its owner only; an older copy is
 * replaced.
 *
 * @throws Error when the database is newer than `migrations`; SQLite's error when a step fails.
 */
export function migrate(
  db: Database.Database,
  migrations: readonly string[],
  beforeUpgrade?: BeforeUpgrade,
): void {
  if (versionOf(db) < migrations.length) {
    if (!isEmpty(db)) beforeUpgrade?.(versionOf(db))
    db.transaction(() => {
      upgrade(db, migrations)
    }).immediate()
  }
  refuseNewer(db, migrations.length)
}

function upgrade(db: Database.Database, migrations: readonly string[]): void {
  // Read again under the lock: another process may have upgraded it.
  const version = versionOf(db)
  if (version >= migrations.length) return
  if (!isEmpty(db)) backUp(db.name, `${db.name}.before-v${migrations.length}`)
  for (const sql of migrations.slice(version)) db.exec(sql)
  db.pragma(`user_version = ${migrations.length}`)
}

/** @throws Error, for the operator, when the schema is newer than this release */
export function refuseNewer(db: Database.Database, versionMax: number): void {
  const version = versionOf(db)
  if (version <= versionMax) return
  throw new Error(
    `${db.name} was written by a newer release: its schema is version ${version}, this release ` +
      `knows versions up to ${versionMax}. Run the newer release, or restore an older backup.`,
  )
}

function backUp(path: string, backupPath: string): void {
  rmSync(backupPath, { force: true })
  ensurePrivateFile(backupPath)
  vacuumInto(path, backupPath)
}

/** The version of the database's schema; 0 when it has none. */
export function versionOf(db: Database.Database): number {
  return Number(db.pragma('user_version', { simple: true }))
}

function isEmpty(db: Database.Database): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
}
