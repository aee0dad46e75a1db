import { join } from 'node:path'
import fc from 'fast-check'
import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import type { Test } from 'tap'
import { callTool } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'
import type { Answer, World } from '../support/world.js'
import { runs } from '../support/runs.js'

// Guarantee: what is free says nothing of a cell. Over two datasets that differ in unpaid cells
// only, the same request has the same free answer; where a cell decides, the answer that tells it is
// paid, and the other one says that nothing was found.

const columns = ['id', 'year', 'name', 'amount', 'share', 'note'] as const
const plans = `
      small: {rows_per_month: 7, history: all, price_rub: 0, rate_per_minute: 100000000}
      large: {rows_per_month: 1000000000, history: all, price_rub: 0, rate_per_minute: 100000000}
      last: {rows_per_month: 1000000000, history: 1, price_rub: 0, rate_per_minute: 100000000}`

/** Twelve rows; `cells` are the amount, share, and note of the rows that differ. */
function rowsOf(amount: number, note: string): string {
  return `SELECT 'c' || i // 3 AS id, 2022 + i % 3 AS year, 'name ' || i AS name,
      CASE WHEN i = 4 THEN ${amount} ELSE i * 100 END::BIGINT AS amount,
      CASE WHEN i = 4 THEN ${amount} / 7 ELSE i / 8 END AS share,
      CASE WHEN i IN (4, 9) THEN ${note} ELSE 'note ' || i END AS note
    FROM range(12) t(i)`
}

async function startTwin(t: Test, name: string, select: string): Promise<World> {
  const folder = join(t.testdirName, name)
  return startWorld(t, {
    at: folder,
    isTimeStill: true,
    files: { 'data/2022.parquet': select },
    registry: `
datasets:
  things:
    title: Things
    files: data/*.parquet
    key: [id, year]
    history: year
    measures: {margin: {ratio: share/amount}}
    plans: ${plans}
`,
  })
}

const value = fc.oneof(
  fc.constantFrom('2022', '2023', '2024', 'c1', 'name 4', 'note 4', '0', '400', '99', 'x', 'null'),
  fc.integer({ min: -5, max: 2000 }).map(String),
)
interface Condition {
  readonly column: string
  readonly op: string
  readonly value: string
}
/** The row whose amount and share differ. */
const theRow: readonly Condition[] = [
  { column: 'id', op: 'eq', value: 'c1' },
  { column: 'year', op: 'eq', value: '2023' },
]
/** Around the cells that differ, and anything else, which is mostly refused. */
const near: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({
    column: fc.constantFrom('amount', 'share'),
    op: fc.constantFrom('eq', 'gt', 'gte', 'lt', 'lte'),
    value: fc.oneof(fc.constantFrom('400', '1777'), fc.integer({ min: 0, max: 2000 }).map(String)),
  }),
  fc.record({
    column: fc.constant('note'),
    op: fc.constantFrom('eq', 'ne', 'like', 'contains'),
    value: fc.constantFrom('note', 'note*', 'long', 'long*', 'note 3'),
  }),
)
const any: fc.Arbitrary<Condition> = fc.record({
  column: fc.constantFrom(...columns),
  op: fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'like', 'contains', 'in', 'is_null'),
  value,
})
const measure = fc.oneof(
  fc.constantFrom('count', 'margin', 'avg(share/amount)', 'ratio(share/amount)'),
  fc
    .tuple(
      fc.constantFrom('count', 'sum', 'min', 'max', 'distinct', 'median', 'avg'),
      fc.constantFrom(...columns),
    )
    .map(([name, column]) => `${name}(${column})`),
)
const format = fc.constantFrom('json', 'csv', 'ndjson', 'parquet', 'xlsx')
const few = fc.integer({ min: 1, max: 12 })

const ask = fc.record({
  plan: fc.constantFrom('small', 'large', 'last'),
  /** Rows that are spent before. */
  spent: fc.integer({ min: 0, max: 7 }),
  door: fc.constantFrom('rows', 'post', 'top', 'aggregate', 'query', 'mcp top', 'mcp aggregate'),
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD'),
  filters: fc.oneof(
    fc.array(fc.oneof({ weight: 4, arbitrary: near }, any), { maxLength: 3 }),
    near.map((each) => [...theRow, each]),
  ),
  select: fc.option(fc.uniqueArray(fc.constantFrom(...columns), { minLength: 1, maxLength: 3 }), {
    nil: undefined,
  }),
  measures: fc.uniqueArray(measure, { minLength: 1, maxLength: 3 }),
  group: fc.option(fc.constantFrom('id', 'year', 'name', 'note', 'amount'), { nil: undefined }),
  having: fc.option(fc.integer({ min: 0, max: 3000 }), { nil: undefined }),
  /** With a group, in place of having, and of all measures but the first. */
  pivot: fc.option(fc.constantFrom('year', 'note', 'amount'), { nil: undefined, freq: 2 }),
  by: fc.constantFrom('amount', '-amount', 'share', '-note'),
  limit: few,
  format,
})
type Ask = typeof ask extends fc.Arbitrary<infer Asked> ? Asked : never

/** Finds the row in one world only, which few random questions do. */
const ofOneRow: Ask = {
  ...{ plan: 'large', spent: 0, door: 'rows', method: 'GET', limit: 5, format: 'json' },
  filters: [...theRow, { column: 'amount', op: 'eq', value: '400' }],
  ...{ select: undefined, measures: ['count'], group: undefined, having: undefined },
  ...{ pivot: undefined, by: 'amount' },
}

