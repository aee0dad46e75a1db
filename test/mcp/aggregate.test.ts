import fc from 'fast-check'
import t from 'tap'
import { inMcpWords } from '../../src/mcp/error-words.js'
import type { Test } from 'tap'
import { openControl, usageOf } from '../support/control.js'
import { callTool } from '../support/mcp/mcp-messages.js'
import { restRows, rowsOf, sameCell } from '../support/query-results.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'
import { runs } from '../support/runs.js'

const demoToken = 'das_demo_sales'

/** 40 sales of 4 years; `secret` is hidden. */
const sales = `SELECT 2021 + i % 4 AS year, 's' || i AS id, CASE i % 3 WHEN 0 THEN '62.01'
    WHEN 1 THEN '62.09' ELSE '01.11' END AS okved, i * 1000 AS amount, (i % 7)::DOUBLE AS cost,
    DATE '2021-01-01' + (i * 30)::INT AS day, 9007199254740991 + i AS big, 'x' || i AS secret
  FROM range(40) t(i)`

const registry = `
demo: {token: ${demoToken}, rate_per_minute: 10000}
datasets:
  sales:
    title: Sales
    files: data/sales.parquet
    key: id
    history: year
    limit: {default: 10, max: 1000}
    demo: {okved: ["01.11"]}
    columns:
      okved: {levels: {class: 2}, labels: data/okved.csv}
      amount: {unit: thousand RUB}
      secret: {hidden: true}
    measures: {margin: {ratio: cost/amount, unit: fraction, description: Cost by amount}}
    plans:
      pro: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 100000}
      last: {rows_per_month: 1000, history: 1, price_rub: 0, rate_per_minute: 100000}
      tiny: {rows_per_month: 3, history: all, price_rub: 0, rate_per_minute: 100000}
      rows: {rows_per_month: 1000, history: all, price_rub: 0, aggregates: false}
  long:
    title: Long
    files: data/long.parquet
    plans: {pro: {rows_per_month: 100000, history: all, price_rub: 0, rate_per_minute: 100000}}
`

const files = {
  'data/sales.parquet': sales,
  'data/long.parquet': `SELECT i AS id, repeat('я"', i % 200) || i AS text,
      CASE WHEN i = 999 THEN repeat('x', 40000) END AS huge FROM range(1000) t(i)`,
}

function startSales(t: Test): Promise<World> {
  const at = t.testdir({ data: { 'okved.csv': 'code,name,name_ru\n62,IT,ИТ\n62.01,Software,\n' } })
  return startWorld(t, { at, files, registry, storedOrder: { long: ['id'] } })
}

interface Groups {
  readonly columns: readonly string[]
  readonly data: Readonly<Record<string, readonly unknown[]>>
  readonly units: Readonly<Record<string, string>>
  readonly groups: number
  readonly rows: number | null
  readonly truncated: boolean
  readonly quota: { readonly rows_remaining: number } | null
  readonly hint?: string
}

async function answerOf(world: World, token: string, tool: string, args: object) {
  const { content, isError, text } = await callTool(world, token, tool, args)
  if (isError) throw new Error(text)
  return content
}

async function groupsOf(world: World, token: string, args: object): Promise<Groups> {
  const all = { resource: 'sales', ...args }
  return (await answerOf(world, token, 'aggregate', all)) as unknown as Groups
}

