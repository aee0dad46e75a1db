import t from 'tap'
import type { Test } from 'tap'
import { openControl, usageOf } from '../support/control.js'
import { callTool, describeResource } from '../support/mcp/mcp-messages.js'
import { startShipped } from '../support/shipped.js'
import { demoToken, startThings } from '../support/things.js'
import { startTyped } from '../support/typed.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

interface GuideColumn {
  readonly name: string
  readonly type: string
  readonly values?: readonly unknown[]
  readonly min?: unknown
  readonly max?: unknown
  readonly null_share?: number
}

interface Guide {
  readonly rows: number
  readonly scope: string | null
  readonly fast_filters: readonly string[]
  readonly profiled_rows: number | null
  readonly columns: readonly GuideColumn[]
  readonly empty_columns?: readonly string[]
  readonly operators: {
    readonly examples: readonly Filter[]
    readonly by_type: Readonly<Record<string, readonly string[]>>
  }
  readonly aggregates: { readonly measures: readonly object[] }
  readonly sample_rows: Readonly<Record<string, readonly unknown[]>>
  readonly examples: readonly { arguments: Question; row_count: number }[]
  readonly hint?: string
}

type Filter = Readonly<Record<string, unknown>>
type Question = Readonly<Record<string, unknown>>

async function guideOf(world: World, token: string, resource: string): Promise<Guide> {
  const { isError, text, content } = await describeResource(world, token, resource)
  if (isError) throw new Error(text)
  return content as unknown as Guide
}

/** The statistics of each column, beyond its type. */
function factsOf({ columns }: Guide): Readonly<Record<string, object>> {
  return Object.fromEntries(
    columns.map(({ name, values, min, max, null_share: empty }) => [
      name,
      {
        ...(values && { values }),
        ...(min !== undefined && { min }),
        ...(max !== undefined && { max }),
        empty,
      },
    ]),
  )
}

/** Every example call gives as many rows as the guide says, and every operator's example is taken. */
async function examplesHold(t: Test, world: World, token: string, guide: Guide, resource: string) {
  for (const { arguments: args, row_count: count } of guide.examples) {
    const { isError, text, content } = await callTool(world, token, 'query', args)
    t.notOk(isError, text.slice(0, 300))
    t.equal(content['row_count'], count, JSON.stringify(args))
    t.ok(count > 0, 'an example that finds nothing teaches nothing')
  }
  for (const example of guide.operators.examples) {
    const args = { resource, filters: [example], limit: 1 }
    const { isError, text } = await callTool(world, token, 'query', args)
    t.notOk(isError, `${example.op}: ${text.slice(0, 300)}`)
  }
}

await t.test('a guide tells what the caller can see, to the value', async (t) => {
  const world = await startThings(t)
  const { token, subscriptionId } = await world.subscribe(['things:pro', 'days:two'])
  const control = openControl(t, world)
  const guide = await guideOf(world, token, 'things')
  t.match(guide, {
    rows: 15,
    profiled_rows: 15,
    scope: null,
    as_of: '2024',
    fast_filters: ['id', 'year'],
    limit: { default: 50, max: 1000 },
    sample_rows: {
      year: [2024, 2024],
      id: ['a0', 'a1'],
      note: ['even', null],
    },
  })
  t.same(factsOf(guide), {
    year: { values: [2022, 2023, 2024], empty: undefined },
    id: { empty: undefined },
    2110: { min: 0, max: 4, empty: undefined },
    note: { values: ['even'], empty: 0.4 },
  })
  t.equal((await usageOf(control, world, subscriptionId)).total, 0, 'sample rows are free')
  await examplesHold(t, world, token, guide, 'things')
  t.ok((await usageOf(control, world, subscriptionId)).total > 0, 'the calls themselves are not')
})

// Guarantee: nothing that a plan or the demo does not show can be read off a description.
await t.test('windows of one version have facts of their own, in any order', async (t) => {
  const world = await startThings(t)
  const tokens = {
    last: (await world.subscribe(['things:last'])).token,
    pro: (await world.subscribe(['things:pro'])).token,
    two: (await world.subscribe(['things:two'])).token,
    demo: demoToken,
  }
  const expected = {
    last: [5, 'plan last: year 2024', [2024]],
    pro: [15, null, [2022, 2023, 2024]],
    two: [10, 'plan two: year 2023-2024', [2023, 2024]],
    demo: [6, 'demo: 2 values of id', undefined],
  } as const
  const order = ['pro', 'last', 'demo', 'two', 'last', 'demo', 'pro', 'two'] as const
  for (const [at, who] of order.entries()) {
    const guide = await guideOf(world, tokens[who], 'things')
    const [rows, seen, years] = expected[who]
    t.match(guide, { rows, profiled_rows: rows, scope: seen }, who)
    const shown = factsOf(guide)['year'] as GuideColumn
    if (years && rows >= 4 * years.length) t.same(shown.values, years, who)
    t.same(shown.values ?? [shown.min, shown.max], years ?? [2022, 2024], who)
    const text = JSON.stringify(guide)
    if (who === 'demo') t.notMatch(text, /"a[034]"/, 'keys outside the demo')
    if (who === 'last') t.notMatch(text, /2022|2023/, 'years outside the plan')
    if (who === 'two') t.notMatch(text, /2022/, 'years outside the plan')
    if (order.indexOf(who) === at) await examplesHold(t, world, tokens[who], guide, 'things')
  }
  const other = (await world.subscribe(['things:last'])).token
  t.same(await guideOf(world, other, 'things'), await guideOf(world, tokens.last, 'things'))
})

