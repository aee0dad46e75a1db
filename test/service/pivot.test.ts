import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { summaryOf } from '../engine/fixtures/summaries.js'
import type { AskedSummary } from '../engine/fixtures/summaries.js'
import type { Expected } from '../engine/fixtures/fractions.js'
import { expectedGroups } from '../engine/fixtures/summary-model.js'
import type { ServedRow } from '../engine/fixtures/summary-model.js'
import { isError } from '../support/answers.js'
import { callTool } from '../support/mcp/mcp-messages.js'
import { readBytes } from '../support/parquet.js'
import { filesOnly } from '../support/tables.js'
import { textsOf } from '../../src/row-texts.js'
import { startWorld } from '../support/world.js'
import type { Answer, World } from '../support/world.js'
import { runs } from '../support/runs.js'

// Guarantee: a pivot holds what the same token could compute from its rows, has a column for each
// value among them, and costs what its cells cost, of the rest too.

const demo = 'das_demo_firms'
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
    columns:
      secret: {hidden: true}
      okved: {levels: {section: section}, labels: data/okved.csv}
      revenue: {unit: thousand RUB}
    plans:
      all: {rows_per_month: 10000000, history: all, price_rub: 0, rate_per_minute: 100000}
      last: {rows_per_month: 10000000, history: 1, price_rub: 0, rate_per_minute: 100000}
      few: {rows_per_month: 60, history: all, price_rub: 0, rate_per_minute: 100000}
