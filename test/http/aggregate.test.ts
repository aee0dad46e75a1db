import t from 'tap'
import { column, isError } from '../support/answers.js'
import { readBytes } from '../support/parquet.js'
import { filesOnly } from '../support/tables.js'
import { startWorld } from '../support/world.js'
import type { Answer, World } from '../support/world.js'

const demoToken = 'das_demo_sales'

/** 12 sales of 3 years in 2 towns; `secret` is hidden. */
const sales = `SELECT 2022 + i % 3 AS year, 's' || i AS id, CASE WHEN i % 2 = 0 THEN 'Omsk' ELSE 'Perm'
  END AS town, i AS amount, i * 10 AS cost, 'x' || i AS secret FROM range(12) t(i)`

const registry = `
demo: {token: ${demoToken}, rate_per_minute: 10000}
datasets:
  sales:
    title: Sales
    files: data/sales.parquet
    key: id
    history: year
    require_filter: true
    demo: {town: [Omsk]}
    columns: {amount: {unit: RUB}, secret: {hidden: true}}
    measures: {margin: {ratio: amount/cost, unit: share, description: Amount by cost}}
    plans:
      pro: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 100000}
      last: {rows_per_month: 1000, history: 1, price_rub: 0, rate_per_minute: 100000}
      tiny: {rows_per_month: 7, history: all, price_rub: 0, rate_per_minute: 100000}
      rows: {rows_per_month: 1000, history: all, price_rub: 0, aggregates: false}
  dear:
    title: Dear
    files: data/sales.parquet
    aggregates: {rows_per_group: 5}
    plans: {pro: {rows_per_month: 100, history: all, price_rub: 0}}
  plain:
    title: Plain
    files: data/sales.parquet
    aggregates: false
    plans: {pro: {rows_per_month: 100, history: all, price_rub: 0}}
`

function startSales(t: Parameters<typeof startWorld>[0]): Promise<World> {
  return startWorld(t, {
    files: { 'data/sales.parquet': sales },
    registry,
    storedOrder: { sales: ['amount'], dear: ['amount'], plain: ['amount'] },
  })
}

const path = '/v1/sales/aggregate'
const byYear = `${path}?group=year&measures=sum(amount),count`

function left(answer: Answer): number {
  return Number(answer.headers['x-quota-rows-remaining'])
}

await t.test('groups with their totals, charged by group', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:pro'])
  const answer = await world.get(byYear, token)
  t.equal(
    answer.text,
    '{"data":[{"year":2022,"sum(amount)":18,"count":4},{"year":2023,"sum(amount)":22,"count":4},' +
      '{"year":2024,"sum(amount)":26,"count":4}],"groups":3,"rows":12,"truncated":false}',
  )
  t.equal(answer.headers['x-rows-charged'], '3')
  t.equal(left(answer), 997)
  const again = await world.get(byYear, token)
  t.equal(again.text, answer.text)
  t.equal(left(again), 994, 'a kept answer is charged the same')
  const wide = await world.get(
    `${path}?measures=sum(amount),min(amount),max(amount),avg(amount),margin,p90(amount/cost)`,
    token,
  )
  t.match(wide.body.data, [{ 'sum(amount)': 66, margin: 0.1 }])
  t.equal(wide.headers['x-rows-charged'], '2', '8 cells are two rows of 5 columns')
})

await t.test('the first groups, in order, and those that meet having', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:pro'])
  const first = await world.get(`${byYear}&order=-sum(amount)&limit=2`, token)
  t.same(column(first, 'year'), [2024, 2023])
  t.match(first.body, { groups: 3, rows: 12, truncated: true })
  t.equal(first.headers['x-rows-charged'], '2')
  const large = await world.get(`${byYear}&having=sum(amount).gt.20&town=eq.Perm`, token)
  t.match(large.body, { data: [], groups: 0, rows: null, truncated: false })
  t.equal(large.headers['x-rows-charged'], '0', 'no group costs nothing, and counts nothing')
  const whole = await world.get(`${path}?measures=count&town=eq.Tula`, token)
  t.match(whole.body, { data: [{ count: 0 }], groups: 1, rows: 0 })
  t.equal(whole.headers['x-rows-charged'], '1', 'a count of 0 is an answer')
})