await t.test('a hidden column is nowhere in a guide', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['days:pro'])
  const answer = await describeResource(world, token, 'days')
  t.notMatch(answer.text, /internal_note|note \d/)
  t.match(answer.content, {
    columns: [{ name: 'id' }, { name: 'day' }, { name: 'half', min: 0, max: 1 }].map(
      ({ name }) => ({
        name,
      }),
    ),
  })
  const listed = await callTool(world, token, 'query', { resource: 'days', select: ['id'] })
  t.notOk(listed.isError)
  await examplesHold(t, world, token, answer.content as unknown as Guide, 'days')
})

await t.test('a column of every kind has the facts that its kind can have', async (t) => {
  const world = await startTyped(t)
  const { token } = await world.subscribe(['typed:pro'])
  const guide = await guideOf(world, token, 'typed')
  t.match(guide, { rows: 6, profiled_rows: 6 })
  const facts = factsOf(guide)
  t.same(facts['int'], { min: -5, max: 2147483647, empty: 0.167 })
  t.same(
    facts['big'],
    { min: '-9007199254740993', max: '9223372036854775807', empty: 0.167 },
    'numbers that JSON readers round are texts',
  )
  t.same(facts['dec'], { min: -0.01, max: '9999999999999999.99', empty: 0.167 })
  t.same(facts['dbl'], { min: -1e300, max: 0.1, empty: 0.333 }, 'NaN is served as null')
  t.match(facts['flt'], { min: -0.5, empty: 0.333 })
  t.same(facts['day'], { min: '1969-12-31', max: '9999-12-31', empty: 0.167 })
  t.match(facts['zoned'], { min: /^1969-12-31T23:59:59Z$/, max: /^2024-03-01T12:00:00Z$/ })
  for (const name of ['list', 'bytes', 'uuid', 'text', 'flag']) {
    t.same(Object.keys(facts[name] ?? {}), ['empty'], name)
  }
  const forms = guide.operators.examples.map(({ op }) => op).sort()
  t.same(forms, ['contains', 'is_null', 'like'])
  const operators = [...new Set(Object.values(guide.operators.by_type).flat())].sort()
  const all = 'contains eq gt gte in is_null isdistinct like lt lte ne not_in not_null'.split(' ')
  t.same(operators, all)
  await examplesHold(t, world, token, guide, 'typed')
})

await t.test('values are listed where they are classes, up to twenty', async (t) => {
  const world = await startWorld(t, {
    files: {
      'data/a.parquet': `SELECT i AS id, i % 20 AS twenty, i % 21 AS more, 'one' AS one,
        CASE i % 2 WHEN 0 THEN 'zwei' ELSE 'eins' END AS two, (i % 3 = 0) AS flag,
        DATE '2024-01-01' + (i % 3)::INT AS day, (i % 2)::DOUBLE AS amount,
        NULL::INTEGER AS nothing, CASE WHEN i = 7 THEN 1 END AS seldom,
        CASE WHEN i <> 7 THEN 1 END AS often, CASE WHEN i % 100 < 3 THEN i END AS sparse,
        ('e' || i % 2)::ENUM('e0', 'e1') AS kind FROM range(5000) t(i)`,
    },
    registry: `
datasets:
  rows:
    title: Rows
    files: data/*.parquet
    key: id
    plans: {pro: {rows_per_month: 100000, history: all, price_rub: 0}}
`,
  })
  const { token } = await world.subscribe(['rows:pro'])
  const guide = await guideOf(world, token, 'rows')
  t.same(guide.empty_columns, ['nothing'])
  const facts = factsOf(guide)
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
  t.same(facts, {
    id: { min: 0, max: 4999, empty: undefined },
    twenty: { values: upTo(20), empty: undefined },
    more: { min: 0, max: 20, empty: undefined },
    one: { values: ['one'], empty: undefined },
    two: { values: ['eins', 'zwei'], empty: undefined },
    flag: { values: [false, true], empty: undefined },
    day: { values: ['2024-01-01', '2024-01-02', '2024-01-03'], empty: undefined },
    amount: { min: 0, max: 1, empty: undefined },
    seldom: { min: 1, max: 1, empty: 0.999 },
    often: { values: [1], empty: undefined },
    sparse: { min: 0, max: 4902, empty: 0.97 },
    kind: { values: ['e0', 'e1'], empty: undefined },
  })
})