/** What a caller sees of an answer, without what says which version or request it is. */
interface Seen {
  readonly status: number
  readonly charged: number
  readonly text: string
  readonly headers: object
}

const personal =
  /^(x-request-id|date|etag|server-timing|x-dataset-version|last-modified|content-disposition)$/

function seenOf({ status, headers, text }: Read, charged: number): Seen {
  const shown = Object.entries(headers).filter(([name]) => !personal.test(name))
  const tag = String(headers['etag'] ?? '').length
  return { status, charged, text, headers: { ...Object.fromEntries(shown), tag } }
}

/** What an aggregate is asked for. */
function partsOf({ measures, group, having, pivot }: Ask) {
  if (group !== undefined && pivot !== undefined) {
    return { group, measures: measures.slice(0, 1), pivot }
  }
  const condition = having === undefined ? {} : { having: [`${measures[0]}.gt.${having}`] }
  return { ...(group !== undefined && { group }), measures, ...condition }
}

function urlOf(asked: Ask): string {
  const { door, filters, select, by, limit, format } = asked
  const query = new URLSearchParams()
  for (const { column, op, value } of filters) {
    query.append(column, op === 'is_null' ? op : `${op}.${value}`)
  }
  if (door === 'aggregate') {
    for (const [name, part] of Object.entries(partsOf(asked))) query.set(name, String(part))
  } else if (select !== undefined) query.set('select', select.join(','))
  if (door === 'top') query.set('by', by)
  query.set('limit', String(limit))
  query.set('format', format)
  const below = door === 'rows' ? '' : `/${door}`
  return `/v1/things${below}?${query}`
}

type Read = Pick<Answer, 'status' | 'headers' | 'text'>

async function answer(world: World, token: string, asked: Ask): Promise<Read> {
  const { door, method, filters, select, by, limit } = asked
  const list = filters.map(({ column, op, value }) =>
    op === 'is_null' ? { column, op } : { column, op, value: op === 'in' ? [value] : value },
  )
  const common = { filters: list, limit }
  switch (door) {
    case 'post':
      return world.post('/v1/things/query', token, { ...common, ...(select && { select }) })
    case 'query':
    case 'mcp top':
    case 'mcp aggregate': {
      const shape = door === 'mcp aggregate' ? {} : { ...(select && { select }) }
      const own = door === 'query' ? {} : door === 'mcp top' ? { by } : partsOf(asked)
      const name = door === 'query' ? 'query' : door.slice(4)
      const args = { resource: 'things', ...common, ...shape, ...own }
      return (await callTool(world, token, name, args)).answer
    }
    default: {
      const { statusCode, headers, rawPayload, body } = await world.app.server.inject({
        method,
        url: urlOf(asked),
        headers: { authorization: `Bearer ${token}` },
      })
      if (!body.startsWith('PK')) return { status: statusCode, headers, text: body }
      const { 'content-length': _, ...others } = headers
      return { status: statusCode, headers: others, text: bookText(rawPayload) }
    }
  }
}

/** All parts of a workbook, without the times at which it was made. */
function bookText(bytes: Buffer): string {
  const parts = Object.entries(unzipSync(bytes)).map(
    ([name, part]) => `${name}\n${strFromU8(part)}`,
  )
  return parts.join('\n').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
}

async function seenIn(world: World, asked: Ask): Promise<Seen> {
  const { token, subscriptionId } = await world.subscribe([`things:${asked.plan}`])
  if (asked.plan === 'small' && asked.spent > 0) {
    await world.get(`/v1/things?limit=${asked.spent}&select=id`, token)
  }
  const used = async () => {
    const { body } = await world.get('/v1/account', token)
    const [{ rows }] = body['datasets'] as [{ rows: { used: number } }]
    return rows.used
  }
  const before = await used()
  const found = await answer(world, token, asked)
  const charged = (await used()) - before
  const masked = { ...found, text: maskedText(found.text, subscriptionId) }
  return seenOf(masked, charged)
}

/** Without the names of versions, which their content decides, and of the caller. */
function maskedText(text: string, subscriptionId: string): string {
  return text
    .replaceAll(subscriptionId, 'sub')
    .replaceAll(/\\?"version\\?":\\?"[0-9a-f]{16}\\?"/g, '"version"')
    .replaceAll(/\b[0-9a-f]{16}\b/g, 'version')
}

await t.test('equal requests have equal free answers, for all cell values', async (t) => {
  t.testdir({})
  const twins = [
    ['one', rowsOf(400, "'note'")],
    ['other', rowsOf(1777, "repeat('long ', 9000)")],
  ] as const
  const worlds = await Promise.all(twins.map(([name, select]) => startTwin(t, name, select)))
  const counts = { free: 0, paid: 0, one: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(ask, async (asked) => {
      const [one, other] = (await Promise.all(worlds.map((world) => seenIn(world, asked)))) as [
        Seen,
        Seen,
      ]
      if (one.charged > 0 && other.charged > 0) {
        counts.paid += 1
        return
      }
      if (one.charged === 0 && other.charged === 0) {
        counts.free += 1
        if (one.status >= 400 || one.text.includes('"isError":true')) counts.refused += 1
        t.strictSame(one, other, JSON.stringify(asked))
        return
      }
      counts.one += 1
      const free = one.charged === 0 ? one : other
      // Nothing was found: that is all that it may say.
      if (free.status !== 200 || free.text.includes('"isError":true')) {
        throw new Error(`a free answer tells: ${JSON.stringify(free)}`)
      }
    }),
    { numRuns: runs(60), examples: [[ofOneRow]] },
  )
  for (const [kind, count] of Object.entries(counts)) t.ok(count > 0, `${kind}: ${count}`)
})
