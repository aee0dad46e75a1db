import t from 'tap'
import type { Test } from 'tap'
import type { Term } from '../../../src/columns/formula.js'
import type { Access } from '../../../src/access/access.js'
import { parseSummaryUrl } from '../../../src/query/summary/parse-summary.js'
import { resolveSummary } from '../../../src/query/summary/resolve-summary.js'
import type { ResolvedSummary } from '../../../src/query/summary/resolve-summary.js'
import { column } from '../fixtures/access.js'
import { summaryAccess, summaryColumns as columns } from '../fixtures/summary-access.js'

function ask(query: string, access: Access = summaryAccess()): Promise<ResolvedSummary> {
  return resolveSummary(access, () => parseSummaryUrl(query))
}

interface Refusal {
  readonly code: string
  readonly detail: string
  readonly correction?: unknown
}

async function refusal(query: string, access?: Access): Promise<Refusal> {
  try {
    await ask(query, access)
  } catch (cause) {
    const { code, detail, correction } = cause as Partial<Refusal>
    if (code !== undefined && detail !== undefined) return { code, detail, correction }
    throw cause
  }
  throw new Error(`${query} is not refused`)
}

/** Each query with the beginning of the error, and what is meant instead of what is written. */
type Cases = readonly (readonly [query: string, detail: string, meant?: string])[]

async function checkRefusals(t: Test, cases: Cases): Promise<void> {
  for (const [query, detail, meant] of cases) {
    const found = await refusal(query)
    t.equal(found.code, 'bad_request', query)
    t.equal(found.detail.slice(0, detail.length), detail, query)
    if (meant !== undefined) t.match(found.correction, { meant }, query)
  }
}

await t.test('a summary has groups, measures, conditions, an order and a limit', async (t) => {
  const { summary, columns: answer } = await ask(
    'year=gte.2021&group=year,prefix(okved,2)&measures=revenue:sum(2110),count(2110),net_margin' +
      '&having=revenue.gt.5.5&having=count(2110).gte.10&order=-revenue,year&limit=20',
  )
  t.ok(Object.isFrozen(summary))
  t.match(summary, {
    predicates: [{ kind: 'gte', column: columns.year, value: 2021n }],
    groups: [
      { name: 'year', column: columns.year, by: { kind: 'value' }, labels: null },
      {
        name: 'prefix(okved,2)',
        column: columns.okved,
        by: { kind: 'prefix', length: 2 },
        labels: null,
      },
    ],
    measures: [
      {
        name: 'revenue',
        aggregate: { kind: 'sum', of: { column: columns.revenue, at: null } },
        defined: null,
      },
      { name: 'count(2110)', aggregate: { kind: 'count', of: { column: columns.revenue } } },
      {
        name: 'net_margin',
        aggregate: {
          kind: 'ratio',
          of: {
            dividend: { terms: [{ column: columns.profit }] },
            divisor: { terms: [{ column: columns.revenue }] },
          },
        },
        defined: { unit: 'fraction', description: 'Net profit by revenue' },
      },
    ],
    having: [
      { measure: 0, predicate: { kind: 'gt', value: 5n } },
      { measure: 1, predicate: { kind: 'gte', value: 10n } },
    ],
    order: [
      { by: { measure: 0 }, isDescending: true },
      { by: { group: 0 }, isDescending: false },
    ],
    limit: 20,
    format: 'json',
  })
  t.same(
    answer.map(({ name, unit, rules }) => [name, rules.shown, unit]),
    [
      ['year', 'integer', null],
      ['prefix(okved,2)', 'string', null],
      ['revenue', 'integer', 'thousand RUB'],
      ['count(2110)', 'integer', null],
      ['net_margin', 'number', 'fraction'],
    ],
  )
})