`
const rowsOf = (year: number) => `SELECT 'inn' || i AS inn, ${year} AS year,
  CASE WHEN i % 5 > 0 THEN '0' || i % 4 || '.' || i % 3 END AS okved,
  CASE WHEN i % 7 > 0 THEN (hash(i + ${year}) % 100000)::BIGINT - 20000 END AS revenue,
  CASE WHEN i % 11 > 0 THEN (i * 13 % 17)::DECIMAL(9,2) / 4 END AS share,
  CASE WHEN i % 3 > 0 THEN DATE '2021-11-03' + (i * 20)::INTEGER END AS day,
  CASE WHEN i % 4 > 0 THEN i % 2 = 0 END AS flag, (i % 9) / 8::DOUBLE AS size, i AS secret
  FROM range(60) t(i)`
const files = Object.fromEntries(
  [2021, 2022, 2023].map((year) => [`data/firms-${year}.parquet`, rowsOf(year)]),
)
/** Those that are shown. */
const columns = 8

function startFirms(t: Test): Promise<World> {
  const codes = 'code,name,section\n01.0,One,A\n02.1,Two,A\n03.2,Three,B\nA,First,\nB,Second,\n'
  return startWorld(t, { at: t.testdir({ data: { 'okved.csv': codes } }), files, registry })
}

const groups = ['okved', 'prefix(okved,2)', 'year', 'month(day)', 'flag', 'inn', 'size']
const pivots = ['year', 'okved', 'flag', 'year(day)', 'quarter(day)', 'prefix(okved,2)', 'size']
const added = ['count', 'count(share)', 'sum(revenue)', 'sum(share)', 'sum(revenue@2022)']
const others = [
  ...['distinct(inn)', 'avg(revenue)', 'min(okved)', 'max(day)', 'p90(revenue)', 'sum(size)'],
  ...['avg(revenue/share)', 'ratio(revenue/share)', 'growth(share@2021/share@2023)'],
  ...['ratio(revenue+share/share)', 'ratio(revenue@2023/revenue@2021)'],
]
const filters = ['', 'okved=like.01*', 'revenue=gt.0', 'year=gte.2022', 'inn=ne.inn7', 'year=eq.1']

const question = fc.record({
  group: fc.constantFrom(...groups),
  pivot: fc.constantFrom(...pivots),
  measure: fc.constantFrom(...added, ...others),
  hasRest: fc.boolean(),
  filter: fc.constantFrom(...filters),
  limit: fc.constantFrom(1, 2, 5, 1000),
})
type Asked = typeof question extends fc.Arbitrary<infer Drawn> ? Drawn : never

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')
const cellsOf = (row: string) => {
  const { names, cells } = textsOf(row)
  return new Map(names.map((name, index) => [String(JSON.parse(name)), cells[index] ?? '']))
}

async function rowsOfToken(world: World, token: string, filter: string) {
  const answer = await world.get(`/v1/firms?limit=1000&format=ndjson&${filter}`, token)
  return linesOf(answer.text).map(cellsOf)
}

function pathOf({ group, pivot, measure, hasRest, filter, limit }: Asked): string {
  const query = new URLSearchParams({ group, pivot, measures: measure, limit: String(limit) })
  if (hasRest) query.set('rest', 'true')
  return `/v1/firms/aggregate?${query}&${filter}`
}

function isSame(cell: string | undefined, expected: Expected): boolean {
  if (expected.kind === 'text') return cell === expected.text
  return cell !== 'null' && Math.abs(Number(cell) - expected.value) <= expected.slack
}

/** What the answer must hold, computed from rows. */
class Model {
  readonly #summary: (asked: AskedSummary) => ReturnType<typeof summaryOf>
  readonly #asked: Asked
  readonly #rows: readonly ServedRow[]

  constructor(world: World, asked: Asked, rows: readonly ServedRow[]) {
    const version = world.app.catalog().datasets.get('firms')?.version
    if (!version) throw new Error('no version')
    const column = (name: string) => {
      const found = version.columns.find((each) => each.name === name)
      if (!found) throw new Error(`no column ${name}`)
      return found
    }
    this.#summary = (words) => summaryOf({ version, column }, words)
    this.#asked = asked
    this.#rows = rows
  }

  /** Each group by its key, in their order, with the measure over all its rows. */
  by(group: string) {
    const asked = this.#summary({ group: [group], measures: [this.#asked.measure] })
    const found = expectedGroups(asked, this.#rows)
    return new Map(found.map(({ keys, measures }) => [keys[0] ?? '', measures[0] ?? missing]))
  }

  /** The measure over the rows of these groups with one value of the pivot. */
  cell(inGroups: (key: string) => boolean, value: string): Expected {
    const { group, pivot, measure } = this.#asked
    const rows = this.#rows.filter(
      (row) => this.#keys(pivot, row).includes(value) && this.#keys(group, row).some(inGroups),
    )
    const [whole] = expectedGroups(this.#summary({ measures: [measure] }), rows)
    return whole?.measures[0] ?? missing
  }

  #keys(group: string, row: ServedRow): readonly string[] {
    const found = expectedGroups(this.#summary({ group: [group], measures: ['count'] }), [row])
    return found.map(({ keys }) => keys[0] ?? '')
  }
}

const missing: Expected = { kind: 'text', text: 'null' }
const plain = (cell: string) => (cell.startsWith('"') ? String(JSON.parse(cell)) : cell)
const sizeOf = (each: Expected) =>
  each.kind === 'near' ? each.value : each.text === 'null' ? -Infinity : Number(plain(each.text))

/** Whether groups are in order, by their totals and then by their keys. */
function isBefore(total: Expected, next: Expected, isKeyBefore: boolean): boolean {
  const slack = total.kind === 'near' ? total.slack * 2 : 0
  const [size, nextSize] = [sizeOf(total), sizeOf(next)]
  return size > nextSize || (size === nextSize && isKeyBefore) || nextSize - size < slack
}

/** @throws Error with what differs; returns what the answer costs */
function checkPivot(
  world: World,
  asked: Asked,
  rows: readonly ServedRow[],
  answer: Answer,
): number {
  const { group, pivot, limit, hasRest, measure } = asked
  const model = new Model(world, asked, rows)
  const totals = model.by(group)
  const [keys, values] = [[...totals.keys()], [...model.by(pivot).keys()]]
  const data = linesOf(answer.text).map(cellsOf)
  const shown = data.filter((row) => !row.has('rest'))
  const rest = data.slice(shown.length)
  if (shown.length !== Math.min(limit, keys.length)) throw new Error(`${shown.length} groups`)
  const names = [group, ...values.map(plain)]
  const places = shown.map((row) => keys.indexOf(row.get(group) ?? ''))
  for (const [index, row] of shown.entries()) {
    if ([...row.keys()].join() !== names.join()) throw new Error(`columns ${[...row.keys()]}`)
    const key = row.get(group) ?? ''
    for (const value of values) {
      const expected = model.cell((each) => each === key, value)
      if (isSame(row.get(plain(value)), expected)) continue
      throw new Error(`${key} ${value}: ${row.get(plain(value))}, not ${JSON.stringify(expected)}`)
    }
    const [last, next] = [places[index - 1], places[index]]
    if (last === undefined || next === undefined || /min|max/.test(measure)) continue
    const [before, after] = [last, next].map((place) => totals.get(keys[place] ?? '') ?? missing)
    if (!isBefore(before ?? missing, after ?? missing, last < next)) throw new Error('order')
  }
  const left = keys.filter((_, place) => !places.includes(place))
  const hasMore = hasRest && left.length > 0
  if (rest.length !== Number(hasMore)) throw new Error(`${rest.length} rests`)
  for (const row of rest) {
    if (row.get(group) !== 'null' || row.get('rest') !== 'true') throw new Error('rest')
    for (const value of values) {
      const expected = model.cell((each) => left.includes(each), value)
      if (!isSame(row.get(plain(value)), expected)) throw new Error(`rest ${value}`)
    }
  }
  const ofMeasure = measure.split(/[/+]/).length
  return data.length * Math.ceil((1 + values.length * ofMeasure) / columns)
}

const charged = ({ headers }: Answer) => Number(headers['x-rows-charged'] ?? 0)

await t.test('a pivot holds what its token reads, and costs its cells', async (t) => {
  const world = await startFirms(t)
  const all = await world.subscribe(['firms:all'])
  const last = await world.subscribe(['firms:last'])
  const token = fc.constantFrom(demo, all.token, last.token)
  const property = fc.asyncProperty(question, token, async (asked, token) => {
    if (asked.hasRest && !added.includes(asked.measure) && asked.measure !== 'sum(size)') {
      isError(t, await world.get(pathOf(asked), token), 'bad_request', /sums and counts only/)
      return
    }
    if (asked.group === asked.pivot) {
      isError(t, await world.get(pathOf(asked), token), 'bad_request', /is the group already/)
      return
    }
    const answer = await world.get(`${pathOf(asked)}&format=ndjson`, token)
    if (answer.status !== 200) throw new Error(answer.text)
    const cost = checkPivot(world, asked, await rowsOfToken(world, token, asked.filter), answer)
    if (token !== demo && charged(answer) !== cost) {
      throw new Error(`${charged(answer)} charged for ${cost}`)
    }
  })
  await fc.assert(property, { numRuns: runs(25) })
  t.pass()
})

const path = '/v1/firms/aggregate'

await t.test('columns, groups, rest and counts in every format', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:all'])
  const url = `${path}?group=okved:section&pivot=year&measures=count&labels=true&limit=1&rest=true`
  const answer = await world.get(url, token)
  t.equal(
    answer.text,
    '{"data":[{"okved:section":null,"okved:section:label":null,"2021":48,"2022":48,"2023":48},' +
      '{"okved:section":null,"okved:section:label":null,"2021":12,"2022":12,"2023":12,"rest":true}],' +
      '"groups":3,"rows":180,"truncated":true}',
  )
  t.equal(answer.headers['x-rows-charged'], '2')
  const whole = await world.get(url.replace('limit=1', 'limit=3'), token)
  t.equal(whole.body.data.length, 3, 'no rest is left out')
  t.equal(whole.body['truncated'], false)
  const csv = await world.get(`${url}&format=csv&header=label`, token)
  t.equal(csv.text.split('\r\n')[0], 'okved:section,okved:section:label,2021,2022,2023,rest')
  t.equal(csv.text.split('\r\n')[2], ',,12,12,12,true')
  const { content } = await callTool(world, token, 'aggregate', {
    resource: 'firms',
    group: ['okved:section'],
    measures: ['sum(revenue)'],
    pivot: 'year',
    rest: true,
    limit: 1,
  })
  t.match(content, {
    columns: ['okved:section', '2021', '2022', '2023', 'rest'],
    data: { rest: [null, true] },
    units: { '2021': 'thousand RUB' },
    groups: 3,
    truncated: true,
  })
  const posted = await world.post(path, token, {
    group: ['flag'],
    pivot: 'flag',
    measures: 'count',
    filters: [{ column: 'year', op: 'eq', value: 2021 }],
  })
  isError(t, posted, 'bad_request', /pivot: "flag" is the group already/)
})

await t.test(
  'names that differ by large letters alone are two columns in every format',
  async (t) => {
    const select = `SELECT i AS id, i % 2 AS half, CASE i % 4 WHEN 0 THEN 'yes' WHEN 1 THEN 'Yes'
    WHEN 2 THEN 'rest' ELSE 'YES (2)' END AS said FROM range(8) t(i)`
    const world = await startWorld(t, {
      at: t.testdir({}),
      files: { 'data/a.parquet': select },
      registry: `
