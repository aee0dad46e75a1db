import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { summaryOf } from '../engine/fixtures/summaries.js'
import { expectedGroups } from '../engine/fixtures/summary-model.js'
import type { ServedRow } from '../engine/fixtures/summary-model.js'
import { textsOf } from '../../src/row-texts.js'
import { startWorld } from '../support/world.js'
import type { Answer, World } from '../support/world.js'
import { runs } from '../support/runs.js'

// Guarantee: an aggregate holds what the same token could compute from its rows, and no more; R
// charged rows never carry more cells than R rows do.

const demo = 'das_demo_firms'
const firms = 60
const registry = `
demo: {token: ${demo}, rate_per_minute: 100000}
datasets:
  firms:
    title: Firms
    files: data/firms-*.parquet
    key: [inn, year]
    history: year
    limit: {max: 1000}
    demo: {inn: [inn0, inn7, inn8, inn31]}
    columns: {secret: {hidden: true}}
    plans:
      all: {rows_per_month: 10000000, history: all, price_rub: 0, rate_per_minute: 100000}
      last: {rows_per_month: 10000000, history: 1, price_rub: 0, rate_per_minute: 100000}
`
const rowsOf = (year: number) => `SELECT 'inn' || i AS inn, ${year} AS year,
  CASE WHEN i % 5 > 0 THEN '0' || i % 4 || '.' || i % 3 END AS okved,
  CASE WHEN i % 7 > 0 THEN (hash(i + ${year}) % 100000)::BIGINT - 20000 END AS revenue,
  CASE WHEN i % 11 > 0 THEN (i * 13 % 17)::DECIMAL(9,2) / 4 END AS share, i AS secret
  FROM range(${firms}) t(i)`
const files = Object.fromEntries(
  [2021, 2022, 2023].map((year) => [`data/firms-${year}.parquet`, rowsOf(year)]),
)
/** Those that are shown. */
const columns = ['inn', 'year', 'okved', 'revenue', 'share']

const groups = ['inn', 'year', 'okved', 'prefix(okved,2)']
const measures = [
  ...['count', 'count(share)', 'distinct(inn)', 'distinct(okved)', 'sum(revenue)', 'avg(revenue)'],
  ...['min(okved)', 'max(share)', 'sum(share)', 'p90(revenue)', 'avg(revenue/share)'],
  ...['median(share/revenue)', 'ratio(revenue/share)'],
]
/** Those that look at one year, which the window of a plan may leave out, and add columns up. */
const formulas = [
  ...['sum(revenue@2022)', 'count(inn@2023)', 'ratio(revenue@2023/revenue@2021)'],
  ...['growth(share@2021/share@2023)', 'max(share@1900)', 'ratio(revenue@2022/revenue)'],
  ...['ratio(revenue+share/share)', 'median(365*share@2023-revenue@2023/revenue@2023)'],
]
const filters = ['', 'okved=like.01*', 'revenue=gt.0', 'year=gte.2022', 'inn=ne.inn7', 'year=eq.1']

const question = fc.record({
  group: fc.uniqueArray(fc.constantFrom(...groups), { maxLength: 4 }),
  measures: fc.uniqueArray(fc.constantFrom(...measures, ...formulas), {
    minLength: 1,
    maxLength: 13,
  }),
  filter: fc.constantFrom(...filters),
  limit: fc.constantFrom(1, 2, 7, 1000),
})

const rowsIn = ({ text }: Answer) => text.split('\n').filter((line) => line !== '')

/** The rows that a token reads, each with the texts of its cells. */
async function rowsOfToken(world: World, token: string, filter: string) {
  const answer = await world.get(`/v1/firms?limit=1000&format=ndjson&${filter}`, token)
  return rowsIn(answer).map((row): ServedRow => {
    const { names, cells } = textsOf(row)
    return new Map(names.map((name, index) => [String(JSON.parse(name)), cells[index] ?? '']))
  })
}

/** What an answer carries: a quotient tells two numbers. */
function cellsOf(rows: number, asked: readonly string[]): number {
  return rows * asked.reduce((sum, name) => sum + name.split(/[/+-]/).length, 0)
}

function charged({ headers }: Answer): number {
  return Number(headers['x-rows-charged'] ?? 0)
}

function startFirms(t: Test): Promise<World> {
  return startWorld(t, { files, registry })
}

