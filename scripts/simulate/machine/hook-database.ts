import Database from 'better-sqlite3'
import { replace } from './replace.js'
import type { Machine } from './machine.js'

type Method = (this: unknown, ...args: unknown[]) => unknown

/** Statements that change something, or end a transaction. */
const changing =
  /^\s*(WITH|INSERT|UPDATE|DELETE|REPLACE|COMMIT|RELEASE|CREATE|DROP|ALTER|BEGIN|SAVEPOINT)/i
/** Where SQLite finds that the disk is full. */
const writing = /^\s*(INSERT|UPDATE|DELETE|REPLACE|COMMIT|CREATE)/i

/** Makes every statement of this process a step of the machine. */
export function hookDatabase(machine: Machine): void {
  const sample = new Database(':memory:')
  const statement = Object.getPrototypeOf(sample.prepare('SELECT 1')) as object
  sample.close()
  const adopt = (db: Database.Database) => {
    machine.opened(db, () => {
      if (db.open) db.close()
    })
  }
  const before = (db: Database.Database, sql: string) => {
    adopt(db)
    if (!machine.isWatching) return
    if (machine.isDead || changing.test(sql)) machine.step('statement', () => shown(sql))
    if (machine.isDiskFull && writing.test(sql)) failFull(machine, db, sql)
  }
  for (const name of ['run', 'all', 'get', 'iterate']) {
    around(statement, name, (on) => {
      const { database, source } = on as Database.Statement
      before(database, source)
    })
  }
  const { prototype } = Database
  around(prototype, 'exec', (on, [sql]) => before(on as Database.Database, String(sql)))
  around(prototype, 'close', (on) => machine.closed(on as object))
  around(prototype, 'prepare', (on) => adopt(on as Database.Database))
  const { pragma } = prototype
  const impatient = new WeakSet<Database.Database>()
  replace(prototype, 'pragma', function wrapped(this: Database.Database, sql: string, options) {
    before(this, sql)
    if (machine.isWatching && sql.startsWith('busy_timeout =')) {
      // Each transaction sets it twice, here to what it is.
      if (impatient.has(this)) return []
      impatient.add(this)
    }
    return pragma.call(
      this,
      machine.isWatching ? simulated(sql) : sql,
      options as Database.PragmaOptions,
    )
  } satisfies (this: Database.Database, sql: string, options: unknown) => unknown)
}

/** SQLite would wait by the real clock, and for a disk that is not lost. */
function simulated(sql: string): string {
  if (sql.startsWith('busy_timeout =')) return 'busy_timeout = 0'
  return sql.startsWith('synchronous =') ? 'synchronous = OFF' : sql
}

/** SQLite undoes the transaction by itself, or leaves that to its user. */
function failFull(machine: Machine, db: Database.Database, sql: string): void {
  const isLate = !/^\s*COMMIT/i.test(sql) && db.inTransaction
  // Changes first go to memory; the commit writes them.
  if (isLate && machine.random.whole(0, 3) > 0) return
  if (db.inTransaction && machine.random.whole(0, 1) === 0) {
    machine.aside(() => db.exec('ROLLBACK'))
  }
  throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL')
}

function around(owner: object, name: string, before: (on: unknown, args: unknown[]) => void): void {
  const real = Reflect.get(owner, name) as Method
  replace(owner, name, function wrapped(this: unknown, ...args: unknown[]) {
    before(this, args)
    return real.apply(this, args)
  })
}

function shown(sql: string): string {
  return sql.trim().replace(/\s+/g, ' ').slice(0, 40)
}