await t.test('every function is read, and its value has a type', async (t) => {
  const cases = [
    ['count', { kind: 'count', of: null }, 'BIGINT'],
    ['distinct(inn)', { kind: 'distinct', of: { column: columns.inn } }, 'BIGINT'],
    ['sum(2110)', { kind: 'sum', of: { column: columns.revenue } }, { width: 38, scale: 0 }],
    ['sum(price)', { kind: 'sum', of: { column: columns.price } }, { width: 38, scale: 2 }],
    ['sum(share)', { kind: 'sum', of: { column: columns.share } }, 'DOUBLE'],
    ['avg(2110)', { kind: 'avg', of: { column: columns.revenue } }, 'DOUBLE'],
    ['min(day)', { kind: 'min', of: { column: columns.day } }, 'DATE'],
    ['max(inn)', { kind: 'max', of: { column: columns.inn } }, 'VARCHAR'],
    ['median(price)', { kind: 'percentile', percent: 50, of: { column: columns.price } }, 'DOUBLE'],
    [
      'p99(2400/2110)',
      {
        kind: 'percentile',
        percent: 99,
        of: { dividend: { terms: [{ column: columns.profit }] } },
      },
      'DOUBLE',
    ],
    [
      'ratio(2400/2110)',
      { kind: 'ratio', of: { divisor: { terms: [{ column: columns.revenue }] } } },
      'DOUBLE',
    ],
    ['count(tags)', { kind: 'count', of: { column: columns.tags } }, 'BIGINT'],
  ] as const
  for (const [measure, aggregate, type] of cases) {
    const found = await ask(`measures=${measure}`)
    t.match(found.summary.measures, [{ name: measure, aggregate }], measure)
    t.match(found.columns[0]?.type, typeof type === 'string' ? { name: type } : type, measure)
  }
  const groups = [
    ['flag', { kind: 'value' }, 'BOOLEAN'],
    ['year(day)', { kind: 'year' }, 'BIGINT'],
    ['quarter(day)', { kind: 'quarter' }, 'VARCHAR'],
    ['month(day)', { kind: 'month' }, 'VARCHAR'],
    ['day(day)', { kind: 'day' }, 'VARCHAR'],
    ['prefix(inn,100)', { kind: 'prefix', length: 100 }, 'VARCHAR'],
  ] as const
  for (const [group, by, name] of groups) {
    const found = await ask(`measures=count&group=${group}`)
    t.match(found.summary.groups, [{ name: group, by }], group)
    t.match(found.columns[0]?.type, { name }, group)
  }
})

const dated = () => summaryAccess({}, {}, columns.day)
const yearly = () => summaryAccess({}, {}, columns.year)

/** The sides of a measure's quotient, or its one column, as texts. */
async function formulaOf(measure: string): Promise<unknown> {
  const { summary, cells } = await ask(`measures=${encodeURIComponent(measure)}`, yearly())
  const text = ({ column, at, isSubtracted = false }: Partial<Term>) =>
    `${isSubtracted ? '-' : ''}${column?.name}${at == null ? '' : `@${at}`}`
  const [{ name, aggregate: { of = null } = {} } = {}] = summary.measures
  const sides = of && 'dividend' in of ? [of.dividend, of.divisor] : []
  const single = of && 'column' in of ? [text(of)] : []
  return [
    name,
    cells,
    ...single,
    ...sides.map(({ factor, terms }) => [factor ?? '', ...terms.map(text)].join(' ')),
  ]
}

await t.test('a measure looks at one value of the history, and adds columns up', async (t) => {
  const cases = [
    ['sum(2110@2024)', 1, '2110@2024'],
    ['count(inn@2024)', 1, 'inn@2024'],
    ['p90("2110" @ 2024)', 1, '2110@2024'],
    ['growth(2110@2023/2110@2024)', 2, ' 2110@2023', ' 2110@2024'],
    ['ratio(2400@2024/2110@2023)', 2, ' 2400@2024', ' 2110@2023'],
    ['ratio(2400@2024/2110)', 2, ' 2400@2024', ' 2110'],
    ['ratio(2400+2110-price/share)', 4, ' 2400 2110 -price', ' share'],
    ['ratio("2400" + 2110/share)', 3, ' 2400 2110', ' share'],
    ['ratio(2110.0*2400/price)', 2, '2110.0 2400', ' price'],
    ['median(365*2400/0.5*2110)', 2, '365 2400', '0.5 2110'],
    ['avg(2400@2024-2110@2024/share@2024)', 3, ' 2400@2024 -2110@2024', ' share@2024'],
    ['p9(2400+2400+2400-2400/2110+year+price+share)', 8],
  ] as const
  for (const [measure, ...expected] of cases) {
    const [name, ...found] = (await formulaOf(measure)) as unknown[]
    t.equal(name, measure)
    t.same(found.slice(0, expected.length), expected, measure)
  }
  const plus = await ask('measures=ratio(2400+2110/share)&order=ratio(2400+2110/share)', yearly())
  t.match(plus.summary.measures, [{ name: 'ratio(2400+2110/share)' }], 'a + that a URL decodes')
  const { key } = await ask('measures=m:sum(2110@2024)', yearly())
  t.not((await ask('measures=m:sum(2110@2023)', yearly())).key, key)
  t.not((await ask('measures=m:sum(2110)', yearly())).key, key)
  const keys = ['2400%2B2110/2110', '2400-2110/2110', '2*2400/2110', '2400/2110%2B2110']
  const found = await Promise.all(keys.map((each) => ask(`measures=m:ratio(${each})`)))
  t.equal(new Set(found.map((each) => each.key)).size, keys.length)
})

