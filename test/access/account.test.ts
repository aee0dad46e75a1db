import t from 'tap'
import { reissueToken } from '../../src/control/tokens/tokens.js'
import { isError } from '../support/answers.js'
import { openControl } from '../support/control.js'
import { filesOnly } from '../support/tables.js'
import { demoToken, startThings } from '../support/things.js'
import { startWorld } from '../support/world.js'

await t.test('the account says what a token may do and has used', async (t) => {
  const world = await startThings(t)
  const { token, subscriptionId } = await world.subscribe(['days:two', 'things:tiny'], {
    globalRows: 50,
    months: 12,
  })
  await world.get('/v1/things?limit=3', token)
  const { body, text } = await world.get('/v1/account', token)
  const rate = body['rate_limit'] as { reset: number }
  t.ok(rate.reset > 0 && rate.reset <= 60)
  t.same(body, {
    subscription: subscriptionId,
    expires_at: '2027-11-15T12:00:00Z',
    rate_limit: { per_minute: 100_000, remaining: 99_998, reset: rate.reset },
    global: { limit: 50, used: 3, remaining: 47, resets_at: '2026-12-01T00:00:00Z' },
    datasets: [
      {
        name: 'things',
        plan: 'tiny',
        history: 'all',
        rows: { limit: 7, used: 3, remaining: 4 },
        resets_at: '2026-12-01T00:00:00Z',
      },
      {
        name: 'days',
        plan: 'two',
        history: 2,
        rows: { limit: 100, used: 0, remaining: 100 },
        resets_at: '2026-12-01T00:00:00Z',
      },
    ],
    months: [
      { month: '2026-11', dataset: 'days', rows: 0 },
      { month: '2026-11', dataset: 'things', rows: 3 },
    ],
  })
  t.notMatch(text, /example\.org|das_live|price/)
})

await t.test(
  'a reissued token shows its own expiry when it comes before that of the subscription',
  async (t) => {
    const world = await startThings(t)
    const control = openControl(t, world)
    const { token, subscriptionId } = await world.subscribe(['things:pro'])
    await reissueToken(control, subscriptionId, { graceMs: 3_600_000, now: () => world.clock.ms })
    const { body } = await world.get('/v1/account', token)
    t.equal(body['expires_at'], '2026-11-15T13:00:00Z')
  },
)

await t.test('the account says what was used in each of the last twelve months', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'], { months: 24 })
  const used = async () => {
    const { body } = await world.get('/v1/account', token)
    return body['months']
  }
  await world.get('/v1/things?limit=3', token)
  world.clock.ms = Date.UTC(2026, 11, 1)
  await world.get('/v1/things?limit=2', token)
  t.same(await used(), [
    { month: '2026-11', dataset: 'things', rows: 3 },
    { month: '2026-12', dataset: 'things', rows: 2 },
  ])
  world.clock.ms = Date.UTC(2027, 10, 30)
  t.match(await used(), [{ month: '2026-12', rows: 2 }, ...Array<object>(11).fill({ rows: 0 })])
})

await t.test('the demo account has no end, no quota and no subscriber', async (t) => {
  const world = await startThings(t)
  const { body } = await world.get('/v1/account', demoToken)
  t.same(body, {
    subscription: 'demo',
    expires_at: null,
    rate_limit: { per_minute: 10_000, remaining: 9999, reset: 60 },
    global: null,
    datasets: [
      {
        name: 'things',
        plan: 'demo',
        history: 'all',
        rows: { limit: null, used: null, remaining: null },
        resets_at: null,
      },
    ],
    months: [],
  })
})

await t.test('the list holds the datasets of a token, with the rows that it sees', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['days:pro', 'things:last'])
  const { body } = await world.get('/v1/', token)
  t.same(Object.keys(body), ['data'])
  t.same(
    body.data.map(({ version, updated_at: updatedAt, ...rest }) => ({
      ...rest,
      version: /^[0-9a-f]{16}$/.test(String(version)),
      updated_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(String(updatedAt)),
    })),
    [
      {
        name: 'things',
        title: 'Things',
        description: null,
        rows: 5,
        columns: 4,
        version: true,
        as_of: '2024',
        updated_at: true,
        scope: 'plan last: year 2024',
      },
      {
        name: 'days',
        title: 'Days',
        description: null,
        rows: 10,
        columns: 3,
        version: true,
        as_of: '2024-06-19',
        updated_at: true,
        scope: null,
      },
    ],
  )
  t.same((await world.get('/v1', token)).body.data, body.data, 'with or without the slash')
})

