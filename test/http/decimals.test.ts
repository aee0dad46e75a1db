import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { readExactRows } from '../../src/portal/browser/question/exact-rows.js'
import { textsOf } from '../../src/row-texts.js'
import { jsonBody, urlQuery } from '../support/carriers.js'
import type { TestFilter } from '../support/carriers.js'
import { callTool } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

// Guarantee: a decimal has one text, plain digits with its scale, in every format, selection and
// door; fed back through any of them it finds its row (contract 1.2, 1.3).

interface DecimalColumn {
  readonly name: string
  readonly width: number
  readonly scale: number
}

/** Each scale in the narrowest type, in one that doubles hold, in one they don't, in the widest. */
const columns: readonly DecimalColumn[] = Array.from({ length: 39 }, (_, scale) =>
  [...new Set([scale, 9, 15, 16, 18, 38])]
    .filter((width) => width >= Math.max(scale, 1))
    .map((width) => ({ name: `d${width}_${scale}`, width, scale })),
).flat()
/** Fewer than the filters that a question may have, and short enough for one answer of MCP. */
const groupSize = 40
const groups = Array.from({ length: Math.ceil(columns.length / groupSize) }, (_, index) =>
  columns.slice(index * groupSize, (index + 1) * groupSize),
)

/** Plain digits with exactly `scale` decimals. */
function textOf(units: bigint, scale: number): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const fraction = digits.slice(digits.length - scale)
  return `${units < 0n ? '-' : ''}${whole}${scale === 0 ? '' : '.'}${fraction}`
}

/** Rows of units of the last place: zero, the smallest, the largest, then any. */
function edgeRows(): readonly (readonly bigint[])[] {
  const max = columns.map(({ width }) => 10n ** BigInt(width) - 1n)
  const all = (units: bigint) => columns.map(() => units)
  // A whole seven where the type has room for it: 7.000.
  const sevens = columns.map(({ width, scale }) => (width > scale ? 7n * 10n ** BigInt(scale) : 7n))
  return [all(0n), all(1n), all(-1n), max, max.map((units) => -units), sevens]
}

const anyRow = fc.tuple(
  ...columns.map(({ width }) => {
    const max = 10n ** BigInt(width) - 1n
    return fc.bigInt({ min: -max, max })
  }),
)

/** The rows as texts, `id` first. */
async function startDecimals(t: Test, at: string, rows: readonly (readonly string[])[]) {
  const selects = rows.map((row, id) => {
    const cells = columns.map(
      ({ name, width, scale }, index) => `'${row[index]}'::DECIMAL(${width},${scale}) AS ${name}`,
    )
    return `SELECT ${id} AS id, ${cells.join(', ')}`
  })
  return startWorld(t, {
    at,
    storedOrder: { decimals: ['id'] },
    files: { 'data/decimals.parquet': selects.join(' UNION ALL ') },
    registry: `
datasets:
  decimals:
    title: Decimals
    files: data/decimals.parquet
    plans: {pro: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 1000000}}
`,
  })
}

const rowTexts = (line: string) => textsOf(line).cells
/** Each column's values in the text of an answer of MCP, as they are written. */
const mcpColumn = (text: string, name: string) => {
  const [, list = ''] = new RegExp(`"${name}":\\[([^\\]]*)\\]`).exec(text) ?? []
  return list.split(',')
}
/** Digits that a double always keeps; MCP has more than these as a string. */
const isLong = (text: string) =>
  text.replace(/[-.]/g, '').replace(/^0+|0+$/g, '').length > 15 ||
  Math.abs(Number(text)) > Number.MAX_SAFE_INTEGER

async function servedAlike(
  t: Test,
  world: World,
  token: string,
  rows: readonly (readonly string[])[],
): Promise<void> {
  const expected = rows.map((row, id) => [String(id), ...row])
  const get = async (query: string) => (await world.get(`/v1/decimals?${query}`, token)).text
  const json = (text: string) =>
    readExactRows(text).map((row) => [...row.values()].map((cell) => cell.text))
  const lines = (text: string, end: string) => text.split(end).slice(0, -1)
  t.strictSame(json(await get('limit=100')), expected, 'JSON')
  t.strictSame(lines(await get('format=ndjson'), '\n').map(rowTexts), expected, 'NDJSON')
  const csv = lines(await get('format=csv'), '\r\n').slice(1)
  t.strictSame(
    csv.map((line) => line.split(',')),
    expected,
    'CSV',
  )
  for (const [index, group] of groups.entries()) {
    const names = group.map(({ name }) => name)
    const place = (row: readonly string[]) =>
      row.slice(index * groupSize, index * groupSize + group.length)
    const selected = json(await get(`select=${names.join()}`))
    t.strictSame(selected, rows.map(place), 'JSON with select')
    const answer = await callTool(world, token, 'query', { resource: 'decimals', select: names })
    t.match(answer.content, { row_count: rows.length, truncated: false })
    t.strictSame(JSON.parse(answer.text), answer.content, 'both forms have equal values')
    for (const [column, name] of names.entries()) {
      const written = rows.map((row) => place(row)[column] ?? '')
      const shown = written.map((text) => (isLong(text) ? `"${text}"` : text))
      t.strictSame(mcpColumn(answer.text, name), shown, `MCP ${name}`)
    }
  }
}