await t.test('a column with a sign in its name is itself, also without quotes', async (t) => {
  const odd = ['net-profit', 'net', 'profit', 'a+b', 'x@2024', '2*y'].map((name) =>
    column(name, 'INTEGER'),
  )
  const access = { ...summaryAccess(), columns: odd }
  for (const name of ['net-profit', 'a+b', 'x@2024', '2*y']) {
    for (const written of [name, `"${name}"`]) {
      const query = `measures=sum(${encodeURIComponent(written)})`
      const { summary } = await ask(query, access)
      t.match(summary.measures[0]?.aggregate, { of: { column: { name }, at: null } }, written)
    }
  }
  const { summary } = await ask('measures=ratio("net-profit"-net/profit)', access)
  const dividend = { terms: [{ column: { name: 'net-profit' } }, { column: { name: 'net' } }] }
  t.match(summary.measures[0]?.aggregate, { of: { dividend } })
  t.match((await refusal('measures=sum(net-profti)', access)).correction, {
    meant: 'sum(net-profit)',
  })
})

await t.test('a formula without a meaning is refused, and no part of it is lost', async (t) => {
  const cases: Cases = [
    ['growth(2110@2024/2110@2023)', 'measures: growth needs', 'growth(2110@2023/2110@2024)'],
    ['growth(2110@2024/2110@2024)', 'measures: growth needs the earlier value first'],
    ['growth(2110@2023/2400@2024)', 'measures: growth takes one column at two values'],
    ['growth(2110/2110@2024)', 'measures: growth takes one column at two values'],
    ['growth(2110)', 'measures: growth takes one column at two values'],
    ['growth(2*2110@2023/2110@2024)', 'measures: growth takes one column at two values'],
    ['sum(2400+2110)', 'measures: sum takes one column; columns are added up'],
    ['sum(2*2110)', 'measures: sum takes one column; columns are added up'],
    ['median(2400@2023/2110@2024)', 'measures: median(a/b) divides in each row'],
    ['avg(2400@2023/2110)', 'measures: avg(a/b) divides in each row'],
    ['ratio(2400@2023+2110@2024/2110)', 'measures: all columns of a side need the same @'],
    ['ratio(2400+2110@2024/2110)', 'measures: all columns of a side need the same @'],
    ['ratio(2400+2400+2400+2400+2400/2110)', 'measures: a side of a quotient has at most 4'],
    ['ratio(okved+2400/2110)', 'measures: ratio needs a number; okved has'],
    ['median(2400*365/2110)', 'measures: "2400*365" can\'t be read.'],
    ['ratio(2110*2400/price)', 'measures: "2110*2400" can\'t be read.'],
    ['median(-2400/2110)', 'measures: "-2400" can\'t be read.'],
    ['sum(2110@x)', 'measures: "2110@x" can\'t be read.'],
    ['sum(2110@2024-01)', 'measures: there is no column "01".'],
    ['sum(2110@2024@2023)', 'measures: "2110@2024@2023" can\'t be read.'],
    ['median(365*(2400)/2110)', 'measures: "median(365*(2400)/2110)" can\'t be read.'],
    ['ratio(2101@2024+2400@2024/2110@2024)', '', 'ratio(2110@2024+2400@2024/2110@2024)'],
    ['median(365*2101-price/2110)', '', 'median(365*2110-price/2110)'],
    ['averge(365*2400/2110@2024)', '', 'avg(365*2400/2110@2024)'],
    ['sum(2400)/sum(2110)*100', 'measures: "sum(2400)/sum(2110)*100" can\'t be read.'],
    ['sum(2400@2024)/sum(2110@2024)', '', 'ratio(2400@2024/2110@2024)'],
    ['avg(2400)/sum(2110)', 'measures: "avg(2400)/sum(2110)" can\'t be read.'],
    ['sum(365*2400)/sum(2110)', 'measures: "sum(365*2400)/sum(2110)" can\'t be read.'],
  ]
  for (const [measure, detail, meant] of cases) {
    const found = await refusal(`measures=${encodeURIComponent(measure)}`, yearly())
    t.equal(found.code, 'bad_request', measure)
    t.equal(found.detail.slice(0, detail.length), detail, measure)
    if (meant === undefined) t.equal(found.correction, undefined, measure)
    else t.match(found.correction, { meant }, measure)
  }
})

