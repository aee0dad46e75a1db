import Database from 'better-sqlite3'
import t from 'tap'
import { failClosed } from '../../../src/control/store/failures.js'
import { sql } from '../../../src/control/store/sql.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { listTokens } from '../../../src/control/tokens/tokens.js'
import { chargeAll, readUsage } from '../../../src/control/usage.js'
import { ServiceError } from '../../../src/errors.js'
import { damageTable, openStore, storePath, subscribe, thrownBy } from '../fixtures/store.js'
import { machine } from '../../support/machine.js'

// Guarantee: when a charge can't be made durable, nobody is told that it was.

const unavailable = { code: 'service_unavailable', retryAfterSeconds: 5 }

const charge = (subscriptionId: string, dataset = 'financials') => ({
  subscriptionId,
  dataset,
  period: '2026-06',
  rows: 10,
  datasetRowsMax: null,
  globalRowsMax: null,
})

await t.test(
  'a database locked beyond the timeout is a 503 that names no file and no SQL',
  async (t) => {
    const path = storePath(t)
    const { subscriptionId } = await subscribe(openStore(t, path))
    const store = SqliteStore.open(path, { ...machine, busyTimeoutMs: 20 })
    t.teardown(() => store.close())
    const holder = new Database(path)
    t.teardown(() => holder.close())
    holder.exec('BEGIN EXCLUSIVE')

    const error = await thrownBy(() => chargeAll(store, [charge(subscriptionId)]))
    t.ok(error instanceof ServiceError)
    t.match(error, unavailable)
    t.match(error, { cause: { code: 'SQLITE_BUSY' } })
    t.equal(
      error instanceof ServiceError && error.detail,
      "The service can't keep its records right now. Try again shortly.",
    )

    holder.exec('ROLLBACK')
    t.match(await chargeAll(store, [charge(subscriptionId)]), [{ granted: 10, datasetUsed: 10 }])
  },
)

await t.test('a full disk takes back the whole batch', async (t) => {
  const store = openStore(t)
  const { subscriptionId } = await subscribe(store)
  const pages = store.file.db.pragma('page_count', { simple: true })
  store.file.db.pragma(`max_page_count = ${String(pages)}`)
  const batch = Array.from({ length: 500 }, (_, n) => charge(subscriptionId, `dataset_${n}`))

  t.match(await thrownBy(() => chargeAll(store, batch)), {
    ...unavailable,
    cause: { code: 'SQLITE_FULL' },
  })
  t.equal((await readUsage(store, subscriptionId, '2026-06')).total, 0)
})

await t.test('a database that turned read-only takes no charge', async (t) => {
  const store = openStore(t)
  const { subscriptionId } = await subscribe(store)
  store.file.db.pragma('query_only = ON')
  t.match(await thrownBy(() => chargeAll(store, [charge(subscriptionId)])), {
    ...unavailable,
    cause: { code: 'SQLITE_READONLY' },
  })
})

await t.test('a corrupt page is a 503 for reads too', async (t) => {
  const path = storePath(t)
  const store = openStore(t, path)
  await subscribe(store)
  await store.close()
  damageTable(path, 'tokens')
  const corrupt = openStore(t, path)
  t.match(await thrownBy(() => listTokens(corrupt)), {
    ...unavailable,
    cause: { code: /^SQLITE_CORRUPT/ },
  })
})

await t.test('a mistake in our own code stays a bug', async (t) => {
  const store = openStore(t)
  await t.rejects(() => store.run(sql`INSERT INTO subscribers VALUES (1, NULL, 1)`), {
    code: 'SQLITE_CONSTRAINT_NOTNULL',
  })
  await t.rejects(() => chargeAll(store, [charge('sub_unknown')]), {
    code: 'SQLITE_CONSTRAINT_FOREIGNKEY',
  })
  const bug = new TypeError('not of SQLite')
  t.equal(
    await thrownBy(async () =>
      failClosed(() => {
        throw bug
      }),
    ),
    bug,
  )
})

await t.test('extended result codes count as their primary code', async (t) => {
  const failWith = (code: string) =>
    thrownBy(async () =>
      failClosed(() => {
        throw new Database.SqliteError('simulated', code)
      }),
    )
  for (const code of ['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR', 'SQLITE_CANTOPEN_FULLPATH']) {
    t.match(await failWith(code), unavailable, code)
  }
  for (const code of ['SQLITE_BUSY_SNAPSHOT', 'SQLITE_NOTADB', 'SQLITE_READONLY_DBMOVED']) {
    t.match(await failWith(code), unavailable, code)
  }
  for (const code of ['SQLITE_ERROR', 'SQLITE_MISUSE', 'SQLITE_CONSTRAINT_CHECK']) {
    t.match(await failWith(code), { code }, code)
  }
})
