import t from 'tap'
import { createToken } from '../../src/control/tokens/token-format.js'
import { buildCliFixture } from './fixtures/cli-fixture.js'
import type { CliFixture } from './fixtures/cli-fixture.js'
import { machineRandom } from '../../src/random.js'

interface Sold {
  readonly subscription: string
  readonly token: string
}

async function sell(cli: CliFixture): Promise<Sold> {
  const create = ['subscription', 'create', '--email', 'a@example.org', '--json']
  const { stdout } = await cli.das([...create, '--plan', 'financials:start'])
  return JSON.parse(stdout) as Sold
}

const check = (cli: CliFixture, stdin: string, ...argv: readonly string[]) =>
  cli.das(['token', 'check', ...argv], { stdin })

await t.test(
  'a token is read from stdin, and said to be live, by its last characters',
  async (t) => {
    const cli = await buildCliFixture(t)
    const { subscription, token } = await sell(cli)
    const { code, stdout, stderr } = await check(cli, `${token}\n`)
    t.same({ code, stderr }, { code: 0, stderr: '' })
    t.match(stdout, `das_live_…${token.slice(-4)}\tlive\ttok_`)
    t.notMatch(stdout, token)
    const json = await check(cli, token, '--json')
    t.match(JSON.parse(json.stdout), [
      {
        hint: `das_live_…${token.slice(-4)}`,
        well_formed: true,
        known: true,
        live: true,
        state: 'live',
        subscription,
      },
    ])
  },
)

await t.test('each reason for a refused token has a word', async (t) => {
  const cli = await buildCliFixture(t)
  const { subscription, token } = await sell(cli)
  const last = token.endsWith('0') ? '1' : '0'
  const states = async (stdin: string) => {
    const { code, stdout } = await check(cli, stdin, '--json')
    const found = JSON.parse(stdout) as { well_formed: boolean; known: boolean; state: string }[]
    return found.map(({ well_formed: wellFormed, known, state }) => [
      code,
      wellFormed,
      known,
      state,
    ])
  }
  t.same(await states(token.slice(0, -1) + last), [
    [1, false, false, 'malformed: cut, or mistyped'],
  ])
  t.same(await states(token.slice(0, 30)), [[1, false, false, 'malformed: cut, or mistyped']])
  t.same(await states(createToken(machineRandom).token), [[1, true, false, 'unknown']])
  t.same(await states('das_demo_test1'), [[0, true, true, 'live']])
  t.same(await states('das_demo_tset1'), [[1, true, false, 'unknown']])
  const tokens = JSON.parse((await cli.das(['token', 'list', '--json'])).stdout) as {
    id: string
  }[]
  await cli.das(['token', 'reissue', subscription, '--grace', '0'])
  t.same(await states(token), [[1, true, true, 'replaced']])
  await cli.das(['token', 'revoke', tokens[0]?.id ?? ''])
  t.same(await states(token), [[1, true, true, 'revoked 2026-11-15']])
  const next = await sell(cli)
  cli.clock.ms += 40 * 86_400_000
  t.same(await states(next.token), [[1, true, true, 'expired']])
  await cli.das(['subscription', 'cancel', next.subscription])
  t.same(await states(next.token), [[1, true, true, 'cancelled']])
})

await t.test('a log is searched for leaked tokens, and each is listed once', async (t) => {
  const cli = await buildCliFixture(t)
  const { token } = await sell(cli)
  const log = `+ TOKEN=${token}\n- "Bearer ${token}",das_demo_test1;\nnothing here\n`
  const { code, stdout, stderr } = await check(cli, `${log}das_live_ das_live_0123456789`)
  t.equal(stdout.split('\n').length, 5, 'a title, three tokens, an end')
  t.same({ code, stderr }, { code: 1, stderr: 'error: 1 of 3 tokens are not live.\n' })
})

await t.test('text without a token and empty input are wrong usage', async (t) => {
  const cli = await buildCliFixture(t)
  for (const stdin of ['', 'hello', 'das_dead_abc', 'das_live_']) {
    const { code, stderr } = await check(cli, stdin)
    t.same(
      { code, stderr },
      {
        code: 2,
        stderr: 'error: The input has no token. A token begins with das_live_ or das_demo_.\n',
      },
    )
  }
})

await t.test('on a terminal it asks and reads one line', async (t) => {
  const cli = await buildCliFixture(t)
  const { token } = await sell(cli)
  const { code, stderr, stdout } = await cli.das(['token', 'check'], {
    stdin: `${token}\ndas_live_x\n`,
    isTerminal: true,
  })
  t.equal(code, 0)
  t.equal(stderr, 'Paste a token and press Enter: ')
  t.match(stdout, /live/)
})
