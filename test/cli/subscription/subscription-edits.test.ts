import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { chargeAll } from '../../../src/control/usage.js'
import { buildCliFixture } from '../fixtures/cli-fixture.js'
import type { CliFixture } from '../fixtures/cli-fixture.js'
import { machine } from '../../support/machine.js'

const dayMs = 86_400_000

async function sell(cli: CliFixture, ...plans: readonly string[]): Promise<string> {
  const argv = plans.flatMap((plan) => ['--plan', plan])
  const { stdout } = await cli.das([
    ...['subscription', 'create', '--email', 'buyer@example.org', '--json'],
    ...argv,
  ])
  return (JSON.parse(stdout) as { subscription: string }).subscription
}

async function json<T>(cli: CliFixture, ...argv: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await cli.das([...argv, '--json'])
  t.same({ code, stderr }, { code: 0, stderr: '' })
  return JSON.parse(stdout) as T
}

/** The plan table of the specification, section 8: rows a month, history, roubles a month. */
const planTable = [
  ['free', 1000, 1, 0],
  ['start', 50_000, 2, 990],
  ['pro', 500_000, 'all', 3900],
  ['business', 3_000_000, 'all', 9900],
] as const

await t.test(
  'the plan table of the specification comes out to the rouble, row by row',
  async (t) => {
    const cli = await buildCliFixture(t)
    const historyTexts = { 1: 'latest year', 2: 'latest 2 years', all: 'all' } as const
    for (const [plan, rows, history, price] of planTable) {
      const create = ['subscription', 'create', '--email', 'a@example.org']
      const order = [...create, '--plan', `financials:${plan}`]
      for (const [months, paid] of [
        [1, 1],
        [11, 11],
        [12, 10],
        [13, 11],
        [24, 20],
        [36, 30],
      ] as const) {
        const made = await json<{ price_rub: number }>(cli, ...order, '--months', String(months))
        t.equal(made.price_rub, price * paid, `${plan}, ${months} months`)
      }
      const { stdout } = await cli.das(order)
      const row = ['financials', plan, rows, historyTexts[history], price].join('\t')
      t.ok(stdout.split('\n').includes(row), row)
      t.ok(stdout.includes(`Price: ${price} RUB for 1 month\n`))
    }
  },
)

await t.test('extend prices the months, moves the end and revives expired tokens', async (t) => {
  const cli = await buildCliFixture(t)
  const id = await sell(cli, 'financials:start', 'procurement:pro')
  const year = await json(cli, 'subscription', 'extend', id, '--months', '12')
  t.match(year, {
    subscription: id,
    expires_at: '2027-12-15T12:00:00Z',
    price_rub: (990 + 2900) * 10,
  })
  const living = await cli.das(['subscription', 'extend', id])
  t.equal(
    living.stdout,
    `Subscription ${id} of buyer@example.org, expires 2028-01-15 (before: 2027-12-15)\n` +
      'Price: 3890 RUB for 1 month\n',
  )
  cli.clock.ms += 1000 * dayMs
  const revived = await cli.das(['subscription', 'extend', id])
  t.match(revived.stdout, /expires 2029-09-11 \(before: 2028-01-15\)/)
  t.match(revived.stdout, /^Its tokens work again\.$/m)
  await json(cli, 'token', 'reissue', id, '--grace', '0')
  const [first, second] = await json<{ id: string }[]>(cli, 'token', 'list', id)
  for (const each of [first, second]) await json(cli, 'token', 'revoke', each?.id ?? '')
  const lost = await cli.das(['subscription', 'extend', id])
  t.match(lost.stdout, `It has no live token. Issue one with: das token reissue ${id}\n`)
})

