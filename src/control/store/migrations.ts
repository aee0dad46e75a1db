import { rmSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { oneLedger, ordersOfAgreements, receiptTables, shopTables } from './shop-tables.js'
import { hookTables, watchCounts } from '../hooks/hook-tables.js'
import { ownerTables, sessionTables } from '../sessions/session-tables.js'
import { versionChanges, versionsTable } from '../versions-table.js'
import { connectionTables } from './connection-tables.js'
import { ensurePrivateFile } from './private-file.js'
import { vacuumInto } from './vacuum.js'

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
  `
  -- The day of the month on which paid time ends, in months that have it.
  ALTER TABLE subscriptions ADD COLUMN anchor_day INTEGER NOT NULL DEFAULT 1
    CHECK (anchor_day BETWEEN 1 AND 31);
  UPDATE subscriptions
    SET anchor_day = CAST(strftime('%d', created_at / 1000, 'unixepoch') AS INTEGER);

  ALTER TABLE subscriptions ADD COLUMN language TEXT NOT NULL DEFAULT 'en'
    CHECK (language IN ('en', 'ru'));

  -- Orders, and the subscription after each; never edited.
  CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    subscription_id TEXT NOT NULL REFERENCES subscriptions (id),
    ordered_at INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('create', 'extend', 'change', 'cancel')),
    months INTEGER,
    price_rub INTEGER,
    grants TEXT NOT NULL CHECK (json_valid(grants)),
    global_rows INTEGER,
    expires_at INTEGER NOT NULL
  ) STRICT;

  CREATE INDEX orders_of_subscription ON orders (subscription_id, id);

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
  -- The state that a server reported last: it replaces all rows when it starts.
  DROP TABLE dataset_state;
  CREATE TABLE dataset_state (
    dataset TEXT NOT NULL PRIMARY KEY,
    version TEXT,
    status TEXT NOT NULL CHECK (status IN ('serving', 'stale', 'unavailable')),
    reason TEXT,
    rows INTEGER,
    files INTEGER,
    stored TEXT,
    packing TEXT,
    disk_bytes INTEGER NOT NULL,
    earlier INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE registry_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    reason TEXT,
    updated_at INTEGER NOT NULL
  ) STRICT;

  -- Requests of the command line to the server: das dataset reload.
  CREATE TABLE reloads (
    id INTEGER PRIMARY KEY,
    force INTEGER NOT NULL CHECK (force IN (0, 1)),
    requested_at INTEGER NOT NULL,
    taken_at INTEGER,
    finished_at INTEGER
  ) STRICT;
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
  shopTables,
  connectionTables,
  `
  -- What callers may misread in the served version: a JSON list of texts.
  ALTER TABLE dataset_state ADD COLUMN warnings TEXT NOT NULL DEFAULT '[]';
  -- Since when the reason is the same.
  ALTER TABLE dataset_state ADD COLUMN reason_since INTEGER;
  -- The one dataset that a forced reload is about.
  ALTER TABLE reloads ADD COLUMN dataset TEXT;
  `,
  `
  -- The order that made the agreement; not a reference, because orders refer to agreements.
  ALTER TABLE agreements ADD COLUMN order_id TEXT;
  ${ordersOfAgreements}
  -- Keyed hashes of the networks around the client's: IPv6 /56; IPv4 /16 and IPv6 /48.
  ALTER TABLE email_codes ADD COLUMN wider_network BLOB;
  ALTER TABLE email_codes ADD COLUMN widest_network BLOB;
  CREATE INDEX email_codes_of_wider_network ON email_codes (wider_network, created_at);
  CREATE INDEX email_codes_of_widest_network ON email_codes (widest_network, created_at);
  `,
  oneLedger('INTEGER', 'TEXT', "printf('ord_%016d', a.id)"),
  `
  ${sessionTables(
    { integer: 'INTEGER', text: 'TEXT', bytes: 'BLOB', email: 'TEXT COLLATE NOCASE' },
    'STRICT',
  )}
  CREATE INDEX sessions_of_email ON sessions (email);
  -- The purposes of codes are in email-codes.ts.
  ALTER TABLE email_codes ADD COLUMN purposes TEXT NOT NULL DEFAULT '';
  UPDATE email_codes SET purposes = purpose;
  ALTER TABLE email_codes DROP COLUMN purpose;
  ALTER TABLE email_codes RENAME COLUMN purposes TO purpose;
  `,
  receiptTables(
    'INTEGER',
    'TEXT',
    "CAST(strftime('%Y', done_at / 1000, 'unixepoch') AS INTEGER)",
    'STRICT',
  ),
  ownerTables({ integer: 'INTEGER', text: 'TEXT', bytes: 'BLOB' }, 'STRICT'),
  versionsTable('INTEGER', 'TEXT', 'STRICT'),
  hookTables({ integer: 'INTEGER', text: 'TEXT', id: 'INTEGER PRIMARY KEY' }, 'STRICT'),
  versionChanges('TEXT') + watchCounts('INTEGER'),
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
