import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import { listActions, recordAction } from '../../src/control/audit.js'
import { newestEntry, ordersOfSubscription } from '../../src/control/orders.js'
import { AdvisoryLock } from '../../src/control/postgres/advisory-lock.js'
import { PostgresCharges } from '../../src/control/postgres/postgres-charges.js'
import {
  migratePostgres,
  postgresMigrations,
  postgresSchemaVersion,
} from '../../src/control/postgres/postgres-migrations.js'
import { PostgresPool } from '../../src/control/postgres/postgres-pool.js'
import { PostgresStore } from '../../src/control/postgres/postgres-store.js'
import { liveSubscriptions } from '../../src/control/subscriber-grants.js'
import { showSubscription } from '../../src/control/subscriptions.js'
import { hashToken } from '../../src/control/tokens/token-format.js'
import { findToken } from '../../src/control/tokens/tokens.js'
import { noon, subscribe, thrownBy } from '../control/fixtures/store.js'
import { oneLedgerOfFirst, twoLedgers } from '../control/fixtures/two-ledgers.js'
import { freshSchema, openPostgres, password, startPostgres } from './fixtures/postgres.js'
import { sql } from '../../src/control/store/sql.js'
import { machine } from '../support/machine.js'

const server = await startPostgres(t)

/** A connection of an administrator in the schema. */
async function connect(t: Test, schema: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url })
  t.teardown(() => client.end())
  await client.connect()
  await client.query(`SET search_path = ${schema}`)
  return client
}

await t.test('a subscription is made, its token found, and rows are charged', async (t) => {
  const store = openPostgres(t, server.url)
  const { subscriptionId, tokenId, token } = await subscribe(store)
  t.match(await showSubscription(store, subscriptionId), { email: 'buyer@example.com' })
  t.match(await findToken(store, hashToken(token)), { tokenId, subscriptionId })
  const charges = new PostgresCharges(server.url, { schema: store.schema })
  t.teardown(() => charges.close())
  const charge = {
    ...{ subscriptionId, dataset: 'financials', period: '2026-06' },
    ...{ datasetRowsMax: 100, globalRowsMax: null },
  }
  t.same(await charges.chargeAll([]), [])
  t.same(
    await charges.chargeAll([
      { ...charge, rows: 70 },
      { ...charge, rows: 70 },
      { ...charge, rows: 1, allOrNone: true },
    ]),
    [
      { granted: 70, period: '2026-06', datasetUsed: 70, globalUsed: 70 },
      { granted: 30, period: '2026-06', datasetUsed: 100, globalUsed: 100 },
      { granted: 0, period: '2026-06', datasetUsed: 100, globalUsed: 100 },
    ],
  )
})

await t.test('several stores that open together make the schema once', async (t) => {
  const schema = freshSchema()
  const stores = Array.from({ length: 6 }, () => openPostgres(t, server.url, { schema }))
  await Promise.all(stores.map((store) => store.ready()))
  const made = await Promise.all(stores.map((store) => subscribe(store)))
  t.equal(new Set(made.map(({ subscriptionId }) => subscriptionId)).size, 6)
  const admin = await connect(t, schema)
  t.match((await admin.query('SELECT version FROM schema_version')).rows, [
    { version: String(postgresSchemaVersion) },
  ])
})

await t.test('the URL may name the schema', async (t) => {
  const [schema, other] = [freshSchema(), freshSchema()]
  const named = `${server.url}?schema=${schema}`
  const store = new PostgresStore(named, machine)
  t.teardown(() => store.close())
  const { subscriptionId } = await subscribe(store)
  t.equal(store.schema, schema)
  t.match(await showSubscription(openPostgres(t, server.url, { schema }), subscriptionId), {})
  t.equal(new PostgresStore(named, { ...machine, schema: other }).schema, other)
  t.equal(new PostgresStore(server.url, machine).schema, 'das')
  const own = new AdvisoryLock(named)
  const second = new AdvisoryLock(named)
  const elsewhere = new AdvisoryLock(`${server.url}?schema=${other}`)
  t.teardown(() => Promise.all([own.close(), second.close(), elsewhere.close()]))
  t.same(
    [await own.tryTake('a'), await second.tryTake('a'), await elsewhere.tryTake('a')],
    [true, false, true],
  )
  for (const wrong of ['', 'pg_catalog', 'a b', 'A', 'a;b']) {
    const url = `${server.url}?schema=${encodeURIComponent(wrong)}`
    t.throws(() => new PostgresStore(url, machine), /^the schema of PostgreSQL must be a name/)
  }
})

await t.test('a schema of a newer release is refused, for the operator', async (t) => {
  const store = openPostgres(t, server.url)
  await store.ready()
  const admin = await connect(t, store.schema)
  await admin.query('UPDATE schema_version SET version = 99')
  const later = openPostgres(t, server.url, { schema: store.schema })
  const refused = {
    message:
      `the schema ${store.schema} of PostgreSQL was written by a newer release: it is version 99, ` +
      `this release knows versions up to ${postgresSchemaVersion}. Run the newer release, or ` +
      'restore an older backup.',
  }
  await t.rejects(later.ready(), refused)
  await t.rejects(later.all(sql`SELECT 1`), refused)
})

await t.test('orders and agreements become one ledger, and nothing sold is lost', async (t) => {
  const schema = freshSchema()
  const before = postgresMigrations.findIndex((step) => step.includes('DROP TABLE agreements'))
  const pool = new PostgresPool(server.url, { schema })
  t.teardown(() => pool.close())
  await pool.connected((connection) =>
    migratePostgres(connection, schema, postgresMigrations.slice(0, before)),
  )
  await (await connect(t, schema)).query(twoLedgers)
  const store = openPostgres(t, server.url, { schema })
  t.same(await ordersOfSubscription(store, 'sub_1'), oneLedgerOfFirst)
  t.match(await ordersOfSubscription(store, 'sub_2'), [{ kind: 'new', effect: { entry: 2 } }])
  t.equal(await newestEntry(store, 'sub_1'), 7)
  t.equal((await store.all(sql`SELECT 1 FROM payments`)).length, 1)
})