await t.test(
  'change --now takes effect at once without a price, and warns of a used quota',
  async (t) => {
    const cli = await buildCliFixture(t)
    const id = await sell(cli, 'financials:pro')
    const control = SqliteStore.open(join(cli.folder, 'var', 'control.db'), machine)
    const caps = { datasetRowsMax: null, globalRowsMax: null }
    await chargeAll(control, [
      { subscriptionId: id, dataset: 'financials', period: '2026-11', rows: 60_000, ...caps },
    ])
    await control.close()
    const { stdout } = await cli.das([
      ...['subscription', 'change', id, '--plan', 'financials:start'],
      ...['--plan', 'procurement:start', '--global-rows', '55000', '--now'],
    ])
    const lines = stdout.split('\n')
    t.equal(lines[0], `Subscription ${id} of buyer@example.org, expires 2026-12-15 as before`)
    t.ok(lines.includes('financials\tstart\t50000\tlatest 2 years\t990'))
    t.ok(lines.includes('procurement\tstart\t20000\tall\t690'))
    t.ok(lines.includes('All datasets together: 55000 rows a month.'))
    t.ok(lines.includes('A month costs 1680 RUB; before: 3900 RUB.'))
    t.ok(lines.includes('Nothing was charged: settle it with the subscriber.'))
    const until = 'No rows are left until 2026-12-01.'
    t.ok(lines.includes(`financials: 60000 rows were used this month. ${until}`))
    t.ok(lines.includes(`All datasets together: 60000 rows were used this month. ${until}`))
    const less = await json(
      cli,
      ...['subscription', 'change', id, '--withdraw', 'procurement', '--global-rows', 'none'],
      '--now',
    )
    t.match(less, {
      grants: [{ dataset: 'financials', plan: 'start' }],
      global_rows: null,
      price_rub_per_month: { before: 1680, after: 990 },
      price_rub: 0,
      later: [],
    })
  },
)

await t.test('change costs what the portal charges; cheaper plans come at the end', async (t) => {
  const cli = await buildCliFixture(t)
  const dearer = async (id: string) =>
    (await cli.das(['subscription', 'change', id, '--plan', 'financials:pro'])).stdout
  const month = await sell(cli, 'financials:start')
  const year = await sell(cli, 'financials:start')
  await json(cli, 'subscription', 'extend', year, '--months', '11')
  t.match(await dearer(year), 'Price until 2027-11-15: 29100 RUB.\n')
  const less = ['--withdraw', 'procurement', '--plan', 'financials:start']
  await json(cli, 'subscription', 'change', year, '--plan', 'procurement:pro')
  const later = await json(cli, 'subscription', 'change', year, ...less)
  t.match(later, {
    grants: [{ plan: 'pro' }, { plan: 'pro' }],
    price_rub: 0,
    later: [
      { dataset: 'financials', plan: 'start' },
      { dataset: 'procurement', plan: null },
    ],
  })
  const shown = await cli.das(['subscription', 'show', year])
  t.match(shown.stdout, 'change\tfrom 2027-11-15\t\t0\t\tfinancials:start procurement:removed')
  cli.clock.ms += 15 * dayMs
  // 15 of 30 days are left: 3,900 - 990 / 2.
  const moved = await dearer(month)
  t.match(moved, 'expires 2026-12-30 (before: 2026-12-15)')
  t.match(moved, 'Price until 2026-12-30: 3405 RUB.\n')
  t.notMatch(await dearer(month), 'Price until', 'the same plan again')
})

await t.test('cancel cannot be undone, and show prints all orders', async (t) => {
  const cli = await buildCliFixture(t)
  const id = await sell(cli, 'financials:start')
  await json(cli, 'subscription', 'extend', id, '--months', '2')
  const { stdout } = await cli.das(['subscription', 'cancel', id])
  t.equal(
    stdout,
    `Subscription ${id} of buyer@example.org was cancelled on 2026-11-15.\n` +
      'Its tokens are refused. It was paid until 2027-02-15.\n',
  )
  const refused = await cli.das(['subscription', 'extend', id])
  t.equal(refused.code, 2)
  t.equal(refused.stderr, `error: Subscription '${id}' is cancelled. Create a new one.\n`)
  const shown = await json<{ orders: unknown[] }>(cli, 'subscription', 'show', id)
  t.match(shown, { cancelled_at: '2026-11-15T12:00:00Z', language: 'en' })
  t.match(shown.orders, [
    { kind: 'new', months: 1, amount_rub: 990, after: { expires_at: '2026-12-15T12:00:00Z' } },
    { kind: 'renew', months: 2, amount_rub: 1980, after: { expires_at: '2027-02-15T12:00:00Z' } },
  ])
  const text = await cli.das(['subscription', 'show', id])
  t.match(text.stdout, '2026-11-15\trenew\tconfirmed\t2\t1980\t2027-02-15\tfinancials:start\t\n')
})

