import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import type { Test } from 'tap'
import { controlMigrations, migrate } from '../../../src/control/store/migrations.js'
import { sql } from '../../../src/control/store/sql.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { findCode } from '../../../src/control/mailed-codes/email-codes.js'
import { newestEntry, ordersOfSubscription } from '../../../src/control/orders.js'
import { openStore, storePath, subscribe } from '../fixtures/store.js'
import { oneLedgerOfFirst, twoLedgers } from '../fixtures/two-ledgers.js'
import { machine } from '../../support/machine.js'

const steps = [
  'CREATE TABLE notes (text TEXT) STRICT',
  'ALTER TABLE notes ADD COLUMN author TEXT',
  'ALTER TABLE notes ADD COLUMN year INTEGER',
]

function openRaw(t: Test, path: string): Database.Database {
  mkdirSync(dirname(path), { recursive: true })
  const db = new Database(path)
  t.teardown(() => db.close())
  db.pragma('journal_mode = WAL')
  return db
}

const versionOf = (db: Database.Database) => db.pragma('user_version', { simple: true })

await t.test('a new database gets every step and needs no backup', async (t) => {
  const path = storePath(t)
  const db = openRaw(t, path)
  migrate(db, steps)
  t.equal(versionOf(db), 3)
  t.same(db.prepare('SELECT text, author, year FROM notes').all(), [])
  t.same(
    readdirSync(dirname(path)).filter((name) => name.includes('.before-')),
    [],
  )
})

await t.test('opening a second time changes nothing and keeps every row', async (t) => {
  const path = storePath(t)
  const first = openStore(t, path)
  const { subscriptionId } = await subscribe(first)
  const schema = await first.all(sql`SELECT * FROM sqlite_schema`)
  await first.close()

  const second = openStore(t, path)
  t.equal(versionOf(second.file.db), controlMigrations.length)
  t.same(await second.all(sql`SELECT * FROM sqlite_schema`), schema)
  t.match(await second.all(sql`SELECT id FROM subscriptions`), [{ id: subscriptionId }])
  await second.close()
  t.same(readdirSync(dirname(path)), ['control.db'])
})

await t.test(
  'a database that holds something is copied before its upgrade, owner-only',
  async (t) => {
    const path = storePath(t)
    const db = openRaw(t, path)
    migrate(db, steps.slice(0, 1))
    db.exec("INSERT INTO notes VALUES ('kept')")
    migrate(db, steps)

    t.equal(versionOf(db), 3)
    t.same(db.prepare('SELECT * FROM notes').all(), [{ text: 'kept', author: null, year: null }])
    const backup = openRaw(t, `${path}.before-v3`)
    t.equal(versionOf(backup), 1)
    t.same(backup.prepare('SELECT * FROM notes').all(), [{ text: 'kept' }])
    t.notOk(existsSync(`${path}.before-v2`), 'one copy an upgrade')
    t.equal(statSync(`${path}.before-v3`).mode & 0o777, 0o600)
  },
)

await t.test(
  'an upgrade that fails leaves the database as it was, and may be tried again',
  async (t) => {
    const path = storePath(t)
    const db = openRaw(t, path)
    migrate(db, steps.slice(0, 1))
    db.exec("INSERT INTO notes VALUES ('first try')")
    const halfBroken = ['', 'ALTER TABLE notes ADD COLUMN author TEXT', 'SELECT * FROM missing']
    t.throws(() => migrate(db, halfBroken), { message: 'no such table: missing' })
    t.equal(versionOf(db), 1)
    t.same(db.prepare('SELECT * FROM notes').all(), [{ text: 'first try' }])

    db.exec("UPDATE notes SET text = 'second try'")
    migrate(db, steps)
    const backup = openRaw(t, `${path}.before-v3`)
    t.same(backup.prepare('SELECT * FROM notes').all(), [{ text: 'second try' }], 'a fresh copy')
  },
)

await t.test('a database of a newer release is refused and not touched', async (t) => {
  const path = storePath(t)
  const store = openStore(t, path)
  store.file.db.pragma('user_version = 99')
  await store.close()
  t.throws(() => SqliteStore.open(path, machine), {
    message: /control\.db was written by a newer release: its schema is version 99, this release/,
  })
  t.equal(versionOf(openRaw(t, path)), 99)
})

await t.test('orders and agreements become one ledger, and nothing sold is lost', async (t) => {
  const path = storePath(t)
  const db = openRaw(t, path)
  db.pragma('foreign_keys = ON')
  const before = controlMigrations.findIndex((step) => step.includes('DROP TABLE agreements'))
  migrate(db, controlMigrations.slice(0, before))
  db.exec(twoLedgers)
  const store = openStore(t, path)
  t.same(await ordersOfSubscription(store, 'sub_1'), oneLedgerOfFirst)
  t.match(await ordersOfSubscription(store, 'sub_2'), [{ kind: 'new', effect: { entry: 2 } }])
  t.equal(await newestEntry(store, 'sub_1'), 7)
  t.equal((await store.all(sql`SELECT 1 FROM payments`)).length, 1)
  t.equal((await store.all(sql`SELECT 1 FROM letters`)).length, 1)
  t.same(await store.all(sql`PRAGMA foreign_key_check`), [])
})

await t.test(
  'codes that wait, and their letters, outlive the step that adds sessions',
  async (t) => {
    const path = storePath(t)
    const db = openRaw(t, path)
    db.pragma('foreign_keys = ON')
    const before = controlMigrations.findIndex((step) => step.includes('CREATE TABLE sessions'))
    migrate(db, controlMigrations.slice(0, before))
    db.exec(`
    INSERT INTO email_codes (id, purpose, email, language, network, hash, subject, created_at)
    VALUES ('code', 'lost-token', 'a@example.org', 'ru', zeroblob(32), zeroblob(32), '{}', 7);
    INSERT INTO letters (kind, code_id, state, created_at, next_attempt_at)
    VALUES ('code', 'code', 'waiting', 7, 7)`)
    const store = openStore(t, path)
    t.match(await findCode(store, 'code'), { purpose: 'lost-token', createdAt: 7 })
    t.match(await store.all(sql`SELECT code_id AS id FROM letters`), [{ id: 'code' }])
  },
)
