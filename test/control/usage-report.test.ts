import t from 'tap'
import type { Sql } from '../../src/control/store/sql.js'
import type { ControlStore } from '../../src/control/store/store.js'
import {
  cancelSubscription,
  changeSubscription,
  extendSubscription,
} from '../../src/control/subscription-changes.js'
import { periodsBetween, usageReport } from '../../src/control/usage-report.js'
import { chargeAll, moveLaterUsage, readUsage } from '../../src/control/usage.js'
import { clockAt, noon, openAnyStore, subscribe } from './fixtures/store.js'

const at = (text: string) => Date.parse(`${text}T12:00:00Z`)

async function charge(
  store: ControlStore,
  subscriptionId: string,
  [period, dataset, rows]: readonly [string, string, number],
): Promise<void> {
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  await chargeAll(store, [{ subscriptionId, period, dataset, rows, ...caps }])
}

const linesOf = async (...[store, periods, id]: Parameters<typeof usageReport>) =>
  (await usageReport(store, periods, id)).map(({ period, dataset, plan, rows }) =>
    [period, dataset, plan, rows].join(' '),
  )

await t.test('months from one to another, also over a new year', (t) => {
  t.same(periodsBetween('2026-11', '2027-02'), ['2026-11', '2026-12', '2027-01', '2027-02'])
  t.same(periodsBetween('2026-11', '2026-11'), ['2026-11'])
  t.same(periodsBetween('2026-12', '2026-11'), [])
  t.end()
})

await t.test(
  'a month shows what was granted in it, used or not, under its plan then',
  async (t) => {
    const store = openAnyStore(t)
    const { subscriptionId } = await subscribe(store, { months: 3 })
    await charge(store, subscriptionId, ['2026-06', 'financials', 5])
    await charge(store, subscriptionId, ['2026-07', 'financials', 6])
    const change = { withdrawn: [], now: clockAt(at('2026-08-02')) }
    await changeSubscription(store, subscriptionId, {
      ...change,
      grants: [
        { dataset: 'financials', plan: 'pro' },
        { dataset: 'procurement', plan: 'start' },
      ],
    })
    const year = periodsBetween('2026-05', '2026-10')
    t.same(await linesOf(store, year, subscriptionId), [
      '2026-06 financials start 5',
      '2026-07 financials start 6',
      '2026-08 financials pro 0',
      '2026-08 procurement start 0',
      '2026-09 financials pro 0',
      '2026-09 procurement start 0',
    ])
  },
)

await t.test('months between an end and an extension are not there', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store, { months: 1 })
  await extendSubscription(store, subscriptionId, {
    months: 1,
    priceRub: () => 0,
    now: clockAt(at('2026-10-20')),
  })
  await cancelSubscription(store, subscriptionId, clockAt(at('2026-10-25')))
  t.same(await linesOf(store, periodsBetween('2026-06', '2026-12')), [
    '2026-06 financials start 0',
    '2026-07 financials start 0',
    '2026-10 financials start 0',
  ])
})

await t.test('cancelling what had expired long ago makes no month of it', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store, { months: 1 })
  await cancelSubscription(store, subscriptionId, clockAt(at('2026-10-25')))
  t.same(await linesOf(store, periodsBetween('2026-06', '2026-12')), [
    '2026-06 financials start 0',
    '2026-07 financials start 0',
  ])
})

await t.test('what was used of a dataset that was taken out stays, without a plan', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store)
  await charge(store, subscriptionId, ['2026-06', 'financials', 9])
  await changeSubscription(store, subscriptionId, {
    grants: [{ dataset: 'procurement', plan: 'pro' }],
    withdrawn: ['financials'],
    now: clockAt(noon),
  })
  t.same(await linesOf(store, ['2026-06']), ['2026-06 financials  9', '2026-06 procurement pro 0'])
})

await t.test('months come first, then subscriptions by age; one can be asked for', async (t) => {
  const store = openAnyStore(t)
  const first = await subscribe(store, { months: 2 })
  const second = await subscribe(store, {
    months: 2,
    email: 'other@example.com',
    now: clockAt(noon + 1),
  })
  const report = await usageReport(store, ['2026-06', '2026-07'])
  t.same(
    report.map(({ period, subscriptionId, email }) => [period, subscriptionId, email]),
    [
      ['2026-06', first.subscriptionId, 'buyer@example.com'],
      ['2026-06', second.subscriptionId, 'other@example.com'],
      ['2026-07', first.subscriptionId, 'buyer@example.com'],
      ['2026-07', second.subscriptionId, 'other@example.com'],
    ],
  )
  await t.rejects(() => usageReport(store, ['2026-06'], 'sub_none'), { code: 'not_found' })
})

// Guarantee: the repair forgets no row, so it reopens nothing that was used.
await t.test('usage of months to come is moved into this one, to the row', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store)
  await charge(store, subscriptionId, ['2026-06', 'financials', 10])
  await charge(store, subscriptionId, ['2030-01', 'financials', 5])
  await charge(store, subscriptionId, ['2030-01', 'procurement', 3])
  await charge(store, subscriptionId, ['2031-01', 'financials', 2])
  t.equal(
    (await readUsage(store, subscriptionId, '2026-06')).period,
    '2031-01',
    'the clock ran ahead',
  )
  t.equal((await moveLaterUsage(store, '2026-06', noon)).length, 3)
  const { period, datasets } = await readUsage(store, subscriptionId, '2026-06')
  t.equal(period, '2026-06')
  t.same(
    [...datasets],
    [
      ['financials', 17],
      ['procurement', 3],
    ],
  )
  t.same(await moveLaterUsage(store, '2026-06', noon), [])
})

// A PostgreSQL gives a connection to ten statements at a time, and the next ones wait for two
// seconds: a report of 20,000 subscriptions must not ask for all of them at once.
await t.test('a report asks one thing after another', async (t) => {
  const store = openAnyStore(t)
  for (let count = 0; count < 5; count += 1) await subscribe(store)
  let running = 0
  let most = 0
  const watched: ControlStore = Object.assign(Object.create(store) as ControlStore, {
    all: async <Row>(statement: Sql) => {
      most = Math.max(most, ++running)
      const rows = await store.all<Row>(statement)
      running -= 1
      return rows
    },
  })
  t.equal((await usageReport(watched, ['2026-06'])).length, 5)
  t.equal(most, 1)
})
