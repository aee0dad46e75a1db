import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { chargeAll, readUsage } from '../../src/control/usage.js'
import { buildCliFixture } from './fixtures/cli-fixture.js'
import type { CliFixture } from './fixtures/cli-fixture.js'
import { machine } from '../support/machine.js'

interface Explained {
  readonly stages: readonly { stage: string; verdict: string; detail: string }[]
  readonly answer: Readonly<Record<string, unknown>>
}

interface Sold {
  readonly subscription: string
  readonly token: string
}

async function sell(cli: CliFixture, ...options: readonly string[]): Promise<Sold> {
  const create = ['subscription', 'create', '--email', 'a@example.org', '--json']
  const { stdout } = await cli.das([...create, '--plan', 'financials:start', ...options])
  return JSON.parse(stdout) as Sold
}

async function explain(cli: CliFixture, id: string, url: string): Promise<Explained> {
  const { code, stdout, stderr } = await cli.das(['explain', id, url, '--json'])
  t.same({ code, stderr }, { code: 0, stderr: '' })
  return JSON.parse(stdout) as Explained
}

const stageNames = ['token', 'rate', 'dataset', 'question', 'quota', 'read', 'charge']
const one = '/v1/financials?inn=eq.0000000007&select=year,2110'

await t.test('a page is explained stage by stage, without a charge', async (t) => {
  const cli = await buildCliFixture(t)
  const { subscription } = await sell(cli)
  const { code, stdout } = await cli.das(['explain', subscription, one])
  t.equal(code, 0)
  const lines = stdout.split('\n')
  t.same(
    lines.slice(0, 7).map((line) => line.slice(0, 10).trim()),
    stageNames.map((name) => `✓ ${name}`),
  )
  t.match(lines[0], /live until 2026-12-15T12:00:00Z$/)
  t.match(lines[1], /120 requests a minute/)
  t.match(
    lines[2],
    /financials as its files are now, version \w+, 40 rows; plan start sees the latest 2 years, year from 2023 to 2024$/,
  )
  t.match(lines[3], /inn eq "0000000007"; 2 columns; limit 100; from the first row$/)
  t.match(lines[4], /50000 of 50000 rows of this dataset are left this month$/)
  t.match(lines[5], /2 rows, the last ones$/)
  t.match(lines[6], /2 would be charged; 49998 would be left$/)
  t.equal(lines[8], '200: 2 rows')
  const control = SqliteStore.open(join(cli.folder, 'var', 'control.db'), machine)
  t.equal((await readUsage(control, subscription, '2026-11')).total, 0)
  await control.close()
  const address = await explain(cli, subscription, `https://data.example.org${one}&limit=1`)
  t.match(address.answer, { status: 200, error: null, detail: null, rows: 1, has_more: true })
})

await t.test('groups and first rows are explained, without a charge', async (t) => {
  const cli = await buildCliFixture(t)
  const { subscription } = await sell(cli)
  const aggregate = '/v1/financials/aggregate?group=year&measures=n:count,max(2110)&limit=1'
  const { stdout } = await cli.das(['explain', subscription, aggregate])
  const lines = stdout.split('\n')
  t.match(lines[3], /no filter; groups year; measures n, max\(2110\); limit 1$/)
  t.match(lines[5], /\d+ rows in 2 groups$/)
  t.match(lines[6], /1 would be charged; 49999 would be left$/)
  t.equal(lines[8], '200: 1 row charged; more are left out')
  const whole = await explain(cli, subscription, aggregate.replace('&limit=1', '&year=gte.2024'))
  t.match(whole.answer, { status: 200, rows: 1, has_more: false })
  const outside = await explain(cli, subscription, `${aggregate}&year=eq.2022&inn=eq.0000000007`)
  t.match(outside.stages[5], { stage: 'read', detail: /^no row; / })
  t.match(outside.stages[6], { detail: 'an empty answer costs nothing' })
  const top = await explain(cli, subscription, '/v1/financials/top?by=-2110&limit=2&select=inn')
  t.match(top.stages[3], { detail: 'no filter; 1 column; limit 2; largest 2110 first' })
  t.match(top.answer, { status: 200, rows: 2 })
  const wrong = await explain(cli, subscription, '/v1/financials/aggregate?measures=average(2110)')
  t.match(wrong.stages.at(-1), { stage: 'question', verdict: 'refused', detail: /no function/ })
  const control = SqliteStore.open(join(cli.folder, 'var', 'control.db'), machine)
  t.equal((await readUsage(control, subscription, '2026-11')).total, 0)
  await control.close()
})

