import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildCliFixture, fixtureFiles, registryText } from '../fixtures/cli-fixture.js'

interface Check {
  readonly name: string
  readonly status: string
  readonly findings: readonly { readonly code: string; readonly message: string }[]
}

const sell = ['subscription', 'create', '--email', 'a@b.c', '--plan', 'financials:start']

await t.test(
  'check passes a valid registry without a server and leaves no file behind',
  async (t) => {
    const { das } = await buildCliFixture(t)
    const { code, stdout, stderr } = await das(['dataset', 'check'])
    t.same(
      { code, stdout, stderr },
      {
        code: 0,
        stdout:
          'financials: ok (40 rows, 4 columns, 2 files)\n' +
          'procurement: ok (5 rows, 2 columns, 1 file)\n' +
          '  info: no changes can be had: the dataset has no key\n',
        stderr: '',
      },
    )
    const json = await das(['dataset', 'check', 'financials', '--json'])
    t.same(JSON.parse(json.stdout), [{ name: 'financials', status: 'ok', findings: [] }])
  },
)

await t.test(
  'check refuses datasets that cannot be served: exit code 1 and every reason',
  async (t) => {
    const { das, folder } = await buildCliFixture(
      t,
      registryText.replace('key: [inn, year]', 'key: [in, yaer]'),
    )
    writeFileSync(join(folder, 'data', 'procurement.parquet'), 'PAR1 and no more')
    const { code, stdout, stderr } = await das(['dataset', 'check', '--json'])
    t.equal(code, 1)
    t.equal(stderr, "error: 2 of 2 datasets can't be served.\n")
    const [financials, procurement] = JSON.parse(stdout) as [Check, Check]
    t.same(Object.keys(financials), ['name', 'status', 'findings'])
    t.equal(financials.status, 'refused')
    t.match(financials.findings, [
      {
        code: 'refused',
        level: 'error',
        message: /^registry\.yaml:7:\d+: .*"in"\. Did you mean "inn"/,
      },
      { code: 'refused', level: 'error', message: /"yaer"\. Did you mean "year"\?/ },
    ])
    t.match(procurement.findings, [
      { code: 'refused', message: /^data\/procurement\.parquet is not a whole Parquet file/ },
    ])
    t.notMatch(stdout, folder, 'files are named relative to the registry')
    const one = await das(['dataset', 'check', 'procurement'])
    t.equal(one.code, 1)
    t.match(
      one.stdout,
      /^procurement: refused\n {2}error: data\/procurement\.parquet is not a whole/,
    )
    t.notMatch(one.stdout, 'financials')
  },
)

await t.test('check warns of probable mistakes', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  await das(sell)
  await das([...sell.slice(0, -1), 'procurement:pro'])
  const changed = `
datasets:
  financials:
    title: Statements
    files: data/financials/*.parquet
    history: year
    demo: {year: [1999]}
    plans: {pro: {rows_per_month: 500000, history: all, price_rub: 3900}}
  contracts:
    title: Contracts
    files: data/procurement.parquet
`
  writeFileSync(join(folder, 'registry.yaml'), changed)
  const { code, stdout } = await das(['dataset', 'check', '--json'])
  t.equal(code, 0, 'a warning is not a failure')
  const checks = JSON.parse(stdout) as readonly Check[]
  t.same(
    checks.map(({ name, status, findings }) => [
      name,
      status,
      findings.map((each) => each.code).join(),
    ]),
    [
      [
        'financials',
        'warning',
        'no_key,demo_without_token,demo_empty,granted_plan_missing,no_changes',
      ],
      ['contracts', 'warning', 'no_plans,no_changes'],
      ['procurement', 'warning', 'granted_dataset_missing'],
    ],
  )
  t.match(
    (await das(['dataset', 'check'])).stdout,
    '\n  warning: 1 live subscription has plan "start", but the dataset does not have it: they get 404\n',
  )
})

await t.test('check warns of a dataset without rows and of an empty history', async (t) => {
  const { das } = await buildCliFixture(t, registryText, {
    ...fixtureFiles,
    'data/financials/2023.parquet':
      'SELECT \'1\' AS inn, CAST(NULL AS INTEGER) AS year, 5 AS "2110"',
    'data/financials/2024.parquet':
      'SELECT \'2\' AS inn, CAST(NULL AS INTEGER) AS year, 5 AS "2110"',
    'data/procurement.parquet': "SELECT 'c' AS number WHERE false",
  })
  const checks = JSON.parse((await das(['dataset', 'check', '--json'])).stdout) as readonly Check[]
  t.same(
    checks.map(({ findings }) => findings.map((each) => each.code)),
    [
      ['history_empty', 'demo_empty', 'key_empty', 'column_empty'],
      ['no_rows', 'no_changes'],
    ],
  )
})

await t.test('an unknown name ends with 2 and suggests a similar one', async (t) => {
  const { das } = await buildCliFixture(t)
  const { code, stderr } = await das(['dataset', 'check', 'finacials'])
  t.equal(code, 2)
  t.match(stderr, /^error: There is no dataset "finacials".* Did you mean "financials"\?\n$/)
})

await t.test('list joins the reports of the server with the registry', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const before = await das(['dataset', 'list'])
  t.match(
    before.stdout,
    /^financials\tnot loaded\t+\n[^]*^financials: no server has reported it yet; start one with das serve$/m,
  )
  writeFileSync(join(folder, 'data', 'procurement.parquet'), '')
  await das(['serve', '--port', '0', '--log-level', 'silent'])
  const [financials, procurement] = JSON.parse(
    (await das(['dataset', 'list', '--json'])).stdout,
  ) as Readonly<Record<string, unknown>>[]
  t.match(financials, {
    name: 'financials',
    title: 'Statements',
    status: 'serving',
    version: /^[0-9a-f]{16}$/,
    rows: 40,
    updated_at: '2026-11-15T12:00:00Z',
    reason: null,
  })
  t.match(procurement, {
    status: 'unavailable',
    version: null,
    rows: null,
    reason: 'data/procurement.parquet is empty (0 bytes)',
  })
  const table = await das(['dataset', 'list'], { isTerminal: true })
  t.match(table.stdout, /^procurement {2}unavailable +—.* 2026-11-15 12:00 UTC$/m)
  t.match(
    table.stdout,
    /^procurement: since 2026-11-15 12:00 UTC: data\/procurement\.parquet is empty/m,
  )
  t.match(table.stdout, /^financials +serving .* 2 copied +\d\.\d+ kB +0 /m)
})

await t.test('list reports an invalid registry and still shows the served datasets', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  await das(['serve', '--port', '0', '--log-level', 'silent'])
  writeFileSync(join(folder, 'registry.yaml'), 'datasets: {a: {title: 5}}')
  const broken = await das(['dataset', 'list'])
  t.equal(broken.code, 0)
  t.match(broken.stderr, /^warning: registry\.yaml:1:/m)
  t.match(broken.stdout, /^financials\tserving\t40\t/m)
  writeFileSync(join(folder, 'registry.yaml'), 'datasets: {}')
  t.match((await das(['dataset', 'list'])).stdout, /^financials: no longer in the registry$/m)
})
