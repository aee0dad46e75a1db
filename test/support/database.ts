import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { DurableCharges } from '../../src/access/charge-queue.js'
import { ChargeStore } from '../../src/control/charge-store.js'
import { PostgresCharges } from '../../src/control/postgres/postgres-charges.js'
import { PostgresStore } from '../../src/control/postgres/postgres-store.js'
import { sql } from '../../src/control/store/sql.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import type { ControlStore } from '../../src/control/store/store.js'
import { machine } from './machine.js'

/**
 * Which database the records of a test are in: control.db in its state folder or, if
 * `DAS_TEST_POSTGRES` is the URL of a server, a schema there (`test/scale/suites/postgres-suites.test.ts`).
 */
const server = process.env.DAS_TEST_POSTGRES

/** What only a file has, or only SQLite: tests of it are left out with PostgreSQL. */
const reasons = {
  damage: 'damages pages of control.db',
  lock: 'locks control.db from another connection',
} as const

/** The beginning of the reason of each test that is left out. */
export const sqliteOnlyMark = 'only with SQLite: it '

/** Leaves a test out when its records are in PostgreSQL: `t.test(name, sqliteOnly('lock'), …)`. */
export function sqliteOnly(reason: keyof typeof reasons): { readonly skip?: string } {
  return server === undefined ? {} : { skip: sqliteOnlyMark + reasons[reason] }
}

/** The setting `controlUrl` of a server over a state folder; none where it uses control.db. */
export function controlSetting(state: string): { readonly controlUrl?: string } {
  if (server === undefined) return {}
  const url = new URL(server)
  url.searchParams.set('schema', schemaOf(state))
  return { controlUrl: url.href }
}

/** A connection of the test's own to the records of a state folder. */
export function openRecordsOf(state: string): ControlStore {
  const { controlUrl } = controlSetting(state)
  if (controlUrl === undefined) return SqliteStore.open(join(state, 'control.db'), machine)
  return new PostgresStore(controlUrl, { ...machine, size: 4 })
}

let empty: Buffer | undefined

/** Puts empty tables into a new state folder: making them is a seventh of a start. */
export async function makeRecords(state: string): Promise<void> {
  const path = join(state, 'control.db')
  if (server !== undefined || existsSync(path)) return
  mkdirSync(state, { recursive: true, mode: 0o700 })
  if (empty) return writeFileSync(path, empty, { mode: 0o600 })
  await SqliteStore.open(path, machine).close()
  empty = readFileSync(path)
}

/** What a test finds unchanged: the names of all tables. */
export function tablesOf(control: ControlStore): Promise<{ readonly name: string }[]> {
  const inPostgres = sql`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = current_schema()`
  const names = control.file === null ? inPostgres : sql`SELECT name FROM sqlite_schema`
  return control.all(sql`${names} ORDER BY 1`)
}

/** Where a door of the test's own charges: `busyTimeoutMs` is how long a lock of the file lasts. */
export function openChargesOf(state: string, busyTimeoutMs: number): DurableCharges {
  const { controlUrl } = controlSetting(state)
  if (controlUrl !== undefined) return new PostgresCharges(controlUrl)
  return ChargeStore.open(join(state, 'control.db'), { ...machine, busyTimeoutMs })
}

/** Its name is in a file beside the folder: a folder that is made anew begins with empty tables. */
function schemaOf(state: string): string {
  const path = `${resolve(state)}.schema`
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `das_${randomBytes(8).toString('hex')}`)
  }
  return readFileSync(path, 'utf8')
}
