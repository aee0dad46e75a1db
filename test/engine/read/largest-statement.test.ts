import t from 'tap'
import { chooseFiles } from '../../../src/engine/duckdb/choice.js'
import { readChanges } from '../../../src/engine/duckdb/read/read-changes.js'
import { compileRead } from '../../../src/engine/duckdb/read/compile.js'
import { planPage } from '../../../src/engine/duckdb/read/pieces.js'
import {
  compileGroups,
  compileSummary,
} from '../../../src/engine/duckdb/summarize/compile-summary.js'
import { PlainPaths } from '../../../src/engine/duckdb/plain-paths.js'
import type { Statement } from '../../../src/engine/duckdb/run-statement.js'
import { listPredicates } from '../../../src/columns/predicate.js'
import { readFilters } from '../../../src/query/read-filters.js'
import { largestFilters, largestSummary } from '../../support/largest-requests.js'
import { openEngine } from '../fixtures/open-engine.js'
import { summaryOf } from '../fixtures/summaries.js'

// Guarantee: whatever a caller sends, planning its statement is bounded work: the SQL text and the
// number of bound values do not grow beyond these.
const lettersMax = 100_000
const valuesMax = 2000

await t.test('the largest valid request is a statement of bounded size', async (t) => {
  const world = await openEngine(t, {
    files: {
      'a.parquet': `SELECT '1' AS inn, 'ж' AS name, 2024 AS year, '62.01' AS okved,
        1::BIGINT AS "1100", 2::BIGINT AS "1600", 3::BIGINT AS "2110", 4::BIGINT AS "2400"`,
    },
  })
  const check = ({ sql, values = [] }: Statement, name: string) => {
    t.ok(sql.length <= lettersMax, `${name}: ${sql.length} letters`)
    t.ok(values.length <= valuesMax, `${name}: ${values.length} values`)
  }
  for (const [name, filters] of Object.entries(largestFilters)) {
    const raw = filters.map(({ column, op, value }) => {
      const isList = typeof value !== 'string'
      return { column, operator: op, values: isList ? value : [value], isList }
    })
    const read = await readFilters(raw, world.column)
    const predicates = read.flatMap((filter) => filter.predicates)
    const choice = chooseFiles(world.version, predicates)
    const [piece] = planPage(choice, { after: null, missing: () => 101 })
    if (!piece) throw new Error('no piece')
    check(compileRead(piece, { predicates, columns: world.version.columns }, 1000), `rows, ${name}`)
    const summary = { ...summaryOf(world, { ...largestSummary, predicates }) }
    const sql = compileGroups(summary, choice, new PlainPaths(), true)
    check(compileSummary(sql, summary), `groups, ${name}`)
  }
  const { version } = world
  const { columns } = version
  const key = [world.column('inn')]
  const sources = columns.map(({ source }) => source)
  const nothing = { added: [], removed: [], retyped: [] }
  const facts = {
    kind: 'ready',
    layout: 2,
    rows: 9,
    sources,
    key: ['inn'],
    columns: nothing,
    newestBefore: null,
  } as const
  const sets = Array.from({ length: 2500 }, (_, at) => ({ ...facts, path: `/${at}.parquet` }))
  for (const column of [world.column('inn'), world.column('name')]) {
    const values = Array.from({ length: 10_000 }, (_, at) => String(at))
    const predicates = listPredicates(column, 'in', values)
    const changes = { version: { ...version, key }, sets, predicates, columns, counted: [] }
    await readChanges({ ...changes, after: null, limit: 1000 }, (statement) => {
      check(statement, `changes by ${column.name}`)
      return Promise.resolve([])
    })
  }
})
