import { join } from 'node:path'
import t from 'tap'
import { listen } from '../support/answers.js'
import { nodeParties } from '../support/mcp/mcp-clients.js'
import { ask, financials, okved, openSql, plainRows } from '../support/mcp/task-answers.js'
import { procurement, rowsOf, valuesOf } from '../support/mcp/task-answers.js'
import type { Answer, Rows } from '../support/mcp/task-answers.js'
import { startShipped } from '../support/shipped.js'

/**
 * Thirty tasks of analysts over the shipped data, each with the calls that a careful reader of the
 * tools' descriptions makes; SQL over the same files has the right answer. Reading the
 * descriptions, once for all tasks, is not counted.
 */

const [nodeClient] = nodeParties
const callsOnAverageMax = 2

/** A call; its arguments may depend on the answers before. */
type Call = readonly [tool: string, args: object | ((before: readonly Answer[]) => object)]

interface Task {
  readonly words: string
  readonly calls: readonly Call[]
  readonly sql: string
  /** What the agent reads in the answers; left out, the rows of the last one. */
  readonly read?: (answers: readonly Answer[]) => Rows
}

const eq = (column: string, value: unknown) => ({ column, op: 'eq', value })
const inList = (column: string, value: readonly unknown[]) => ({ column, op: 'in', value })
const like = (column: string, value: string) => ({ column, op: 'like', value })
const year = (value: number) => eq('year', value)
const since = (value: number) => ({ column: 'year', op: 'gte', value })

const from = (resource: string) => (tool: string) => (args: object) =>
  [tool, { resource, ...args }] as const
const accounts = from('financials')
const contracts = from('procurement')

/** The first key that `find` gave in the answer before. */
const foundKey = ([answer]: readonly Answer[]) => (answer ? valuesOf(answer, 'key')[0] : null)
const find = (q: string): Call => ['find', { q, limit: 3 }]

/** Two calls: a company by its name, then its lines by year. */
function linesOf(q: string, lines: readonly string[]): readonly Call[] {
  const select = ['year', ...lines]
  return [find(q), ['query', (before) => ({ ...accountsOf(foundKey(before)), select })]]
}

function accountsOf(inn: unknown) {
  return { resource: 'financials', filters: [eq('inn', inn)] }
}

/** Two calls: a company by its name, then a summary of its contracts. */
function contractsOf(q: string, column: string, measures: readonly string[]): readonly Call[] {
  return [
    find(q),
    [
      'aggregate',
      (before) => ({ resource: 'procurement', filters: [eq(column, foundKey(before))], measures }),
    ],
  ]
}

const sectioned = `(SELECT f.*, section FROM ${financials} f LEFT JOIN ${okved} ON code = okved) s`
const sectionName = `(SELECT l.name_ru FROM ${okved} l WHERE l.code = s.section)`
const inns = ['7708004767', '7712040126', '7740000076', '2309085638', '7736216869']
const innList = inns.map((inn) => `'${inn}'`).join()
const lines = (inn: string, columns: string) =>
  `SELECT year, ${columns} FROM ${financials} WHERE inn = '${inn}' ORDER BY year`
/** Growth of a sum; empty unless the earlier one is above 0. */
const growth = (line: string, a: number, b: number) =>
  `CASE WHEN sum("${line}") FILTER (year = ${a}) > 0 THEN sum("${line}") FILTER (year = ${b}) /
    sum("${line}") FILTER (year = ${a}) - 1 END`
/** Sums of both sides over the rows that have both. */
const ratio = (a: string, b: string) =>
  `sum(${a}) FILTER (${a} IS NOT NULL AND ${b} IS NOT NULL)::DOUBLE /
    sum(${b}) FILTER (${a} IS NOT NULL AND ${b} IS NOT NULL)`
const debt = `CASE WHEN "1400" IS NULL AND "1500" IS NULL THEN NULL
  ELSE ifnull("1400", 0) + ifnull("1500", 0) END`

/** Percents of the parts in their sum. */
function percents(values: readonly unknown[]): Rows {
  const whole = values.reduce<number>((sum, value) => sum + Number(value), 0)
  return values.map((value) => [(100 * Number(value)) / whole])
}

const lastOf = (answers: readonly Answer[], name: string) => {
  const last = answers.at(-1)
  return last ? valuesOf(last, name) : []
}