// Guarantee: only the owner learns what the public 404 hides.
await t.test('a refusal is explained with the reason that the caller does not see', async (t) => {
  const cli = await buildCliFixture(t)
  const { subscription } = await sell(cli)
  const cases = [
    [
      '/v1/procurement',
      404,
      'dataset',
      'the subscription has no grant for it; it has financials:start',
    ],
    ['/v1/finances', 404, 'dataset', 'the registry has no dataset "finances".'],
    ['/v1/financials', 400, 'question', /^This dataset needs at least one filter/],
    [`${one}&innn=eq.1`, 400, 'question', /Did you mean "inn"/],
    [`${one}&cursor=x`, 400, 'question', /cursor/],
  ] as const
  for (const [url, status, stage, detail] of cases) {
    const { stages, answer } = await explain(cli, subscription, url)
    t.equal(answer['status'], status, url)
    t.match(stages.at(-1), { stage, verdict: 'refused', detail })
    t.ok(stages.slice(0, -1).every(({ verdict }) => verdict === 'passed'))
    t.equal(stages.length, stageNames.indexOf(stage) + 1)
  }
  const hidden = await explain(cli, subscription, '/v1/procurement')
  const unknown = await explain(cli, subscription, '/v1/nothing')
  t.same(hidden.answer, unknown.answer, 'the caller reads the same')
})

await t.test('an ended subscription and one without a live token are explained', async (t) => {
  const cli = await buildCliFixture(t)
  const { subscription } = await sell(cli)
  const tokens = JSON.parse((await cli.das(['token', 'list', '--json'])).stdout) as {
    id: string
  }[]
  await cli.das(['token', 'revoke', tokens[0]?.id ?? ''])
  const revoked = await explain(cli, subscription, one)
  t.match(revoked.stages, [
    { stage: 'token', detail: 'the subscription has no live token: das token list' },
  ])
  t.match(revoked.answer, { status: 401, error: 'unauthorized' })
  cli.clock.ms += 40 * 86_400_000
  const expired = await explain(cli, subscription, one)
  t.match(expired.stages, [{ detail: 'the subscription expired at 2026-12-15T12:00:00Z' }])
  await cli.das(['subscription', 'cancel', subscription])
  const cancelled = await explain(cli, subscription, one)
  t.match(cancelled.stages, [{ detail: 'the subscription was cancelled at 2026-12-25T12:00:00Z' }])
})

await t.test('of several tokens the one that works longest is used', async (t) => {
  const cli = await buildCliFixture(t)
  const { subscription } = await sell(cli)
  await cli.das(['token', 'reissue', subscription, '--grace', '1h'])
  const both = await explain(cli, subscription, one)
  t.match(both.stages[0], { detail: 'live until 2026-12-15T12:00:00Z' })
  const tokens = JSON.parse((await cli.das(['token', 'list', '--json'])).stdout) as {
    id: string
    expires_at: string | null
  }[]
  await cli.das(['token', 'revoke', tokens.find((each) => each.expires_at === null)?.id ?? ''])
  const grace = await explain(cli, subscription, one)
  t.match(grace.stages[0], { detail: 'live until 2026-11-15T13:00:00Z' })
})

