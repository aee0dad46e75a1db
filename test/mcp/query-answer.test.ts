import fc from 'fast-check'
import t from 'tap'
import { plainColumn } from '../../src/columns/column.js'
import type { Test } from 'tap'
import { answerRoom, queryAnswer } from '../../src/mcp/query-answer.js'
import { exactJsonText } from '../../src/query/exact-json.js'
import { openControl, usageOf } from '../support/control.js'
import { callTool } from '../support/mcp/mcp-messages.js'
import type { ToolAnswer } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'
import { runs } from '../support/runs.js'

const lettersMax = 30_000

interface Content {
  readonly columns: readonly string[]
  readonly data: Readonly<Record<string, readonly unknown[]>>
  readonly row_count: number
  readonly next_cursor: string | null
  readonly truncated: boolean
  readonly quota: { readonly rows_remaining: number; readonly scope: string } | null
  readonly hint?: string
}

const contentOf = ({ isError, text, content }: ToolAnswer): Content => {
  if (isError) throw new Error(text)
  return content as unknown as Content
}

const registry = `
datasets:
  cells:
    title: Cells
    files: data/cells.parquet
    limit: {default: 100, max: 1000}
    plans: &plans
      pro: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 100000}
      tiny: {rows_per_month: 7, history: all, price_rub: 0, rate_per_minute: 100000}
  numbers: {title: Numbers, files: data/numbers.parquet, plans: *plans}
  huge: {title: Huge, files: data/huge.parquet, plans: *plans}
  wide: {title: Wide, files: data/wide.parquet, plans: *plans}
`

const wide = Array.from(
  { length: 131 },
  (_, index) => `i * 1000003 * ${index} AS "${1100 + index}"`,
)

const files = {
  'data/cells.parquet': `SELECT i AS id, repeat('я"', (i * 37 % 300)::INT) AS text,
      i * 2 AS "2110", i * 3 AS "1600" FROM range(1000) t(i)`,
  'data/numbers.parquet': `SELECT * FROM (VALUES
      (-9223372036854775808, 1e300::DOUBLE, -0.05::DECIMAL(18,2), [-9007199254740993]),
      (9007199254740991, 0.1, 123456789012345.67, [9007199254740993, 1]),
      (9007199254740993, 0.1::DOUBLE + 0.2, 1.50, []),
      (NULL, 'nan', NULL, NULL)) v(big, double, "1600", list)`,
  'data/huge.parquet': `SELECT CASE WHEN i = 3 THEN repeat('x', 40000) ELSE 'short' END AS text,
      i AS id FROM range(6) t(i)`,
  'data/wide.parquet': `SELECT i AS id, ${wide.join(', ')} FROM range(200) t(i)`,
}

const storedOrder = { cells: ['id'], numbers: ['big'], huge: ['id'], wide: ['id'] }

const start = (t: Test): Promise<World> => startWorld(t, { files, registry, storedOrder })

await t.test(
  'columns are listed in order, which objects lose for names made of digits',
  async (t) => {
    const world = await start(t)
    const { token } = await world.subscribe(['cells:pro', 'huge:pro'])
    const select = ['text', '2110', 'id', '1600']
    const answer = await callTool(world, token, 'query', { resource: 'cells', select, limit: 3 })
    const { columns, data, row_count: count } = contentOf(answer)
    t.same(columns, select)
    t.same(count, 3)
    t.same(data['2110'], [0, 2, 4])
    t.same(data['1600'], [0, 3, 6])
    t.same(data['id'], [0, 1, 2])
    t.not(Object.keys(data).join(), select.join(), 'the reason why')
    const usual = contentOf(
      await callTool(world, token, 'query', { resource: 'huge', select: ['id'] }),
    )
    t.match(usual, { row_count: 6, next_cursor: null, truncated: false })
  },
)