/** Of the kind that TRIAL's agent was given. */
const usual: readonly Task[] = [
  {
    words: 'revenue of the ten largest industries by year',
    calls: [
      accounts('aggregate')({
        group: ['okved:class'],
        measures: ['sum(2110)'],
        pivot: 'year',
        filters: [since(2020)],
        limit: 10,
      }),
    ],
    sql: `SELECT okved[:2] AS class, ${[2020, 2021, 2022, 2023, 2024, 2025]
      .map((each) => `sum("2110") FILTER (year = ${each})`)
      .join()} FROM ${financials} WHERE year >= 2020
      GROUP BY class ORDER BY sum("2110") DESC NULLS LAST LIMIT 10`,
  },
  {
    words: 'the 20 companies with the highest profit of 2023',
    calls: [
      accounts('top')({ by: '-2400', filters: [year(2023)], select: ['name', '2400'], limit: 20 }),
    ],
    sql: `SELECT name, "2400" FROM ${financials} WHERE year = 2023
      ORDER BY "2400" DESC NULLS LAST LIMIT 20`,
  },
  {
    words: 'who grew most by revenue from 2023 to 2024, of those with over a billion',
    calls: [
      accounts('aggregate')({
        group: ['inn'],
        measures: ['grown:growth(2110@2023/2110@2024)', 'base:sum(2110@2023)', 'max(name@2024)'],
        having: ['base.gte.1000000'],
        order: ['-grown'],
        limit: 10,
      }),
    ],
    sql: `SELECT inn, ${growth('2110', 2023, 2024)} AS grown, sum("2110") FILTER (year = 2023),
      max(name) FILTER (year = 2024) FROM ${financials} GROUP BY inn
      HAVING sum("2110") FILTER (year = 2023) >= 1000000 ORDER BY grown DESC NULLS LAST LIMIT 10`,
  },
  {
    words: 'revenue and profit of 2024 by section of OKVED, with names',
    calls: [
      accounts('aggregate')({
        group: ['okved:section'],
        measures: ['revenue:sum(2110)', 'profit:sum(2400)'],
        filters: [year(2024)],
        order: ['-revenue'],
        labels: 'ru',
      }),
    ],
    sql: `SELECT section, ${sectionName}, sum("2110") AS revenue, sum("2400")
      FROM ${sectioned} WHERE year = 2024 GROUP BY section ORDER BY revenue DESC NULLS LAST`,
  },
  {
    words: 'debt to equity of five companies in 2024',
    calls: [
      accounts('aggregate')({
        group: ['inn'],
        measures: ['debt_to_equity:ratio(1400+1500/1300)'],
        filters: [inList('inn', inns), year(2024)],
      }),
    ],
    sql: `SELECT inn, (${debt})::DOUBLE / nullif("1300", 0) FROM ${financials}
      WHERE year = 2024 AND inn IN (${innList}) ORDER BY inn`,
  },
  {
    words: 'the percent of all revenue of 2024 that the five largest companies and the others have',
    calls: [
      accounts('aggregate')({
        group: ['inn'],
        measures: ['sum(2110)'],
        filters: [year(2024)],
        pivot: 'year',
        limit: 5,
        rest: true,
      }),
    ],
    read: (answers) => percents(lastOf(answers, '2024')),
    sql: `SELECT 100 * sum("2110") / (SELECT sum("2110") FROM ${financials} WHERE year = 2024)
      FROM (SELECT *, least(6, row_number() OVER (ORDER BY "2110" DESC NULLS LAST)) AS place
      FROM ${financials} WHERE year = 2024) GROUP BY place ORDER BY place`,
  },
  {
    words: 'revenue of "Lukoil" by year',
    calls: linesOf('Lukoil', ['2110']),
    sql: lines('7708004767', '"2110"'),
  },
  {
    words: 'how many contracts "МОЭК" won, and for how much',
    calls: contractsOf('МОЭК', 'supplier_inn', ['count', 'sum(price_rub)']),
    sql: `SELECT count(*), sum(price_rub) FROM ${procurement} WHERE supplier_inn = '7720518494'`,
  },
  {
    words: 'the percent of companies with a loss in 2024',
    calls: [
      accounts('aggregate')({
        measures: ['count(2400)'],
        filters: [year(2024), { column: '2400', op: 'lt', value: 0 }],
      }),
      accounts('aggregate')({ measures: ['count(2400)'], filters: [year(2024)] }),
    ],
    read: (answers) => {
      const [losses, all] = answers.map((answer) => Number(valuesOf(answer, 'count(2400)')[0]))
      return [[(100 * (losses ?? 0)) / (all ?? 0)]]
    },
    sql: `SELECT 100 * avg(("2400" < 0)::INTEGER) FROM ${financials} WHERE year = 2024`,
  },
  {
    words: 'net margin of all companies together, by year',
    calls: [
      accounts('aggregate')({ group: ['year'], measures: ['net_margin'], filters: [since(2020)] }),
    ],
    sql: `SELECT year, ${ratio('"2400"', '"2110"')} FROM ${financials} WHERE year >= 2020
      GROUP BY year ORDER BY year`,
  },
  {
    words: 'assets, equity and net profit of Aeroflot by year',
    calls: linesOf('аэрофлот', ['1600', '1300', '2400']),
    sql: lines('7712040126', '"1600", "1300", "2400"'),
  },
  {
    words: 'money and number of contracts by month and code of goods',
    calls: [
      contracts('aggregate')({
        group: ['month(sign_date)', 'okpd2:class'],
        measures: ['sum(price_rub)', 'count'],
      }),
    ],
    sql: `SELECT strftime(sign_date, '%Y-%m') AS month, okpd2[:2] AS class, sum(price_rub), count(*)
      FROM ${procurement} GROUP BY ALL ORDER BY month, class NULLS LAST`,
  },
  {
    words: 'the ten dearest contracts on heat or hot water',
    calls: [
      contracts('top')({
        by: '-price_rub',
        filters: [like('okpd2', '35.30*')],
        select: ['reg_number', 'customer_name', 'price_rub'],
        limit: 10,
      }),
    ],
    sql: `SELECT reg_number, customer_name, price_rub FROM ${procurement}
      WHERE okpd2 LIKE '35.30%' ORDER BY price_rub DESC LIMIT 10`,
  },
  {
    words: 'customers with more than ten contracts, by their median price',
    calls: [
      contracts('aggregate')({
        group: ['customer_inn'],
        measures: ['contracts:count', 'price:median(price_rub)'],
        having: ['contracts.gt.10'],
        order: ['-price'],
      }),
    ],
    sql: `SELECT customer_inn, count(*), median(price_rub::DOUBLE) AS price FROM ${procurement}
      GROUP BY 1 HAVING count(*) > 10 ORDER BY price DESC, 1`,
  },
  {
    words: 'companies with negative equity in 2025, largest hole first',
    calls: [
      accounts('top')({
        by: '1300',
        filters: [year(2025), { column: '1300', op: 'lt', value: 0 }],
        select: ['inn', 'name', '1300'],
        limit: 100,
      }),
    ],
    sql: `SELECT inn, name, "1300" FROM ${financials} WHERE year = 2025 AND "1300" < 0
      ORDER BY "1300" LIMIT 100`,
  },
]

