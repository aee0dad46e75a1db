import { readFileSync, readdirSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { listConnections } from '../../../src/control/connections/connections.js'
import { endConnection } from '../../../src/control/connections/end-connection.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { listTokens } from '../../../src/control/tokens/tokens.js'
import { chargeAll } from '../../../src/control/usage.js'
import { connectAgent } from '../../portal/fixtures/connected.js'
import { buildCliFixture } from '../fixtures/cli-fixture.js'
import { machine } from '../../support/machine.js'

interface Created {
  readonly subscription: string
  readonly token: string
  readonly [key: string]: unknown
}

const create = ['subscription', 'create', '--email', 'buyer@example.org']
const pro = [...create, '--plan', 'financials:pro']

await t.test('create --json has the shape that scripts rely on', async (t) => {
  const { das } = await buildCliFixture(t)
  const { code, stdout, stderr } = await das([
    ...pro,
    ...['--plan', 'procurement:start', '--months', '13', '--global-rows', '100000', '--json'],
  ])
  t.equal(code, 0)
  t.equal(stderr, '')
  const made = JSON.parse(stdout) as Created
  t.match(made.subscription, /^sub_[0-9A-Za-z]{16}$/)
  t.match(made.token, /^das_live_[0-9A-Za-z]{49}$/)
  t.same(made, {
    subscription: made.subscription,
    token: made.token,
    expires_at: '2027-12-15T12:00:00Z',
    grants: [
      { dataset: 'financials', plan: 'pro' },
      { dataset: 'procurement', plan: 'start' },
    ],
    price_rub: (3900 + 690) * 11,
    mailed: false,
  })
})

await t.test('create prints the price, the token once, and a curl to try it', async (t) => {
  const { das } = await buildCliFixture(t)
  const { stdout } = await das([...pro, '--months', '12'], { isTerminal: true })
  t.match(stdout, /^Subscription sub_\w+ of buyer@example\.org, expires 2027-11-15\n/)
  t.match(stdout, /^financials {2}pro +500\u202f000 {2}all +3\u202f900$/m)
  t.match(stdout, /^Price: 39\u202f000 RUB for 12 months \(a year costs as much as 10 months\)$/m)
  const [token = ''] = stdout.match(/^das_live_\w{49}$/m) ?? []
  t.match(
    stdout,
    `\n\ncurl -H 'Authorization: Bearer ${token}' 'http://127.0.0.1:8080/v1/financials` +
      "?inn=in.0000000002,0000000001&select=inn,year&limit=5'\n",
  )
  t.notMatch(stdout, /mail(ed)?[^@]*\bsent/, 'mail comes with a later release')
  const plain = await das(pro)
  t.match(plain.stdout, /^financials\tpro\t500000\tall\t3900$/m)
  t.match(plain.stdout, /^Price: 3900 RUB for 1 month$/m)
})

await t.test('the printed address is the public one, or the host and port', async (t) => {
  const { das } = await buildCliFixture(t)
  const cases: [argv: string[], base: string][] = [
    [['--public-url', 'https://data.example.org/'], 'https://data.example.org'],
    [['--host', '0.0.0.0', '--port', '80'], 'http://127.0.0.1:80'],
    [['--host', '::1'], 'http://[::1]:8080'],
    [['--host', '::'], 'http://[::1]:8080'],
  ]
  for (const [argv, base] of cases) {
    t.match((await das([...pro, ...argv])).stdout, ` '${base}/v1/financials?`)
  }
  const { stdout } = await das([...create, '--plan', 'procurement:pro'])
  t.match(stdout, " 'http://127.0.0.1:8080/v1/procurement/schema'\n", 'no demo subset to show')
})

await t.test(
  'an invalid sale exits with 2, suggests names and creates no subscription',
  async (t) => {
    const { das } = await buildCliFixture(t)
    const cases: [argv: string[], stderr: RegExp][] = [
      [['--plan', 'financals:pro'], /no dataset "financals".* Did you mean "financials"\?/],
      [['--plan', 'zzz:pro'], /no dataset "zzz".* It has: financials, procurement\./],
      [['--plan', 'financials:prp'], /"financials" has no plan "prp"\. Did you mean "pro"\?/],
      [['--plan', 'procurement:free'], /"procurement" has no plan "free"\. It has: start, pro\./],
      [['--plan', 'financials'], /--plan must be DATASET:PLAN, .*got "financials"/],
      [['--plan', 'financials:pro:x'], /--plan must be DATASET:PLAN/],
      [['--plan', ':pro'], /--plan must be DATASET:PLAN/],
      [['--plan', 'financials:pro', '--plan', 'financials:start'], /'financials' only once/],
      [
        ['--plan', 'financials:pro', '--months', '0'],
        /months must be a whole number from 1 to 120, got \d+/,
      ],
      [
        ['--plan', 'financials:pro', '--months', '121'],
        /months must be a whole number from 1 to 120, got \d+/,
      ],
      [
        ['--plan', 'financials:pro', '--months', '1.5'],
        /--months must be a whole number, got "1\.5"/,
      ],
      [['--plan', 'financials:pro', '--months', '-1'], /--months must be a whole number, got "-1"/],
      [['--plan', 'financials:pro', '--global-rows', '0'], /1 or more/],
      [
        ['--plan', 'financials:pro', '--global-rows', '1e6'],
        /--global-rows must be a whole number, got "1e6"/,
      ],
      [['--plan', 'financials:pro', '--email', 'someone'], /e-mail/],
    ]
    for (const [argv, expected] of cases) {
      const { code, stdout, stderr } = await das([...create, ...argv])
      t.equal(code, 2, argv.join(' '))
      t.equal(stdout, '', argv.join(' '))
      t.match(stderr, /^error: .*\n$/, argv.join(' '))
      t.match(stderr, expected, argv.join(' '))
    }
    t.same(JSON.parse((await das(['subscription', 'list', '--json'])).stdout), [])
  },
)

await t.test('list shows all subscriptions, or how to make the first', async (t) => {
  const { das, folder, clock } = await buildCliFixture(t)
  const empty = await das(['subscription', 'list'])
  t.match(
    empty.stdout,
    /^There are no subscriptions in \S+var yet\. Make one with: das subscription create --email/,
  )
  t.notOk(existsSync(join(folder, 'var')), 'looking makes no folder')
  const made = JSON.parse((await das([...pro, '--json'])).stdout) as Created
  const { stdout } = await das(['subscription', 'list'], { isTerminal: true })
  t.match(
    stdout,
    `${made.subscription}  buyer@example.org  live   2026-11-15  2026-12-15  financials:pro\n`,
  )
  const json = await das(['subscription', 'list', '--json'])
  t.same(JSON.parse(json.stdout), [
    {
      subscription: made.subscription,
      email: 'buyer@example.org',
      state: 'live',
      created_at: '2026-11-15T12:00:00Z',
      expires_at: '2026-12-15T12:00:00Z',
      cancelled_at: null,
      language: 'en',
      global_rows: null,
      grants: [{ dataset: 'financials', plan: 'pro' }],
    },
  ])
  clock.ms = Date.UTC(2026, 11, 15, 12)
  t.match((await das(['subscription', 'list'])).stdout, /\tbuyer@example\.org\texpired\t/)
})

await t.test("show prints this month's usage with limit and rest, and the tokens", async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const order = [...pro, '--plan', 'procurement:start', '--global-rows', '1000', '--json']
  const { subscription } = JSON.parse((await das(order)).stdout) as Created
  const store = SqliteStore.open(join(folder, 'var', 'control.db'), machine)
  const charge = { subscriptionId: subscription, period: '2026-11', globalRowsMax: 1000 }
  await chargeAll(store, [{ ...charge, dataset: 'financials', rows: 120, datasetRowsMax: 500_000 }])
  await store.close()
  const shown = JSON.parse(
    (await das(['subscription', 'show', subscription, '--json'])).stdout,
  ) as Readonly<Record<string, unknown>> & { readonly tokens: readonly object[] }
  t.match(shown, {
    subscription,
    period: '2026-11',
    resets_at: '2026-12-01T00:00:00Z',
    global: { limit: 1000, used: 120, remaining: 880 },
    grants: [
      {
        dataset: 'financials',
        plan: 'pro',
        rows: { limit: 500_000, used: 120, remaining: 499_880 },
      },
      {
        dataset: 'procurement',
        plan: 'start',
        rows: { limit: 20_000, used: 0, remaining: 20_000 },
      },
    ],
  })
  t.same(Object.keys(shown.tokens[0] ?? {}), [
    ...[
      'id',
      'subscription',
      'hint',
      'state',
      'created_at',
      'expires_at',
      'revoked_at',
      'last_used_at',
    ],
  ])
  const { stdout } = await das(['subscription', 'show', subscription], { isTerminal: true })
  t.match(stdout, /^financials +pro +500\u202f000 +120 +499\u202f880$/m)
  t.match(stdout, /^all +1\u202f000 +120 +880$/m)
  t.match(stdout, /^Used in 2026-11; resets on 2026-12-01 \(UTC\)\.$/m)
  t.match(stdout, /das_live_….{4} {2}live/)
  t.notMatch(stdout, /das_live_\w/)
})