await t.test('what may cost more than is left is refused before it is read', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:tiny'])
  const bySale = `${path}?group=id&measures=sum(amount)`
  const refused = await world.get(bySale, token)
  isError(
    t,
    refused,
    'row_quota_exceeded',
    /^Up to 100 rows needed, 7 left: limit=7 fits\. Resets on /,
  )
  t.equal(left(refused), 7)
  t.equal(refused.headers['x-rows-charged'], undefined)
  t.match(refused.headers['retry-after'], /^\d+$/)
  const fitting = await world.get(`${bySale}&limit=7`, token)
  t.equal(fitting.body.data.length, 7)
  t.equal(left(fitting), 0)
  isError(t, await world.get(`${path}?measures=count`, token), 'row_quota_exceeded', /are used/)

  const dear = await world.subscribe(['dear:pro'])
  for (let spent = 0; spent < 95; spent += 5) {
    await world.get('/v1/dear/aggregate?measures=count', dear.token)
  }
  const two = await world.get('/v1/dear/aggregate?group=town&measures=count', dear.token)
  isError(t, two, 'row_quota_exceeded', /^Up to 500 rows needed, 5 left: limit=1 fits\./)
  const page = await world.get('/v1/dear?limit=3', dear.token)
  t.equal(page.headers['x-rows-charged'], '3', 'rows say what they cost, too')
  const one = await world.get('/v1/dear/aggregate?measures=count', dear.token)
  isError(t, one, 'row_quota_exceeded', /^Up to 5 rows needed, 2 left\. Resets/)
})

await t.test('answers in parallel never spend more than the quota', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:tiny'])
  const url = `${byYear}&limit=3`
  const answers = await Promise.all(Array.from({ length: 5 }, () => world.get(url, token)))
  t.equal(answers.filter(({ status }) => status === 200).length, 2)
  for (const each of answers.filter(({ status }) => status !== 200)) {
    isError(t, each, 'row_quota_exceeded', /^Up to 3 rows needed, 1 left: limit=1 fits/)
  }
})

await t.test('a known tag and HEAD are free', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:pro'])
  const first = await world.get(byYear, token)
  const tag = String(first.headers['etag'])
  const headers = { 'if-none-match': tag }
  const unchanged = await world.get(byYear, token, { headers })
  t.equal(unchanged.status, 304)
  t.equal(unchanged.text, '')
  t.equal(left(unchanged), 997)
  const head = await world.get(byYear, token, { method: 'HEAD' })
  t.equal(head.status, 200)
  t.equal(head.headers['etag'], tag)
  t.equal(left(head), 997)
  const renamed = await world.get(`${path}?group=year&measures=a:sum(amount),count`, token, {
    headers,
  })
  t.equal(renamed.status, 200, 'another question')
  isError(t, await world.get(`${path}?measures=sum(no)`, token, { headers }), 'bad_request')
})

await t.test('each format has the same groups', filesOnly('parquet'), async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:pro'])
  const asked = `${byYear}&limit=2`
  const facts = {
    'x-groups': '3',
    'x-rows-met': '12',
    'x-truncated': 'true',
    'x-rows-charged': '2',
  }
  const csv = await world.get(`${asked}&format=csv`, token)
  t.equal(csv.text, 'year,sum(amount),count\r\n2022,18,4\r\n2023,22,4\r\n')
  t.match(csv.headers, facts)
  const lines = await world.get(asked, token, { headers: { accept: 'application/x-ndjson' } })
  t.equal(
    lines.text,
    '{"year":2022,"sum(amount)":18,"count":4}\n{"year":2023,"sum(amount)":22,"count":4}\n',
  )
  t.match(lines.headers, facts)
  const file = await world.app.server.inject({
    url: `${asked}&format=parquet`,
    headers: { authorization: `Bearer ${token}` },
  })
  t.match(file.headers, { ...facts, 'content-type': 'application/vnd.apache.parquet' })
  const json = 'SELECT CAST(to_json(page) AS VARCHAR) FROM read_parquet($1) AS page'
  const { rows } = await readBytes(t, file.rawPayload, json)
  t.same(
    rows.map(([row]) => JSON.parse(String(row)) as unknown),
    [
      { year: 2022, 'sum(amount)': 18, count: 4 },
      { year: 2023, 'sum(amount)': 22, count: 4 },
    ],
  )
  const none = `${asked}&town=eq.Nowhere&format=parquet`
  const empty = await world.app.server.inject({
    url: none,
    headers: { authorization: `Bearer ${token}` },
  })
  t.same((await readBytes(t, empty.rawPayload, json)).rows, [], 'no row of totals alone')
  isError(t, await world.get(`${asked}&format=xml`, token), 'not_acceptable')
  const html = await world.get(asked, token, { headers: { accept: 'text/html' } })
  isError(t, html, 'not_acceptable')
})

await t.test('POST asks the same as GET', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:pro'])
  const url = await world.get(
    `${path}?town=eq.Omsk&group=year&measures=total:sum(amount),count&having=total.gte.10` +
      '&order=-total&limit=2',
    token,
  )
  const body = await world.post(path, token, {
    filters: [{ column: 'town', op: 'eq', value: 'Omsk' }],
    group: ['year'],
    measures: ['total:sum(amount)', 'count'],
    having: ['total.gte.10'],
    order: '-total',
    limit: 2,
  })
  t.equal(url.status, 200)
  t.equal(body.text, url.text)
  t.equal(body.headers['x-rows-charged'], url.headers['x-rows-charged'])
  const csv = await world.post(path, token, { measures: 'count', format: 'csv' })
  t.equal(csv.text, 'count\r\n12\r\n')
  isError(t, await world.post(`${path}?limit=1`, token, { measures: 'count' }), 'bad_request')
  isError(t, await world.post(path, token, { measure: 'count' }), 'bad_request')
})