await t.test('@ needs a history column that the caller may see', async (t) => {
  const detail = /^measures: @ takes a value of the history column, which this dataset does not/
  t.match((await refusal('measures=sum(2110@2024)')).detail, detail)
  const hidden = summaryAccess({}, {}, columns.secret)
  t.match((await refusal('measures=sum(2110@2024)', hidden)).detail, detail)
  const { summary } = await ask('measures=sum(2110@2024)', dated())
  t.match(summary.measures, [{ aggregate: { of: { at: 2024n } } }])
})

await t.test('a quotient has the units of its sides where they are certain', async (t) => {
  const unitOf = async (measure: string) =>
    (await ask(`measures=${encodeURIComponent(measure)}`, yearly())).columns[0]?.unit
  t.equal(await unitOf('ratio(2400+2110/2110)'), null, 'equal units')
  t.equal(await unitOf('ratio(2400+2110/share)'), 'thousand RUB / share')
  t.equal(await unitOf('ratio(2400+share/year)'), null, 'mixed units')
  t.equal(await unitOf('ratio(1000*2400/share)'), null, 'a multiple of the unit')
  t.equal(await unitOf('ratio(2400/share+year)'), null, 'a divisor without a name')
  t.equal(await unitOf('sum(2110@2024)'), 'thousand RUB')
  t.equal(await unitOf('growth(2110@2023/2110@2024)'), null)
})

await t.test('what the access allows goes before what the caller asks', async (t) => {
  const window = { kind: 'gte', column: columns.year, value: 2024n } as const
  const access = summaryAccess({}, { predicates: [window] })
  const { summary } = await ask('measures=count&inn=eq.5', access)
  t.same(
    summary.predicates.map(({ kind }) => kind),
    ['gte', 'eq'],
  )
})

await t.test('labels come beside the codes that have them', async (t) => {
  const query = 'labels=true&measures=count&group=year,prefix(okved,2),okved'
  const { summary, columns: answer, key } = await ask(query)
  t.same(
    answer.map(({ name }) => name),
    ['year', 'prefix(okved,2)', 'prefix(okved,2):label', 'okved', 'okved:label', 'count'],
  )
  t.equal(summary.groups[2]?.labels?.names.get('62'), 'IT')
  t.equal(summary.groups[0]?.labels, null)
  const russian = await ask(query.replace('true', 'ru'))
  t.equal(russian.summary.groups[2]?.labels?.names.get('62'), 'ИТ')
  t.not(russian.key, (await ask(query)).key)
  const plain = await ask(query.replace('true', 'false'))
  t.equal(plain.columns.length, 4)
  t.not(plain.key, key)
  t.equal(plain.cells, 4)
  t.equal((await ask(query)).cells, 4, 'a label is not a cell of the dataset')
})

await t.test('a wrong group is refused with the right text', async (t) => {
  await checkRefusals(t, [
    ['measures=count&group=a,b,c,d,e', 'group takes at most 4 elements, got 5.'],
    ['measures=count&group=year,year', 'group names "year" twice.'],
    [
      'measures=count&group=prefix(okved,2),prefix(okved, 2)',
      'group names "prefix(okved, 2)" twice.',
    ],
    ['measures=count&group=x:year', 'group: "year" can\'t be renamed to "x"; only measures can.'],
    ['measures=count&group=yaer', 'group: there is no column "yaer". Did you mean "year"?', 'year'],
    ['measures=count&group=okved.class', 'group: write "okved.class"', 'prefix(okved,2)'],
    ['measures=count&group=group(okved)', 'group: write the level "group" as', 'prefix(okved,5)'],
    [
      'measures=count&group=prefix(okved,group)',
      'group: prefix takes a column and',
      'prefix(okved,5)',
    ],
    ['measures=count&group=prefix(okved,0)', 'group: prefix takes a column and', 'prefix(okved,2)'],
    ['measures=count&group=prefix(okved)', 'group: prefix takes a column and', 'prefix(okved,2)'],
    ['measures=count&group=prefix(year,2)', 'group: prefix needs a text; year is an integer'],
    ['measures=count&group=month(inn)', 'group: month needs a date or timestamp; inn is a string'],
    ['measures=count&group=month(day,2)', 'group: month takes one column.', 'month(day)'],
    ['measures=count&group=month(day/day)', 'group: month takes one column, not a quotient.'],
    [
      'measures=count&group=left(okved,2)',
      'group: there is no function "left".',
      'prefix(okved,2)',
    ],
    ['measures=count&group=sum(2110)', 'group: "sum(2110)" is a measure. Move it to measures.'],
    ['measures=count&group=tags', "group: rows can't be grouped by tags (json)."],
  ])
})

