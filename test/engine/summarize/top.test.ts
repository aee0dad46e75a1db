import t from 'tap'
import type { RowFormat } from '../../../src/query/page-format.js'
import { readBytes } from '../../support/parquet.js'
import { never, openEngine } from '../fixtures/open-engine.js'
import type { EngineWorld } from '../fixtures/open-engine.js'

// Guarantee: the first rows by a column, empty ones left out, ties in stored order (contract 6).

const files = {
  '1.parquet': `SELECT i AS id, CASE WHEN i % 5 > 0 THEN i % 7 END AS rank, 'n' || i AS name,
    CASE WHEN i % 3 = 0 THEN 'nan'::DOUBLE ELSE -i END AS ratio FROM range(20) t(i)`,
  '2.parquet': `SELECT i::INTEGER AS id, (i % 7)::SMALLINT AS rank FROM range(20, 40) t(i)`,
}

interface Asked {
  readonly isDescending?: boolean
  readonly limit?: number
  readonly format?: RowFormat
}

function topOf(world: EngineWorld, by: string, asked: Asked = {}) {
  const { isDescending = false, limit = 100, format = 'json' } = asked
  const { version, column } = world
  const columns = ['id', 'name'].map(column)
  const predicates = world.filter(by, 'not_null')
  const question = { version, predicates, by: column(by), isDescending, columns, limit, format }
  return world.engine.top(question, { signal: never, client: 'a client' })
}

await t.test(
  'rows come by the column, ties in stored order, over files of all kinds',
  async (t) => {
    const world = await openEngine(t, { files })
    const { rows } = await world.read([])
    const stored = rows.map(({ json, position }) => ({ ...JSON.parse(json), position }))
    for (const [by, isDescending] of [
      ['rank', true],
      ['rank', false],
      ['ratio', true],
    ] as const) {
      const kept = stored.filter((row) => row[by] !== null)
      const sign = isDescending ? -1 : 1
      kept.sort(
        (left, right) =>
          sign * (left[by] - right[by]) || stored.indexOf(left) - stored.indexOf(right),
      )
      const found = await topOf(world, by, { isDescending })
      t.strictSame(
        found.rows.map(({ encoded, position }) => [String(encoded), position]),
        kept.map(({ id, name, position }) => [JSON.stringify({ id, name }), position]),
        `${by} ${isDescending}`,
      )
      t.equal(found.hasMore, false)
    }
  },
)

await t.test('limit is kept in every format, and more is reported', async (t) => {
  const temp = t.testdir({ temp: {} })
  const world = await openEngine(t, { files, engine: { tempFolder: temp } })
  const asked = { isDescending: true, limit: 2 }
  const json = await topOf(world, 'rank', asked)
  t.strictSame(
    json.rows.map(({ encoded }) => String(encoded)),
    ['{"id":6,"name":"n6"}', '{"id":13,"name":"n13"}'],
  )
  t.equal(json.hasMore, true)
  const csv = await topOf(world, 'rank', { ...asked, format: 'csv' })
  t.strictSame(
    csv.rows.map(({ encoded }) => String(encoded)),
    ['6,n6', '13,n13'],
  )
  const { file, rows, hasMore } = await topOf(world, 'rank', { ...asked, format: 'parquet' })
  t.strictSame(
    rows.map(({ position }) => position),
    json.rows.map(({ position }) => position),
  )
  t.equal(hasMore, true)
  const cells = await readBytes(t, file ?? Buffer.alloc(0))
  t.strictSame(cells.rows, [
    ['6', 'n6'],
    ['13', 'n13'],
  ])
})

await t.test('no row is an answer too, of columns of any type', async (t) => {
  const world = await openEngine(t, {
    files: { '1.parquet': "SELECT DATE '2024-01-31' AS id, NULL::INT AS rank, 1 AS name" },
  })
  t.strictSame(await topOf(world, 'rank'), { rows: [], hasMore: false })
})