const more: readonly Task[] = [
  {
    words: 'growth of revenue in telecommunications from 2020 to 2024',
    calls: [
      accounts('aggregate')({
        measures: ['growth(2110@2020/2110@2024)'],
        filters: [like('okved', '61*')],
      }),
    ],
    sql: `SELECT ${growth('2110', 2020, 2024)} FROM ${financials} WHERE okved LIKE '61%'`,
  },
  {
    words: 'growth of profit by section from 2023 to 2024, with names',
    calls: [
      accounts('aggregate')({
        group: ['okved:section'],
        measures: ['grown:growth(2400@2023/2400@2024)'],
        order: ['-grown'],
        labels: 'ru',
      }),
    ],
    sql: `SELECT section, ${sectionName}, ${growth('2400', 2023, 2024)} AS grown
      FROM ${sectioned} WHERE year IN (2023, 2024) GROUP BY section
      ORDER BY grown DESC NULLS LAST, section NULLS LAST`,
  },
  {
    words: 'companies whose revenue fell by more than half from 2023 to 2024',
    calls: [
      accounts('aggregate')({
        group: ['inn'],
        measures: ['fall:growth(2110@2023/2110@2024)'],
        having: ['fall.lt.-0.5'],
        order: ['fall'],
      }),
    ],
    sql: `SELECT inn, ${growth('2110', 2023, 2024)} AS fall FROM ${financials}
      GROUP BY inn HAVING fall < -0.5 ORDER BY fall, inn`,
  },
  {
    words: 'the number of companies in each section by year',
    calls: [
      accounts('aggregate')({
        group: ['okved:section'],
        measures: ['distinct(inn)'],
        pivot: 'year',
        filters: [since(2023)],
      }),
    ],
    sql: `SELECT section, ${[2023, 2024, 2025]
      .map((each) => `count(DISTINCT inn) FILTER (year = ${each})`)
      .join()} FROM ${sectioned} WHERE year >= 2023 GROUP BY section
      ORDER BY count(DISTINCT inn) DESC, section NULLS LAST`,
  },
  {
    words: 'the percent of contracts with a single supplier',
    calls: [contracts('aggregate')({ group: ['is_single_supplier'], measures: ['count'] })],
    read: (answers) => percents(lastOf(answers, 'count')),
    sql: `SELECT 100 * count(*) / sum(count(*)) OVER () FROM ${procurement}
      GROUP BY is_single_supplier ORDER BY is_single_supplier NULLS LAST`,
  },
  {
    words: 'the peers of "МТС" by class, by revenue of 2024',
    calls: [
      find('МТС'),
      ['query', (before) => ({ ...accountsOf(foundKey(before)), select: ['year', 'okved'] })],
      [
        'top',
        (before) => ({
          resource: 'financials',
          by: '-2110',
          filters: [
            like('okved', `${String(lastOf(before, 'okved').at(-1)).slice(0, 2)}*`),
            year(2024),
          ],
          select: ['inn', '2110'],
        }),
      ],
    ],
    sql: `SELECT inn, "2110" FROM ${financials} WHERE year = 2024 AND okved LIKE '61%'
      AND "2110" IS NOT NULL ORDER BY "2110" DESC`,
  },
  {
    words: 'the margin of 7712040126 in 2024, and the median of its class',
    calls: [
      accounts('query')({
        filters: [eq('inn', '7712040126'), year(2024)],
        select: ['okved', '2110', '2400'],
      }),
      [
        'aggregate',
        (before) => ({
          resource: 'financials',
          measures: ['median(2400/2110)'],
          filters: [
            like('okved', `${String(lastOf(before, 'okved')[0]).slice(0, 2)}*`),
            year(2024),
          ],
        }),
      ],
    ],
    read: ([own, peers]) => {
      const [profit, revenue] = ['2400', '2110'].map((line) => own && valuesOf(own, line)[0])
      return [[Number(profit) / Number(revenue), peers && valuesOf(peers, 'median(2400/2110)')[0]]]
    },
    sql: `SELECT any_value("2400"::DOUBLE / "2110") FILTER (inn = '7712040126'),
      median("2400"::DOUBLE / nullif("2110", 0)) FROM ${financials}
      WHERE year = 2024 AND okved LIKE '51%'`,
  },
  {
    words: 'which suppliers of contracts have filed accounts, and their revenue of 2024',
    calls: [
      contracts('aggregate')({ group: ['supplier_inn'], measures: ['count'], limit: 1000 }),
      [
        'query',
        (before) => ({
          resource: 'financials',
          filters: [inList('inn', lastOf(before, 'supplier_inn')), year(2024)],
          select: ['inn', '2110'],
        }),
      ],
    ],
    sql: `SELECT inn, "2110" FROM ${financials} WHERE year = 2024
      AND inn IN (SELECT supplier_inn FROM ${procurement}) ORDER BY inn`,
  },
  {
    words: 'the last contract and the dearest one of "россети моск регион"',
    calls: contractsOf('россети моск регион', 'supplier_inn', ['max(sign_date)', 'max(price_rub)']),
    sql: `SELECT max(sign_date), max(price_rub) FROM ${procurement}
      WHERE supplier_inn = '5036065113'`,
  },
  {
    words: 'net profit of "аэрафлот" by year',
    calls: linesOf('аэрафлот', ['2400']),
    sql: lines('7712040126', '"2400"'),
  },
  {
    words: 'total assets of "kerjqk", typed in the wrong layout',
    calls: linesOf('kerjqk', ['1600']),
    sql: lines('7708004767', '"1600"'),
  },
  {
    words: 'profit of three companies, a column for each year',
    calls: [
      accounts('aggregate')({
        group: ['inn'],
        measures: ['sum(2400)'],
        pivot: 'year',
        filters: [inList('inn', inns.slice(0, 3)), since(2022)],
      }),
    ],
    sql: `SELECT inn, ${[2022, 2023, 2024, 2025]
      .map((each) => `sum("2400") FILTER (year = ${each})`)
      .join()} FROM ${financials} WHERE year >= 2022 AND inn IN (${innList.slice(0, 38)})
      GROUP BY inn ORDER BY sum("2400") DESC`,
  },
  {
    words: 'money of the five largest suppliers by month, and of the others as one',
    calls: [
      contracts('aggregate')({
        group: ['supplier_inn'],
        measures: ['sum(price_rub)'],
        pivot: 'month(sign_date)',
        limit: 5,
        rest: true,
      }),
    ],
    read: (answers) =>
      answers.flatMap((answer) => rowsOf(answer, ['supplier_inn', '2018-01', '2018-02'])),
    sql: `WITH each AS (SELECT supplier_inn, sum(price_rub) FILTER (month(sign_date) = 1) AS first,
      sum(price_rub) FILTER (month(sign_date) = 2) AS second,
      least(6, row_number() OVER (ORDER BY sum(price_rub) DESC)) AS place
      FROM ${procurement} GROUP BY supplier_inn)
      SELECT CASE WHEN place < 6 THEN any_value(supplier_inn) END, sum(first), sum(second)
      FROM each GROUP BY place ORDER BY place`,
  },
  {
    words: 'days of receivables in 2024, the median of each class with ten companies or more',
    calls: [
      accounts('aggregate')({
        group: ['okved:class'],
        measures: ['days:median(365*1230/2110)', 'companies:count'],
        filters: [year(2024)],
        having: ['companies.gte.10'],
        order: ['-days'],
      }),
    ],
    sql: `SELECT okved[:2] AS class, median(365 * "1230"::DOUBLE / nullif("2110", 0)) AS days,
      count(*) FROM ${financials} WHERE year = 2024 GROUP BY class HAVING count(*) >= 10
      ORDER BY days DESC NULLS LAST`,
  },
  {
    words: 'where margins are widest: the tenth and the ninetieth percentile by section in 2024',
    calls: [
      accounts('aggregate')({
        group: ['okved:section'],
        measures: ['p10(2400/2110)', 'p90(2400/2110)', 'companies:count'],
        filters: [year(2024)],
        having: ['companies.gte.10'],
      }),
    ],
    sql: `SELECT section, quantile_cont("2400"::DOUBLE / nullif("2110", 0), 0.1),
      quantile_cont("2400"::DOUBLE / nullif("2110", 0), 0.9), count(*) FROM ${sectioned}
      WHERE year = 2024 GROUP BY section HAVING count(*) >= 10 ORDER BY section NULLS LAST`,
  },
]