await t.test('the guide of a window without rows has no invented values', async (t) => {
  const world = await startWorld(t, {
    files: { 'data/a.parquet': "SELECT 1 AS id, 'secret' AS name FROM range(10) t(i)" },
    registry: `
demo: {token: das_demo_rows, rate_per_minute: 1000}
datasets:
  rows:
    title: Rows
    files: data/*.parquet
    key: id
    demo: {id: [99]}
    plans: {pro: {rows_per_month: 100, history: all, price_rub: 0}}
`,
  })
  const answer = await describeResource(world, 'das_demo_rows', 'rows')
  t.notOk(answer.isError, answer.text)
  t.notMatch(answer.text, /secret/)
  t.match(answer.content, {
    rows: 0,
    profiled_rows: 0,
    sample_rows: { id: [], name: [] },
    examples: [],
  })
  const guide = answer.content as unknown as Guide
  t.same(factsOf(guide), { id: { empty: undefined }, name: { empty: undefined } })
  await examplesHold(t, world, 'das_demo_rows', guide, 'rows')
})

const plans = 'plans: {pro: {rows_per_month: 100000, history: all, price_rub: 0}}'
const charactersMax = 50_000

await t.test('a description of very many columns or very long cells stays short', async (t) => {
  const wide = Array.from({ length: 400 }, (_, index) => `i * ${index} + i AS "column ${index}"`)
  const described = Array.from(
    { length: 400 },
    (_, index) => `      "column ${index}": {description: "${'what it is '.repeat(20)}"}\n`,
  )
  const world = await startWorld(t, {
    files: {
      'data/wide.parquet': `SELECT ${wide.join(', ')} FROM range(100) t(i)`,
      'data/long.parquet': `SELECT i % 5 AS id, repeat('long ' || i % 5, 20000) AS text,
          repeat('x', 60000) AS same FROM range(40) t(i)`,
      'data/keys.parquet': `SELECT repeat('key' || i % 5, 25000) AS id, i FROM range(40) t(i)`,
    },
    registry: `
datasets:
  wide: {title: Wide, files: data/wide.parquet, ${plans}}
  told:
    title: Told
    files: data/wide.parquet
    columns:
${described.join('')}    ${plans}
  long: {title: Long, files: data/long.parquet, key: id, ${plans}}
  keys: {title: Keys, files: data/keys.parquet, key: id, ${plans}}
`,
  })
  const names = ['wide', 'told', 'long', 'keys']
  const { token } = await world.subscribe(names.map((name) => `${name}:pro`))
  for (const resource of names) {
    const answer = await describeResource(world, token, resource)
    t.notOk(answer.isError, `${resource}: ${answer.text.slice(0, 300)}`)
    const { length } = JSON.stringify(answer.content)
    t.ok(length <= charactersMax, `${resource}: ${length} characters`)
    const guide = answer.content as unknown as Guide
    t.equal(guide.columns.length, { wide: 24, told: 24, long: 3, keys: 2 }[resource], resource)
    const isMany = guide.columns.length === 24
    t.match(guide.hint, isMany ? /376 more columns: ask with/ : /Left out/, resource)
  }
})

await t.test('of many rows the codes and the ends of keys come from all of them', async (t) => {
  const world = await startWorld(t, {
    files: {
      'data/many.parquet': `SELECT i AS id, 2000 + i // 10000 AS year, i % 3 AS kind,
          i AS amount FROM range(200000) t(i)`,
    },
    registry: `
datasets:
  many:
    title: Many
    files: data/many.parquet
    key: id
    history: year
    plans: {pro: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 1000}}
`,
  })
  const { token } = await world.subscribe(['many:pro'])
  const { content } = await describeResource(world, token, 'many')
  const guide = content as unknown as Guide
  t.match(guide, { rows: 200_000, profiled_rows: 100_000 })
  t.match(guide.hint, /sample of 100000 rows.+ From all rows: id, year, kind\.$/)
  const facts = new Map(guide.columns.map((column) => [column.name, column]))
  t.match(facts.get('id'), { min: 0, max: 199_999 })
  t.match(facts.get('kind'), { values: [0, 1, 2] })
  t.same(
    facts.get('year')?.values,
    Array.from({ length: 20 }, (_, index) => 2000 + index),
  )
  t.ok(Number(facts.get('amount')?.max) > 100_000, 'spread over the rows')
})

