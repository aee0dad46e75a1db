import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import t from 'tap'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { chargeAll } from '../../src/control/usage.js'
import { buildCliFixture } from './fixtures/cli-fixture.js'
import type { CliFixture } from './fixtures/cli-fixture.js'
import { machine } from '../support/machine.js'

type Used = readonly (readonly [period: string, dataset: string, rows: number])[]

async function sellAndUse(cli: CliFixture, email: string, used: Used): Promise<string> {
  const create = ['subscription', 'create', '--email', email, '--months', '2', '--json']
  const plans = ['--plan', 'financials:start', '--plan', 'procurement:start']
  const { stdout } = await cli.das([...create, ...plans])
  const { subscription } = JSON.parse(stdout) as { subscription: string }
  const control = SqliteStore.open(join(cli.folder, 'var', 'control.db'), machine)
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  await chargeAll(
    control,
    used.map(([period, dataset, rows]) => ({
      subscriptionId: subscription,
      period,
      dataset,
      rows,
      ...caps,
    })),
  )
  await control.close()
  return subscription
}

await t.test('the table shows the current month and the used part of each plan', async (t) => {
  const cli = await buildCliFixture(t)
  const none = await cli.das(['usage', '--csv'])
  t.equal(none.code, 1, 'an empty invoice would be wrong')
  t.match(none.stderr, /^error: There is no control\.db in .*var: nothing was sold there yet\./)
  const id = await sellAndUse(cli, 'buyer@example.org', [['2026-11', 'financials', 12_345]])
  const { code, stdout } = await cli.das(['usage'])
  t.equal(code, 0)
  t.equal(
    stdout,
    'MONTH\tSUBSCRIPTION\tE-MAIL\tDATASET\tPLAN\tUSED\tOF\tUSED %\n' +
      `2026-11\t${id}\tbuyer@example.org\tfinancials\tstart\t12345\t50000\t24\n` +
      `2026-11\t${id}\tbuyer@example.org\tprocurement\tstart\t0\t20000\t0\n`,
  )
  const terminal = await cli.das(['usage'], { isTerminal: true })
  t.match(terminal.stdout, /12\u202f345 +50\u202f000 +24\n/)
  t.match(terminal.stdout, /^Total: 12\u202f345 rows\.$/m)
})

await t.test(
  'CSV for invoices: all months since one, quoted, and safe in a spreadsheet',
  async (t) => {
    const cli = await buildCliFixture(t)
    const id = await sellAndUse(cli, "=o'neil+das@example.org", [
      ['2026-11', 'financials', 7],
      ['2026-12', 'financials', 8],
    ])
    cli.clock.ms = Date.UTC(2026, 11, 20)
    const { stdout } = await cli.das(['usage', '--since', '2026-10', '--csv'])
    const rows = parse(stdout, { columns: true }) as Record<string, string>[]
    t.same(
      rows.map(({ month, dataset, rows: used }) => [month, dataset, used]),
      [
        ['2026-11', 'financials', '7'],
        ['2026-11', 'procurement', '0'],
        ['2026-12', 'financials', '8'],
        ['2026-12', 'procurement', '0'],
      ],
    )
    t.same(rows[0], {
      month: '2026-11',
      subscription: id,
      email: "'=o'neil+das@example.org",
      dataset: 'financials',
      plan: 'start',
      rows: '7',
      rows_per_month: '50000',
    })
    const nothing = await cli.das(['usage', '--month', '2026-01'])
    t.match(nothing.stdout, /^.*var has no grants and no usage in this time\.\n$/)
    const json = await cli.das(['usage', '--month', '2026-12', '--subscription', id, '--json'])
    t.match(JSON.parse(json.stdout), [
      { month: '2026-12', email: "=o'neil+das@example.org", rows: 8 },
      { month: '2026-12', dataset: 'procurement', rows: 0 },
    ])
  },
)