await t.test('a wrong measure is refused with the right text', async (t) => {
  await checkRefusals(t, [
    ['group=year', 'measures is missing. Name at least one. Example: measures=count', 'count'],
    [`measures=${Array(17).fill('count').join()}`, 'measures takes at most 16 elements, got 17.'],
    [
      'measures=distinct(inn),distinct(year),distinct(day)',
      'measures takes distinct at most 2 times, got 3.',
    ],
    [
      'measures=average(2110)',
      'measures: there is no function "average". Did you mean "avg"?',
      'avg(2110)',
    ],
    [
      'measures=SUM(2110)',
      'measures: there is no function "SUM". Did you mean "sum"?',
      'sum(2110)',
    ],
    ['measures=p100(2110)', 'measures: there is no function "p100".'],
    ['measures=p0(2110)', 'measures: there is no function "p0".'],
    ['measures=pN(2110)', 'measures: there is no function "pN".'],
    ['measures=stddev(2110)', 'measures: there is no function "stddev". It has: count, distinct,'],
    [
      'measures=year(day)',
      'measures: "year(day)" groups rows. Move it to group, and name a measure',
    ],
    ['measures=sum(2101)', 'measures: there is no column "2101". Did you mean', 'sum(2110)'],
    ['measures=2110', 'measures: "2110" is a column. Choose a function: sum(2110)', 'sum(2110)'],
    ['measures=inn', 'measures: "inn" is a column. Choose a function: count(inn)', 'count(inn)'],
    ['measures=sum', 'measures: sum needs a column: sum(column).'],
    ['measures=net_margn', 'measures: there is no measure "net_margn". Did you mean', 'net_margin'],
    ['measures=count(*)', 'measures: write the number of rows as count.', 'count'],
    ['measures=count(distinct inn)', 'measures: write different values as', 'distinct(inn)'],
    [
      'measures=median(okved)',
      'measures: median needs a number; okved has count, distinct, min, max.',
    ],
    [
      'measures=min(flag)',
      'measures: min needs a number, text, date or time; flag has count, distinct.',
    ],
    [
      'measures=distinct(tags)',
      'measures: distinct needs a number, text, date, time or boolean; tags',
    ],
    ['measures=sum(2400/2110)', 'measures: sum takes one column;', 'ratio(2400/2110)'],
    ['measures=ratio(2400,2110)', 'measures: ratio takes no list.', 'ratio(2400/2110)'],
    ['measures=sum(2400,2110)', 'measures: sum takes no list.', 'sum(2400),sum(2110)'],
    ['measures=ratio(2400)', 'measures: ratio needs two columns: ratio(a/b).'],
    ['measures=avg(2400/2110/year)', 'measures: avg divides one column by one other'],
    ['measures=sum(2110),sum(2110)', 'The answer would have two columns "sum(2110)".'],
    ['measures=Year:count&group=year', 'The answer would have two columns "Year".'],
    [`measures=${'x'.repeat(101)}:count`, 'measures: "xxxx'],
  ])
  const labelled = 'labels=true&group=okved&measures="okved:label":count'
  t.match((await refusal(labelled)).detail, /two columns "okved:label"/)
})