/** The demo's 30 requests a minute, counted by address, are enough for one dataset. */
function clientAt(world: World, remoteAddress: string): World {
  const get: World['get'] = (url, token, extra) =>
    world.get(url, token, { remoteAddress, ...extra })
  return { ...world, get }
}

const shipped = await startShipped(t, { isTimeStill: true })

await t.test('the shipped datasets are described whole, with calls that work', async (t) => {
  const { datasets, demo } = shipped.app.catalog()
  for (const [index, { name, plans }] of [...datasets.values()].entries()) {
    const client = clientAt(shipped, `10.0.0.${index + 1}`)
    // Plans with the same years see the same.
    const planOf = new Map([...plans].map(([plan, { history }]) => [history, plan]))
    const tokens = await Promise.all(
      [...planOf.values()].map(
        async (plan) => (await shipped.subscribe([`${name}:${plan}`])).token,
      ),
    )
    for (const token of [demo?.token ?? '', ...tokens]) {
      const guide = await guideOf(client, token, name)
      const { length } = JSON.stringify(guide)
      t.ok(length <= 15_000, `${name}: ${length} characters`)
      const isMany = name === 'financials'
      const more = 107 - (guide.empty_columns ?? []).length
      const hint = `${more} more columns: ask with columns or search.`
      t.equal(guide.hint, isMany ? hint : undefined)
      t.equal(guide.profiled_rows, guide.rows, name)
      t.equal(guide.examples.length, 2, name)
      await examplesHold(t, client, token, guide, name)
    }
  }
})

await t.test(
  'a description of many columns shows keys and what measures are made of',
  async (t) => {
    for (const plan of ['free', 'pro']) {
      const { token } = await shipped.subscribe([`financials:${plan}`])
      const guide = await guideOf(shipped, token, 'financials')
      const names = guide.columns.map(({ name }) => name)
      t.equal(names.length, 24)
      for (const name of ['inn', 'year', 'name', 'okved', '2110', '2400', '1600', '1300']) {
        t.ok(names.includes(name), `${plan}: ${name}`)
      }
      const { measures } = guide.aggregates
      t.match(measures[0], { name: 'net_margin', formula: 'ratio(2400/2110)', unit: 'fraction' })
      t.ok(measures.length > 3)
    }
  },
)

await t.test('columns and search describe the columns that an agent asks for', async (t) => {
  const demo = shipped.app.catalog().demo?.token ?? ''
  const describe = async (asked: Readonly<Record<string, unknown>>) => {
    const answer = await callTool(shipped, demo, 'describe_resource', {
      resource: 'financials',
      ...asked,
    })
    const { columns = [] } = answer.content as { columns?: readonly GuideColumn[] }
    return { ...answer, names: columns.map(({ name }) => name) }
  }
  const found = await describe({ search: 'PROFIT net' })
  t.ok(found.names.includes('2400'), found.text.slice(0, 300))
  t.ok(found.names.length < 24)
  t.notOk(found.content['operators'], 'they are in the whole description')
  t.same(
    Object.keys(found.content['sample_rows'] as object).filter(
      (each) => !found.names.includes(each),
    ),
    [],
  )
  t.same((await describe({ columns: ['year', '2110'] })).names, ['year', '2110'])
  t.same((await describe({ columns: '["year", "2110"]' })).names, ['year', '2110'])
  t.same((await describe({ columns: ['year', '2110'], search: 'revenue' })).names, ['2110'])
  const usual = await describe({})
  t.equal(usual.names.length, 24)
  for (const absent of [
    { columns: [], search: '' },
    { columns: null, search: null },
  ]) {
    t.same((await describe(absent)).names, usual.names, 'empty counts as absent')
  }
  const none = await describe({ search: 'unicorn' })
  t.match(none.content, { columns: [], hint: /No column has "unicorn"/ })
  for (const [asked, problem] of [
    [{ columns: 'year' }, /columns, sent as a string, is not valid JSON/],
    [{ columns: '2110,2400' }, /Corrected call: describe_resource .+\["2110","2400"\]/],
    [{ columns: Array<string>(1001).fill('year') }, /columns has 1001 elements, but at most 1000/],
    [{ search: 5 }, /search: must be words, /],
  ] as const) {
    const { isError, text } = await describe(asked)
    t.ok(isError)
    t.match(text, problem)
  }
  const unknown = await describe({ columns: ['yaer'] })
  t.ok(unknown.isError)
  t.match(unknown.text, /There is no column "yaer"\. Did you mean "year"/)
})
