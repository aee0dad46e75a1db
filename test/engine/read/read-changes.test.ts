import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import type { Test } from 'tap'
import { readChanges } from '../../../src/engine/duckdb/read/read-changes.js'
import { runnerOn } from '../../../src/engine/duckdb/run-statement.js'
import type { Statement } from '../../../src/engine/duckdb/run-statement.js'
import { setLayout } from '../../../src/versions/changes/change-set.js'
import type { ReadySet } from '../../../src/versions/changes/change-set.js'
import { accessTo, column } from '../../query/fixtures/access.js'
import { testFolder } from '../../support/folder.js'

// Guarantee: a long list of values is bound once, however many versions lie between; a page reads no
// more rows of a larger set.

const facts = { kind: 'ready', layout: setLayout, key: ['id'], newestBefore: null } as const
const columns = { added: [], removed: [], retyped: [] }
const steps = 12
const keysOfStep = 10
const id = column('id', 'VARCHAR')
const total = column('total', 'BIGINT')
/** Every tenth key. */
const values = Array.from({ length: 10_000 }, (_, index) => `id ${index * 10}`)

/** A folder, and a DuckDB that writes and reads there. */
async function duckDb(t: Test) {
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  t.teardown(() => {
    connection.closeSync()
    instance.closeSync()
  })
  const run = runnerOn(connection, new AbortController().signal)
  return { folder: testFolder(t), connection, run }
}

await t.test('a list of keys is bound once for all steps', async (t) => {
  const { folder, connection, run } = await duckDb(t)
  const sets: ReadySet[] = []
  for (let step = 0; step < steps; step += 1) {
    const path = join(folder, `${step}.parquet`)
    // Half of the keys of a step are those of the next one too.
    const first = (step * keysOfStep) / 2
    await connection.run(`COPY (
      SELECT 'id ' || key AS c0, ${step} + side AS c1, side,
        concat('"', c0, '"', chr(31), c1) AS cells, 4 AS d0
      FROM range(${first}, ${first + keysOfStep}) keys(key), range(2) sides(side)
    ) TO '${path}'`)
    sets.push({ ...facts, path, rows: 2 * keysOfStep, sources: ['id', 'total'], columns })
  }
  const statements: Statement[] = []
  const { version } = accessTo({}, { key: [id] })
  const found = await readChanges(
    {
      ...{ version, sets, predicates: [{ kind: 'in', column: id, values }] },
      ...{ columns: [id, total], counted: [], after: null, limit: 100 },
    },
    (statement) => {
      statements.push(statement)
      return run(statement)
    },
  )
  t.same(
    found.rows.map(({ encoded }) => String(encoded)),
    ['id 0', 'id 10', 'id 20', 'id 30', 'id 40', 'id 50', 'id 60'].map((key, index) => {
      // The last step of a key leaves the number of steps up to it.
      const now = { id: key, total: Math.min(2 * index + 1, steps) }
      return JSON.stringify({ change: 'changed', fields: ['total'], row: now })
    }),
  )
  const bound = statements.map(({ values = [] }) =>
    values.filter(({ value }) => String(value).includes('id 99990')),
  )
  t.same(
    bound.map((lists) => lists.length),
    [1],
  )
})

await t.test(
  'a page reads the rows that differ in what it is about, until it is full',
  async (t) => {
    const { folder, connection, run } = await duckDb(t)
    const keys = 50_000
    const [name, rare] = [column('name', 'VARCHAR'), 1000]
    const path = join(folder, 'set.parquet')
    // The total of each key differs, the name of some.
    await connection.run(`COPY (
    SELECT printf('%06d', key) AS c0, side AS c1, 'n' || CASE WHEN key % ${rare} = 7 THEN side ELSE 0 END AS c2,
      side, concat('"', c0, '"', chr(31), c1, chr(31), '"', c2, '"') AS cells,
      CASE WHEN key % ${rare} = 7 THEN 12 ELSE 4 END AS d0
    FROM range(${keys}) keys(key), range(2) sides(side) ORDER BY c0, side
  ) TO '${path}' (ROW_GROUP_SIZE 4096)`)
    const sources = ['id', 'total', 'name']
    const sets: ReadySet[] = [{ ...facts, path, rows: 2 * keys, sources, columns }]
    const { version } = accessTo({}, { key: [id] })
    const page = async (asked: readonly (typeof id)[], limit: number, key: string | null) => {
      let read = 0
      const after = key === null ? null : { key: [key] }
      const changes = { version, sets, predicates: [], columns: asked, counted: [], after, limit }
      const { rows, hasMore } = await readChanges(changes, async (statement) => {
        const found = await run(statement)
        read += found[0]?.length ?? 0
        return found
      })
      return { keys: rows.map(({ position }) => position.key[0]), hasMore, read }
    }
    const middle = await page([id, total], 2, '025000')
    t.same([middle.keys, middle.hasMore], [['025001', '025002'], true])
    t.ok(middle.read < 100, `${middle.read} rows`)
    const ofName = await page([id, name], 2, '025000')
    t.same([ofName.keys, ofName.hasMore], [['025007', '026007'], true])
    t.ok(ofName.read < 100, `${ofName.read} rows`)
    const last = await page([name], 9, '048000')
    t.same([last.keys, last.hasMore, last.read], [['048007', '049007'], false, 4])
  },
)
