import fc from 'fast-check'
import t from 'tap'
import { callTool } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'
import { runs } from '../support/runs.js'

// Guarantee: a corrected call that is offered works as it is sent, and asks what the caller asked:
// no filter, value, number, sign, element or column of the call is lost.

const calls = runs(100)

const numbers = ['revenue', 'profit', 'staff'] as const
const texts = ['inn', 'okved', 'region'] as const
const columns = [...numbers, ...texts, 'year', 'signed'] as const

const registry = `
datasets:
  firms:
    title: Firms
    files: data/firms.parquet
    key: [inn, year]
    history: year
    limit: {default: 20, max: 100}
    plans: {pro: {rows_per_month: 1000000000, history: all, price_rub: 0, rate_per_minute: 100000000}}
`

const rows = `SELECT 'i' || i // 3 AS inn, (2022 + i % 3)::INTEGER AS year, i * 100 AS revenue,
    i * 7 AS profit, i % 5 AS staff, ['62.01', '47.11'][1 + i % 2] AS okved,
    'region ' || i % 2 AS region, DATE '2024-01-01' + (i * 10)::INTEGER AS signed
  FROM range(12) t(i)`

type Arguments = Record<string, unknown>

/** A name as it is, or with a mistake. */
const named = (names: readonly string[]) =>
  fc.oneof(
    { weight: 14, arbitrary: fc.constantFrom(...names) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(...names), fc.nat(9), fc.constantFrom('', 'x'))
        .map(([name, at, put]) => name.slice(0, at) + put + name.slice(at + 1)),
    },
    { weight: 1, arbitrary: fc.constantFrom(...names).map((name) => name.toUpperCase()) },
  )

const value = fc.constantFrom<unknown[]>(
  ...['i1', '62.01', '62*', '%62%', '2024', 2024, 5, '5', 1.5, '2024-01-11', 'null', null, true],
  ...[['i1', 'i2'], 'i1,i2', [2023, 2024], '[2023, 2024]', [], '', ['62.01'], 'region 1'],
)

const operator = fc.constantFrom(
  ...['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', 'like', 'contains', 'is_null'],
  ...['=', '==', '!=', '>', '>=', '<', 'neq', 'nin', 'ilike', 'startswith', 'equals', 'is', 'EQ'],
  ...['between', 'greater_than', 'isnull', 'not null', 'has', 'regexp'],
)

const wild = fc.record(
  { column: named(columns), op: operator, value },
  { requiredKeys: ['column', 'op'] },
)
/** Nearly right: one thing is written in the words of another service, or in another type. */
const nearly = fc.constantFrom<object[]>(
  ...[
    { column: 'okved', op: 'eq', value: 62 },
    { column: 'inn', op: '==', value: 'i1' },
    { column: 'inn', op: 'in', value: 'i1' },
    { column: 'inn', op: 'eq', value: ['i1', 'i2'] },
    { column: 'region', op: 'ilike', value: '%region 1%' },
    { column: 'okved', op: 'startswith', value: '62' },
    { column: 'okved', op: 'like', value: '62%' },
    { column: 'year', op: '>=', value: 2023 },
    { column: 'year', op: 'in', value: '2023,2024' },
    { column: 'year', op: 'eq', value: 'null' },
    { column: 'staff', op: 'is', value: 'null' },
    { column: 'staff', op: 'is_null', value: true },
    { column: 'revenue', op: 'greater_than', value: 300 },
    { column: 'signed', op: 'gte', value: 'yesterday' },
  ],
)
const right = fc.constantFrom<object[]>(
  ...[
    { column: 'inn', op: 'eq', value: 'i1' },
    { column: 'year', op: 'gte', value: 2023 },
    { column: 'okved', op: 'like', value: '62*' },
    { column: 'revenue', op: 'in', value: [100, 200] },
    { column: 'staff', op: 'not_null' },
  ],
)
const filter = fc.oneof(
  { weight: 6, arbitrary: right },
  { weight: 3, arbitrary: nearly },
  { weight: 1, arbitrary: wild },
)

const operand = named(numbers)
const measure = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('count', 'sum(revenue)', 'ratio(profit/revenue)') },
  fc.constantFrom('count', 'count(*)', 'COUNT', 'n'),
  fc
    .tuple(
      fc.constantFrom('sum', 'avg', 'average', 'max', 'median', 'distinct', 'mean', 'total', 'SUM'),
      operand,
    )
    .map(([name, column]) => `${name}(${column})`),
  fc.tuple(operand, operand).map(([over, under]) => `ratio(${over}/${under})`),
  fc.tuple(operand, operand).map(([over, under]) => `sum(${over})/sum(${under})`),
  fc.tuple(operand, fc.constantFrom('2023', '2024')).map(([name, year]) => `sum(${name}@${year})`),
  fc.tuple(operand, operand, operand).map(([a, b, c]) => `ratio(${a}+${b}/${c})`),
  fc.tuple(operand, operand).map(([a, b]) => `growth:ratio(${a}@2024/${b}@2023)`),
  fc.tuple(operand, operand).map(([a, b]) => `median(365*${a}/${b})`),
  fc.tuple(operand, operand).map(([a, b]) => `sum(${a}-${b})`),
  operand.map((column) => `sum(${column}) as total`),
  operand.map((column) => `total:sum(${column})`),
  operand.map((column) => `percentile(${column},90)`),
  operand,
)