await t.test('a caller sees the groups of the rows that it may see', async (t) => {
  const world = await startSales(t)
  const last = await world.get(byYear, (await world.subscribe(['sales:last'])).token)
  t.match(last.body, { data: [{ year: 2024, 'sum(amount)': 26 }], groups: 1, rows: 4 })
  const demo = await world.get(`${path}?group=town&measures=count`, demoToken)
  t.match(demo.body, { data: [{ town: 'Omsk', count: 6 }], groups: 1, rows: 6 })
  t.equal(demo.headers['x-rows-charged'], undefined, 'nothing is counted')
  const { token } = await world.subscribe(['sales:pro'])
  const hidden = ['group=secret', 'measures=distinct(secret)', 'measures=count&secret=eq.x1']
  for (const query of hidden) {
    const answer = await world.get(
      `${path}?${query}&measures=count`.replace('&measures=count&', '&'),
      token,
    )
    t.equal(answer.status, 400, query)
  }
  const [known, unknown] = await Promise.all(
    ['secret', 'sesret'].map((name) => world.get(`${path}?measures=count&group=${name}`, token)),
  )
  t.equal(
    known?.body.detail.replaceAll('secret', '?'),
    unknown?.body.detail.replaceAll('sesret', '?'),
  )
})

await t.test('without aggregates the path is 404, and top works', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:rows', 'plain:pro'])
  isError(t, await world.get(byYear, token), 'not_found', /switched off for this plan/)
  isError(t, await world.post(path, token, { measures: 'count' }), 'not_found')
  const mistakes = ['measures=sum(', 'group=year&group=year', 'measures=%FF', 'labels=x', 'limit=x']
  for (const query of mistakes) {
    isError(t, await world.get(`${path}?${query}`, token), 'not_found', /switched off/, query)
  }
  isError(t, await world.post(path, token, '{"measures":'), 'not_found', /switched off/)
  const plain = '/v1/plain/aggregate?measures=count'
  isError(t, await world.get(plain, token), 'not_found', /switched off for this dataset/)
  const stranger = (await world.subscribe(['sales:pro'])).token
  const [off, unknown] = await Promise.all(
    [plain, plain.replace('plain', 'no')].map((url) => world.get(url, stranger)),
  )
  t.equal(off?.text, unknown?.text, 'who has no grant learns nothing')
  t.equal((await world.get('/v1/sales/top?by=amount', token)).status, 200)
})

await t.test('hostile parameters are mistakes, not failures', async (t) => {
  const world = await startSales(t)
  const { token } = await world.subscribe(['sales:pro'])
  const queries = [
    '',
    'measures=',
    'measures=sum(amount',
    'measures=sum(amount))',
    'measures=sum(town)',
    `measures=sum(amount);DROP TABLE x`,
    `measures=${"sum(amount')--".repeat(3)}`,
    'measures=average(amount)',
    'measures=p100(amount)',
    'measures=list(town)',
    `measures=${Array.from({ length: 17 }, (_, at) => `m${at}:count`).join()}`,
    'measures=count,count',
    'measures=count&measures=count',
    'measures=count&group=year,year',
    'measures=count&group=prefix(town,0)',
    'measures=count&group=prefix(town,99999999999999999999)',
    'measures=count&group=prefix(amount,1)',
    'measures=count&order=amount',
    'measures=count&having=count',
    'measures=count&having=sum(amount).gt.1',
    'measures=count&having=count.like.1',
    'measures=count&limit=0',
    'measures=count&limit=10001',
    'measures=count&labels=maybe',
    'measures=count&cursor=abc',
    'measures=count&select=year',
    'measures=%FF',
    `measures=${'('.repeat(5000)}`,
    `measures=count&group=${'year('.repeat(500)}`,
  ]
  for (const query of queries) {
    isError(t, await world.get(`${path}?${query}`, token), 'bad_request', /./, query.slice(0, 60))
  }
  const wrong = await world.get(`${path}?measures=average(amount)`, token)
  t.match(wrong.body.detail, /avg/)
  for (const body of [
    [],
    'x',
    { measures: {} },
    { measures: [1] },
    { group: [[]] },
    { having: 1 },
  ]) {
    isError(t, await world.post(path, token, body), 'bad_request', /./, JSON.stringify(body))
  }
  t.equal(left(await world.get(`${path}?measures=count`, token)), 999, 'no mistake was charged')
  const put = await world.get(path, token, { method: 'PUT' })
  isError(t, put, 'method_not_allowed')
  t.equal(put.headers['allow'], 'GET, HEAD, POST')
})
