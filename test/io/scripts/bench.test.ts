import t from 'tap'
import { command } from '../../../scripts/bench/bench-options.js'
import { faultsIn } from '../../../scripts/bench/compare.js'
import type { Contestant, Row } from '../../../scripts/bench/contestant.js'
import { engineContestant, startEngine } from '../../../scripts/bench/engine.js'
import { layoutOf, readFacts } from '../../../scripts/bench/facts.js'
import { growthOf } from '../../../scripts/bench/load.js'
import { walkQuestion, workloads } from '../../../scripts/bench/questions.js'
import type { Question } from '../../../scripts/bench/questions.js'
import { runWorkload } from '../../../scripts/bench/rounds.js'
import { chooseFiles } from '../../../scripts/bench/statement.js'
import { goalsOf } from '../../../scripts/bench/targets.js'
import { runWalks } from '../../../scripts/bench/walk.js'
import { Cleanup } from '../../../scripts/harness/cleanup.js'
import { readOptions } from '../../../scripts/harness/options.js'

const cleanup = new Cleanup()
t.teardown(() => cleanup.closeAll())
const layout = await layoutOf('yearly', 'data/financials')
const facts = await readFacts({ folder: '', uid: null }, layout, { ...layout, name: 'packed' })
const engine = engineContestant(await startEngine(layout, facts.columns, cleanup), 'yearly')
const quiet = () => undefined

/** A contestant that changes the engine's rows. */
function other(name: string, change: (rows: readonly Row[]) => readonly Row[]): Contestant {
  const kind = name === 'das' ? 'das' : 'roapi'
  return {
    name,
    kind,
    dataset: 'yearly',
    target: null,
    ask: async (question, place) => {
      const answer = await engine.ask(question, place)
      return { ...answer, rows: change(answer.rows) }
    },
  }
}

const withoutNulls = (rows: readonly Row[]) =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)))

// Guarantee: a contestant that answers anything else than the engine is found.
await t.test('every workload finds rows, and a wrong answer to it is reported', async (t) => {
  const contestants = [
    engine,
    other('same', withoutNulls),
    other('das', (rows) => rows.with(0, { ...rows[0], year: 1 })),
    other('short', (rows) => rows.slice(1)),
    other('broken', () => {
      throw new Error('out of order')
    }),
  ]
  for (const workload of workloads) {
    const { rows, timed } = await runWorkload(workload, contestants, facts, 1, quiet)
    t.ok(rows > 0, workload.name)
    const faults = timed.map(({ contestant, fault }) => [contestant, fault !== null])
    const right = { 'engine yearly': false, same: false }
    const wrong = { das: true, short: true, broken: true }
    t.same(Object.fromEntries(faults), { ...right, ...wrong }, workload.name)
    t.match(timed.at(-1), { medianMs: null, fault: /out of order/ })
  }
})

await t.test('a page in another order is a fault of ours, and not of a peer', (t) => {
  const question: Question = { ...walkQuestion, year: 2024 }
  const [first, second] = [2, 3].map((inn) => ({ inn, year: 2024 }))
  if (!first || !second) throw new Error('no rows')
  const given = [engine, other('das', (rows) => rows), other('peer', (rows) => rows)].map(
    (contestant) => ({
      contestant,
      rows: contestant === engine ? [first, second] : [second, first],
    }),
  )
  t.same([...faultsIn(question, false, given).keys()], ['das'])
  t.equal(faultsIn(question, true, given).size, 0, 'of a whole answer it is no fault at all')
  t.end()
})

await t.test('a walk counts duplicated and missing rows', async (t) => {
  const walkers = [engine, other('peer', (rows) => rows.with(0, rows[1] ?? {}))]
  const [all, less] = await runWalks(walkers, facts, { pages: 5, peerPages: 5 }, quiet)
  t.match(all, { pages: 2, rows: facts.rows, duplicated: 0, missing: 0 })
  t.match(less, { pages: 2, rows: facts.rows, duplicated: 2, missing: 2 })
})

await t.test('files that can hold no row of a question are left out', (t) => {
  const file = (path: string, min: string, max: string, year: number) => ({
    path,
    inn: { min, max },
    year: { min: year, max: year },
  })
  const files = [
    file('a', '01', '05', 2020),
    file('b', '06', '09', 2020),
    file('c', '01', '09', 2021),
  ]
  const chosen = (question: Partial<Question>) =>
    chooseFiles(files, { ...walkQuestion, ...question })
  t.same(chosen({}), ['a', 'b', 'c'])
  t.same(chosen({ inns: ['06'] }), ['b', 'c'])
  t.same(chosen({ inns: ['05', '09'], year: 2020 }), ['a', 'b'])
  t.same(chosen({ year: 2021 }), ['c'])
  t.end()
})

await t.test('what was not measured is neither met nor missed', (t) => {
  const nothing = { workloads: [], walks: [], loads: [], overhead: null, memory: null }
  const layoutFacts = { files: 1, sizeBytes: 1 }
  const goals = goalsOf({
    ...nothing,
    machine: { cpu: '', cores: 1, memoryBytes: 1, node: '', duckdb: '' },
    data: { rows: 1, columns: 1, yearly: layoutFacts, packed: layoutFacts },
    peers: {},
    contestants: [],
    startMs: 1500,
    memoryLimitBytes: 1,
  })
  t.same(
    goals.filter(({ measured }) => measured !== null).map(({ name, isMet }) => [name, isMet]),
    [['start', true]],
  )
  t.end()
})

await t.test('memory may not grow after the first minute at the limit', (t) => {
  const load = { requests: 1, requestsPerSecond: 1, p50Ms: 1, p99Ms: 1, failed: 0, failure: null }
  const grown = (...minuteBytes: number[]) =>
    growthOf({ minutes: minuteBytes.length, load, minuteBytes, maxBytes: 0 }, 100)
  t.equal(grown(50, 100, 120, 110), 1.1)
  t.equal(grown(40, 50, 60), 1.5, 'where it never holds the limit, after the first minute')
  t.equal(grown(50, 100), null, 'not watched for long enough')
  t.equal(grown(), null)
  t.end()
})

await t.test('options are read or refused', (t) => {
  t.match(readOptions(command.options, []), {
    companies: 100_000,
    rounds: 30,
    minutes: 0,
    source: null,
  })
  t.match(readOptions(command.options, ['--only', 'W1,overhead', '--rounds', '2', '--das-only']), {
    only: ['W1', 'overhead'],
    rounds: 2,
    dasOnly: true,
  })
  t.match(readOptions(command.options, ['--memory-limit', '1.5GB']), { memoryLimit: 1_500_000_000 })
  t.equal(readOptions(command.options, ['--help']), null)
  const wrong = [['--rounds', '0'], ['--only', 'W9'], ['--pages', '1e3'], ['--speed'], ['more']]
  for (const argv of [...wrong, ['--memory-limit', '4']]) {
    t.throws(() => readOptions(command.options, argv), { name: 'UsageError' }, argv.join(' '))
  }
  t.end()
})
