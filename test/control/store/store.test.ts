import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { sql, sqlText } from '../../../src/control/store/sql.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { askTogether, startProcesses } from '../fixtures/processes.js'
import { openStore, storePath } from '../fixtures/store.js'
import { machine } from '../../support/machine.js'

const modeOf = (path: string) => statSync(path).mode & 0o777

await t.test('every connection is durable, strict and patient', async (t) => {
  const { db } = openStore(t).file
  t.equal(db.pragma('journal_mode', { simple: true }), 'wal')
  t.equal(db.pragma('synchronous', { simple: true }), 2, 'FULL')
  t.equal(db.pragma('foreign_keys', { simple: true }), 1)
  t.equal(db.pragma('busy_timeout', { simple: true }), 5000)
})

await t.test('every table is STRICT', async (t) => {
  const { db } = openStore(t).file
  const tables = db
    .prepare("SELECT name, strict FROM pragma_table_list WHERE name NOT LIKE 'sqlite%'")
    .all()
  t.equal(tables.length, 25)
  for (const table of tables) t.match(table, { strict: 1 })
})

await t.test('only the owner can read folder and files, whatever the umask', async (t) => {
  const path = storePath(t)
  const umask = process.umask(0)
  t.teardown(() => process.umask(umask))
  const store = openStore(t, path)
  await store.write((tx) => tx.run(sql`DELETE FROM dataset_state`))
  t.equal(modeOf(dirname(path)), 0o700)
  t.same(readdirSync(dirname(path)).sort(), ['control.db', 'control.db-shm', 'control.db-wal'])
  for (const file of readdirSync(dirname(path))) {
    t.equal(modeOf(join(dirname(path), file)), 0o600, file)
  }
})

await t.test(
  'a file that others could read is theirs no longer; its folder is left alone',
  async (t) => {
    const path = storePath(t)
    mkdirSync(dirname(path), { mode: 0o750 })
    writeFileSync(path, '')
    chmodSync(path, 0o644)
    openStore(t, path)
    t.equal(modeOf(path), 0o600)
    t.equal(modeOf(dirname(path)), 0o750)
  },
)

await t.test(
  'closing folds the write-ahead log into the file, and may be done twice',
  async (t) => {
    const path = storePath(t)
    const store = openStore(t, path)
    await store.close()
    await store.close()
    t.same(readdirSync(dirname(path)), ['control.db'])
    t.not(readFileSync(path).length, 0)
  },
)

await t.test('closing folds the log in even while another process has the file open', async (t) => {
  const path = storePath(t)
  const store = openStore(t, path)
  const other = openStore(t, path)
  t.not(statSync(`${path}-wal`).size, 0)
  await store.close()
  t.equal(statSync(`${path}-wal`).size, 0)
  t.same(await other.all(sql`SELECT 1 AS one`), [{ one: 1 }])
})

await t.test('opening a file takes no lock away that this process holds on it', async (t) => {
  // POSIX drops a process's locks on a file when the process closes any descriptor of it.
  const path = storePath(t)
  mkdirSync(dirname(path))
  const writer = new Database(path)
  t.teardown(() => writer.close())
  writer.exec('CREATE TABLE t (x); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)')
  const message = { path, busyTimeoutMs: 20 }
  t.throws(() => SqliteStore.open(path, { ...machine, ...message }), { code: 'SQLITE_BUSY' })

  const others = await startProcesses(t, './open-process.js', 1)
  t.same(await askTogether(others, message), ['SqliteError: database is locked'])
  writer.exec('COMMIT')
  t.same(await askTogether(others, message), ['opened'])
})

await t.test('a write that throws leaves nothing behind', async (t) => {
  const store = openStore(t)
  const failure = new Error('after the insert')
  const write = () =>
    store.write(async (tx) => {
      await tx.run(sql`INSERT INTO subscribers (email, created_at) VALUES ('a@b.example', 1)`)
      throw failure
    })
  await t.rejects(write, failure)
  t.same(await store.all(sql`SELECT * FROM subscribers`), [])
})

await t.test('SQL text that is made at run time is noticed, not hoarded', async (t) => {
  const store = openStore(t)
  const readMany = async () => {
    for (let n = 0; n <= 200; n += 1) await store.all(sql`SELECT ${sqlText(String(n))}`)
  }
  await t.rejects(readMany, { message: 'More than 200 statements: SQL text must be constant' })
})

await t.test('a file that is no database is refused for the operator, and let go', async (t) => {
  const path = storePath(t)
  mkdirSync(dirname(path))
  writeFileSync(path, 'no database, but more than a few letters long '.repeat(100))
  t.throws(() => SqliteStore.open(path, machine), { code: 'SQLITE_NOTADB' })
})

await t.test('opening gives up when another program never lets go of the file', async (t) => {
  const path = storePath(t)
  mkdirSync(dirname(path))
  const holder = new Database(path)
  t.teardown(() => holder.close())
  holder.exec('CREATE TABLE t (x); BEGIN EXCLUSIVE')
  t.throws(() => SqliteStore.open(path, { ...machine, busyTimeoutMs: 20 }), { code: 'SQLITE_BUSY' })
})

await t.test('a place where no file can be made is told as the system tells it', async (t) => {
  t.throws(() => SqliteStore.open(join(t.testdir(), 'x'.repeat(300)), machine), {
    code: 'ENAMETOOLONG',
  })
})

await t.test('a place without a write-ahead log is refused', async (t) => {
  // SQLite keeps a database that is all in memory out of WAL mode, as some file systems do.
  const cwd = process.cwd()
  process.chdir(t.testdir())
  t.teardown(() => process.chdir(cwd))
  t.throws(() => SqliteStore.open(':memory:', machine), {
    message: ":memory: can't have a write-ahead log here (mode memory)",
  })
})
