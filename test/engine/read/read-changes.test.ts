import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { readChanges } from '../../../src/engine/duckdb/read/read-changes.js'
import { runnerOn } from '../../../src/engine/duckdb/run-statement.js'
import type { Statement } from '../../../src/engine/duckdb/run-statement.js'
import type { ReadySet } from '../../../src/versions/changes/change-set.js'
import { accessTo, column } from '../../query/fixtures/access.js'
import { testFolder } from '../../support/folder.js'

// Guarantee: a long list of values is bound once, however many versions lie between.

const steps = 12
const keysOfStep = 10
const id = column('id', 'VARCHAR')
const total = column('total', 'BIGINT')
/** Every tenth key. */
const values = Array.from({ length: 10_000 }, (_, index) => `id ${index * 10}`)

await t.test('a list of keys is bound once for all steps', async (t) => {
  const folder = testFolder(t)
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  t.teardown(() => {
    connection.closeSync()
    instance.closeSync()
  })
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
    const columns = { added: [], removed: [], retyped: [] }
    const names = { sources: ['id', 'total'], key: ['id'], newestBefore: null }
    sets.push({ kind: 'ready', layout: 2, path, rows: 2 * keysOfStep, ...names, columns })
  }
  const statements: Statement[] = []
  const run = runnerOn(connection, new AbortController().signal)
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
