import { createServer, connect as connectTo } from 'node:net'
import type { Socket } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import type { Test } from 'tap'
import { PostgresCharges } from '../../src/control/postgres/postgres-charges.js'
import { PostgresStore } from '../../src/control/postgres/postgres-store.js'
import { listSubscriptions } from '../../src/control/subscriptions.js'
import { readUsage } from '../../src/control/usage.js'
import { subscribe, thrownBy } from '../control/fixtures/store.js'
import { freshSchema, openPostgres, startPostgres } from './fixtures/postgres.js'
import { sql } from '../../src/control/store/sql.js'
import { machine } from '../support/machine.js'

const unavailable = {
  code: 'service_unavailable',
  retryAfterSeconds: 5,
  cause: { message: String },
}
const server = await startPostgres(t, ['max_connections=12'])

async function open(t: Test) {
  const store = openPostgres(t, server.url)
  const charges = new PostgresCharges(server.url, { schema: store.schema })
  t.teardown(() => charges.close())
  const { subscriptionId } = await subscribe(store)
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  const charge = { subscriptionId, dataset: 'financials', period: '2026-06', rows: 1, ...caps }
  return { store, charges, charge }
}

for (const [how, end] of [
  ['a crash', server.stop],
  ['a shutdown', server.shutDown],
] as const) {
  await t.test(`during ${how} callers are refused, and are served again after it`, async (t) => {
    const { store, charges, charge } = await open(t)
    // Some connections of each pool are idle, one is in a transaction.
    await Promise.all([1, 2, 3].map(() => charges.chargeAll([charge])))
    const interrupted = thrownBy(() =>
      store.write(async (tx) => {
        await tx.run(sql`UPDATE subscriptions SET language = 'ru'`)
        await end()
        await tx.write((inner) => inner.run(sql`UPDATE subscriptions SET language = 'ru'`))
      }),
    )
    t.match(await interrupted, unavailable, 'in a transaction')
    t.match(await thrownBy(() => listSubscriptions(store)), unavailable, 'a read')
    t.match(await thrownBy(() => subscribe(store)), unavailable, 'a write')
    t.match(await thrownBy(() => charges.chargeAll([charge])), unavailable, 'a charge')
    await server.start()
    t.match(await listSubscriptions(store), [{ language: 'en' }])
    await subscribe(store)
    t.match(await charges.chargeAll([charge]), [{ granted: 1, globalUsed: 4 }])
  })
}

await t.test('a server that starts before PostgreSQL works when that is there', async (t) => {
  await server.stop()
  const store = new PostgresStore(server.url, { ...machine, schema: freshSchema() })
  t.teardown(() => store.close())
  t.match(await thrownBy(() => store.ready()), unavailable)
  t.match(await thrownBy(() => subscribe(store)), unavailable)
  await server.start()
  await subscribe(store)
  t.equal((await listSubscriptions(store)).length, 1)
})

await t.test('too many connections are refused, and none is lost', async (t) => {
  const { store } = await open(t)
  const many = openPostgres(t, server.url, { schema: store.schema, size: 30 })
  const reads = Array.from({ length: 30 }, () => many.all(sql`SELECT pg_sleep(0.2)`))
  const results = await Promise.allSettled(reads)
  const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  t.ok(refused.length > 0)
  for (const error of refused) t.match(error, unavailable)
  t.equal((await many.all(sql`SELECT 1`)).length, 1)
})

await t.test('a database that can only be read refuses writes', async (t) => {
  const { store, charges, charge } = await open(t)
  const url = new URL(server.url)
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  const reader = openPostgres(t, url.href, { schema: store.schema })
  t.equal((await listSubscriptions(reader)).length, 1)
  t.match(await thrownBy(() => subscribe(reader)), unavailable)
  t.match(await charges.chargeAll([charge]), [{ granted: 1 }])
})

// Guarantee: a commit whose answer is lost is reported as a failure, not as a success.
await t.test('a commit whose answer is lost is refused', async (t) => {
  const { store, charge } = await open(t)
  const proxy = await startProxy(t)
  const url = new URL(server.url)
  url.port = String(proxy.port)
  const far = openPostgres(t, url.href, { schema: store.schema })
  await far.ready()
  const lost = thrownBy(() =>
    far.write(async (tx) => {
      await tx.run(sql`UPDATE subscriptions SET language = 'ru'`)
      proxy.loseAnswers()
    }),
  )
  t.match(await lost, unavailable)
  proxy.passAnswers()
  t.match(await listSubscriptions(far), [{ language: 'ru' }], 'it was committed')
  const farCharges = new PostgresCharges(url.href, { schema: store.schema })
  t.teardown(() => farCharges.close())
  await farCharges.chargeAll([charge])
  proxy.loseAnswers()
  t.match(await thrownBy(() => farCharges.chargeAll([charge])), unavailable)
  proxy.passAnswers()
  t.match(await readUsage(store, charge.subscriptionId, '2026-06'), { total: 2 }, 'counted once')
})

/** Passes everything on; when it loses answers, it breaks the connection at the next one. */
async function startProxy(t: Test) {
  let isLosing = false
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = connectTo(Number(new URL(server.url).port), '127.0.0.1')
    sockets.add(near).add(far)
    near.on('data', (data) => far.write(data)).on('error', () => {})
    near.on('close', () => far.end())
    far.on('error', () => {}).on('close', () => near.destroy())
    far.on('data', (data) => {
      if (isLosing) near.destroy()
      else near.write(data)
    })
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const address = proxy.address()
  return {
    port: typeof address === 'object' ? address?.port : undefined,
    loseAnswers: () => {
      isLosing = true
    },
    passAnswers: () => {
      isLosing = false
    },
  }
}
