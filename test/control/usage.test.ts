import t from 'tap'
import { chargeAll, periodEnd, periodOf, readUsage } from '../../src/control/usage.js'
import type { Charge } from '../../src/control/usage.js'
import { openAnyStore, storePath, subscribe } from './fixtures/store.js'

/** A charge of 10 rows in June under no cap; say only what the test is about. */
function charge(subscriptionId: string, what: Partial<Charge> = {}): Charge {
  return {
    subscriptionId,
    dataset: 'financials',
    period: '2026-06',
    rows: 10,
    datasetRowsMax: null,
    globalRowsMax: null,
    ...what,
  }
}

await t.test('without a cap every row is granted and counted', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store)
  t.same(await chargeAll(store, [charge(subscriptionId), charge(subscriptionId, { rows: 5 })]), [
    { granted: 10, period: '2026-06', datasetUsed: 10, globalUsed: 10 },
    { granted: 5, period: '2026-06', datasetUsed: 15, globalUsed: 15 },
  ])
})

await t.test(
  'a page that would pass the cap is cut to what is left, then nothing is granted',
  async (t) => {
    const store = openAnyStore(t)
    const { subscriptionId } = await subscribe(store)
    const capped = charge(subscriptionId, { datasetRowsMax: 25 })
    t.same(
      (await chargeAll(store, [capped, capped, capped, capped])).map(({ granted }) => granted),
      [10, 10, 5, 0],
    )
  },
)

await t.test('both caps hold, and the nearer one cuts', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store)
  const caps = { datasetRowsMax: 12, globalRowsMax: 20 }
  t.same(
    await chargeAll(store, [
      charge(subscriptionId, { ...caps, dataset: 'a' }),
      charge(subscriptionId, { ...caps, dataset: 'a' }),
      charge(subscriptionId, { ...caps, dataset: 'b' }),
      charge(subscriptionId, { ...caps, dataset: 'c' }),
    ]),
    [
      { granted: 10, period: '2026-06', datasetUsed: 10, globalUsed: 10 },
      { granted: 2, period: '2026-06', datasetUsed: 12, globalUsed: 12 },
      { granted: 8, period: '2026-06', datasetUsed: 8, globalUsed: 20 },
      { granted: 0, period: '2026-06', datasetUsed: 0, globalUsed: 20 },
    ],
  )
})

await t.test(
  'a cap lowered below what is used grants nothing and takes nothing back',
  async (t) => {
    const store = openAnyStore(t)
    const { subscriptionId } = await subscribe(store)
    await chargeAll(store, [charge(subscriptionId, { rows: 100 })])
    t.same(
      await chargeAll(store, [
        charge(subscriptionId, { datasetRowsMax: 50 }),
        charge(subscriptionId, { globalRowsMax: 50 }),
      ]),
      Array(2).fill({ granted: 0, period: '2026-06', datasetUsed: 100, globalUsed: 100 }),
    )
  },
)

await t.test('no charge gives rows back', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store)
  await chargeAll(store, [charge(subscriptionId)])
  t.match(await chargeAll(store, [charge(subscriptionId, { rows: 0 })]), [{ granted: 0 }])
  t.match(await chargeAll(store, [charge(subscriptionId, { rows: -5 })]), [{ granted: 0 }])
  t.equal((await readUsage(store, subscriptionId, '2026-06')).total, 10)
})

await t.test(
  'a charge in half rows or of no number fails and takes its batch with it',
  async (t) => {
    const store = openAnyStore(t)
    const { subscriptionId } = await subscribe(store)
    await t.rejects(() =>
      chargeAll(store, [charge(subscriptionId), charge(subscriptionId, { rows: 1.5 })]),
    )
    t.equal((await readUsage(store, subscriptionId, '2026-06')).total, 0)
  },
)

await t.test('a new month starts at 0, with the cap whole again', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store)
  const datasetRowsMax = 15
  await chargeAll(store, [charge(subscriptionId, { rows: 15, datasetRowsMax })])
  t.same(await chargeAll(store, [charge(subscriptionId, { period: '2026-07', datasetRowsMax })]), [
    { granted: 10, period: '2026-07', datasetUsed: 10, globalUsed: 10 },
  ])
})

await t.test('a clock that steps back over the turn of a month reopens nothing', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store)
  const datasetRowsMax = 15
  await chargeAll(store, [charge(subscriptionId, { period: '2027-01', rows: 12, datasetRowsMax })])
  t.same(await chargeAll(store, [charge(subscriptionId, { period: '2026-12', datasetRowsMax })]), [
    { granted: 3, period: '2027-01', datasetUsed: 15, globalUsed: 15 },
  ])
  const other = { period: '2026-12', dataset: 'procurement', globalRowsMax: 15 }
  t.match(
    await chargeAll(store, [charge(subscriptionId, other)]),
    [{ granted: 0, period: '2027-01' }],
    'nor through another dataset',
  )
  t.equal((await readUsage(store, subscriptionId, '2026-12')).period, '2027-01')
})

await t.test('the usage of a month is told by dataset and in all', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store)
  t.same(await readUsage(store, subscriptionId, '2026-06'), {
    period: '2026-06',
    datasets: new Map(),
    total: 0,
  })
  await chargeAll(store, [
    charge(subscriptionId),
    charge(subscriptionId, { dataset: 'procurement', rows: 7 }),
  ])
  t.same(await readUsage(store, subscriptionId, '2026-06'), {
    period: '2026-06',
    datasets: new Map([
      ['financials', 10],
      ['procurement', 7],
    ]),
    total: 17,
  })
  t.equal((await readUsage(store, subscriptionId, '2026-07')).total, 0, 'a later month is empty')
})

await t.test('subscriptions draw on their own caps', async (t) => {
  const store = openAnyStore(t)
  const caps = { datasetRowsMax: 10, globalRowsMax: 10 }
  const charges = [await subscribe(store), await subscribe(store)].map(({ subscriptionId }) =>
    charge(subscriptionId, caps),
  )
  t.same(
    (await chargeAll(store, [...charges, ...charges])).map(({ granted }) => granted),
    [10, 10, 0, 0],
  )
})

await t.test('what was charged is there after a reopen', async (t) => {
  const path = storePath(t)
  const store = openAnyStore(t, path)
  const { subscriptionId } = await subscribe(store)
  await chargeAll(store, [charge(subscriptionId)])
  await store.close()
  t.equal((await readUsage(openAnyStore(t, path), subscriptionId, '2026-06')).total, 10)
})

await t.test('a period is the calendar month in UTC and ends where the next begins', async (t) => {
  t.equal(periodOf(Date.parse('2026-01-31T23:59:59.999Z')), '2026-01')
  t.equal(periodOf(Date.parse('2026-02-01T00:00:00.000Z')), '2026-02')
  t.equal(periodOf(Date.parse('2026-02-01T01:00:00.000+03:00')), '2026-01')
  t.equal(periodEnd('2026-01'), Date.parse('2026-02-01T00:00:00.000Z'))
  t.equal(periodEnd('2026-12'), Date.parse('2027-01-01T00:00:00.000Z'))
  t.equal(periodOf(periodEnd('2028-02') - 1), '2028-02')
})
