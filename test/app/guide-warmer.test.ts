import { pino } from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { GuideWarmer } from '../../src/app/guide-warmer.js'
import { ServiceError } from '../../src/errors.js'
import { faultyService } from '../support/faulty-service.js'
import { startWorld } from '../support/world.js'

type Failure = readonly [dataset: string, cause: unknown]

/** Guides that fail as `rounds` says, a list for each time that they are made. */
function failing(rounds: readonly (readonly Failure[])[]) {
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
  const ahead = new GuideWarmer(
    {
      ...faultyService,
      prepare: async (_signal, report) => {
        for (const [dataset, cause] of rounds[round++] ?? []) report({ dataset, cause })
      },
    },
    logger,
  )
  return { ahead, lines }
}

async function linesOf(t: Test, rounds: readonly (readonly Failure[])[]) {
  const { ahead, lines } = failing(rounds)
  t.teardown(() => ahead.close())
  for (let round = 0; round < rounds.length; round++) await ahead.begin()
  return lines
}

const bug = (words: string) => new Error(`Parser Error: ${words}\n\nLINE 1: SELECT secret`)
const unreadable = new ServiceError('service_unavailable', "A part can't be read.", {
  cause: new Error('DuckDB IO: No files found'),
})

await t.test('a guide that fails every minute is one line, not one a minute', async (t) => {
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
      msg: 'no guide for agents yet',
    },
  ])
  t.notMatch(JSON.stringify(lines), /SELECT|stack/, 'neither SQL nor a stack')
})

await t.test('another reason and the end of the failures are lines that count them', async (t) => {
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
    { dataset: 'a', reason, failures: 3, msg: 'no guide for agents yet' },
    { level: 30, dataset: 'a', failures: 3, msg: 'guides for agents no longer fail' },
    { level: 30, dataset: 'b', failures: 3, msg: 'guides for agents no longer fail' },
    { dataset: 'a', reason, failures: 1 },
  ])
  t.equal(lines.length, 6)
})

await t.test('of the plans of a dataset the first that fails speaks for all', async (t) => {
  const plans: readonly Failure[] = [
    ['a', bug('one')],
    ['a', unreadable],
  ]
  t.match(await linesOf(t, [plans, plans, plans]), { length: 1, 0: { reason: /one/, failures: 1 } })
})

await t.test('a dataset of no rows and one of amounts alone have guides ahead', async (t) => {
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
  t.notMatch(world.log.join(''), /no guide for agents/)
})