await t.test('numbers that JSON readers round are texts of their digits', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['numbers:pro'])
  const answer = await callTool(world, token, 'query', { resource: 'numbers' })
  t.same(contentOf(answer).data, {
    big: ['-9223372036854775808', '9007199254740991', '9007199254740993', null],
    double: ['1e+300', 0.1, '0.30000000000000004', null],
    1600: [-0.05, '123456789012345.67', 1.5, null],
    list: [['-9007199254740993'], ['9007199254740993', 1], [], null],
  })
  const [, , third] = contentOf(answer).data['big'] ?? []
  const again = await callTool(world, token, 'query', {
    resource: 'numbers',
    filters: [{ column: 'big', op: 'eq', value: third }],
  })
  t.equal(contentOf(again).row_count, 1, 'fed back, they find their row')
})

await t.test(
  'a page is cut to 30,000 characters, and the walk misses and repeats no row',
  async (t) => {
    const world = await start(t)
    const { token, subscriptionId } = await world.subscribe(['cells:pro'])
    const control = openControl(t, world)
    const seen: unknown[] = []
    let [cursor, cuts]: [string | null, number] = [null, 0]
    do {
      const args = { resource: 'cells', limit: 300, ...(cursor !== null && { cursor }) }
      const answer = await callTool(world, token, 'query', args)
      const content = contentOf(answer)
      const letters = JSON.stringify(content).length
      t.ok(letters <= lettersMax, `${letters} characters`)
      t.equal(answer.text, JSON.stringify(answer.content))
      if (content.truncated) {
        cuts++
        t.match(content.hint, /Only \d+ rows fit in 30000 characters: continue with next_cursor/)
        t.ok(content.row_count < 300 && content.next_cursor !== null)
      } else t.equal(content.hint, undefined)
      for (const id of content.data['id'] ?? []) seen.push(id)
      const { total } = await usageOf(control, world, subscriptionId)
      t.equal(total, seen.length, 'only rows sent are charged')
      t.equal(content.quota?.rows_remaining, 1_000_000 - seen.length)
      cursor = content.next_cursor
    } while (cursor !== null)
    t.ok(cuts >= 5)
    t.same(
      seen,
      Array.from({ length: 1000 }, (_, index) => index),
    )
  },
)

await t.test('a wide table gives as many rows as fit', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['wide:pro'])
  const content = contentOf(await callTool(world, token, 'query', { resource: 'wide' }))
  const letters = JSON.stringify(content).length
  t.ok(letters <= lettersMax && letters > lettersMax - 3000, `${letters} characters`)
  t.equal(content.truncated, true)
  t.equal(content.columns.length, 132)
})

await t.test(
  'a row that does not fit alone is sent with the columns that fit, for the price of a row',
  async (t) => {
    const world = await start(t)
    const { token, subscriptionId } = await world.subscribe(['huge:pro'])
    const first = contentOf(await callTool(world, token, 'query', { resource: 'huge' }))
    t.match(first, { row_count: 3, truncated: true, data: { id: [0, 1, 2] } })
    const cursor = first.next_cursor
    const control = openControl(t, world)
    const used = async () => (await usageOf(control, world, subscriptionId)).total
    const long = contentOf(await callTool(world, token, 'query', { resource: 'huge', cursor }))
    t.match(long, { columns: ['text'], row_count: 1, truncated: true })
    t.equal(long.hint, 'The value of text is cut. Left out: 1 other column.')
    t.equal(await used(), 4)
    t.ok(String(long.data['text']?.[0]).length > 1000)
    t.ok(JSON.stringify(long).length <= lettersMax)
    const select = ['id', 'text']
    const short = contentOf(
      await callTool(world, token, 'query', { resource: 'huge', cursor, select }),
    )
    t.match(short, { columns: ['id'], data: { id: [3] }, row_count: 1, truncated: true })
    t.match(short.hint, /^The row is too long\. Left out: its last 1 column; select/)
    const rest = await callTool(world, token, 'query', { resource: 'huge', cursor, select: ['id'] })
    t.match(contentOf(rest), { data: { id: [3, 4, 5] }, next_cursor: null })
    t.equal(await used(), 8)
  },
)