await t.test('groups come column by column, with units, counts and the quota left', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:pro'])
  const answer = await groupsOf(world, token, {
    group: ['prefix(okved,2)', 'year'],
    measures: ['total:sum(amount)', 'count', 'margin'],
    filters: [{ column: 'year', op: 'in', value: [2021, 2022] }],
    having: ['count.gte.3'],
    order: ['-total'],
    limit: 3,
    labels: true,
  })
  const { hint, ...rest } = answer
  t.match(rest, {
    columns: ['prefix(okved,2)', 'prefix(okved,2):label', 'year', 'total', 'count', 'margin'],
    data: {
      'prefix(okved,2)': ['62', '62', '01'],
      'prefix(okved,2):label': ['IT', 'IT', null],
      year: [2022, 2021, 2021],
    },
    units: { total: 'thousand RUB', margin: 'fraction' },
    groups: 4,
    rows: 20,
    truncated: true,
    quota: { rows_remaining: 999_997, scope: 'resource' },
  })
  t.match(hint, /^These are the first 3 of 4 groups\./)
  const whole = await groupsOf(world, token, { measures: 'count,max(big)' })
  t.match(whole, { data: { count: [40], 'max(big)': ['9007199254741030'] }, groups: 1, rows: 40 })
  const none = await groupsOf(world, token, {
    group: 'year',
    measures: 'count',
    having: 'count.gt.99',
  })
  t.match(none, { data: { year: [], count: [] }, groups: 0, rows: null, hint: /^No row meets/ })
  t.same(none.quota, whole.quota, 'no group costs nothing')
  const demo = await groupsOf(world, demoToken, { measures: 'count' })
  t.match(demo, { data: { count: [13] }, quota: null })
})

await t.test('codes have their names in both languages, in MCP and REST', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:pro'])
  const group = ['prefix(okved,2)', 'okved']
  const labelsOf = async (labels: unknown) => {
    const { data } = await groupsOf(world, token, { group, measures: 'count', labels })
    return [data['prefix(okved,2):label'], data['okved:label']]
  }
  t.same(await labelsOf(true), [
    [null, 'IT', 'IT'],
    [null, 'Software', null],
  ])
  t.same(await labelsOf('ru'), [
    [null, 'ИТ', 'ИТ'],
    [null, 'Software', null],
  ])
  t.same(await labelsOf(false), [undefined, undefined])
  const path = `/v1/sales/aggregate?group=${group.join()}&measures=count&labels=`
  const [plain, russian] = await Promise.all(
    ['true', 'ru'].map((each) => world.get(path + each, token)),
  )
  t.match(plain?.body.data[1], { 'prefix(okved,2):label': 'IT', 'okved:label': 'Software' })
  t.match(russian?.body.data[1], { 'prefix(okved,2):label': 'ИТ', 'okved:label': 'Software' })
  t.not(plain?.headers['etag'], russian?.headers['etag'])
  const body = { group, measures: 'count', labels: 'ru' }
  t.equal((await world.post('/v1/sales/aggregate', token, body)).text, russian?.text)
  const none = `group=okved&measures=count&labels=true&year=eq.1&format=`
  const csv = await world.get(`/v1/sales/aggregate?${none}csv`, token)
  t.equal(csv.text, 'okved,okved:label,count\r\n')
})

await t.test('top gives the first rows by a column, without a cursor', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:pro'])
  const args = { resource: 'sales', by: '-amount', select: ['id', 'amount'], limit: 2 }
  const top = await answerOf(world, token, 'top', args)
  t.same(top['data'], { id: ['s39', 's38'], amount: [39_000, 38_000] })
  t.match(top, { row_count: 2, truncated: false, quota: { rows_remaining: 999_998 } })
  t.notOk('next_cursor' in top)
  const first = await answerOf(world, token, 'top', { resource: 'sales', by: 'amount' })
  t.equal(first['row_count'], 40, '50 rows when limit is left out')
  t.notOk(JSON.stringify(first).includes('secret'))
  const filters = [{ column: 'year', op: 'eq', value: 1 }]
  const none = await answerOf(world, token, 'top', { resource: 'sales', by: 'amount', filters })
  t.match(none, { row_count: 0, quota: first['quota'], hint: /./ }, 'the explanation is free')
})

await t.test('an empty text, an empty list and null count as absent', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:pro'])
  const plain = { resource: 'sales', measures: ['count'], group: ['year'] }
  const { quota: _, ...expected } = await answerOf(world, token, 'aggregate', plain)
  const others = [
    { ...plain, filters: [], having: [], order: '', limit: null, labels: null },
    { ...plain, filters: '', having: '', order: [], group: 'year', measures: 'count' },
    { ...plain, filters: '[]', group: '["year"]', measures: '["count"]', order: null },
  ]
  for (const args of others) {
    const { quota: left, ...answer } = await answerOf(world, token, 'aggregate', args)
    t.same(answer, expected, JSON.stringify(args))
    t.ok(left)
  }
  const empty = { resource: 'sales', by: '-amount', filters: '', select: [], limit: null }
  t.match(await answerOf(world, token, 'top', empty), { row_count: 40 })
})

