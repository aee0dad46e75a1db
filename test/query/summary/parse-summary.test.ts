import fc from 'fast-check'
import t from 'tap'
import { callName } from '../../../src/columns/call-text.js'
import { parseSummaryJson, parseSummaryUrl } from '../../../src/query/summary/parse-summary.js'
import type { RawSummary } from '../../../src/query/summary/raw-summary.js'
import { resolveSummary } from '../../../src/query/summary/resolve-summary.js'
import { encodeForUrl } from '../../../src/query/write-url.js'
import { summaryAccess } from '../fixtures/summary-access.js'

function refusal(body: unknown): string {
  try {
    parseSummaryJson(JSON.stringify(body))
  } catch (cause) {
    const { code, detail } = cause as { code?: string; detail?: string }
    if (code === 'bad_request') return detail ?? ''
    throw cause
  }
  return ''
}

const parsed = (body: object) => parseSummaryJson(JSON.stringify(body))

const nothing: RawSummary = {
  filters: [],
  group: [],
  measures: [],
  having: [],
  order: [],
  pivot: [],
  rest: false,
  limit: null,
  labels: false,
  format: null,
}

await t.test('an empty text, an empty list and null count as absent', (t) => {
  t.same(parseSummaryUrl(''), nothing)
  t.same(parseSummaryJson('{}'), nothing)
  const empties = [null, '', [], '[]', ['']]
  for (const empty of empties) {
    const parts = { group: empty, measures: empty, having: empty, order: empty }
    t.same(parsed(parts), nothing, JSON.stringify(empty))
  }
  const rest = { filters: null, limit: null, labels: null, format: null }
  t.same(parsed(rest), nothing)
  t.same(parsed({ filters: '', limit: '', labels: '', format: '' }), nothing)
  t.end()
})

await t.test('lists may be texts with commas, or JSON in a text', (t) => {
  const group = ['year', 'prefix(okved,2)', '"a,b"']
  const expected = parseSummaryUrl('group=year,prefix(okved,2),"a,b"').group
  t.same(parsed({ group }).group, expected)
  t.same(parsed({ group: group.join() }).group, expected)
  t.same(parsed({ group: JSON.stringify(group) }).group, expected)
  const having = ['count.gt.1', 'max(name).eq.a,b']
  const conditions = parseSummaryUrl('having=count.gt.1&having=max(name).eq.a,b').having
  t.equal(conditions[1]?.value, 'a,b')
  t.same(parsed({ having }).having, conditions)
  t.same(parsed({ having: JSON.stringify(having) }).having, conditions)
  t.same(parsed({ having: having[1] }).having, conditions.slice(1), 'a text is one condition')
  t.end()
})

await t.test('the error for a malformed body names the place and the right form', (t) => {
  t.equal(refusal({ measure: 'count' }), 'measure: unknown key. Did you mean "measures"?')
  t.match(refusal({ group: 5 }), /^group: must be a list such as \["year", "prefix\(okved,2\)"\]/)
  t.match(refusal({ having: [5] }), /^having(\.0)?: must be/)
  t.match(refusal({ limit: 1.5 }), /^limit: must be a whole number of groups, got 1\.5\.$/)
  t.match(refusal({ labels: 'yes' }), /^labels: must be true, "ru" for Russian names, or false/)
  t.equal(parsed({ labels: 'ru' }).labels, 'ru')
  t.match(refusal([]), /^the body: must be an object \{group, measures, filters,/)
  t.match(refusal({ group: '[5' }), /^group, sent as a string, is not valid JSON\./)
  t.same(
    parseSummaryUrl('group=year&measures=count&group=inn&measures=sum(a),max(a)'),
    parseSummaryUrl('group=year,inn&measures=count,sum(a),max(a)'),
    'as generated clients send a list',
  )
  t.throws(() => parseSummaryUrl('group=year&group='), { code: 'bad_request' })
  t.throws(() => parseSummaryJson('{"format":"xml"}'), { code: 'not_acceptable' })
  t.end()
})

const access = summaryAccess()
const odd = callName('a,b:(c) "d"')
const groups = ['year', 'prefix(okved,2)', 'month(day)', odd, 'prefix( okved , 5 )', 'flag']
const measures = [
  'count',
  'net_margin',
  'revenue:sum(2110)',
  `sum(${odd})`,
  'median(2400/2110)',
  '"x, y":p90(price)',
  'distinct(inn)',
]
const conditions = ['gt.5', 'lte.10.25', 'ne.0']

function askedKey(measure: string): string {
  return /^(?:("[^"]+"|\w+):)?(.*)$/.exec(measure)?.[1] ?? measure
}

await t.test('a summary in a URL and as JSON resolves to the same key', async (t) => {
  const shape = fc.record({
    group: fc.subarray(groups, { maxLength: 4 }),
    measures: fc.shuffledSubarray(measures, { minLength: 1 }),
    condition: fc.option(fc.constantFrom(...conditions), { nil: null }),
    direction: fc.constantFrom('', '-'),
    year: fc.option(fc.integer({ min: 1990, max: 2030 }), { nil: null }),
    limit: fc.option(fc.integer({ min: 1, max: 10_000 }), { nil: null }),
    labels: fc.constantFrom(true, false, 'ru'),
    asText: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(shape, async ({ condition, direction, year, asText, ...rest }) => {
      const first = askedKey(rest.measures[0] ?? '')
      const having = condition === null ? [] : [`${first}.${condition}`]
      const order = [`${direction}${first}`, ...rest.group.slice(0, 1)]
      const list = (texts: readonly string[]) => (asText ? texts.join() : texts)
      const body = {
        ...rest,
        group: list(rest.group),
        measures: list(rest.measures),
        order: list(order),
        having,
        filters: year === null ? [] : [{ column: 'year', op: 'gte', value: year }],
      }
      const query = [
        ...(rest.group.length === 0 ? [] : [`group=${encodeForUrl(rest.group.join())}`]),
        `measures=${encodeForUrl(rest.measures.join())}`,
        `order=${encodeForUrl(order.join())}`,
        ...having.map((each) => `having=${encodeForUrl(each)}`),
        ...(year === null ? [] : [`year=gte.${year}`]),
        ...(rest.limit === null ? [] : [`limit=${rest.limit}`]),
        `labels=${rest.labels}`,
      ]
      const json = await resolveSummary(access, () => parseSummaryJson(JSON.stringify(body)))
      const url = await resolveSummary(access, () => parseSummaryUrl(query.join('&')))
      t.equal(json.key, url.key)
    }),
    { numRuns: 300 },
  )
})

await t.test('different requests have different keys', async (t) => {
  const queries = [
    'measures=count',
    'measures=n:count',
    'measures=count(inn)',
    'measures=count&limit=10',
    'measures=count&format=csv',
    'measures=count&year=eq.2024',
    'measures=count&having=count.gt.5',
    'measures=count&having=count.gte.5',
    'measures=count&order=-count',
    'measures=count&order=count',
    'measures=count&group=okved',
    'measures=count&group=okved&labels=true',
    'measures=count&group=prefix(okved,2)',
    'measures=count&group=prefix(okved,3)',
    'measures=n:p10(2110)',
    'measures=n:p11(2110)',
    'measures=n:p11(2110/2400)',
    'measures=n:p11(2400/2110)',
    'measures=n:avg(2400/2110)',
    'measures=n:ratio(2400/2110)',
  ]
  const keys = await Promise.all(
    queries.map(async (query) => (await resolveSummary(access, () => parseSummaryUrl(query))).key),
  )
  t.equal(new Set(keys).size, queries.length)
})