await t.test('thirty tasks of analysts have right answers in two calls on average', async (t) => {
  const world = await startShipped(t)
  // The index of names is made.
  await world.app.prepare()
  const { token } = await world.subscribe(['financials:pro', 'procurement:pro'])
  const url = `http://127.0.0.1:${await listen(world)}/mcp/`
  const client = await nodeClient.connect({ url, token, folder: join(world.folder, 'client') })
  t.teardown(() => client.close())
  const sql = await openSql(t)
  const tasks = [...usual, ...more]
  let made = 0
  for (const { words, calls, sql: right, read } of tasks) {
    const answers: Answer[] = []
    for (const [tool, args] of calls) {
      answers.push(await ask(client, tool, typeof args === 'function' ? args(answers) : args))
    }
    const last = answers.at(-1)
    const rows = read ? read(answers) : last ? rowsOf(last) : []
    t.ok(rows.length > 0, words)
    t.same(plainRows(rows), plainRows(await sql(right)), words)
    t.comment(`${calls.length} ${words}`)
    made += calls.length
  }
  t.comment(`${tasks.length} tasks, ${made} calls, ${(made / tasks.length).toFixed(2)} on average`)
  t.equal(tasks.length, 30)
  t.ok(made / tasks.length <= callsOnAverageMax)
})