await t.test('a used quota and a page cut to the rest are explained', async (t) => {
  const cli = await buildCliFixture(t)
  const { subscription } = await sell(cli, '--global-rows', '3')
  const use = async (rows: number) => {
    const control = SqliteStore.open(join(cli.folder, 'var', 'control.db'), machine)
    const caps = { datasetRowsMax: null, globalRowsMax: null }
    const charge = { subscriptionId: subscription, dataset: 'financials', period: '2026-11', rows }
    await chargeAll(control, [{ ...charge, ...caps }])
    await control.close()
  }
  await use(2)
  const cut = await explain(cli, subscription, one)
  t.match(cut.stages.slice(4), [
    { detail: '1 of 3 rows over all datasets are left this month' },
    { detail: '2 rows, the last ones' },
    { detail: '1 would be charged, the page cut to what is left; 0 would be left' },
  ])
  t.match(cut.answer, { status: 200, rows: 1, has_more: true })
  await use(1)
  const over = await explain(cli, subscription, one)
  t.match(over.stages.at(-1), { stage: 'quota', verdict: 'refused' })
  t.match(over.answer, { status: 429, error: 'row_quota_exceeded' })
})

await t.test('an empty page says whether the window of the plan left it empty', async (t) => {
  const cli = await buildCliFixture(t)
  const { subscription } = await sell(cli)
  await cli.das(['subscription', 'change', subscription, '--plan', 'financials:free', '--now'])
  const outside = await explain(cli, subscription, `${one}&year=eq.2023`)
  t.match(outside.stages[5], {
    detail: /^no row; rows that meet the filters: 1, all of them outside the plan's window\./,
  })
  t.match(outside.stages[6], { detail: 'an empty answer costs nothing' })
  const nowhere = await explain(cli, subscription, '/v1/financials?inn=eq.9999999999')
  t.match(nowhere.stages[5], {
    detail: /^no row; no row of the dataset meets the filters, in any plan/,
  })
})

await t.test(
  'a dataset that cannot be opened and a plan that left the registry are explained',
  async (t) => {
    const cli = await buildCliFixture(t)
    const { subscription } = await sell(cli)
    for (const year of ['2023', '2024']) {
      rmSync(join(cli.folder, `data/financials/${year}.parquet`))
    }
    const unopened = await explain(cli, subscription, one)
    t.match(unopened.stages.at(-1), { stage: 'dataset', detail: /^the dataset can't be served: / })
    t.match(unopened.answer, { status: 503, error: 'service_unavailable' })
  },
)

await t.test(
  'an invalid URL and an unknown subscription are refused; no file is left behind',
  async (t) => {
    const cli = await buildCliFixture(t)
    const { subscription, token } = await sell(cli)
    for (const url of ['/v1/', '/v1/account', '/v1/financials/schema', 'financials', '']) {
      const { code, stderr } = await cli.das(['explain', subscription, url])
      t.same(
        { code, stderr },
        {
          code: 2,
          stderr:
            'error: The URL must be a question for rows or groups, in quotes: ' +
            '"/v1/DATASET?COLUMN=eq.VALUE", "/v1/DATASET/top?by=COLUMN" or ' +
            '"/v1/DATASET/aggregate?measures=count".\n',
        },
      )
    }
    const leaked = await cli.das(['explain', subscription, `${one}&token=${token}`])
    t.equal(leaked.code, 2)
    t.match(leaked.stderr, /^error: A token does not belong in a URL/)
    t.notMatch(leaked.stdout + leaked.stderr, 'das_live_')
    const encoded = await explain(cli, subscription, one.replace('financials', 'fin%61ncials'))
    t.equal(encoded.answer['status'], 200, 'decoded like the server does')
    const unknown = await cli.das(['explain', 'sub_none', one])
    t.same(
      { code: unknown.code, stderr: unknown.stderr },
      { code: 1, stderr: "error: There is no subscription 'sub_none'.\n" },
    )
    t.notMatch(readFileSync(join(cli.folder, 'var', 'control.db'), 'latin1'), token)
    t.same(readdirSync(join(cli.folder, 'var')).sort(), ['control.db'])
  },
)
