import t from 'tap'
import { parseTopUrl, rawTop } from '../../src/query/parse-top.js'
import { resolveTop } from '../../src/query/resolve-top.js'
import { summaryAccess, summaryColumns as columns } from './fixtures/summary-access.js'

const access = summaryAccess({ limit: { default: 10, max: 50 } })
const ask = (query: string) => resolveTop(access, parseTopUrl(query))

async function refusal(query: string): Promise<string> {
  try {
    await ask(query)
  } catch (cause) {
    const { code, detail } = cause as { code?: string; detail?: string }
    if (code === 'bad_request') return detail ?? ''
    throw cause
  }
  return ''
}

await t.test('the first rows by a column are those that have a value', async (t) => {
  const { top, format } = await ask('by=-2400&year=eq.2024&select=inn,2400&limit=20&format=csv')
  t.match(top, {
    by: columns.profit,
    isDescending: true,
    columns: [columns.inn, columns.profit],
    limit: 20,
    format: 'csv',
    predicates: [
      { kind: 'eq', column: columns.year },
      { kind: 'not_null', column: columns.profit },
    ],
  })
  t.ok(Object.isFrozen(top))
  t.equal(format, 'csv')
})

await t.test('left out, all columns come up to the usual limit', async (t) => {
  const { top } = await ask('by=day')
  t.equal(top.isDescending, false)
  t.equal(top.columns, access.columns)
  t.equal(top.limit, 10)
  t.equal((await resolveTop(access, parseTopUrl('by=day'), 7)).top.limit, 7)
  t.equal((await resolveTop(access, parseTopUrl('by=day'), 700)).top.limit, 50)
})

await t.test('JSON and the URL mean the same', async (t) => {
  const filters = [{ column: 'year', op: 'eq', value: 2024 as never }]
  const body = { by: '-2400', filters, select: ['inn', '2400'], limit: 20 }
  const url = await ask('by=-2400&year=eq.2024&select=inn,2400&limit=20')
  t.equal((await resolveTop(access, rawTop(body))).key, url.key)
  t.equal(
    (await resolveTop(access, rawTop({ by: 'day', select: [] }))).key,
    (await ask('by=day')).key,
  )
  t.not(url.key, (await ask('by=2400&year=eq.2024&select=inn,2400&limit=20')).key)
  const quoted = await ask(`by=-${encodeURIComponent(String.raw`"a,b:(c) \"d\""`)}`)
  t.equal(quoted.top.by, columns.odd)
})

await t.test('what has no first row is refused', async (t) => {
  t.equal(await refusal('by=tags'), 'by: "tags" (json) has no order.')
  t.equal(await refusal('by=flag'), 'by: "flag" (boolean) has no order.')
  t.match(await refusal('by=yaer'), /^by: there is no column "yaer"\. Did you mean "year"\?/)
  t.match(await refusal('by=secret'), /^by: there is no column "secret"\./)
  t.match(await refusal('by=sum(2110)'), /^by takes a column, got "sum\(2110\)"\./)
  t.equal(await refusal('by=year,inn'), 'by takes one column. Ties come in stored order.')
  t.match(await refusal('year=eq.2024'), /^by is missing\./)
  t.equal(await refusal('by=year&limit=51'), 'limit must be from 1 to 50 for this dataset, got 51.')
  t.match(await refusal('by=year&cursor=x'), /^There is no parameter "cursor"\. There is one page/)
})