await t.test('transactions of several stores run one after another', async (t) => {
  const schema = freshSchema()
  const stores = Array.from({ length: 4 }, () => openPostgres(t, server.url, { schema, size: 2 }))
  let running = 0
  let most = 0
  await Promise.all(
    [...stores, ...stores, ...stores].map((store) =>
      store.write(async (tx) => {
        most = Math.max(most, ++running)
        await tx.all(sql`SELECT 1`)
        running -= 1
      }),
    ),
  )
  t.equal(most, 1)
})

// A connection takes one statement at a time; pg 9 refuses the next one meanwhile.
await t.test('the statements of a transaction wait for each other', async (t) => {
  const store = openPostgres(t, server.url)
  const sold = [await subscribe(store), await subscribe(store), await subscribe(store)]
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const found = await store.write((tx) => liveSubscriptions(tx, 'buyer@example.com', noon + 1))
  t.equal(found.length, sold.length)
  await setImmediate()
  t.same(warnings, [])
})

await t.test('a commit of a transaction that PostgreSQL gave up is no success', async (t) => {
  const store = openPostgres(t, server.url)
  const { subscriptionId } = await subscribe(store)
  await t.rejects(
    store.write(async (tx) => {
      await tx.run(sql`UPDATE subscriptions SET language = 'ru'`)
      await tx.run(sql`INSERT INTO subscribers (email) VALUES (NULL)`).catch(() => {})
    }),
    { code: 'service_unavailable' },
  )
  t.match(await showSubscription(store, subscriptionId), { language: 'en' })
})

// Guarantee: what the trail holds can't be changed or removed by a statement, and has no gap.
await t.test('the audit trail is only added to, and has no gap', async (t) => {
  const store = openPostgres(t, server.url)
  const record = (subject: string) =>
    store.write(async (tx) => {
      await recordAction(tx, { action: 'pack.made', subject, now: noon })
      if (subject === 'undone') throw new Error('undone')
    })
  await record('one')
  await t.rejects(record('undone'))
  await record('two')
  const before = await listActions(store, {})
  t.match(before, [
    { id: 1, subject: 'one' },
    { id: 2, subject: 'two' },
  ])
  const admin = await connect(t, store.schema)
  for (const sql of [
    "UPDATE audit SET actor = 'x'",
    'DELETE FROM audit',
    'TRUNCATE audit',
    "INSERT INTO audit VALUES (1, 2, 'x', 'pack.made', 'y', '{}')",
  ]) {
    await t.rejects(admin.query(sql), { message: 'the audit trail is append-only' }, sql)
  }
  t.same(await listActions(store, {}), before)
})

await t.test('a number that JavaScript would round is refused', async (t) => {
  const store = openPostgres(t, server.url)
  const { subscriptionId } = await subscribe(store)
  const admin = await connect(t, store.schema)
  await admin.query('UPDATE subscriptions SET global_rows = 9007199254740992')
  await t.rejects(showSubscription(store, subscriptionId), RangeError)
  await admin.query('UPDATE subscriptions SET global_rows = 9007199254740991')
  t.match(await showSubscription(store, subscriptionId), { globalRows: 2 ** 53 - 1 })
})

// Guarantee: no error shows the password or the URL.
await t.test('errors of the connection show no secret', async (t) => {
  const wrong = [
    server.url.replace(/:\d+\//, ':1/'),
    server.url.replace('das:', 'someone:'),
    server.url.replace(password, `${password}x`),
    server.url.replace('/postgres', '/missing').replace(/missing.*/, 'missing'),
  ]
  for (const url of wrong) {
    const store = new PostgresStore(url, machine)
    const charges = new PostgresCharges(url)
    const lock = new AdvisoryLock(url)
    const attempts = [
      () => store.ready(),
      () => store.all(sql`SELECT 1`),
      () => store.write(async () => {}),
      () => lock.tryTake('letters'),
    ]
    for (const attempt of attempts) {
      const error = await thrownBy(attempt)
      t.match(error, {
        code: 'service_unavailable',
        retryAfterSeconds: 5,
        cause: { message: String },
      })
      const text = inspect(error, { depth: 10, showHidden: true })
      t.notMatch(text, password)
      t.notMatch(text, 'postgres://')
    }
    await Promise.all([store.close(), charges.close(), lock.close()])
  }
  for (const url of ['', `mysql://das:${password}@127.0.0.1/x`, `postgres://das:${password}@:x/`]) {
    const error = await thrownBy(async () => new PostgresStore(url, machine))
    t.match(error, { message: /^this is not the URL of a PostgreSQL: / })
    t.notMatch(inspect(error, { depth: 10, showHidden: true }), password)
  }
})

await t.test(
  'a caller that waits for a lock too long is refused, and all is well later',
  async (t) => {
    const store = openPostgres(t, server.url, { statementTimeoutMs: 2000 })
    await store.ready()
    const admin = await connect(t, store.schema)
    await admin.query('BEGIN; LOCK TABLE subscribers')
    const attempts = [1, 2, 3].map(() => thrownBy(() => subscribe(store)))
    for (const error of await Promise.all(attempts)) t.match(error, { code: 'service_unavailable' })
    await admin.query('ROLLBACK')
    await subscribe(store)
    t.equal((await store.all(sql`SELECT 1 FROM subscriptions`)).length, 1)
  },
)
