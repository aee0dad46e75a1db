import t from 'tap'
import { column, isError } from '../support/answers.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

// What analysts ask: years beside each other, growth, sums in quotients, levels of codes.

const firms = `SELECT * FROM (VALUES
  ('a', 2022, '62.01', 100, 10, 5), ('a', 2023, '62.01', 150, NULL, 4), ('a', 2024, '62.02', 120, 30, NULL),
  ('b', 2022, '01.11', -10, 1, 1), ('b', 2023, '01.11', 50, 2, 2),
  ('c', 2023, '99.99', 40, NULL, NULL), ('c', 2024, NULL, 44, 8, 4)
) t(firm, year, okved, revenue, debt, loans)`

const deals = `SELECT * FROM (VALUES
  (1, DATE '2023-12-31', 5), (2, DATE '2024-01-01', 7), (3, DATE '2024-12-31', 9), (4, NULL, 100)
) t(id, day, price)`

const okved = `code,section,name,name_ru
62.01,J,Software,
62.02,J,Consulting,
01.11,A,,Зерно
J,J,Information,Связь
A,A,Farming,`

const registry = `
datasets:
  firms:
    title: Firms
    files: data/firms.parquet
    key: [firm, year]
    history: year
    columns:
      okved: {levels: {section: section, class: 2}, labels: data/okved.csv}
    measures: {debt_share: {ratio: debt+loans/2*revenue}}
    plans:
      all: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 100000}
      last: {rows_per_month: 1000, history: 1, price_rub: 0, rate_per_minute: 100000}
  deals:
    title: Deals
    files: data/deals.parquet
    history: day
    plans: {all: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 100000}}
`

function startFirms(t: Parameters<typeof startWorld>[0]): Promise<World> {
  const at = t.testdir({ data: { 'okved.csv': okved } })
  const files = { 'data/firms.parquet': firms, 'data/deals.parquet': deals }
  return startWorld(t, { at, files, registry })
}

const path = '/v1/firms/aggregate'

await t.test('years stand beside each other, and growth is between two of them', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:all'])
  const growth = 'g:growth(revenue@2023/revenue@2024)'
  const answer = await world.get(
    `${path}?group=firm&measures=sum(revenue@2022),sum(revenue@2024),${growth}&order=-g`,
    token,
  )
  t.same(answer.body.data, [
    { firm: 'c', 'sum(revenue@2022)': null, 'sum(revenue@2024)': 44, g: 0.1 },
    { firm: 'a', 'sum(revenue@2022)': 100, 'sum(revenue@2024)': 120, g: -0.2 },
    { firm: 'b', 'sum(revenue@2022)': -10, 'sum(revenue@2024)': null, g: null },
  ])
  t.equal(answer.headers['x-rows-charged'], '3', '5 cells of 6 columns')
  const below = await world.get(`${path}?measures=growth(debt@2023/debt@2024)`, token)
  t.same(below.body.data, [{ 'growth(debt@2023/debt@2024)': 18 }])
  const negative = await world.get(
    `${path}?measures=growth(revenue@2022/revenue@2023)&firm=eq.b`,
    token,
  )
  t.same(negative.body.data, [{ 'growth(revenue@2022/revenue@2023)': null }], 'from below 0')
})

await t.test('a group is there if a measure looks at one of its rows', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:all'])
  const one = await world.get(`${path}?group=firm&measures=sum(revenue@2022)`, token)
  t.same(column(one, 'firm'), ['a', 'b'])
  t.match(one.body, { groups: 2, rows: 7 }, 'all rows met the filters')
  t.equal(one.headers['x-rows-charged'], '2')
  const both = await world.get(`${path}?group=firm&measures=sum(revenue@2022),count`, token)
  t.same(column(both, 'firm'), ['a', 'b', 'c'])
  const none = await world.get(`${path}?group=firm&measures=sum(revenue@1999)`, token)
  t.match(none.body, { data: [], groups: 0, rows: null })
  t.equal(none.headers['x-rows-charged'], '0')
  const whole = await world.get(`${path}?measures=sum(revenue@1999)`, token)
  t.match(whole.body, { data: [{ 'sum(revenue@1999)': null }], groups: 1 })
  t.equal(whole.headers['x-rows-charged'], '1')
})

await t.test("a year outside the plan's window is empty", async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:last'])
  const answer = await world.get(
    `${path}?measures=sum(revenue@2023),sum(revenue@2024),growth(revenue@2023/revenue@2024)`,
    token,
  )
  t.same(Object.values(answer.body.data[0] ?? {}), [null, 164, null])
})

