import { fork } from 'node:child_process'
import { once } from 'node:events'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { PostgresCharges } from '../../src/control/postgres/postgres-charges.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { chargeAll, moveLaterUsage, readUsage } from '../../src/control/usage.js'
import type { Charge } from '../../src/control/usage.js'
import { noon, storePath, subscribe } from '../control/fixtures/store.js'
import { openPostgres, startPostgres } from './fixtures/postgres.js'
import { machine } from '../support/machine.js'

const server = await startPostgres(t)

function openCharges(t: Test, schema: string): PostgresCharges {
  const charges = new PostgresCharges(server.url, { schema })
  t.teardown(() => charges.close())
  return charges
}

const charge = { dataset: 'financials', period: '2026-06', allOrNone: false }

// Guarantee: what is granted never passes a cap, however many servers charge.
await t.test('four processes charge two subscriptions in batches to their caps', async (t) => {
  const store = openPostgres(t, server.url)
  const [one, two] = [await subscribe(store), await subscribe(store)]
  const program = new URL('./fixtures/postgres-charge-process.js', import.meta.url)
  const children = Array.from({ length: 4 }, () => fork(program, [server.url, store.schema]))
  t.teardown(() => {
    for (const child of children) if (child.connected) child.disconnect()
  })
  await Promise.all(children.map((child) => once(child, 'message')))
  const caps = { datasetRowsMax: 4000, globalRowsMax: 5000 }
  const ids = [one.subscriptionId, two.subscriptionId]
  // Batches name the subscriptions in both orders.
  const batch = (order: readonly string[]): Charge[] =>
    order.flatMap((subscriptionId) => [
      { ...charge, ...caps, subscriptionId, rows: 7 },
      { ...charge, ...caps, subscriptionId, rows: 5, dataset: 'people', allOrNone: true },
    ])
  const chargeAll = async (times: number) => {
    const answers = children.map((child) => once(child, 'message'))
    children.forEach((child, at) => {
      child.send({ batch: batch(at % 2 ? ids : [...ids].reverse()), times })
    })
    return (await Promise.all(answers)).map(([rows]) => Number(rows))
  }
  // Each charges once before the others can have reached the caps.
  const first = await chargeAll(1)
  const others = await chargeAll(149)
  const granted = first.map((rows, at) => rows + Number(others[at]))
  t.ok(granted.every((rows) => rows > 0))
  let used = 0
  for (const id of ids) {
    const usage = await readUsage(store, id, '2026-06')
    t.ok(usage.total <= 5000 && usage.total > 5000 - 5, `${usage.total} of 5000`)
    t.ok((usage.datasets.get('financials') ?? 0) <= 4000)
    used += usage.total
  }
  t.equal(
    granted.reduce((sum, rows) => sum + rows, 0),
    used,
    'every granted row is counted',
  )
})

await t.test('any batches give what SQLite gives', async (t) => {
  const store = openPostgres(t, server.url)
  const charges = openCharges(t, store.schema)
  const file = SqliteStore.open(storePath(t), machine)
  t.teardown(() => file.close())
  const cap = fc.option(fc.integer({ min: 0, max: 60 }))
  const request = fc.record({
    of: fc.integer({ min: 0, max: 1 }),
    dataset: fc.constantFrom('a', 'b', 'c'),
    period: fc.constantFrom('2026-11', '2026-12', '2027-01'),
    rows: fc.integer({ min: 0, max: 30 }),
    allOrNone: fc.boolean(),
    datasetRowsMax: cap,
    globalRowsMax: cap,
  })
  const batches = fc.array(fc.array(request, { maxLength: 6 }), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      const ours = [await subscribe(store), await subscribe(store)]
      const theirs = [await subscribe(file), await subscribe(file)]
      for (const batch of all) {
        const by = (made: typeof ours) =>
          batch.map(({ of, ...rest }) => ({
            ...rest,
            subscriptionId: made[of]?.subscriptionId ?? '',
          }))
        const granted = await charges.chargeAll(by(ours))
        if (JSON.stringify(granted) !== JSON.stringify(await chargeAll(file, by(theirs)))) {
          return false
        }
      }
      return true
    }),
    { numRuns: 60 },
  )
})

await t.test('the repair of usage and charges of other servers exclude each other', async (t) => {
  const store = openPostgres(t, server.url)
  const charges = openCharges(t, store.schema)
  const { subscriptionId } = await subscribe(store)
  const request = { ...charge, subscriptionId, rows: 1, datasetRowsMax: null, globalRowsMax: null }
  let granted = 0
  for (let round = 0; round < 10; round += 1) {
    const [{ granted: ahead } = { granted: 0 }] = await charges.chargeAll([
      { ...request, period: '2027-01' },
    ])
    const results = await Promise.all([
      ...Array.from({ length: 20 }, () => charges.chargeAll([request])),
      moveLaterUsage(store, '2026-06', noon).then(() => []),
    ])
    granted += ahead + results.flat().reduce((sum, result) => sum + result.granted, 0)
  }
  const usage = await readUsage(store, subscriptionId, '2026-06')
  t.match(usage, { period: '2026-06', total: granted })
})