demo: {token: ${demo}, rate_per_minute: 100000}
datasets:
  words: {title: Words, files: data/a.parquet, key: [id], demo: {half: [0, 1]}}
`,
    })
    const ask = (format: string) =>
      world.get(
        `/v1/words/aggregate?group=half&pivot=said&measures=count&limit=1&rest=true&format=${format}`,
        demo,
      )
    t.same((await ask('json')).body.data, [
      { half: 0, 'YES (2)': 0, Yes: 0, 'rest (2)': 2, 'yes (3)': 2 },
      { half: null, 'YES (2)': 2, Yes: 2, 'rest (2)': 0, 'yes (3)': 0, rest: true },
    ])
    t.equal((await ask('csv')).text.split('\r\n')[0], 'half,YES (2),Yes,rest (2),yes (3),rest')
    t.equal((await ask('parquet')).status, 200)
  },
)

await t.test('the empty text has a column of its own, by the same name everywhere', async (t) => {
  const select = `SELECT i AS id, ['', 'a0', '""', NULL][1 + i % 4] AS said FROM range(8) t(i)`
  const world = await startWorld(t, {
    at: t.testdir({}),
    files: { 'data/a.parquet': select },
    registry: `
demo: {token: ${demo}, rate_per_minute: 100000}
datasets:
  words: {title: Words, files: data/a.parquet, key: [id], demo: {id: [0, 1, 2, 3, 4]}}
