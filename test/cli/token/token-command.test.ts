import t from 'tap'
import type { Test } from 'tap'
import { buildCliFixture } from '../fixtures/cli-fixture.js'
import type { CliFixture } from '../fixtures/cli-fixture.js'

interface Listed {
  readonly id: string
  readonly hint: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

const hourMs = 3_600_000

/** A house in which one subscription was sold. */
async function soldHouse(t: Test) {
  const house = await buildCliFixture(t)
  const argv = ['subscription', 'create', '--email', 'a@b.c', '--plan', 'financials:pro', '--json']
  const { subscription, token } = JSON.parse((await house.das(argv)).stdout) as {
    subscription: string
    token: string
  }
  return { ...house, subscription, token }
}

async function listed({ das }: CliFixture): Promise<readonly Listed[]> {
  return JSON.parse((await das(['token', 'list', '--json'])).stdout) as Listed[]
}

await t.test('reissue --json has the shape that scripts rely on', async (t) => {
  const { das, subscription, token } = await soldHouse(t)
  const argv = ['token', 'reissue', subscription, '--grace', '30m', '--json']
  const { code, stdout } = await das(argv)
  t.equal(code, 0)
  const made = JSON.parse(stdout) as { token_id: string; token: string }
  t.same(made, {
    subscription,
    token_id: made.token_id,
    token: made.token,
    previous_valid_until: '2026-11-15T12:30:00Z',
    mailed: false,
  })
  t.match(made.token_id, /^tok_\w{16}$/)
  t.match(made.token, /^das_live_\w{49}$/)
  t.not(made.token, token)
})

await t.test('without --grace the earlier token has 24 hours, with 0 none', async (t) => {
  const house = await soldHouse(t)
  const { das, subscription, clock } = house
  const first = await das(['token', 'reissue', subscription])
  t.match(
    first.stdout,
    /^New token tok_\w+ of sub_\w+; copy it now, it is shown once:\n\ndas_live_/,
  )
  t.match(first.stdout, '\nEarlier tokens work until 2026-11-16 12:00 UTC.\n')
  clock.ms += hourMs
  const second = await das(['token', 'reissue', subscription, '--grace', '0'])
  t.match(second.stdout, '\nEarlier tokens are ended.\n')
  t.same((await listed(house)).map(({ expires_at: end }) => end).sort(), [
    '2026-11-15T13:00:00Z',
    '2026-11-15T13:00:00Z',
    null,
  ])
  const table = await das(['token', 'list', subscription])
  t.equal(table.stdout.match(/\treplaced\t/g)?.length, 2)
  t.equal(table.stdout.match(/\tlive\t/g)?.length, 1)
})

await t.test('a reissue for an ended subscription says that the token is refused', async (t) => {
  const { das, subscription, clock } = await soldHouse(t)
  clock.ms += 40 * 24 * hourMs
  const { code, stdout } = await das(['token', 'reissue', subscription])
  t.equal(code, 0)
  t.match(stdout, '\nThe subscription is expired: its tokens are refused.\n')
})

await t.test('revoke ends a token for good and names how to replace it', async (t) => {
  const house = await soldHouse(t)
  const { das, subscription } = house
  const [{ id, hint }] = (await listed(house)) as [Listed]
  const { code, stdout } = await das(['token', 'revoke', id])
  t.equal(code, 0)
  t.equal(
    stdout,
    `Token ${id} (${hint}) is revoked. A new one: das token reissue ${subscription}\n`,
  )
  house.clock.ms += hourMs
  const again = await das(['token', 'revoke', id, '--json'])
  t.same(JSON.parse(again.stdout), {
    token_id: id,
    subscription,
    revoked_at: '2026-11-15T12:00:00Z',
  })
  const table = await das(['token', 'list'])
  t.match(table.stdout, /\trevoked 2026-11-15\t/)
  const reissued = await das(['token', 'reissue', subscription])
  t.match(reissued.stdout, '\nNo earlier token was alive.\n')
})

await t.test('list --json has the shape that scripts rely on, and no token', async (t) => {
  const { das, subscription, token } = await soldHouse(t)
  const { stdout } = await das(['token', 'list', subscription, '--json'])
  const tokens = JSON.parse(stdout) as readonly Listed[]
  t.same(tokens, [
    {
      id: tokens[0]?.id,
      subscription,
      hint: `das_live_…${token.slice(-4)}`,
      created_at: '2026-11-15T12:00:00Z',
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
    },
  ])
  t.notMatch(stdout, /das_live_\w/)
})

await t.test('an empty list says how the first token is made', async (t) => {
  const { das } = await buildCliFixture(t)
  t.match((await das(['token', 'list'])).stdout, /^No token yet: das subscription create /)
  t.equal((await das(['token', 'list', '--json'])).stdout, '[]\n')
})

await t.test('ids that nobody has end with 1, durations that are none with 2', async (t) => {
  const { das, subscription } = await soldHouse(t)
  const cases: [argv: string[], code: number, stderr: RegExp][] = [
    [['token', 'reissue', 'sub_x'], 1, /^error: There is no subscription 'sub_x'\.\n$/],
    [['token', 'list', 'sub_x'], 1, /^error: There is no subscription 'sub_x'\.\n$/],
    [['token', 'revoke', 'tok_x'], 1, /^error: There is no token 'tok_x'\.\n$/],
    [
      ['token', 'reissue', subscription, '--grace', '24'],
      2,
      /^error: --grace: "24" is no duration/,
    ],
    [
      ['token', 'reissue', subscription, '--grace', '-1h'],
      2,
      /^error: --grace: "-1h" is no duration/,
    ],
  ]
  for (const [argv, code, stderr] of cases) {
    const outcome = await das(argv)
    t.equal(outcome.code, code, argv.join(' '))
    t.equal(outcome.stdout, '', argv.join(' '))
    t.match(outcome.stderr, stderr, argv.join(' '))
  }
})
