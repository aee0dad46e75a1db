import t from 'tap'
import { changeSubscription } from '../../src/control/subscription-changes.js'
import { column, isError } from '../support/answers.js'
import { openControl, usageOf } from '../support/control.js'
import { startThings } from '../support/things.js'
import { sql } from '../../src/control/store/sql.js'
import type { Answer, World } from '../support/world.js'

function quota({ headers }: Answer): readonly unknown[] {
  return ['limit', 'remaining']
    .map((name) => headers[`x-quota-rows-${name}`])
    .concat(headers['x-quota-scope'])
}

function rows(world: World, token: string, count: number, dataset = 'things'): Promise<Answer> {
  return world.get(`/v1/${dataset}?limit=${count}`, token)
}

// Guarantee: rows delivered never pass rows charged, and rows charged never pass the quota.
await t.test('a page that would exceed the quota is cut; after it no row is read', async (t) => {
  const world = await startThings(t)
  const control = openControl(t, world)
  const { token, subscriptionId } = await world.subscribe(['things:tiny'])
  t.same(quota(await world.get('/v1/', token)), [undefined, undefined, undefined], 'no dataset')
  t.same(quota(await rows(world, token, 5)), ['7', '2', 'resource'])
  const cut = await rows(world, token, 5)
  t.same(column(cut, 'id'), ['a0', 'a1'])
  t.same(quota(cut), ['7', '0', 'resource'])
  for (const url of [
    '/v1/things',
    '/v1/things?id=eq.nobody',
    `/v1/things?cursor=${cut.body.next_cursor}`,
  ]) {
    const answer = await world.get(url, token)
    isError(t, answer, 'row_quota_exceeded', /7 rows for this dataset/, url)
    t.same(quota(answer), ['7', '0', 'resource'])
  }
  const post = await world.post('/v1/things/query', token, {})
  isError(t, post, 'row_quota_exceeded')
  t.equal((await usageOf(control, world, subscriptionId)).total, 7)
  for (const url of ['/v1/', '/v1/account', '/v1/things/schema']) {
    t.equal((await world.get(url, token)).status, 200, `${url} stays open`)
  }
  isError(t, await world.get('/v1/things?x=eq.1', token), 'bad_request', /./, 'checked before')
})

await t.test('the cursor of a cut page continues next month and repeats no row', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny'], { months: 2 })
  await rows(world, token, 5)
  const cut = await world.get('/v1/things?year=eq.2023&limit=5', token)
  t.same(column(cut, 'id'), ['a0', 'a1'])
  world.clock.ms = Date.UTC(2026, 11, 1)
  const next = await world.get(`/v1/things?year=eq.2023&cursor=${cut.body.next_cursor}`, token)
  t.same(column(next, 'id'), ['a2', 'a3', 'a4'])
  t.equal(next.body.next_cursor, null)
})

await t.test('errors, empty pages and HEAD cost nothing', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny'])
  await world.get('/v1/things?id=eq.nobody', token)
  await world.get('/v1/things?year=eq.x', token)
  await world.get('/v1/things', token, { method: 'HEAD' })
  await world.get('/v1/things/schema', token)
  t.same(quota(await rows(world, token, 1)), ['7', '6', 'resource'])
})

await t.test('the cap over all datasets is kept beside those of each', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny', 'days:pro'], { globalRows: 10 })
  t.same(quota(await world.get('/v1/account', token)), ['10', '10', 'global'])
  t.same(quota(await rows(world, token, 2)), ['7', '5', 'resource'])
  t.same(quota(await rows(world, token, 4, 'days')), ['10', '4', 'global'])
  t.same(quota(await rows(world, token, 1)), ['10', '3', 'global'], 'the nearer end')
  const cut = await rows(world, token, 8, 'days')
  t.equal(cut.body.data.length, 3)
  t.same(quota(cut), ['10', '0', 'global'])
  for (const dataset of ['things', 'days']) {
    const answer = await rows(world, token, 1, dataset)
    isError(t, answer, 'row_quota_exceeded', /10 rows over all datasets/)
  }
  const account = await world.get('/v1/account', token)
  t.match(account.body, {
    global: { limit: 10, used: 10, remaining: 0 },
    datasets: [
      { name: 'things', rows: { limit: 7, used: 3, remaining: 4 } },
      { name: 'days', rows: { limit: 100, used: 7, remaining: 93 } },
    ],
  })
})

await t.test('a month turns with the UTC clock, to the millisecond', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny'], { months: 3 })
  await rows(world, token, 7)
  const december = Date.UTC(2026, 11, 1)
  for (const [before, seconds] of [
    [1, '1'],
    [1001, '2'],
    [3_600_000, '3600'],
  ] as const) {
    world.clock.ms = december - before
    const answer = await rows(world, token, 1)
    isError(t, answer, 'row_quota_exceeded')
    t.equal(answer.headers['retry-after'], seconds)
  }
  world.clock.ms = december
  t.same(quota(await rows(world, token, 3)), ['7', '4', 'resource'])
  t.match((await world.get('/v1/account', token)).body['datasets'], [
    { rows: { used: 3 }, resets_at: '2027-01-01T00:00:00Z' },
  ])
})

// Guarantee: setting the clock back reopens nothing.
await t.test(
  'after a clock is set back to a used month, rows count in the newest month',
  async (t) => {
    const world = await startThings(t)
    const control = openControl(t, world)
    const { token, subscriptionId } = await world.subscribe(['things:tiny'], { months: 3 })
    await rows(world, token, 7)
    world.clock.ms = Date.UTC(2026, 11, 1)
    await rows(world, token, 5)
    world.clock.ms = Date.UTC(2026, 10, 30)
    t.same(quota(await rows(world, token, 1)), ['7', '1', 'resource'], "December's count")
    await rows(world, token, 5)
    const answer = await rows(world, token, 1)
    isError(t, answer, 'row_quota_exceeded')
    const seconds = (Date.UTC(2027, 0, 1) - world.clock.ms) / 1000
    t.equal(answer.headers['retry-after'], String(seconds), "to December's end")
    t.equal((await usageOf(control, world, subscriptionId)).total, 7)
    t.same(
      await control.all(
        sql`SELECT period, rows FROM usage WHERE subscription_id = ${subscriptionId}`,
      ),
      [
        { period: '2026-11', rows: 7 },
        { period: '2026-12', rows: 7 },
      ],
    )
  },
)

await t.test('a change of plan keeps what the month has used', async (t) => {
  const world = await startThings(t)
  const control = openControl(t, world)
  const { token, subscriptionId } = await world.subscribe(['things:pro'])
  await rows(world, token, 10)
  const change = (plan: string) =>
    changeSubscription(control, subscriptionId, {
      grants: [{ dataset: 'things', plan }],
      withdrawn: [],
      now: () => world.clock.ms,
    })
  await change('tiny')
  const answer = await rows(world, token, 1)
  isError(t, answer, 'row_quota_exceeded', /7 rows/)
  t.same(quota(answer), ['7', '0', 'resource'], 'never negative')
  await change('two')
  t.same(quota(await rows(world, token, 1)), ['1000', '989', 'resource'])
})