await t.test('a mistake has a corrected call, and that call has an answer', async (t) => {
  const world = await startSales(t)
  const { token, subscriptionId } = await world.subscribe(['sales:pro'])
  const mistakes: readonly (readonly [tool: string, args: object, text: RegExp])[] = [
    ['aggregate', { group: 'year' }, /measures is missing/],
    ['aggregate', { measures: ['average(amount)'] }, /no function "average"/],
    ['aggregate', { measures: 'sum(amuont)', group: 'year' }, /no column "amuont"/],
    ['aggregate', { measures: ['sum(amount)/sum(cost)'] }, /ratio\(amount\/cost\)/],
    ['aggregate', { measures: ['count(*)'] }, /write the number of rows as count/],
    ['aggregate', { measures: ['amount'] }, /is a column/],
    ['aggregate', { measures: ['margn'] }, /no measure "margn"/],
    ['aggregate', { measures: 'count', group: 'class(okved)' }, /write the level "class"/],
    ['aggregate', { measures: 'count', group: ['yaer'] }, /no column "yaer"/],
    ['aggregate', { measures: 'count', order: '-sum(amount)' }, /is not asked for/],
    ['aggregate', { measures: ['count'], having: 'count.above.3' }, /no operator "above"/],
    ['aggregate', { measures: ['count'], having: ['count.gte.many'] }, /got "many"/],
    ['aggregate', { measures: 'count', limit: 20_000 }, /limit must be from 1 to 10000/],
    [
      'aggregate',
      { measures: 'count', filters: [{ column: 'yaer', op: 'eq', value: 2024 }] },
      /no column "yaer"/,
    ],
    ['top', { by: '-amuont' }, /no column "amuont"/],
    ['top', { by: '-sum(amount)' }, /by takes a column/],
    ['top', { by: '-amount', limit: 5000 }, /limit must be from 1 to 1000/],
  ]
  for (const [tool, wrong, expected] of mistakes) {
    const args = { resource: 'sales', ...wrong }
    const { isError, text } = await callTool(world, token, tool, args)
    t.ok(isError, text)
    t.match(text, expected)
    const call = new RegExp(
      `\\n(?:Corrected call|A call of the right form): ${tool} (\\{.*\\})$`,
    ).exec(text)?.[1]
    if (call === undefined) {
      t.match(text, /Call describe_resource \{"resource":"sales"\} for columns/, text)
      continue
    }
    const corrected = await callTool(world, token, tool, JSON.parse(call) as object)
    t.notOk(corrected.isError, `${call}: ${corrected.text}`)
  }
  const control = openControl(t, world)
  const before = (await usageOf(control, world, subscriptionId)).total
  for (const args of [
    { measures: ['count'], secret: 1 },
    { measures: 'count(secret)' },
    { by: 'id' },
  ]) {
    const { isError, text } = await callTool(world, token, 'aggregate', {
      resource: 'sales',
      ...args,
    })
    t.ok(isError)
    t.match(text, /unknown key|no column/)
  }
  const missing = await callTool(world, token, 'top', { resource: 'sales' })
  t.match(missing.text, /^bad_request: by is missing\. Name the column/)
  t.equal((await usageOf(control, world, subscriptionId)).total, before, 'no mistake is charged')
})