`,
  })
  const rest = '/v1/words/aggregate?group=prefix(said,9)&pivot=said&measures=count&limit=1'
  const names = ['prefix(said,9)', '""', '"" (2)', 'a0', 'null']
  const { text } = await world.get(rest, demo)
  t.ok(text.startsWith(String.raw`{"data":[{"prefix(said,9)":"","\"\"":2,"\"\" (2)":0,"a0":0,`))
  const csv = await world.get(`${rest}&format=csv`, demo)
  t.equal(csv.text.split('\r\n')[0], '"prefix(said,9)","""""",""""" (2)",a0,null')
  for (const format of ['ndjson', 'parquet', 'xlsx']) {
    t.equal((await world.get(`${rest}&format=${format}`, demo)).status, 200, format)
  }
  const { content } = await callTool(world, demo, 'aggregate', {
    resource: 'words',
    group: ['prefix(said,9)'],
    pivot: 'said',
    measures: ['count'],
    limit: 1,
  })
  t.same(content['columns'], names)
})

await t.test('Parquet has the same', filesOnly, async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:all'])
  const url = `${path}?group=flag&pivot=year&measures=count&limit=1&rest=true&format=parquet`
  const answer = await world.app.server.inject({
    url,
    headers: { authorization: `Bearer ${token}` },
  })
  const json = 'SELECT CAST(to_json(page) AS VARCHAR) FROM read_parquet($1) AS page'
  const { rows } = await readBytes(t, answer.rawPayload, json)
  t.same(
    rows.map(([row]) => JSON.parse(String(row)) as unknown),
    [
      { flag: false, '2021': 30, '2022': 30, '2023': 30, rest: null },
      { flag: null, '2021': 30, '2022': 30, '2023': 30, rest: true },
    ],
  )
})

await t.test('what depends on values is decided by those of the window alone', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:all'])
  const many = `${path}?group=year&measures=count&pivot=inn`
  const refusal = /^pivot: "inn" has more than 50 values\. Take a coarser one/
  for (const filter of ['', '&inn=eq.inn1', '&inn=eq.nothing']) {
    const refused = await world.get(many + filter, token)
    isError(t, refused, 'bad_request', refusal)
    t.equal(refused.headers['x-rows-charged'], undefined)
  }
  t.equal((await world.get(many, demo)).body.data.length, 3, 'the demo subset has four')
  for (const [query, text] of [
    ['group=flag&measures=count,sum(share)&pivot=year', /exactly one group and one measure/],
    ['measures=count&pivot=year', /exactly one group/],
    ['group=flag&measures=count&pivot=year&order=-count', /order can't be combined with pivot/],
    ['group=flag&measures=count&pivot=year&having=count.gt.1', /having can't be combined/],
    ['group=flag&measures=count&pivot=yaer', /pivot: there is no column "yaer".*"year"/],
    ['group=flag&measures=count&pivot=year,okved', /pivot takes one group, got 2/],
    ['group=flag&measures=count&rest=true', /rest needs pivot/],
    ['group=flag&measures=count&pivot=year&rest=maybe', /rest must be true or false/],
    ['group=flag&measures=avg(share)&pivot=year&rest=true', /sums and counts only/],
  ] as const) {
    isError(t, await world.get(`${path}?${query}`, token), 'bad_request', text)
  }
  const few = await world.subscribe(['firms:few'])
  const priced = `${path}?group=flag&measures=count&pivot=year&rest=true`
  const dear = await world.get(`${priced}&limit=8`, few.token)
  isError(t, dear, 'row_quota_exceeded', /^Up to 63 rows needed, 60 left: limit=7 fits/)
  const cheap = await world.get(`${priced}&limit=7`, few.token)
  t.equal(charged(cheap), 3, '4 cells are a row')
})