await t.test('of a date, the year is looked at', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['deals:all'])
  const answer = await world.get(
    '/v1/deals/aggregate?measures=sum(price@2024),growth(price@2023/price@2024),count(id@2023)',
    token,
  )
  t.same(Object.values(answer.body.data[0] ?? {}), [16, 2.2, 1])
})

await t.test(
  'columns are added up in a quotient, and an empty one is 0 beside another',
  async (t) => {
    const world = await startFirms(t)
    const { token } = await world.subscribe(['firms:all'])
    const written = ['ratio(debt+loans/revenue)', 'ratio(debt-loans/2*revenue)']
    for (const plus of ['%2B', '+']) {
      const measures = written.join().replaceAll('+', plus)
      const answer = await world.get(`${path}?group=firm&measures=${measures}`, token)
      t.same(Object.keys(answer.body.data[0] ?? {}), ['firm', ...written])
      t.same(column(answer, 'ratio(debt+loans/revenue)'), [49 / 370, 0.15, 12 / 44].map(digits))
      t.same(column(answer, 'ratio(debt-loans/2*revenue)'), [31 / 740, 0, 4 / 88].map(digits))
      t.equal(answer.headers['x-rows-charged'], '6', '7 cells of 6 columns')
    }
    const body = { measures: ['debt_share', 'm:median(10*debt+loans/revenue@2024)'] }
    isError(t, await world.post(path, token, body), 'bad_request', /divides in each row/)
    const defined = await world.get(`${path}?measures=debt_share`, token)
    t.same(column(defined, 'debt_share'), [digits(67 / 908)])
    const schema = await world.get('/v1/firms/schema', token)
    t.match(schema.text, /"formula":"ratio\(debt\+loans\/2\*revenue\)"/)
  },
)

await t.test('codes are grouped by a level of its name', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:all'])
  const answer = await world.get(
    `${path}?group=okved:section&measures=count&labels=true&order=-count,-okved:section`,
    token,
  )
  t.same(answer.body.data, [
    { 'okved:section': 'J', 'okved:section:label': 'Information', count: 3 },
    { 'okved:section': 'A', 'okved:section:label': 'Farming', count: 2 },
    { 'okved:section': null, 'okved:section:label': null, count: 2 },
  ])
  const russian = await world.get(
    `${path}?group="okved":section,okved:class&measures=count&labels=ru&order=-count&limit=1`,
    token,
  )
  t.match(russian.body.data, [
    { 'okved:section': 'J', 'okved:section:label': 'Связь', 'okved:class': '62', count: 3 },
  ])
  for (const format of ['csv', 'ndjson', 'parquet', 'xlsx']) {
    const file = await world.get(
      `${path}?group=okved:section&measures=count&labels=true&format=${format}`,
      token,
    )
    t.equal(file.status, 200, format)
  }
  const schema = await world.get('/v1/firms/schema', token)
  t.match(schema.text, /"levels":\{"class":"prefix\(okved,2\)","section":"okved:section"\}/)
  const wrong = async (group: string) =>
    (await world.get(`${path}?measures=count&${group}`, token)).body
  t.match(await wrong('group=okved:secton'), {
    detail: /okved has the levels class, section\. Did you mean "section"\?/,
  })
  t.match(await wrong('group=firm:section'), { detail: /firm has no levels/ })
  t.match(await wrong('group=okved:section,"okved":section'), { detail: /twice/ })
  t.match(await wrong('group=okved.section'), { detail: /as okved:section/ })
})

/** 15 significant digits. */
function digits(value: number): number {
  return Number(value.toPrecision(15))
}

// Guarantee: no refusal is decided by rows that were read, so that no cell is learned for nothing.
await t.test('a factor that makes a sum too large for exact digits is no refusal', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:all'])
  const factors = ['1', '999999999999999', '999999999999999.999999999999999']
  for (const factor of factors) {
    const measure = encodeURIComponent(`x:ratio(${factor}*revenue/debt)`)
    const ask = (having: string) =>
      world.get(`${path}?group=firm&firm=eq.a&measures=${measure}&having=${having}`, token)
    const none = await ask('x.lt.-1')
    t.equal(none.status, 200, factor)
    t.same(none.body.data, [])
    const some = await ask('x.gt.0')
    t.equal(some.headers['x-rows-charged'], '1')
    const value = Number(some.body.data[0]?.['x'])
    t.ok(Math.abs(value / ((Number(factor) * 220) / 40) - 1) < 1e-12, `${factor}: ${value}`)
  }
})
