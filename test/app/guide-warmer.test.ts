import { pino } from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { GuideWarmer } from '../../src/app/guide-warmer.js'
import { ServiceError } from '../../src/errors.js'
import { faultyService } from '../support/faulty-service.js'
import { startWorld } from '../support/world.js'

type Failure = readonly [dataset: string, cause: unknown]
type Round = readonly (Failure | 'full')[]

/**
 * Guides that fail as `rounds` says, a list for each time that they are made; a list that ends with
 * `full` is of a round that did not try all.
 */
function failing(rounds: readonly Round[]) {
  const lines: Readonly<Record<string, unknown>>[] = []
  const logger = pino(
    { level: 'info', base: null, timestamp: false },
    {
      write: (line: string) => {
        lines.push(JSON.parse(line) as (typeof lines)[number])
      },
    },
  )
  let round = 0
  const warmer = new GuideWarmer(
    {
      ...faultyService,
      prepare: async (_signal, report) => {
        for (const each of rounds[round++] ?? []) {
          if (each === 'full') return false
          const [dataset, cause] = each
          report({ dataset, cause })
        }
        return true
      },
    },
    logger,
  )
  return { warmer, lines }
}

async function linesOf(t: Test, rounds: readonly Round[]) {
  const { warmer, lines } = failing(rounds)
  t.teardown(() => warmer.close())
  for (let round = 0; round < rounds.length; round++) await warmer.start()
  return lines
}

const bug = (words: string) => new Error(`Parser Error: ${words}\n\nLINE 1: SELECT secret`)
const unreadable = new ServiceError('service_unavailable', "A part can't be read.", {
  cause: new Error('DuckDB IO: No files found'),
})

await t.test('a guide that fails again for the same reason is logged once', async (t) => {
  const lines = await linesOf(t, [
    [['a', bug('no list')]],
    [['a', bug('no list')]],
    [['a', bug('no list')]],
  ])
  t.strictSame(lines, [
    {
      level: 40,
      dataset: 'a',
      reason: 'internal_error: Parser Error: no list',
      failures: 1,
      msg: 'the guide for agents failed',
    },
  ])
  t.notMatch(JSON.stringify(lines), /SELECT|stack/, 'neither SQL nor a stack')
})

await t.test(
  'a new reason and the end of the failures are logged with the number of attempts',
  async (t) => {
    const lines = await linesOf(t, [
      [['a', bug('no list')]],
      [
        ['a', bug('no list')],
        ['b', unreadable],
      ],
      [
        ['a', unreadable],
        ['b', unreadable],
      ],
      [['b', unreadable]],
      [],
      [['a', unreadable]],
    ])
    const reason = 'service_unavailable: DuckDB IO: No files found'
    t.match(lines, [
      { dataset: 'a', reason: /no list/, failures: 1 },
      { dataset: 'b', reason, failures: 1 },
      { dataset: 'a', reason, failures: 3, msg: 'the guide for agents failed' },
      { level: 30, dataset: 'a', failures: 3, msg: 'the guide for agents works again' },
      { level: 30, dataset: 'b', failures: 3, msg: 'the guide for agents works again' },
      { dataset: 'a', reason, failures: 1 },
    ])
    t.equal(lines.length, 6)
  },
)

await t.test(
  'a dataset that was not tried, as the cache is full, does not work again',
  async (t) => {
    const lines = await linesOf(t, [
      [['a', bug('no list')]],
      ['full'],
      [['b', unreadable], 'full'],
      [['b', unreadable]],
    ])
    t.match(lines, [
      { dataset: 'a', failures: 1, msg: 'the guide for agents failed' },
      { dataset: 'b', failures: 1, msg: 'the guide for agents failed' },
      { dataset: 'a', failures: 1, msg: 'the guide for agents works again' },
    ])
    t.equal(lines.length, 3)
  },
)

await t.test(
  'a dataset whose plans fail differently is logged once, with the first reason',
  async (t) => {
    const plans: readonly Failure[] = [
      ['a', bug('one')],
      ['a', unreadable],
    ]
    t.match(await linesOf(t, [plans, plans, plans]), {
      length: 1,
      0: { reason: /one/, failures: 1 },
    })
  },
)

await t.test(
  'guides of an empty dataset and of one without key columns are made at the start',
  async (t) => {
    const world = await startWorld(t, {
      files: {
        'data/none.parquet': "SELECT DATE '2024-01-01' AS day WHERE false",
        'data/many.parquet': 'SELECT i * 0.37::DOUBLE AS amount FROM range(100001) t(i)',
      },
      registry: `
datasets:
  none: {title: None, files: data/none.parquet, plans: &plans {pro: {rows_per_month: 1, history: all, price_rub: 0}}}
  many: {title: Many, files: data/many.parquet, plans: *plans}
`,
    })
    await world.app.prepare()
    t.notMatch(world.log.join(''), /the guide for agents failed/)
  },
)