await t.test('an aggregate holds what its token reads, and costs as much', async (t) => {
  const world = await startFirms(t)
  const version = world.app.catalog().datasets.get('firms')?.version
  if (!version) throw new Error('no version')
  const column = (name: string) => {
    const found = version.columns.find((each) => each.name === name)
    if (!found) throw new Error(`no column ${name}`)
    return found
  }
  const tokens = [
    demo,
    ...(await Promise.all(
      ['all', 'last'].map(async (plan) => (await world.subscribe([`firms:${plan}`])).token),
    )),
  ]
  t.same(
    await Promise.all(tokens.map(async (token) => (await rowsOfToken(world, token, '')).length)),
    [4 * 3, firms * 3, firms],
  )
  const property = fc.asyncProperty(
    question,
    fc.constantFrom(...tokens),
    async ({ filter, limit, ...asked }, token) => {
      const list = `group=${asked.group.join()}&measures=${encodeURIComponent(asked.measures.join())}`
      const path = `/v1/firms/aggregate?${list}&limit=${limit}&format=ndjson&${filter}`
      const answer = await world.get(
        asked.group.length > 0 ? path : path.replace('group=&', ''),
        token,
      )
      if (answer.status !== 200) throw new Error(answer.text)
      const expected = expectedGroups(
        summaryOf({ version, column }, asked),
        await rowsOfToken(world, token, filter),
      ).slice(0, limit)
      const rows = rowsIn(answer)
      if (rows.length !== expected.length) throw new Error(`${rows.length} of ${expected.length}`)
      for (const [index, row] of rows.entries()) {
        const { keys = [], measures: values = [] } = expected[index] ?? {}
        const { cells } = textsOf(row)
        const isSame = [...keys.map((text) => ({ kind: 'text', text }) as const), ...values].every(
          (each, at) =>
            each.kind === 'text'
              ? each.text === cells[at]
              : Math.abs(Number(cells[at]) - each.value) <= each.slack,
        )
        if (!isSame) throw new Error(`${row} instead of ${JSON.stringify(expected[index])}`)
      }
      const cells = cellsOf(rows.length, [...asked.group, ...asked.measures])
      // The demo has no quota that could be charged.
      if (token !== demo && cells > charged(answer) * columns.length) {
        throw new Error(`${cells} cells for ${charged(answer)} rows`)
      }
    },
  )
  await fc.assert(property, { numRuns: runs(25) })
  t.pass()
})

await t.test('groups by the key cost at least what the rows cost', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:last'])
  const rows = await world.get('/v1/firms?limit=1000', token)
  t.equal(charged(rows), firms)
  for (const count of [1, 4, 5, 13]) {
    const asked = measures.slice(0, count)
    const answer = await world.get(
      `/v1/firms/aggregate?group=inn&measures=${asked.join()}&limit=1000`,
      token,
    )
    t.equal(answer.body.data.length, firms)
    t.ok(charged(answer) >= firms)
    t.ok(cellsOf(firms, ['inn', ...asked]) <= charged(answer) * columns.length, `${count}`)
  }
})

await t.test('what differences of totals tell costs at least the rows', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:last'])
  const told = 20
  let cost = 0
  const sumOf = async (filter: string) => {
    const answer = await world.get(`/v1/firms/aggregate?measures=sum(revenue)&${filter}`, token)
    cost += charged(answer)
    return Number(answer.body.data[0]?.['sum(revenue)'])
  }
  const total = await sumOf('')
  const guessed: number[] = []
  for (let firm = 1; firm <= told; firm++) guessed.push(total - (await sumOf(`inn=ne.inn${firm}`)))
  const asked = Array.from({ length: told }, (_, index) => `inn${index + 1}`)
  const rows = await world.get(`/v1/firms?select=inn,revenue&inn=in.${asked.join()}`, token)
  const revenues = new Map(rows.body.data.map(({ inn, revenue }) => [inn, revenue ?? 0]))
  t.same(
    guessed,
    asked.map((inn) => revenues.get(inn)),
    'which is what they tell',
  )
  t.equal(charged(rows), told)
  t.equal(cost, told + 1)
})

await t.test('a guess that no row meets costs a row', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:last'])
  const guess = '/v1/firms/aggregate?measures=count&inn=eq.inn1&revenue=gt.1000000'
  const answer = await world.get(guess, token)
  t.match(answer.body.data, [{ count: 0 }])
  t.equal(charged(answer), 1)
  const hidden = await world.get('/v1/firms/aggregate?measures=sum(secret)', token)
  t.match(hidden.body, { error: 'bad_request', detail: /secret/ }, 'an unknown column')
  t.equal(charged(hidden), 0)
})
