import t from 'tap'
import type { Test } from 'tap'
import { buildCliFixture } from './fixtures/cli-fixture.js'
import type { CliFixture } from './fixtures/cli-fixture.js'

interface Listed {
  readonly id: string
  readonly hint: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

const hourMs = 3_600_000

/** A fixture in which one subscription was sold. */
async function cliWithSale(t: Test) {
  const cli = await buildCliFixture(t)
  const argv = ['subscription', 'create', '--email', 'a@b.c', '--plan', 'financials:pro', '--json']
  const { subscription, token } = JSON.parse((await cli.das(argv)).stdout) as {
    subscription: string
    token: string
  }
  return { ...cli, subscription, token }
}

async function listed({ das }: CliFixture): Promise<readonly Listed[]> {
  return JSON.parse((await das(['token', 'list', '--json'])).stdout) as Listed[]
}

await t.test('reissue --json has a stable shape', async (t) => {
  const { das, subscription, token } = await cliWithSale(t)
  const argv = ['token', 'reissue', subscription, '--grace', '30m', '--json']
  const { code, stdout } = await das(argv)
  t.equal(code, 0)
  const made = JSON.parse(stdout) as { token_id: string; token: string }
  t.same(made, {
    subscription,
    token_id: made.token_id,
    token: made.token,
    previous_valid_until: '2026-11-15T12:30:00Z',
    kept_connections: 0,
    mailed: false,
  })
  t.match(made.token_id, /^tok_\w{16}$/)
  t.match(made.token, /^das_live_\w{49}$/)
  t.not(made.token, token)
})

await t.test(
  'earlier tokens work for 24 hours by default, and not at all with --grace 0',
  async (t) => {
    const cli = await cliWithSale(t)
    const { das, subscription, clock } = cli
    const first = await das(['token', 'reissue', subscription])
    t.match(
      first.stdout,
      /^New token tok_\w+ of sub_\w+\. Copy it now: it is shown only once\.\n\ndas_live_/,
    )
    t.match(first.stdout, '\nEarlier tokens work until 2026-11-16 12:00 UTC.\n')
    clock.ms += hourMs
    const second = await das(['token', 'reissue', subscription, '--grace', '0'])
    t.match(second.stdout, '\nEarlier tokens no longer work.\n')
    t.same((await listed(cli)).map(({ expires_at: end }) => end).sort(), [
      '2026-11-15T13:00:00Z',
      '2026-11-15T13:00:00Z',
      null,
    ])
    const table = await das(['token', 'list', subscription])
    t.equal(table.stdout.match(/\treplaced\t/g)?.length, 2)
    t.equal(table.stdout.match(/\tlive\t/g)?.length, 1)
  },
)

await t.test('a reissue for an ended subscription says that the token is refused', async (t) => {
  const { das, subscription, clock } = await cliWithSale(t)
  clock.ms += 40 * 24 * hourMs
  const { code, stdout } = await das(['token', 'reissue', subscription])
  t.equal(code, 0)
  t.match(stdout, /\nThe subscription expired at \S+Z: its tokens are refused\.\n/)
})

await t.test('revoke ends a token and says how to replace it', async (t) => {
  const cli = await cliWithSale(t)
  const { das, subscription } = cli
  const [{ id, hint }] = (await listed(cli)) as [Listed]
  const { code, stdout } = await das(['token', 'revoke', id])
  t.equal(code, 0)
  t.equal(
    stdout,
    `Token ${id} (${hint}) is revoked.\n` +
      `To issue a new one: das token reissue ${subscription}\n`,
  )
  cli.clock.ms += hourMs
  const again = await das(['token', 'revoke', id, '--json'])
  t.same(JSON.parse(again.stdout), {
    token_id: id,
    subscription,
    revoked_at: '2026-11-15T12:00:00Z',
  })
  const table = await das(['token', 'list'])
  t.match(table.stdout, /\trevoked 2026-11-15\t/)
  const reissued = await das(['token', 'reissue', subscription])
  t.match(reissued.stdout, '\nNo earlier token was live.\n')
})

await t.test('list --json has a stable shape and shows no token', async (t) => {
  const { das, subscription, token } = await cliWithSale(t)
  const { stdout } = await das(['token', 'list', subscription, '--json'])
  const tokens = JSON.parse(stdout) as readonly Listed[]
  t.same(tokens, [
    {
      id: tokens[0]?.id,
      subscription,
      hint: `das_live_…${token.slice(-4)}`,
      state: 'live',
      created_at: '2026-11-15T12:00:00Z',
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
    },
  ])
  t.notMatch(stdout, /das_live_\w/)
})

await t.test('an empty list says how to make the first token', async (t) => {
  const { das } = await buildCliFixture(t)
  t.match(
    (await das(['token', 'list'])).stdout,
    /^There are no tokens yet\. das subscription create /,
  )
  t.equal((await das(['token', 'list', '--json'])).stdout, '[]\n')
})

await t.test('unknown ids end with 1, invalid durations with 2', async (t) => {
  const { das, subscription } = await cliWithSale(t)
  const cases: [argv: string[], code: number, stderr: RegExp][] = [
    [['token', 'reissue', 'sub_x'], 1, /^error: There is no subscription 'sub_x'\.\n$/],
    [['token', 'list', 'sub_x'], 1, /^error: There is no subscription 'sub_x'\.\n$/],
    [['token', 'revoke', 'tok_x'], 1, /^error: There is no token 'tok_x'\.\n$/],
    [
      ['token', 'reissue', subscription, '--grace', '24'],
      2,
      /^error: --grace must be a duration .*got "24"/,
    ],
    [
      ['token', 'reissue', subscription, '--grace', '-1h'],
      2,
      /^error: --grace must be a duration .*got "-1h"/,
    ],
  ]
  for (const [argv, code, stderr] of cases) {
    const outcome = await das(argv)
    t.equal(outcome.code, code, argv.join(' '))
    t.equal(outcome.stdout, '', argv.join(' '))
    t.match(outcome.stderr, stderr, argv.join(' '))
  }
})
