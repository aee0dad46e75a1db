import { join } from 'node:path'
import t from 'tap'
import { textsOf } from '../../../src/row-texts.js'
import { readBytes, writeParquet } from '../../support/parquet.js'
import { never, openFolder } from '../fixtures/open-engine.js'
import { openSummaries, summariesOf, summaryOf } from '../fixtures/summaries.js'

// Guarantee: groups, measures and totals as contract 6 says; empty is what is served as null.

const files = {
  '1.parquet': `SELECT * FROM (VALUES
    ('01.11', 2023, 10::BIGINT, 1.25::DECIMAL(10,2), 0.1::DOUBLE, DATE '2024-01-31'),
    ('01.12', 2023, 20, 2.50, 0.2, DATE '2024-04-01'),
    ('02', 2024, NULL, 0.25, 'nan', DATE 'infinity'),
    (NULL, 2024, 40, NULL, 0.3, NULL)) t(code, year, amount, price, ratio, day)`,
}

await t.test('groups have their keys, measures and totals; null is a group', async (t) => {
  const { ask } = await openSummaries(t, { files })
  const measures = ['count', 'sum(amount)', 'avg(price)']
  t.strictSame(await ask({ group: ['prefix(code,2)'], measures }), {
    rows: [
      '{"prefix(code,2)":"01","count":2,"sum(amount)":30,"avg(price)":1.875}',
      '{"prefix(code,2)":"02","count":1,"sum(amount)":null,"avg(price)":0.25}',
      '{"prefix(code,2)":null,"count":1,"sum(amount)":40,"avg(price)":null}',
    ],
    groups: 3,
    rowsMet: 4,
  })
  const parts = ['year(day)', 'quarter(day)', 'month(day)', 'day(day)']
  const dated = await ask({ group: parts, measures: ['sum(ratio)'], order: ['-sum(ratio)'] })
  t.strictSame(
    dated.rows.map((row) => textsOf(row).cells.join()),
    [
      'null,null,null,null,0.3',
      '2024,"2024-Q2","2024-04","2024-04-01",0.2',
      '2024,"2024-Q1","2024-01","2024-01-31",0.1',
    ],
  )
  const quotients = ['avg(amount/price)', 'ratio(amount/price)', 'median(ratio)', 'p25(amount)']
  const [one] = (await ask({ measures: quotients })).rows
  t.strictSame(textsOf(one ?? '').cells, ['8.0', '8.0', '0.2', '15.0'])
})

await t.test('zero by nothing is nothing, as is any number by zero or by nothing', async (t) => {
  const { ask } = await openSummaries(t, {
    files: {
      '1.parquet': `SELECT * FROM (VALUES (2023, 0::BIGINT, 0::DECIMAL(10,2), 0::DOUBLE),
        (2024, NULL, NULL, NULL), (2025, 7, 7, 7)) t(year, whole, exact, double)`,
    },
    entry: '    history: year\n',
  })
  const names = ['whole', 'exact', 'double']
  const measures = names.flatMap((name) => [
    `ratio(${name}@2023/${name}@2024)`,
    `ratio(${name}@2023-${name}@2023/1.5*${name}@2024+${name}@2024)`,
    `ratio(${name}@2025/${name}@2024)`,
    `ratio(${name}@2025/${name}@2023)`,
    `ratio(${name}@2024/${name}@2025)`,
  ])
  const [answer] = (await ask({ measures })).rows
  t.strictSame(
    textsOf(answer ?? '').cells,
    measures.map(() => 'null'),
  )
  const [zero] = (await ask({ measures: names.map((name) => `ratio(${name}@2023/${name}@2025)`) }))
    .rows
  t.strictSame(textsOf(zero ?? '').cells, ['0.0', '0.0', '0.0'])
})

await t.test('limit cuts the groups after having and order, not their number', async (t) => {
  const { ask } = await openSummaries(t, { files })
  const asked = { group: ['code'], measures: ['max(amount)'], order: ['-max(amount)'] }
  t.strictSame(await ask({ ...asked, having: ['max(amount).gte.20'], limit: 1 }), {
    rows: ['{"code":null,"max(amount)":40}'],
    groups: 2,
    rowsMet: 4,
  })
  const none = await ask({ ...asked, having: ['max(amount).gt.40'] })
  t.strictSame(none, { rows: [], groups: 0, rowsMet: 4 })
})