await t.test(
  'a page that the quota cuts is marked, and the next call is an error with a time',
  async (t) => {
    const world = await start(t)
    const { token } = await world.subscribe(['cells:tiny'])
    const page = contentOf(await callTool(world, token, 'query', { resource: 'cells' }))
    t.match(page, {
      row_count: 7,
      truncated: false,
      quota: { rows_remaining: 0, scope: 'resource' },
    })
    t.match(page.hint, /cut to the rows left of this month's quota/)
    t.type(page.next_cursor, 'string')
    const used = await callTool(world, token, 'query', { resource: 'cells' })
    t.ok(used.isError)
    t.match(used.text, /^row_quota_exceeded: This month's 7 rows.+\nTry again in \d+ s\.$/s)
    t.equal(used.answer.status, 200)
    const described = await callTool(world, token, 'describe_resource', { resource: 'cells' })
    t.notOk(described.isError, 'descriptions are free')
  },
)

const names = fc.uniqueArray(
  fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^[1-9]\d{0,3}$/)),
  { minLength: 1, maxLength: 12 },
)
const cell = fc.oneof(
  fc.string({ maxLength: 400 }),
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(null),
  fc.array(fc.integer()),
)
const tables = names.chain((columns) =>
  fc.record({
    columns: fc.constant(columns),
    rows: fc.array(fc.array(cell, { minLength: columns.length, maxLength: columns.length }), {
      minLength: 1,
      maxLength: 200,
    }),
    times: fc.integer({ min: 1, max: 60 }),
  }),
)

await t.test('rows of any content fit in the answer, with the longest of the other fields', (t) => {
  const rest = {
    kind: 'page',
    format: 'json',
    tag: null,
    hasMore: true,
    nextCursor: 'x'.repeat(60),
    charged: 0,
    cut: 'size',
    explanation: null,
    scope: null,
    headings: null,
    hint: null,
  } as const
  const quota = {
    limit: 1e15,
    used: 0,
    remaining: 1e15,
    scope: 'resource',
    resetSeconds: 1,
    resetsOn: '2026-12-01',
  } as const
  fc.assert(
    fc.property(tables, ({ columns, rows: few, times }) => {
      const many = Array.from({ length: times }, () => few).flat()
      const rows = many.map((cells) =>
        jsonOf(Object.fromEntries(columns.map((name, index) => [name, cells[index]]))),
      )
      const fitting = answerRoom.rowsThatFit(rows, columns.map(headOf))
      // Only the id of a version is read here.
      const version = { id: 'x'.repeat(16) } as Parameters<typeof queryAnswer>[0]['version']
      const lettersOf = (count: number) =>
        exactJsonText(
          queryAnswer({
            ...rest,
            version,
            columns: columns.map((name) => plainColumn(name, { kind: 'scalar', name: 'VARCHAR' })),
            rows: rows.slice(0, count),
            quota,
          }),
        ).length
      if (lettersOf(fitting) > lettersMax) return false
      // What is left out would have been too much, but for the room that is kept for the rest.
      return fitting === rows.length || lettersOf(fitting + 1) > lettersMax - 1000
    }),
    { numRuns: runs(80) },
  )
  t.pass()
  t.end()
})

await t.test('an empty page always fits', (t) => {
  t.equal(answerRoom.rowsThatFit([], [headOf('x'.repeat(40_000))]), 0)
  t.equal(answerRoom.rowsThatFit([jsonOf({ a: 1 })], [headOf('a')]), 1)
  t.equal(answerRoom.rowsThatFit([jsonOf({ a: 'x'.repeat(30_000) })], [headOf('a')]), 1)
  t.end()
})

function headOf(name: string) {
  return { name, unit: null }
}

function jsonOf(row: unknown): Buffer {
  return Buffer.from(JSON.stringify(row))
}