await t.test('an invalid month and options that exclude each other are wrong usage', async (t) => {
  const cli = await buildCliFixture(t)
  await sellAndUse(cli, 'a@example.org', [])
  const mistakes = [
    [['--month', '2026-13'], '--month must be a month, such as 2026-11, got "2026-13".'],
    [['--since', 'May'], '--since must be a month, such as 2026-11, got "May".'],
    [['--since', '2026-12'], '--since must not be in the future, got "2026-12".'],
    [['--since', '1900-01'], '--since must be at most 120 months ago, got "1900-01".'],
    [['--month', '2026-11', '--since', '2026-11'], 'Use --month or --since, not both.'],
    [['--csv', '--json'], 'Use --csv or --json, not both.'],
    [
      ['--repair', '--month', '2026-11'],
      '--repair moves rows of all subscriptions and months. Use it without --subscription, ' +
        '--month, --since and --csv.',
    ],
  ] as const
  for (const [argv, message] of mistakes) {
    const { code, stderr } = await cli.das(['usage', ...argv])
    t.same({ code, stderr }, { code: 2, stderr: `error: ${message}\n` })
  }
  const unknown = await cli.das(['usage', '--subscription', 'sub_none'])
  t.same(
    { code: unknown.code, stderr: unknown.stderr },
    { code: 1, stderr: "error: There is no subscription 'sub_none'.\n" },
  )
})

await t.test('usage of a clock that was ahead is repaired, and no row is lost', async (t) => {
  const cli = await buildCliFixture(t)
  const id = await sellAndUse(cli, 'a@example.org', [
    ['2026-11', 'financials', 10],
    ['2030-01', 'financials', 5],
  ])
  const show = async () => {
    const { stdout } = await cli.das(['subscription', 'show', id, '--json'])
    return JSON.parse(stdout) as unknown
  }
  t.match(await show(), { period: '2030-01', resets_at: '2030-02-01T00:00:00Z' })
  const seen = await cli.das(['usage'])
  t.match(seen.stdout, `2026-11\t${id}\ta@example.org\tfinancials\tstart\t10\t`)
  t.match(seen.stdout, `2030-01\t${id}\ta@example.org\tfinancials\t\t5\t`)
  t.notMatch(seen.stdout, '2030-01\t.*procurement', 'only the datasets with usage in that month')
  const warning =
    'warning: 5 rows are counted in 2030-01, but the clock of this machine says 2026-11. If the ' +
    'clock is wrong, correct it. Then das usage --repair moves the rows to the current month.\n'
  t.equal(seen.stderr, warning)
  const csv = await cli.das(['usage', '--since', '2026-10', '--csv'])
  t.match(csv.stdout, new RegExp(`^2030-01,${id},a@example.org,financials,,5,$`, 'm'))
  t.equal(csv.stderr, warning)
  const month = await cli.das(['usage', '--month', '2026-11', '--json'])
  t.equal((JSON.parse(month.stdout) as unknown[]).length, 2, 'only the requested month')
  t.equal(month.stderr, warning)
  const { stdout } = await cli.das(['usage', '--repair'])
  t.equal(
    stdout,
    `Now counted in 2026-11:\nSUBSCRIPTION\tMONTH\tDATASET\tROWS\n${id}\t2030-01\tfinancials\t5\n`,
  )
  t.match(await show(), { period: '2026-11', grants: [{ rows: { used: 15 } }, {}] })
  const again = await cli.das(['usage', '--repair'])
  t.equal(again.stdout, 'Nothing to repair: no usage is counted after 2026-11.\n')
  t.equal((await cli.das(['usage', '--repair', '--json'])).stdout, '[]\n')
})

await t.test('a clock that is behind is not mistaken for one that was ahead', async (t) => {
  const cli = await buildCliFixture(t)
  await sellAndUse(cli, 'a@example.org', [
    ['2026-10', 'financials', 10],
    ['2026-11', 'financials', 5],
  ])
  cli.clock.ms = Date.UTC(2015, 0, 1)
  const { code, stderr } = await cli.das(['usage', '--repair'])
  t.equal(code, 2)
  t.equal(
    stderr,
    'error: The clock of this machine says 2015-01, but rows are counted in 2 later months, up to ' +
      '2026-11: the clock is probably behind. Correct it. If it is right, add --yes.\n',
  )
  const moved = await cli.das(['usage', '--repair', '--yes', '--json'])
  t.match(JSON.parse(moved.stdout), [{ rows: 10 }, { rows: 5 }])
})
