import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import { workbook } from '../../src/sheet/workbook.js'
import { startPaidFirms } from './fixtures/firms-world.js'

// Guarantee: what a page charges it delivers, once; nothing is left out or rounded unsaid.

const all = [
  { dataset: 'firms', plan: 'all' },
  { dataset: 'deals', plan: 'all' },
]
const page = '/datasets/firms/09?lang=en'
const own = { 'sec-fetch-site': 'same-origin', accept: 'text/html' }
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
const withoutLinks = (text: string) => text.replace(/^ +links: .*\n/m, '')

await t.test('a comparison whose medians are beyond the quota is shown without them', async (t) => {
  const { get, used } = await startPaidFirms(t, [{ dataset: 'firms', plan: 'eight' }], {
    registry: (text) => text.replace('few: {rows_per_month: 6', 'eight: {rows_per_month: 8'),
  })
  const { status, text } = await get('/datasets/firms/compare?lang=en&keys=09,10')
  t.equal(await used('firms'), 8)
  t.equal(status, 200, 'the rows were charged')
  t.match(text, 'Firm &lt;10&gt;')
  t.match(textOf(text), /Median: 62 · Software: \S/, 'why it is missing')
})

await t.test('a page that is opened twice at once is charged once', async (t) => {
  const { get, used } = await startPaidFirms(t, all)
  await Promise.all([get(page), get(page), get(page)])
  t.same([await used('firms'), await used('deals')], [4, 20])
})

await t.test('HEAD costs nothing', async (t) => {
  const { app, used } = await startPaidFirms(t, all)
  await app.inject({ method: 'HEAD', url: page, headers: own })
  t.same([await used('firms'), await used('deals')], [0, 0])
})

await t.test('the button of a price keeps the path prefix', async (t) => {
  const { get } = await startPaidFirms(t, all, { publicUrl: 'https://data.example/das' })
  t.match((await get(page, {})).text, 'class="button" href="/das/datasets/firms/09')
})

await t.test('a comparison says when groups were left out', async (t) => {
  // Two names of 11 in one period: its groups take the place of those of 12.
  const { get } = await startPaidFirms(t, all, {
    registry: (text) => withoutLinks(text).replace('key: [inn, year]', 'key: inn'),
    firms: `SELECT * FROM (VALUES
      ('11', 2022, 'Old', 1, 1.0::DOUBLE, 0.1::DOUBLE, '62.01'),
      ('11', 2022, 'New', 2, 1.0::DOUBLE, 0.1::DOUBLE, '62.01'),
      ('12', 2022, 'Other', 3, 1.0::DOUBLE, 0.1::DOUBLE, '62.01'))
      v(inn, year, name, revenue, profit, margin, branch)`,
  })
  const { text } = await get('/datasets/firms/compare?lang=en&keys=11,12')
  t.notMatch(textOf(text), 'Not found: 12', '12 is there')
})

await t.test(
  'a key of digits that is written otherwise is found where it is charged',
  async (t) => {
    const { get } = await startPaidFirms(t, all, {
      registry: (text) => withoutLinks(text).replace(/demo: \{inn: .*\}/, 'demo: {inn: [1]}'),
      firms: `SELECT i AS inn, 2022 AS year, 'Firm ' || i AS name, i AS revenue,
      CAST(i AS DOUBLE) AS profit, CAST(0.1 AS DOUBLE) AS margin, '62.01' AS branch
      FROM range(1, 31) t(i)`,
    })
    const { text } = await get('/datasets/firms/compare?lang=en&keys=009,010,11')
    t.notMatch(textOf(text), 'Not found: 009, 010')
    const odd = await get('/datasets/firms/compare?lang=en&keys=abc,11,011')
    t.equal(odd.status, 200, 'as for a text')
    t.match(textOf(odd.text), 'Not found: abc.')
    t.match(textOf(odd.text), 'Comparison of 1', '011 is 11')
  },
)

await t.test('linked rows without a date are shown and counted', async (t) => {
  const { get } = await startPaidFirms(t, all, {
    deals: `SELECT CASE WHEN n % 2 = 0 THEN DATE '2024-01-01' END AS day,
      CAST(n + 0.25 AS DECIMAL(10, 2)) AS price, '09' AS seller, '10' AS buyer FROM range(10) t(n)`,
  })
  const text = textOf((await get(page)).text)
  t.match(text, 'Total of 10 rows')
  t.match(text, 'Without a date: 5 rows')
})

await t.test('the total of floating-point numbers keeps kopecks', async (t) => {
  const { get } = await startPaidFirms(t, all, {
    deals: `SELECT DATE '2024-01-01' AS day, CAST(9999999999999.01 AS DOUBLE) AS price,
      '09' AS seller, '10' AS buyer FROM range(10) t(n)`,
  })
  t.match(textOf((await get(page)).text), '99,999,999,999,990.10')
})

await t.test('a decimal keeps every digit, on the page and in the workbook', async (t) => {
  const { get, sheets } = await startPaidFirms(t, all, {
    firms: `SELECT lpad(CAST(i AS VARCHAR), 2, '0') AS inn, y AS year, 'F' || i AS name,
      CAST('12345678901234567.89' AS DECIMAL(20, 2)) AS revenue, CAST(i AS DOUBLE) AS profit,
      CAST(0.1 AS DOUBLE) AS margin, '62.01' AS branch
      FROM range(1, 31) t(i), range(2019, 2023) u(y)`,
  })
  t.match(textOf((await get(page)).text), '12,345,678,901,234,567.89')
  await get(`${page}&format=xlsx`)
  const [table] = sheets[0]?.tables ?? []
  t.match(new TextDecoder().decode(table?.lines), '"12345678901234567.89"', 'text, as over REST')
})

await t.test('each sheet of a workbook has a name of its own', async (t) => {
  const cells = { kind: 'text' } as const
  const table = (name: string) => ({ name, columns: [{ name: 'a', cells }], rows: [['"x"']] })
  for (const [first, second] of [
    ['government_procurement_contracts seller', 'government_procurement_contracts buyer'],
    ['a', 'About'],
  ] as const) {
    const file = await workbook([first, second].map(table), [['Title', 'x']])
    const xml = strFromU8(unzipSync(file)['xl/workbook.xml'] ?? new Uint8Array())
    const names = [...xml.matchAll(/<sheet [^>]*name="([^"]*)"/g)].map(([, name]) => name)
    t.equal(names.length, 3)
    t.equal(new Set(names).size, 3, `Excel refuses equal names: ${names.join(', ')}`)
  }
})