await t.test('no row makes one group without group, and none with one', async (t) => {
  const world = await openSummaries(t, { files })
  for (const predicates of [world.filter('year', 'eq', '1900'), world.filter('code', 'eq', '-')]) {
    const measures = ['count', 'sum(ratio)', 'avg(amount)', 'median(price)', 'min(code)']
    t.strictSame(await world.ask({ measures, predicates }), {
      rows: [
        '{"count":0,"sum(ratio)":null,"avg(amount)":null,"median(price)":null,"min(code)":null}',
      ],
      groups: 1,
      rowsMet: 0,
    })
    const grouped = await world.ask({ group: ['code'], measures, predicates })
    t.strictSame(grouped, { rows: [], groups: 0, rowsMet: 0 })
  }
})

await t.test('CSV and Parquet hold the same groups', async (t) => {
  const world = await openSummaries(t, { files, engine: { tempFolder: t.testdir({ temp: {} }) } })
  const asked = { group: ['year', 'month(day)'], measures: ['sum(amount)', 'min(code)'] }
  const csv = await world.ask({ ...asked, format: 'csv' })
  t.strictSame(csv.rows, ['2023,2024-01,10,01.11', '2023,2024-04,20,01.12', '2024,,40,02'])
  const summary = summaryOf(world, { ...asked, format: 'parquet' })
  const options = { signal: never, client: 'a client' }
  const { file, rows, groups } = await world.engine.summarize(summary, options)
  t.equal(rows.length, 3)
  t.equal(groups, 3)
  const cells = await readBytes(t, file ?? Buffer.alloc(0))
  t.strictSame(cells.names, [...asked.group, ...asked.measures])
  t.strictSame(cells.types, ['INTEGER', 'VARCHAR', 'DECIMAL(38,0)', 'VARCHAR'])
  t.strictSame(
    cells.rows.map((row) => row.map((cell) => cell ?? '').join()),
    csv.rows,
  )
})

await t.test('a label names the value of its group', async (t) => {
  const world = await openSummaries(t, { files })
  const summary = summaryOf(world, { group: ['code', 'year'], measures: ['count'] })
  const names = new Map([
    ['02', 'O"il'],
    ['01.11', 'Wheat'],
  ])
  const groups = summary.groups.map((group, index) =>
    index === 0 ? { ...group, labels: { names, digest: '' } } : group,
  )
  const options = { signal: never, client: 'a client' }
  const { rows } = await world.engine.summarize({ ...summary, groups }, options)
  t.strictSame(rows.map(String), [
    '{"code":"01.11","code:label":"Wheat","year":2023,"count":1}',
    '{"code":"01.12","code:label":null,"year":2023,"count":1}',
    '{"code":"02","code:label":"O\\"il","year":2024,"count":1}',
    '{"code":null,"code:label":null,"year":2024,"count":1}',
  ])
})

await t.test('every type has its functions, over the values that are served', async (t) => {
  const select = 'SELECT * EXCLUDE (bignum) FROM test_all_types()'
  const world = await openSummaries(t, { files: { '1.parquet': select } })
  for (const { name, rules } of world.version.columns) {
    const { rows } = await world.read([], { columns: [name] })
    const served = rows.map(({ json }) => textsOf(json).cells[0] ?? 'null')
    const present = served.filter((cell) => cell !== 'null')
    const isOpaque = rules.shown === 'json' || rules.shown === 'binary'
    const functions = isOpaque ? ['count'] : ['count', 'distinct']
    const counts = await world.ask({ measures: functions.map((each) => `${each}(${name})`) })
    const expected = isOpaque ? [present.length] : [present.length, new Set(present).size]
    t.strictSame(textsOf(counts.rows[0] ?? '').cells.map(Number), expected, name)
    if (isOpaque) continue
    const grouped = await world.ask({ group: [name], measures: ['count'] })
    const keys = grouped.rows.map((row) => textsOf(row).cells[0])
    t.strictSame(new Set(keys), new Set(served), `group ${name}`)
    const ends = await world.ask({ measures: [`min(${name})`, `max(${name})`] })
    const values = keys.filter((key) => key !== 'null')
    t.strictSame(textsOf(ends.rows[0] ?? '').cells, [values[0], values.at(-1)], `ends of ${name}`)
  }
})

await t.test('names may hold quotes, points and nothing but digits', async (t) => {
  const world = await openSummaries(t, {
    files: { '1.parquet': `SELECT 1 AS "2110", 'a' AS "a'b""c;--", 2 AS k0, 3 AS n` },
  })
  const group = [`a'b"c;--`, 'k0', '2110', 'n']
  t.strictSame((await world.ask({ group, measures: ['sum(2110)', 'max(n)'] })).rows, [
    `{"a'b\\"c;--":"a","k0":2,"2110":1,"n":3,"sum(2110)":1,"max(n)":3}`,
  ])
})