await t.test('a wrong order or condition is refused with the right text', async (t) => {
  const query = 'group=year&measures=n:count,max(day),max(inn)&'
  await checkRefusals(t, [
    [`${query}order=-sum(2110)`, 'order: "sum(2110)" is not asked for. Add it to', 'sum(2110)'],
    [`${query}order=yer`, 'order: "yer" is not asked for. Did you mean "year"?', 'year'],
    [`${query}order=n desc`, 'order: write "n desc" as -n', '-n'],
    [`${query}order=n.asc`, 'order: write "n.asc" as n', 'n'],
    [`${query}order=n,-count`, 'order names "count" twice. Name it once.'],
    [`${query}order=x:n`, 'order: "n" is not asked for.'],
    [
      `${query}having=n.gt.x`,
      'having: "n" is an integer, got "x". Example: n.gt.2024',
      'n.gt.2024',
    ],
    [`${query}having=n.>=.5`, 'having: "n" (integer) has no operator ">=". Did you mean', 'n.gte'],
    [`${query}having=n.in.5`, 'having: "n" (integer) has no operator "in". It has: eq, ne, gt,'],
    [
      `${query}having=max(inn).gt.5`,
      'having: "max(inn)" (string) has no operator "gt". It has: eq, ne.',
    ],
    [`${query}having=max(day).gt.2024`, 'having: "max(day)" is a date, got "2024". Example:'],
    [`${query}having=year.gt.5`, 'having looks at measures; "year" is a group.'],
    [`${query}having=sum(2110).gt.5`, 'having: "sum(2110)" is not asked for.', 'sum(2110)'],
    [`${query}having=n`, 'having: "n" can\'t be read. Write <measure>.<operator>.<value>'],
    [`${query}having=n.gt`, 'having: "n.gt" can\'t be read.'],
    [`${query}limit=0`, 'limit must be from 1 to 10000'],
    [`${query}limit=10001`, 'limit must be from 1 to 10000'],
    [`${query}cursor=x`, 'There is no parameter "cursor". There is one page: use a larger limit.'],
    [`${query}group_by=x`, 'There is no parameter "group_by". Use group.'],
    [`${query}nothing=x`, 'There is no column or parameter "nothing".'],
    [`${query}labels=yes`, 'labels must be true, ru or false, got "yes".'],
  ])
  const many = Array(51).fill('having=n.gt.1').join('&')
  t.match((await refusal(query + many)).detail, /^having takes at most 50 conditions, got 51\./)
  t.equal((await refusal(`${query}format=xml`)).code, 'not_acceptable')
})

await t.test('a condition compares exactly what the measure can be', async (t) => {
  const conditionOf = async (measure: string, condition: string) => {
    const { summary } = await ask(`measures=m:${measure}&having=m.${condition}`)
    return summary.having[0]?.predicate
  }
  t.match(await conditionOf('count', 'gt.1.5'), { kind: 'gt', value: 1n })
  t.match(await conditionOf('count', 'eq.1.5'), { kind: 'nothing' })
  t.match(await conditionOf('count', 'lt.99999999999999999999'), { kind: 'not_null' })
  t.match(await conditionOf('sum(2110)', `eq.${'9'.repeat(30)}`), { value: 10n ** 30n - 1n })
  t.match(await conditionOf('sum(price)', 'gte.10.5'), { kind: 'gte', value: 1050n })
  t.match(await conditionOf('avg(2110)', 'lt.1e-3'), { kind: 'lt', value: 0.001 })
  t.match(await conditionOf('max(day)', 'lte.1970-01-02'), { kind: 'lte', value: 1n })
  t.match(await conditionOf('min(inn)', 'ne.a.b'), { kind: 'ne', value: 'a.b' })
})

await t.test('a hidden column is an unknown one, to the last letter of the error', async (t) => {
  const visible = Object.values(columns).filter(({ hidden }) => !hidden)
  const without = { ...summaryAccess(), columns: visible }
  for (const part of ['group=secret&measures=count', 'measures=sum(secret)', 'measures=secret']) {
    const { detail } = await refusal(part)
    t.equal(detail, (await refusal(part, without)).detail)
    t.match(detail, /there is no (column|measure) "secret"\./)
  }
  const hidden = visible.filter(({ name }) => name !== '2400')
  const { detail } = await refusal('measures=net_margin', { ...summaryAccess(), columns: hidden })
  t.match(detail, /^measures: there is no measure "net_margin"\. It takes count, or a function/)
})

await t.test('switched off, aggregates are not found', async (t) => {
  const off = await refusal('measures=count', summaryAccess({ aggregates: null }))
  t.match(off, { code: 'not_found', detail: /^Aggregates are switched off for this dataset\./ })
  const { plan } = summaryAccess()
  if (!plan) throw new Error('no plan')
  const access = summaryAccess({}, { plan: { ...plan, aggregates: false } })
  t.match(await refusal('measures=count', access), {
    code: 'not_found',
    detail: /^Aggregates are switched off for this plan\./,
  })
})