await t.test('an invalid change is refused with the nearest name', async (t) => {
  const cli = await buildCliFixture(t)
  const id = await sell(cli, 'financials:start')
  const mistakes = [
    [['extend', id, '--months', 'x'], '--months must be a whole number, got "x".'],
    [['extend', id, '--months', '0'], 'The months must be a whole number from 1 to 120, got 0.'],
    [
      ['change', id],
      'Nothing to change. Use --plan DATASET:PLAN, --withdraw DATASET, --global-rows NUMBER, ' +
        '--email ADDRESS or --language LANGUAGE.',
    ],
    [
      ['change', id, '--plan', 'financials:prp'],
      'Dataset "financials" has no plan "prp". Did you mean "pro"?',
    ],
    [
      ['change', id, '--withdraw', 'procurement'],
      "The subscription has no dataset 'procurement' to withdraw.",
    ],
    [
      ['change', id, '--global-rows', 'many'],
      '--global-rows must be a whole number, or none, got "many".',
    ],
  ] as const
  for (const [argv, message] of mistakes) {
    const { code, stderr, stdout } = await cli.das(['subscription', ...argv])
    t.same({ code, stderr, stdout }, { code: 2, stderr: `error: ${message}\n`, stdout: '' })
  }
  for (const command of ['extend', 'cancel'] as const) {
    const { code, stderr } = await cli.das(['subscription', command, 'sub_none'])
    t.same({ code, stderr }, { code: 1, stderr: "error: There is no subscription 'sub_none'.\n" })
  }
})

await t.test('a plan that left the registry cannot be extended, only changed', async (t) => {
  const cli = await buildCliFixture(t)
  const id = await sell(cli, 'financials:start')
  writeFileSync(
    join(cli.folder, 'registry.yaml'),
    'datasets: {financials: {title: T, files: data/procurement.parquet, plans: ' +
      '{new: {rows_per_month: 1, history: all, price_rub: 5}}}}',
  )
  const extended = await cli.das(['subscription', 'extend', id])
  t.equal(extended.code, 2)
  t.match(extended.stderr, 'Dataset "financials" has no plan "start".')
  const argv = ['subscription', 'change', id, '--plan', 'financials:new']
  t.match((await cli.das(argv)).stderr, 'Dataset "financials" has no plan "start".')
  const changed = await json<object>(cli, ...argv, '--now')
  t.match(changed, {
    price_rub_per_month: { before: null, after: 5 },
    price_rub: 0,
  })
})

await t.test('orders keep their agreed prices after the registry changes', async (t) => {
  const cli = await buildCliFixture(t)
  const id = await sell(cli, 'financials:start')
  cli.clock.ms += dayMs
  await json(cli, 'subscription', 'extend', id, '--months', '12')
  await json(cli, 'subscription', 'change', id, '--plan', 'procurement:pro')
  const all = await json<unknown[]>(cli, 'order', 'list', '--all')
  t.match(all, [
    { subscription: id, email: 'buyer@example.org', kind: 'new', months: 1, amount_rub: 990 },
    { kind: 'renew', months: 12, amount_rub: 9900, ordered_at: '2026-11-16T12:00:00Z' },
    { kind: 'change', amount_rub: 31_900, after: { grants: [{ plan: 'start' }, { plan: 'pro' }] } },
  ])
  const csv = await cli.das(['order', 'list', '--all', '--csv'])
  t.match(
    csv.stdout.split('\n')[2],
    `,confirmed,renew,true,${id},buyer@example.org,12,9900,2026-2,,financials:start,2027-12-15T12:00:00Z,financials:start,`,
  )
  const table = await cli.das(['order', 'list', '--all'])
  t.match(table.stdout, '\t2026-11-15\tconfirmed\tnew\tbuyer@example.org\t1\t990\t')
  const both = await cli.das(['order', 'list', '--csv', '--json'])
  t.same([both.code, both.stderr], [2, 'error: Use --csv or --json, not both.\n'])
  const gone = await cli.das(['subscription', 'orders'])
  t.match(gone.stderr, 'das subscription orders is gone. Use das order list --all')
})

await t.test('change corrects the address and the language of later letters', async (t) => {
  const cli = await buildCliFixture(t)
  const id = await sell(cli, 'financials:start')
  const argv = ['--email', 'right@example.org', '--language', 'ru']
  const changed = await json(cli, 'subscription', 'change', id, ...argv)
  t.match(changed, {
    email: 'right@example.org',
    language: 'ru',
    expires_at: '2026-12-15T12:00:00Z',
  })
  t.match(await json(cli, 'subscription', 'show', id), { email: 'right@example.org' })
  for (const [wrong, message] of [
    [['--email', 'a b@c'], '"a b@c" is not one plain e-mail address of at most 254 characters.'],
    [['--language', 'de'], '--language must be en or ru, got "de".'],
  ] as const) {
    const { code, stderr } = await cli.das(['subscription', 'change', id, ...wrong])
    t.same({ code, stderr }, { code: 2, stderr: `error: ${message}\n` })
  }
})