await t.test('the schema says all that a caller needs to ask, and its examples work', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:two', 'big:pro'])
  const { body, text } = await world.get('/v1/things/schema', token)
  t.match(
    text,
    /^\{"name".+"title".+"description".+"source".+"version".+"as_of".+"updated_at".+"scope".+"rows".+"require_filter".+"limit".+"columns".+"examples"/,
  )
  t.match(body, {
    name: 'things',
    rows: 10,
    source: null,
    require_filter: false,
    limit: { default: 100, max: 1000 },
  })
  t.same((body['columns'] as object[])[0], {
    name: 'year',
    type: 'integer',
    label: null,
    section: null,
    nullable: true,
    unit: null,
    description: null,
    operators: [
      'eq',
      'ne',
      'gt',
      'gte',
      'lt',
      'lte',
      'in',
      'not_in',
      'isdistinct',
      'is_null',
      'not_null',
    ],
  })
  t.same(
    (body['columns'] as { name: string }[]).map(({ name }) => name),
    ['year', 'id', '2110', 'note'],
  )
  t.match((await world.get('/v1/big/schema', token)).body, { require_filter: true })
  for (const dataset of ['things', 'big']) {
    const schema = await world.get(`/v1/${dataset}/schema`, token)
    const examples = schema.body['examples'] as readonly string[]
    t.ok(examples.length > 0)
    for (const example of examples) {
      const answer = await world.get(example, token)
      t.equal(answer.status, 200, example)
      t.ok(answer.body.data.length > 0, example)
    }
  }
})

await t.test('example values are served values, also where JSON readers round', async (t) => {
  const world = await startWorld(t, {
    files: {
      'data/large.parquet': 'SELECT 9007199254740993::BIGINT AS id, 1 AS value',
      'data/odd.parquet': `SELECT 'a&b=c,"d" +%\\' AS "k e&y=1"`,
      'data/none.parquet': 'SELECT 1 AS id WHERE false',
    },
    registry: `
datasets:
  large: {title: L, files: data/large.parquet, key: id, plans: {p: {rows_per_month: 99, history: all, price_rub: 0}}}
  odd: {title: O, files: data/odd.parquet, key: "k e&y=1", plans: {p: {rows_per_month: 99, history: all, price_rub: 0}}}
  none: {title: N, files: data/none.parquet, key: id, plans: {p: {rows_per_month: 99, history: all, price_rub: 0}}}
`,
  })
  const { token } = await world.subscribe(['large:p', 'odd:p', 'none:p'])
  for (const dataset of ['large', 'odd', 'none']) {
    const schema = await world.get(`/v1/${dataset}/schema`, token)
    for (const example of schema.body['examples'] as readonly string[]) {
      const answer = await world.get(example, token)
      t.equal(answer.status, 200, example)
      t.equal(answer.body.data.length, dataset === 'none' ? 0 : 1, example)
    }
  }
  isError(t, await world.get('/v1/odd?key=eq.1', token), 'bad_request', /no column/)
})

await t.test('every example can be quoted in a shell, also for values with quotes', async (t) => {
  const world = await startWorld(t, {
    files: { 'data/odd.parquet': `SELECT 'it''s (a) *b*!' AS "the 'key' (*)"` },
    registry: `
datasets:
  odd:
    title: Odd
    files: data/odd.parquet
    key: "the 'key' (*)"
    plans: {p: {rows_per_month: 99, history: all, price_rub: 0}}
`,
  })
  const { token } = await world.subscribe(['odd:p'])
  const { body } = await world.get('/v1/odd/schema', token)
  const examples = body['examples'] as readonly string[]
  t.match(examples[0], '=eq.it%27s%20%28a%29%20%2Ab%2A%21')
  for (const example of examples) {
    t.notMatch(example, /[!'()*]/)
    t.equal((await world.get(example, token)).body.data.length, 1, example)
  }
})

await t.test(
  'examples of a dataset without key and history column work',
  filesOnly('keyless'),
  async (t) => {
    const plans = 'plans: {p: {rows_per_month: 99, history: all, price_rub: 0}}'
    const world = await startWorld(t, {
      files: {
        'data/bare.parquet': "SELECT 0.5 AS amount, 'a&b' AS name",
        'data/blank.parquet': 'SELECT CAST(NULL AS INTEGER) AS id',
      },
      registry: `
datasets:
  bare: {title: B, files: data/bare.parquet, require_filter: true, ${plans}}
  blank: {title: B, files: data/blank.parquet, require_filter: true, ${plans}}
`,
    })
    const { token } = await world.subscribe(['bare:p', 'blank:p'])
    for (const [dataset, rows] of [
      ['bare', 1],
      ['blank', 0],
    ] as const) {
      const schema = await world.get(`/v1/${dataset}/schema`, token)
      const examples = schema.body['examples'] as readonly string[]
      t.ok(examples.length > 0, dataset)
      for (const example of examples) {
        const answer = await world.get(example, token)
        t.equal(answer.status, 200, example)
        t.equal(answer.body.data.length, rows, example)
      }
    }
  },
)