await t.test('a column that a file lacks is empty there; one of the path groups', async (t) => {
  const { ask } = await openSummaries(t, {
    files: {
      'year=2023/a.parquet': 'SELECT 1::TINYINT AS amount, 2.5::DOUBLE AS price',
      'year=2024/b.parquet': 'SELECT 3_000_000_000 AS amount',
    },
    patterns: 'data/*/*.parquet',
  })
  t.strictSame((await ask({ group: ['year'], measures: ['sum(amount)', 'sum(price)'] })).rows, [
    '{"year":2023,"sum(amount)":1,"sum(price)":2.5}',
    '{"year":2024,"sum(amount)":3000000000,"sum(price)":null}',
  ])
})

await t.test('a sum has every digit, or is refused', async (t) => {
  const nines = '9'.repeat(38)
  const folder = t.testdir({})
  const open = async (name: string, select: string) => {
    await writeParquet(join(folder, name, 'data'), { '1.parquet': select })
    return summariesOf(await openFolder(t, join(folder, name)))
  }
  const exact = await open(
    'exact',
    `SELECT '-${nines}'::DECIMAL(38,0) AS whole, 9223372036854775807 AS long FROM range(1)
     UNION ALL SELECT 1, 9223372036854775807`,
  )
  t.strictSame((await exact.ask({ measures: ['sum(whole)', 'sum(long)', 'avg(long)'] })).rows, [
    `{"sum(whole)":-${nines.slice(0, 37)}8,"sum(long)":18446744073709551614,` +
      '"avg(long)":9.22337203685478e+18}',
  ])
  const large = await open('large', `SELECT '${nines}'::DECIMAL(38,0) AS x FROM range(3)`)
  const infinite = await open('infinite', 'SELECT 1.7e308::DOUBLE AS x FROM range(3)')
  for (const world of [large, infinite]) {
    await t.rejects(world.ask({ measures: ['sum(x)'] }), { code: 'bad_request', detail: /38/ })
  }
})

await t.test(
  'sums of DOUBLE are the same in every order and for numbers of any size',
  async (t) => {
    const folder = t.testdir({})
    const numbers = `SELECT i, (hash(i) % 1_000_000_000)::DOUBLE / 7 - 71428571 AS x,
    1e300 / (1 + i) AS huge, 1e-300 * i AS tiny, i % 3 AS g FROM range(60_000) t(i)`
    const answers = new Set<string>()
    for (const [threads, order] of [
      [1, 'i'],
      [2, '-i'],
      [8, 'hash(i)'],
    ] as const) {
      const home = join(folder, String(threads))
      await writeParquet(
        join(home, 'data'),
        { '1.parquet': `SELECT * FROM (${numbers}) ORDER BY ${order}` },
        ', ROW_GROUP_SIZE 2048',
      )
      const { ask } = summariesOf(await openFolder(t, home, { engine: { threads } }))
      const measures = ['sum(x)', 'avg(x)', 'sum(huge)', 'sum(tiny)', 'avg(x/huge)', 'median(x)']
      answers.add((await ask({ group: ['g'], measures })).rows.join())
    }
    t.equal(answers.size, 1)
    t.match([...answers][0], /"sum\(tiny\)":5\.9999e-292,/)
  },
)

await t.test('a sum of DOUBLE has 15 digits where large numbers cancel out', async (t) => {
  for (const [numbers, sum, average] of [
    [[1e20, 1, -1e20, 2.5], '3.5', '0.875'],
    [[1.7e38, 2 ** 53, -1.7e38, 56], '9007199254741050.0', '2251799813685260.0'],
    [[1e300, -1e300, 1e280, 1e290], '1.0000000001e+290', '2.50000000025e+289'],
    [[1e-300, 2e-320, -1e-300], '2e-320', '6.665e-321'],
    [[1e25, -1e25], '0.0', '0.0'],
  ] as const) {
    const home = t.testdir({})
    const rows = numbers.map((number) => `('${number}'::DOUBLE)`).join()
    await writeParquet(join(home, 'data'), { '1.parquet': `SELECT x FROM (VALUES ${rows}) t(x)` })
    const { ask } = summariesOf(await openFolder(t, home))
    const { rows: answer } = await ask({ group: [], measures: ['sum(x)', 'avg(x)'] })
    t.same(answer, [`{"sum(x)":${sum},"avg(x)":${average}}`])
  }
})

await t.test('a percentile of -0 is 0', async (t) => {
  const home = t.testdir({})
  const numbers = "SELECT x FROM (VALUES (CAST('-0' AS DOUBLE))) t(x)"
  await writeParquet(join(home, 'data'), { '1.parquet': numbers })
  const { ask } = summariesOf(await openFolder(t, home))
  const { rows } = await ask({ group: [], measures: ['median(x)', 'max(x)', 'sum(x)', 'avg(x)'] })
  t.same(rows, ['{"median(x)":0.0,"max(x)":0.0,"sum(x)":0.0,"avg(x)":0.0}'])
})