await t.test(
  'a question that costs too much is refused whole, with a limit that fits',
  async (t) => {
    const world = await startSales(t)
    const { token } = await world.subscribe(['sales:tiny'])
    const args = { resource: 'sales', group: ['year'], measures: ['count'] }
    const { isError, text } = await callTool(world, token, 'aggregate', args)
    t.ok(isError)
    t.match(text, /^row_quota_exceeded: Up to 100 rows needed, 3 left: limit: 3 fits/)
    const call = /\nCorrected call: aggregate (.+)$/.exec(text)?.[1] ?? ''
    t.same(JSON.parse(call), { ...args, limit: 3 })
    t.match(await groupsOf(world, token, { ...args, limit: 3 }), { quota: { rows_remaining: 0 } })
    const used = await callTool(world, token, 'aggregate', { ...args, limit: 1 })
    t.match(used.text, /^row_quota_exceeded: .+\nTry again in \d+ s\.$/s)
  },
)

await t.test(
  'an answer is cut to 30,000 characters, and only what is sent is charged',
  async (t) => {
    const world = await startSales(t)
    const { token, subscriptionId } = await world.subscribe(['long:pro'])
    const control = openControl(t, world)
    const args = { resource: 'long', group: 'text', measures: 'count,max(id)', limit: 1000 }
    const answer = await groupsOf(world, token, args)
    const sent = answer.data['text']?.length ?? 0
    t.match(answer, { groups: 1000, rows: 1000, truncated: true })
    t.ok(sent > 50 && sent < 1000, String(sent))
    t.ok(JSON.stringify(answer).length <= 30_000)
    t.match(answer.hint, new RegExp(`^These are the first ${sent} of 1000 groups`))
    t.equal((await usageOf(control, world, subscriptionId)).total, sent)
    const huge = await callTool(world, token, 'aggregate', {
      resource: 'long',
      measures: 'max(huge)',
    })
    t.match(JSON.parse(huge.text), { truncated: true, hint: 'The value of max(huge) is cut.' })
    t.ok(huge.text.length <= 30_000)
    const top = await answerOf(world, token, 'top', { resource: 'long', by: '-id', limit: 1000 })
    t.match(top, {
      row_count: 1,
      truncated: true,
      hint: /^The row is too long\. Left out: its last 1 column;/,
    })
    const select = ['id', 'text']
    const cut = await answerOf(world, token, 'top', {
      resource: 'long',
      by: 'id',
      limit: 1000,
      select,
    })
    t.match(cut, { truncated: true, hint: /^Only \d+ rows fit in 30000 characters: select fewer/ })
    const paid = sent + 1 + 1 + Number(cut['row_count'])
    t.equal((await usageOf(control, world, subscriptionId)).total, paid)
  },
)

await t.test(
  'describe_resource says how to ask for groups; its example has an answer',
  async (t) => {
    const world = await startSales(t)
    const { token } = await world.subscribe(['sales:last', 'long:pro'])
    const described = await answerOf(world, token, 'describe_resource', { resource: 'sales' })
    t.match(described['aggregates'], {
      rows_per_group: 1,
      measures: [{ name: 'margin', unit: 'fraction' }],
    })
    const { example } = described['aggregates'] as { example: { arguments: object } }
    t.notMatch(JSON.stringify(described['aggregates']), 'functions', 'which the tool itself says')
    const columns = described['columns'] as readonly {
      name: string
      levels?: object
      labels?: true
    }[]
    t.match(
      columns.find(({ name }) => name === 'okved'),
      { levels: { class: 'prefix(okved,2)' }, labels: true },
    )
    t.match(example.arguments, { group: ['prefix(okved,2)'], measures: ['count', 'margin'] })
    const answer = (await answerOf(
      world,
      token,
      'aggregate',
      example.arguments,
    )) as unknown as Groups
    t.equal(answer.rows, 10)
    const other = await answerOf(world, token, 'describe_resource', { resource: 'long' })
    const plain = other['aggregates'] as typeof described & { example: { arguments: object } }
    await answerOf(world, token, 'aggregate', plain.example.arguments)
  },
)