await t.test('show counts the connections that agents can use now', async (t) => {
  const { das, folder, clock } = await buildCliFixture(t)
  const { subscription } = JSON.parse((await das([...pro, '--json'])).stdout) as Created
  const control = SqliteStore.open(join(folder, 'var', 'control.db'), machine)
  t.teardown(() => control.close())
  const [{ tokenId = '' } = {}] = await listTokens(control, subscription)
  const sold = { subscriptionId: subscription, tokenId }
  const show = async (...flags: string[]) =>
    (await das(['subscription', 'show', subscription, ...flags])).stdout
  t.match(await show(), /\n\nLive connections of agents: 0\n$/)
  for (let made = 0; made < 3; made += 1) await connectAgent(control, sold, { now: clock.ms })
  const [first] = await listConnections(control, subscription)
  await endConnection(control, first?.connectionId ?? '', { reason: 'revoked', now: clock.ms })
  t.match(await show(), /\n\nLive connections of agents: 2\n$/)
  t.match(JSON.parse(await show('--json')), { live_connections: 2 })
})

await t.test('show works without a registry, and limits are then unknown', async (t) => {
  const { das } = await buildCliFixture(t)
  const { subscription } = JSON.parse((await das([...pro, '--json'])).stdout) as Created
  const argv = ['subscription', 'show', subscription, '--registry', 'none.yaml']
  const { code, stdout, stderr } = await das([...argv, '--json'])
  t.equal(code, 0)
  t.match(stderr, /^warning: none\.yaml is not there\./)
  t.match(JSON.parse(stdout), { grants: [{ rows: { limit: null, used: 0, remaining: null } }] })
})

await t.test('an unknown id ends with 1', async (t) => {
  const { das } = await buildCliFixture(t)
  const before = await das(['subscription', 'show', 'sub_x'])
  t.equal(before.code, 1)
  t.match(before.stderr, /^error: There is no control\.db in \S+: nothing was sold there yet\./)
  await das(pro)
  const { code, stderr } = await das(['subscription', 'show', 'sub_x'])
  t.equal(code, 1)
  t.equal(stderr, "error: There is no subscription 'sub_x'.\n")
})

await t.test('the state folder holds no token in plain text', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const { token } = JSON.parse((await das([...pro, '--json'])).stdout) as Created
  const names = readdirSync(join(folder, 'var'))
  t.ok(names.includes('control.db'))
  for (const name of names) {
    t.notOk(readFileSync(join(folder, 'var', name)).includes(token.slice(9, 40)), name)
  }
})