const group = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('year', 'okved', 'prefix(okved,2)', 'month(signed)') },
  named(columns),
  named(texts).map((column) => `prefix(${column},2)`),
  named(texts).map((column) => `left(${column},2)`),
  fc.constantFrom('year(signed)', 'signed.month', 'month(signed)', 'week(signed)', 'year', 'years'),
)

const order = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('-count', 'year', '-revenue') },
  named(columns),
  measure,
  measure.map((each) => `-${each}`),
  measure.map((each) => `${each} desc`),
  named(columns).map((column) => `desc(${column})`),
)

const having = fc
  .tuple(
    measure,
    fc.constantFrom('.gt.', '.gt.', '.gte.', '.lt.', '>', ' > ', '.eq.', '.'),
    fc.nat(500),
  )
  .map(([each, sign, number]) => each + sign + number)

/** A list, or a text or a JSON text of its elements. */
const listed = (element: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.array(element, { minLength: 1, maxLength: 3 }), fc.constantFrom(0, 0, 0, 1, 2))
    .map(([list, form]) => (form === 0 ? list : form === 1 ? list.join(',') : JSON.stringify(list)))

const limit = fc.constantFrom<unknown[]>(1, 5, 20, 100, '10', 5, 5000, 0, -1, 'all', 1.5)
const filters = fc.array(filter, { maxLength: 3 })
const odd = fc.constantFrom<Arguments[]>(
  ...[
    {},
    {},
    {},
    {},
    { offset: 10 },
    { sort: '-revenue' },
    { order_by: 'year' },
    { fields: 'inn' },
  ],
  ...[{ where: 'year > 2023' }, { cursor: 'x' }, { Limit: 5 }, { page: 2 }, { metrics: ['count'] }],
)

const question = fc.oneof(
  fc
    .record({ filters, select: listed(named(columns)), limit }, { requiredKeys: [] })
    .map((args) => ['query', args] as const),
  fc
    .record({ by: order, filters, select: listed(named(columns)), limit }, { requiredKeys: ['by'] })
    .map((args) => ['top', args] as const),
  fc
    .record(
      { measures: listed(measure), group: listed(group), having: listed(having), filters, limit },
      { requiredKeys: ['measures'] },
    )
    .map((args) => ['aggregate', args] as const),
  fc
    .record({ measures: listed(measure), group: listed(group), order: listed(order) })
    .map((args) => ['aggregate', args] as const),
)

const call = fc.tuple(question, odd).map(([[tool, args], more]) => {
  return { tool, args: { resource: 'firms', ...args, ...more } satisfies Arguments }
})

/** Everything of a call that a correction may not lose, as sorted texts. */
function kept(args: Arguments): readonly string[] {
  const { limit: _limit, Limit: _other, resource: _resource, ...others } = args
  const text = JSON.stringify(others)
  const found = [
    // The number of a percentile becomes a part of its name.
    ...(text.match(/\d+(?:\.\d+)?/g) ?? []),
    ...(text.match(/[@+*](?=[\w\s(])/g) ?? []).filter((sign) => sign !== '*' || /\d\*/.test(text)),
    ...columns.flatMap((name) => text.match(new RegExp(`(?<![\\w])${name}(?![\\w])`, 'g')) ?? []),
  ]
  return found.sort()
}

function lengthOf(part: unknown): number {
  if (Array.isArray(part)) return part.length
  return part === undefined || part === null || part === '' ? 0 : 1
}

/** What the corrected call has lost; empty if nothing. */
function lost(args: Arguments, corrected: Arguments): readonly string[] {
  const left = [...kept(corrected)]
  const gone = kept(args).filter((each) => {
    const at = left.indexOf(each)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
  const fewer = ['filters'].filter((key) => lengthOf(corrected[key]) < lengthOf(args[key]))
  const given = Object.keys(args).filter((key) => lengthOf(args[key]) > 0).length
  const keys = Object.keys(corrected).length < given ? ['an argument'] : []
  return [...gone, ...fewer, ...keys]
}

await t.test('corrected calls work as sent and keep all of the call', async (t) => {
  const world = await startWorld(t, { files: { 'data/firms.parquet': rows }, registry })
  const { token } = await world.subscribe(['firms:pro'])
  let [wrong, offered] = [0, 0]
  await fc.assert(
    fc.asyncProperty(call, async ({ tool, args }) => {
      const answer = await callTool(world, token, tool, args)
      if (!answer.isError) return
      wrong += 1
      const [, kind, sent, text = ''] =
        /\n(Corrected call|A call of the right form): (\w+) (\{.*\})$/s.exec(answer.text) ?? []
      if (kind === undefined) return
      offered += 1
      const corrected = JSON.parse(text) as Arguments
      const second = await callTool(world, token, sent ?? '', corrected)
      if (second.isError) throw new Error(`${answer.text}\n=> ${second.text}`)
      // The error says that a dead cursor, or a repeated element, is left out.
      if (kind !== 'Corrected call' || /cursor|twice/.test(answer.text)) return
      const gone = lost(args, corrected)
      if (gone.length > 0) throw new Error(`lost ${gone.join(' ')}: ${answer.text}`)
    }),
    { numRuns: calls },
  )
  t.comment(`${calls} calls, ${wrong} wrong, ${offered} corrected`)
  // About a tenth are: chance alone does not lead so far below.
  t.ok(offered > calls / 100, `${offered} of ${wrong} wrong calls are corrected`)
})