await t.test('without aggregates no tool and no answer mentions them', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:rows'])
  const described = await answerOf(world, token, 'describe_resource', { resource: 'sales' })
  t.notMatch(JSON.stringify(described), /"aggregates"|"levels"|"labels"/)
  const args = { resource: 'sales', measures: ['count'] }
  const { isError, text } = await callTool(world, token, 'aggregate', args)
  t.ok(isError)
  t.match(text, /^not_found: Aggregates are switched off for this plan.+or query for rows\.$/s)
  await answerOf(world, token, 'top', { resource: 'sales', by: '-amount', limit: 1 })
})

// Guarantee: REST and MCP are two doors of one service: the same groups at the same price.
await t.test('random summaries have the same answer and charge through both doors', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:pro'])
  const groups = ['year', 'okved', 'prefix(okved,2)', 'quarter(day)', 'year(day)', 'nosuch']
  const measures = [
    ...['count', 'sum(amount)', 'avg(cost)', 'distinct(okved)', 'max(big)', 'sum(big)', 'margin'],
    ...['median(cost)', 'p90(amount/cost)', 'ratio(cost/amount)', 'min(day)', 'sum(okved)'],
  ]
  const asked = fc.record({
    group: fc.uniqueArray(fc.constantFrom(...groups), { maxLength: 2 }),
    measures: fc.uniqueArray(fc.constantFrom(...measures), { minLength: 1, maxLength: 4 }),
    having: fc.constantFrom([], ['count.gte.5']),
    limit: fc.integer({ min: 1, max: 20 }),
    labels: fc.boolean(),
    filters: fc.constantFrom([], [{ column: 'year', op: 'gte', value: 2023 }]),
  })
  const seen = { answers: 0, errors: 0 }
  const property = fc.asyncProperty(asked, async (body) => {
    const rest = await world.post('/v1/sales/aggregate', token, body)
    const args = { resource: 'sales', ...body }
    const { isError, text, content } = await callTool(world, token, 'aggregate', args)
    if (rest.status !== 200) {
      seen.errors += 1
      const { error, detail } = rest.body
      return isError && text.startsWith(inMcpWords(`${error}: ${detail}`))
    }
    seen.answers += 1
    const answer = content as unknown as Groups
    const [expected, rows] = [restRows(rest.text, answer.columns), rowsIn(answer)]
    const counts = JSON.parse(rest.text) as Groups
    const left = Number(rest.headers['x-quota-rows-remaining'])
    return (
      rows.length === expected.length &&
      rows.every((row, at) => row.every((cell, place) => sameCell(cell, expected[at]?.[place]))) &&
      answer.groups === counts.groups &&
      answer.rows === (counts.rows ?? null) &&
      answer.truncated === counts.truncated &&
      answer.quota?.rows_remaining === left - Number(rest.headers['x-rows-charged'])
    )
  })
  // However the random ones fall, there are enough of both kinds.
  const none = [] as const
  const body = (group: string, limit: number) => ({
    ...{ group: [group], measures: ['count'], having: none, limit, labels: false, filters: none },
  })
  const examples = Array.from({ length: 18 }, (_, at): [ReturnType<typeof body>] => [
    body(at % 2 === 0 ? 'year' : 'nosuch', at + 1),
  ])
  await fc.assert(property, { numRuns: examples.length + runs(40), examples })
  t.ok(seen.answers > 8 && seen.errors > 8, JSON.stringify(seen))
  const rest = await world.get('/v1/sales/top?by=-cost&limit=7', token)
  const top = await answerOf(world, token, 'top', { resource: 'sales', by: '-cost', limit: 7 })
  const page = top as unknown as Parameters<typeof rowsOf>[0]
  const expected = restRows(rest.text, page.columns)
  for (const [at, row] of rowsOf(page).entries()) {
    t.ok(
      row.every((cell, place) => sameCell(cell, expected[at]?.[place])),
      `row ${at}`,
    )
  }
  t.equal(page.quota?.rows_remaining, Number(rest.headers['x-quota-rows-remaining']) - 7)
})

function rowsIn({ columns, data }: Groups): readonly unknown[][] {
  const count = data[columns[0] ?? '']?.length ?? 0
  return Array.from({ length: count }, (_, row) => columns.map((name) => data[name]?.[row]))
}
