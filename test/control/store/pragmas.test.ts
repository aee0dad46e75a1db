import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { setPragmas } from '../../../src/control/store/pragmas.js'

await t.test('the switch to a write-ahead log is tried again until the timeout', async (t) => {
  // `timeout: 0`: SQLite itself doesn't wait here, as it doesn't when two switches collide.
  const path = join(t.testdir(), 'control.db')
  const reader = new Database(path)
  const db = new Database(path, { timeout: 0 })
  t.teardown(() => [reader, db].map((connection) => connection.close()))
  reader.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1); BEGIN; SELECT * FROM t')

  const startedAt = performance.now()
  t.throws(() => setPragmas(db, 50, 'commit'), { code: 'SQLITE_BUSY' })
  t.ok(performance.now() - startedAt >= 50)
  t.equal(db.pragma('journal_mode', { simple: true }), 'delete')

  reader.exec('COMMIT')
  setPragmas(db, 50, 'commit')
  t.equal(db.pragma('journal_mode', { simple: true }), 'wal')
})
