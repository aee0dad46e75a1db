import t from 'tap'
import { faultsIn } from '../../../scripts/bench/compare.js'
import type { Contestant, Field } from '../../../scripts/bench/field.js'
import { makeRows, readFacts } from '../../../scripts/bench/data.js'
import { openEngine } from '../../../scripts/bench/engine.js'
import { Measurement } from '../../../scripts/bench/measure.js'
import type { Row } from '../../../scripts/bench/messages.js'
import { cold, walkQuestion, workloads } from '../../../scripts/bench/questions.js'
import { reportMarkdown } from '../../../scripts/bench/report.js'
import { readOptions, someOf } from '../../../scripts/harness/options.js'
import { Cleanup } from '../../../scripts/harness/script.js'

const cleanup = new Cleanup()
t.teardown(() => cleanup.closeAll())
const quiet = () => undefined
const run = { cleanup, log: quiet, update: quiet, print: quiet }
const folder = t.testdir({})
const rows = 21_001
await makeRows(rows, folder)
const facts = await readFacts(folder)
const engine = await openEngine(facts, cleanup)

/** A contestant that changes the engine's rows; one of them walks by page numbers. */
function other(
  name: string,
  kind: Contestant['kind'],
  change: (rows: readonly Row[]) => readonly Row[] = (same) => same,
): Contestant {
  return {
    name,
    kind,
    isOrdered: kind !== 'roapi',
    server: null,
    ask: async (question) => {
      const { ms, rows } = await engine(question)
      return { ms, rows: change(rows), next: null }
    },
  }
}

const withoutNulls = (found: readonly Row[]) =>
  found.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)))

await t.test('rows are made as many as are asked for, in seven files sorted by company', (t) => {
  t.equal(facts.rows, rows)
  t.same(facts.years, [2019, 2020, 2021, 2022, 2023, 2024, 2025])
  t.equal(facts.columns.length, 131)
  t.ok(facts.companies.length > 2000)
  t.end()
})

// Guarantee: a contestant that answers anything else than the others is found.
await t.test('every workload finds rows, and a wrong answer to it is reported', async (t) => {
  const contestants = [
    other('bare DuckDB', 'engine'),
    other('same', 'duckdb', withoutNulls),
    other('das, packed', 'das', (found) => found.with(0, { ...found[0], year: 1 })),
    other('short', 'roapi', (found) => found.slice(1)),
    other('broken', 'postgres', () => {
      throw new Error('out of order')
    }),
  ]
  const field: Field = { contestants, das: null, facts: [], missing: [] }
  const only = workloads.map(({ name }) => name)
  const options = { only, rounds: 1, pages: 1, seconds: 1 }
  const measured = await new Measurement(field, facts, options, run).all()
  for (const name of only) {
    const faults = measured.faults.filter((fault) => fault.includes(`, ${name}: `))
    const who = faults.map((fault) => fault.slice(0, fault.indexOf(`, ${name}: `)))
    t.same(who.sort(), ['broken', 'das, packed', 'short'], name)
  }
  t.same(
    measured.lines.map(({ name, figures }) => [name, Object.keys(figures).length]),
    only.map((name) => [name, 4]),
  )
  const report = reportMarkdown(facts, field, measured)
  t.match(report, /\| W1 \| one company, 5 columns, ms \|/)
  t.match(report, /\*\*wrong\*\*: das, packed, W1: not as bare DuckDB at \d+: /)
})

await t.test('every workload has rows to find', async (t) => {
  for (const { name, questionOf } of [...workloads, cold]) {
    t.ok((await engine(questionOf(facts, 3))).rows.length > 0, name)
  }
})

await t.test('a page in another order is wrong, unless it has none', (t) => {
  const [first, second] = [2, 3].map((inn) => ({ inn, year: 2024 }))
  if (!first || !second) throw new Error('no rows')
  const question = { ...walkQuestion, year: 2024 }
  const given = [
    { contestant: other('engine', 'engine'), rows: [first, second] },
    { contestant: other('duckdb', 'duckdb'), rows: [first, second] },
    { contestant: other('das', 'das'), rows: [second, first] },
    { contestant: other('roapi', 'roapi'), rows: [second, first] },
  ]
  t.same([...faultsIn(question, false, given).keys()], ['das'])
  t.equal(faultsIn(question, true, given).size, 0, 'of a whole answer it is no fault at all')
  const elsewhere = [
    ...given,
    { contestant: other('roapi', 'roapi'), rows: [{ year: 2023 }, first] },
  ]
  t.match(faultsIn(question, false, elsewhere).get('roapi'), /1 rows that do not meet the filters/)
  t.end()
})

await t.test('a part that there is not is refused', (t) => {
  const table = { only: someOf('parts', ['W1', 'W2']) }
  t.same(readOptions(table, []), { only: ['W1', 'W2'] })
  t.same(readOptions(table, ['--only', 'W2']), { only: ['W2'] })
  t.throws(() => readOptions(table, ['--only', 'W1,W9']), {
    message: '--only must be of W1, W2, got "W1,W9"',
  })
  t.end()
})