/** The same number with an exponent. */
function withExponent(text: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(text) ?? []
  return `${sign}${whole}${fraction}e-${fraction.length}`
}

/** The ids that each carrier finds for filters of equality, one of every column of a group. */
async function foundBy(
  world: World,
  token: string,
  group: readonly DecimalColumn[],
  texts: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const filtersOf = (write: (text: string) => string | number) =>
    group.map(({ name }, index): TestFilter => [name, 'eq', write(texts[index] ?? '')])
  const ids = ({ text }: { readonly text: string }) =>
    (JSON.parse(text) as { data?: { id: number }[] }).data?.map(({ id }) => id) ?? text
  const get = async (filters: readonly TestFilter[]) =>
    ids(await world.get(`/v1/decimals?${urlQuery({ filters, select: ['id'] })}`, token))
  const post = async (filters: readonly TestFilter[]) =>
    ids(await world.post('/v1/decimals/query', token, jsonBody({ filters, select: ['id'] })))
  const mcp = async (filters: readonly TestFilter[]) => {
    const question = JSON.parse(jsonBody({ filters, select: ['id'] })) as object
    const answer = await callTool(world, token, 'query', { resource: 'decimals', ...question })
    return (answer.content['data'] as { id?: unknown } | undefined)?.id ?? answer.text
  }
  const asText = filtersOf((text) => text)
  const asExponent = filtersOf(withExponent)
  const asNumber = filtersOf((text) => (isLong(text) ? text : Number(text)))
  return {
    get: await get(asText),
    getExponent: await get(asExponent),
    getAsJavaScriptWrites: await get(filtersOf((text) => (isLong(text) ? text : Number(text)))),
    post: await post(asText),
    postExponent: await post(asExponent),
    postNumber: await post(asNumber),
    mcp: await mcp(asText),
    mcpExponent: await mcp(asExponent),
    mcpNumber: await mcp(asNumber),
  }
}

await t.test('a decimal of any scale is the same text everywhere, and finds its row', async (t) => {
  const folder = t.testdir({})
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { minLength: 2, maxLength: 2 }), async (random) => {
      run += 1
      const rows = [...edgeRows(), ...random].map((row) =>
        row.map((units, index) => textOf(units, columns[index]?.scale ?? 0)),
      )
      const world = await startDecimals(t, `${folder}/${run}`, rows)
      const { token } = await world.subscribe(['decimals:pro'])
      await servedAlike(t, world, token, rows)
      for (const [id, row] of rows.entries()) {
        for (const [index, group] of groups.entries()) {
          const found = await foundBy(world, token, group, row.slice(index * groupSize))
          const expected = Object.fromEntries(Object.keys(found).map((name) => [name, [id]]))
          t.strictSame(found, expected, `row ${id}, group ${index}`)
        }
      }
    }),
    { numRuns: 1, endOnFailure: true },
  )
})

await t.test('so is one in a list, a struct or a map, and in a description', async (t) => {
  const world = await startWorld(t, {
    storedOrder: { nested: ['id'] },
    files: {
      'data/nested.parquet': `SELECT i AS id, 7::DECIMAL(5,3) AS m, 0.00000099::DECIMAL(15,8) AS rate,
          [7::DECIMAL(5,3)] AS list, {'a': [1.5::DECIMAL(15,8)]} AS struct,
          MAP {7::DECIMAL(5,3): 1.10::DECIMAL(4,2)} AS map FROM range(1) t(i)`,
    },
    registry: `
datasets:
  nested:
    title: Nested
    files: data/nested.parquet
    plans: {pro: {rows_per_month: 1000000, history: all, price_rub: 0}}
`,
  })
  const { token } = await world.subscribe(['nested:pro'])
  const cells = ['7.000', '0.00000099', '[7.000]', '{"a":[1.50000000]}', '{"7.000":1.10}']
  const names = ['m', 'rate', 'list', 'struct', 'map']
  const columns = names.map((name, index) => `"${name}":[${cells[index]}]`).join()
  for (const query of ['', `?select=id,${names.join()}`]) {
    const { text } = await world.get(`/v1/nested${query}`, token)
    t.strictSame(rowTexts(text.slice('{"data":['.length).split('],"next_cursor"')[0] ?? ''), [
      '0',
      ...cells,
    ])
  }
  const answer = await callTool(world, token, 'query', { resource: 'nested' })
  t.match(answer.text, `"data":{"id":[0],${columns}}`)
  t.match(answer.content, {
    data: { m: [7], rate: [9.9e-7], list: [[7]], map: [{ '7.000': 1.1 }] },
  })
  const described = await callTool(world, token, 'describe_resource', { resource: 'nested' })
  t.match(described.text, `"sample_rows":{"id":[0],${columns}}`)
  t.match(described.text, '"min":0.00000099,"max":0.00000099')
  t.strictSame(JSON.parse(described.text), described.content)
})
