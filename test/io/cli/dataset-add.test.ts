import { cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { buildCliFixture } from '../../cli/fixtures/cli-fixture.js'
import type { CliFixture } from '../../cli/fixtures/cli-fixture.js'
import { writeParquet } from '../../support/parquet.js'

const page = `# ours
demo: {token: das_demo_test1}   # keep

datasets: # all of them
    contracts:
        title: "Contracts" # first
        files: 'data/contracts.parquet'
        plans: {}
        # key: [number]

# the end`

const contracts = "SELECT 'c' || i AS number, i AS price FROM range(5) t(i)"
const rowsOf = (year: number) =>
  `SELECT lpad(CAST(i AS VARCHAR), 10, '0') AS inn, ${year} AS year, i * 10 AS amount
   FROM range(1, 21) t(i)`

const files = {
  'data/contracts.parquet': contracts,
  'data/sales/sales-2023.parquet': rowsOf(2023),
  'data/sales/sales-2024.parquet': rowsOf(2024),
  'data/tree/year=2023/part-0.parquet': 'SELECT 1 AS id',
  'data/tree/year=2024/part-0.parquet': 'SELECT 2 AS id',
}

interface AddedJson {
  readonly name: string
  readonly written: boolean
  readonly title: string
  readonly files: readonly string[]
  readonly key: readonly string[]
  readonly history: string | null
  readonly dictionary: string | null
  readonly renamed: Readonly<Record<string, string>>
  readonly same_files_as: readonly string[]
  readonly findings: readonly { readonly code: string }[]
}

function registryOf({ folder }: CliFixture): string {
  return readFileSync(join(folder, 'registry.yaml'), 'utf8')
}

async function addJson(cli: CliFixture, argv: readonly string[]): Promise<AddedJson> {
  const { stdout, stderr } = await cli.das(['dataset', 'add', ...argv, '--json'])
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as AddedJson
}

/** Every file of the fixture with its content, to see that nothing changed. */
function picture({ folder }: CliFixture): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('var') && /\.(yaml|csv)$/.test(path))
    .map((path) => `${path} ${readFileSync(join(folder, path), 'utf8')}`)
}

await t.test('each form of path is written relative to the registry', async (t) => {
  const cli = await buildCliFixture(t, page, files)
  const at = (path: string) => join(cli.folder, 'data', path)
  cpSync(at('contracts.parquet'), at("Отчёт за 2024 [it's].parquet"))
  const whole = [at('sales/sales-2023.parquet'), at('sales/sales-2024.parquet')]
  for (const [from, to] of [
    ['sales-2023.parquet', 'old/2023.PARQUET'],
    ['sales-2023.parquet', 'mixed/2023.PARQUET'],
    ['sales-2024.parquet', 'mixed/2024.parquet'],
    ['sales-2023.parquet', 'deep/a/2023.pq'],
    ['sales-2024.parquet', 'deep/b/2024.parq'],
  ] as const) {
    cpSync(at(`sales/${from}`), at(to))
  }
  const cases: readonly (readonly [string, readonly string[], readonly string[], string])[] = [
    ['a file', [at('sales/sales-2023.parquet')], ['data/sales/sales-2023.parquet'], 'sales_2023'],
    ['a folder', [at('sales')], ['data/sales/*.parquet'], 'sales'],
    ['a folder with a slash', [at('sales/')], ['data/sales/*.parquet'], 'sales'],
    ['a glob', [at('sales/*-202[34].parquet')], ['data/sales/*-202[34].parquet'], 'sales'],
    ['a glob that the shell expanded', whole, ['data/sales/*.parquet'], 'sales'],
    [
      'files of several folders',
      [
        ...[at('contracts.parquet'), at('contracts.parquet'), at('../data/contracts.parquet')],
        ...['--name', 'contracts_2'],
      ],
      ['data/contracts.parquet'],
      'contracts_2',
    ],
    ['another ending', [at('old')], ['data/old/*.PARQUET'], 'old'],
    ['two endings', [at('mixed')], ['data/mixed/*{.PARQUET,.parquet}'], 'mixed'],
    ['two endings below', [at('deep')], ['data/deep/**/*{.parq,.pq}'], 'deep'],
    ['a hive tree', [at('tree')], ['data/tree/**/*.parquet'], 'tree'],
    [
      'letters of globs and quotes',
      [at("Отчёт за 2024 [it's].parquet")],
      ["data/Отчёт за 2024 \\[it's\\].parquet"],
      'otchet_za_2024_it_s',
    ],
    [
      'a path relative to the working directory',
      [relative(process.cwd(), at('sales'))],
      ['data/sales/*.parquet'],
      'sales',
    ],
  ]
  for (const [form, argv, patterns, name] of cases) {
    const dry = await addJson(cli, [...argv, '--dry-run'])
    t.same(dry.files, patterns, form)
    t.equal(dry.name, name, form)
    t.equal(dry.written, false)
  }
  t.equal(registryOf(cli), page)
})

await t.test(
  'files outside the registry keep their absolute path, also with special characters',
  async (t) => {
    const cli = await buildCliFixture(t, page, {
      'data/contracts.parquet': contracts,
      'else [1]/a b.parquet': 'SELECT 1 AS id',
      'own/x.parquet': 'SELECT 1 AS id',
    })
    const registry = join(cli.folder, 'own', 'registry.yaml')
    const folder = join(cli.folder, 'else [1]')
    const { name, dictionary } = await addJson(cli, [folder, '--registry', registry])
    t.equal(name, 'else_1')
    t.equal(dictionary, 'else_1.columns.csv', 'beside the registry, which is ours')
    t.equal((await cli.das(['dataset', 'check', '--registry', registry])).code, 0)
    t.notMatch(readFileSync(registry, 'utf8'), 'relative to this file')
    const again = [join(folder, 'a b.parquet'), '--name', 'again']
    const file = await addJson(cli, [...again, '--registry', registry])
    t.same(file.files, [join(folder, 'a b.parquet').replace('[1]', '\\[1\\]')])
    t.same(file.same_files_as, ['else_1'])
  },
)

await t.test(
  'an added dataset passes the check and is served, and the other text is unchanged',
  async (t) => {
    const cli = await buildCliFixture(t, page, files)
    const { das, folder } = cli
    const { code, stdout, stderr } = await das(['dataset', 'add', join(folder, 'data/sales')])
    t.same({ code, stderr }, { code: 0, stderr: '' })
    t.match(stdout, /^Added to registry\.yaml:\n\n {2}sales:\n {4}title: Sales\n/)
    t.match(stdout, '\nFound 40 rows, 3 columns, 2 files, ')
    t.match(stdout, '\n  das subscription create --email you@example.org --plan sales:free\n')
    t.match(
      stdout,
      '\n  curl -H "Authorization: Bearer $TOKEN" ' +
        "'http://127.0.0.1:8080/v1/sales?inn=eq.0000000001&limit=5'\n",
    )
    const added = registryOf(cli)
    const [before = '', after = ''] = page.split('\n\n# the end')
    t.ok(added.startsWith(`${before}\n\n    sales:\n        title: Sales\n`))
    t.ok(added.endsWith(`\n\n# the end${after}`))
    t.match((parse(added) as { datasets: unknown }).datasets, {
      sales: {
        files: 'data/sales/*.parquet',
        key: ['inn', 'year'],
        history: 'year',
        dictionary: 'data/sales.columns.csv',
        plans: { free: { rows_per_month: 1000, history: 'all', price_rub: 0 } },
      },
    })
    t.equal(
      readFileSync(join(folder, 'data/sales.columns.csv'), 'utf8'),
      'column,unit,description\ninn,,\nyear,,\namount,,\n',
    )
    t.equal(
      (await das(['dataset', 'check', 'sales'])).stdout,
      'sales: ok (40 rows, 3 columns, 2 files)\n  info: 3 columns without a description: ' +
        '"inn", "year" and "amount"; AI agents guess what they mean\n',
    )
    const sold = await das([
      'subscription',
      'create',
      '--email',
      'a@b.c',
      '--plan',
      'sales:free',
      '--json',
    ])
    const { token } = JSON.parse(sold.stdout) as { token: string }
    await das(['serve', '--port', '0'], {
      whileServing: async (soFar) => {
        const base = /Server listening at (http:\/\/[\d.:]+)/.exec(soFar.stdout)?.[1] ?? ''
        const headers = { authorization: `Bearer ${token}` }
        const answer = await fetch(`${base}/v1/sales?inn=eq.0000000011&limit=5`, { headers })
        t.same(((await answer.json()) as { data: unknown }).data, [
          { inn: '0000000011', year: 2023, amount: 110 },
          { inn: '0000000011', year: 2024, amount: 110 },
        ])
      },
    })
  },
)

await t.test('a missing registry is created', async (t) => {
  const cli = await buildCliFixture(t, page, files)
  const registry = join(cli.folder, 'fresh.yaml')
  const { code } = await cli.das([
    'dataset',
    'add',
    join(cli.folder, 'data/tree/year=2023'),
    '--registry',
    registry,
    '--no-dictionary',
  ])
  t.equal(code, 0)
  t.match(
    readFileSync(registry, 'utf8'),
    /^# The datasets.*\n#.*\n\n# demo: .*\n\ndatasets:\n {2}year_2023:\n {4}title: /,
  )
  t.equal((await cli.das(['dataset', 'check', '--registry', registry])).code, 0)
  t.notOk(existsSync(join(cli.folder, 'data/tree/year_2023.columns.csv')))
  const nowhere = join(cli.folder, 'no', 'registry.yaml')
  const lost = await cli.das([
    'dataset',
    'add',
    join(cli.folder, 'data/tree'),
    '--registry',
    nowhere,
  ])
  t.equal(lost.code, 2)
  t.match(
    lost.stderr,
    /^error: The folder of .*registry\.yaml does not exist\. Create it first\.\n$/,
  )
})

await t.test('the sample files get the key and history of the sample registry', async (t) => {
  const cli = await buildCliFixture(t, page, { 'data/contracts.parquet': contracts })
  cpSync('data/financials', join(cli.folder, 'data/financials'), { recursive: true })
  cpSync('data/procurement', join(cli.folder, 'data/procurement'), { recursive: true })
  const financials = await addJson(cli, [join(cli.folder, 'data/financials')])
  t.match(financials, { key: ['inn', 'year'], history: 'year', findings: [] })
  const procurement = await addJson(cli, [join(cli.folder, 'data/procurement')])
  t.match(procurement, { key: ['okpd2', 'sign_date', 'reg_number'], history: 'sign_date' })
})

await t.test('key and history are guessed from names and values', async (t) => {
  const cases: readonly (readonly [string, readonly string[], string | null])[] = [
    ['SELECT i AS id, i % 7 AS kind FROM range(100) t(i)', ['id'], null],
    ["SELECT 'n' || (i * 37 % 100) AS name, i % 2 AS x FROM range(100) t(i)", ['name'], null],
    ['SELECT i % 3 AS x, CAST(1.5 AS DOUBLE) AS y FROM range(100) t(i)', [], null],
    [
      `SELECT DATE '2020-01-01' + CAST(i // 3 AS INTEGER) AS date, 't' || (i % 3) AS ticker,
         DATE '1990-01-01' AS birth_date, 1990 AS birth_year FROM range(90) t(i)`,
      ['ticker', 'date'],
      'date',
    ],
    [
      `SELECT TIMESTAMP '2020-01-01' + INTERVAL 1 HOUR * i AS "createdAt", 1950 + i % 5 AS weight
       FROM range(90) t(i)`,
      ['createdAt'],
      'createdAt',
    ],
    [
      'SELECT i % 50 AS "customerId", 2000 + i // 50 AS "fiscalYear" FROM range(100) t(i)',
      ['customerId', 'fiscalYear'],
      'fiscalYear',
    ],
    ['SELECT 5 AS id WHERE false', [], null],
    ['SELECT NULL AS id, [1, 2] AS list', [], null],
  ]
  const selects = cases.map(([select], index) => [`data/f${index}.parquet`, select] as const)
  const cli = await buildCliFixture(t, 'datasets: {}', Object.fromEntries(selects))
  for (const [index, [select, key, history]] of cases.entries()) {
    const file = join(cli.folder, 'data', `f${index}.parquet`)
    const guessed = await addJson(cli, [file, '--dry-run'])
    t.same([guessed.key, guessed.history], [key, history], select)
  }
})

await t.test('the proposed demo subset works without a change', async (t) => {
  const cli = await buildCliFixture(t, 'demo: {token: das_demo_test1}', {
    'data/numbers.parquet': "SELECT i AS id, 'x' AS name FROM range(9) t(i)",
    'data/texts.parquet': "SELECT 'a, ''b'': ' || i AS id FROM range(9) t(i)",
    'data/digits.parquet': "SELECT '00' || i AS inn FROM range(9) t(i)",
  })
  for (const name of ['numbers', 'texts', 'digits']) {
    await addJson(cli, [join(cli.folder, 'data', `${name}.parquet`)])
  }
  writeFileSync(join(cli.folder, 'registry.yaml'), registryOf(cli).replaceAll('# demo', 'demo'))
  const { code, stdout } = await cli.das(['dataset', 'check'])
  t.equal(code, 0)
  t.match(stdout, /^numbers: ok .*\n.*\ntexts: ok .*\n.*\ndigits: ok .*\n.*\n$/)
})

await t.test('options replace guesses', async (t) => {
  const cli = await buildCliFixture(t, page, files)
  const path = join(cli.folder, 'data/sales')
  const said = [
    '--name',
    'mine',
    '--title',
    "It's: mine",
    '--title-ru',
    'Моё: "да"',
    '--description',
    'a\nb',
    '--source',
    '# x',
  ]
  await addJson(cli, [path, ...said, '--key', 'year, inn', '--no-history', '--listed'])
  const { mine } = (parse(registryOf(cli)) as { datasets: Record<string, unknown> }).datasets
  t.match(mine, {
    title: { en: "It's: mine", ru: 'Моё: "да"' },
    description: 'a\nb',
    source: '# x',
    key: ['year', 'inn'],
    listed: true,
  })
  t.notMatch(mine, { history: String })
  const bare = await addJson(cli, [path, '--name', 'bare', '--no-key', '--history', 'year'])
  t.match(bare, { key: [], history: 'year', findings: [{ code: 'no_key' }] })
})

await t.test('column names that a request cannot use are replaced and reported', async (t) => {
  const cli = await buildCliFixture(t, page, {
    'data/contracts.parquet': contracts,
    'data/clash/a.parquet': 'SELECT 1 AS id, 2 AS "select", 3 AS select_, 4 AS "Name"',
    'data/clash/b.parquet': 'SELECT 1 AS id, 2 AS "select", 3 AS select_, 4 AS "name"',
  })
  const { code, stdout } = await cli.das(['dataset', 'add', join(cli.folder, 'data/clash')])
  t.equal(code, 0)
  t.match(
    stdout,
    'Column "select" is served as "select__", because its own name can\'t be used in a URL.',
  )
  t.match(
    stdout,
    'Column "name" is served as "name_", because its own name can\'t be used in a URL.',
  )
  const { datasets } = parse(registryOf(cli)) as { datasets: Record<string, unknown> }
  t.match(datasets['clash'], { columns: { select: { name: 'select__' }, name: { name: 'name_' } } })
  t.equal((await cli.das(['dataset', 'check', 'clash'])).code, 0)
})

await t.test(
  'files that cannot be served are refused with the reason, and no file is changed',
  async (t) => {
    const cli = await buildCliFixture(t, page, {
      ...files,
      'data/mixed/a.parquet': 'SELECT 1 AS id',
      'data/mixed/b.parquet': "SELECT 'x' AS id",
      'data/apart/people.parquet': "SELECT 'Ann' AS name, 41 AS age",
      'data/apart/more.parquet': "SELECT 'Bob' AS name, 'Rome' AS city",
      'data/apart/points.parquet': 'SELECT 1.5 AS x, 2.5 AS y',
    })
    const { folder } = cli
    writeFileSync(join(folder, 'data', 'half.parquet'), 'PAR1 and no more')
    writeFileSync(join(folder, 'data', 'sold.columns.csv'), 'column,unit\nnone,rub\n')
    const before = picture(cli)
    const sales = join(folder, 'data/sales')
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [
        [join(folder, 'data/half.parquet')],
        1,
        /"half" can't be served, so nothing was written:\n {2}data\/half\.parquet is not a whole Parquet file/,
      ],
      [[join(folder, 'data/mixed')], 1, /\n {2}.*"id"/],
      [
        [join(folder, 'data/apart')],
        2,
        /points\.parquet has no column of \S+more\.parquet: .* one by one/,
      ],
      [[join(folder, 'data/none.parquet')], 2, /none\.parquet does not exist\.\n$/],
      [[join(folder, 'data/*.csv5')], 2, /\*\.csv5 matches no file\.\n$/],
      [[join(folder, 'var')], 2, /var does not exist\.\n$/],
      [[sales, '--name', 'contracts'], 2, /The registry already has "contracts"/],
      [[sales, '--name', 'account'], 2, /"account" is reserved/],
      [[sales, '--name', 'Sales!'], 2, /1 to 64 of a-z/],
      [[sales, '--key', 'inm'], 1, /there is no column "inm"\. Did you mean "inn"/],
      [[sales, '--history', 'inn'], 1, /history counts years/],
      [[sales, '--name', 'sold'], 1, /dictionary data\/sold\.columns\.csv|no column "none"/],
      [[], 2, /missing required argument/],
    ]
    for (const [argv, exitCode, reason] of cases) {
      const { code, stderr } = await cli.das(['dataset', 'add', ...argv])
      t.equal(code, exitCode, argv.join(' '))
      t.match(stderr, reason)
      t.notMatch(stderr, /registry\.yaml:\d/, 'no line number in a text that was not written')
      t.same(picture(cli), before)
    }
    writeFileSync(join(folder, 'registry.yaml'), 'datasets:\n  a: { title: 5 }\n')
    const broken = await cli.das(['dataset', 'add', sales])
    t.equal(broken.code, 1)
    t.match(broken.stderr, /^registry\.yaml:2:\d+: datasets\.a\.title/m)
  },
)

await t.test('a file with damaged pages is refused', async (t) => {
  const cli = await buildCliFixture(t, page, { 'data/contracts.parquet': contracts })
  const rows = 'SELECT hash(i) AS id FROM range(20000) t(i)'
  await writeParquet(cli.folder, { 'data/spoilt.parquet': rows }, ', ROW_GROUP_SIZE 2048')
  const path = join(cli.folder, 'data', 'spoilt.parquet')
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 20_000))
  const { code, stderr } = await cli.das(['dataset', 'add', path])
  t.equal(code, 1)
  t.match(
    stderr,
    /nothing was written:\n {2}data\/spoilt\.parquet has a column that can't be read, "id", .* is damaged/,
  )
  t.notMatch(stderr, cli.folder)
  t.equal(registryOf(cli), page)
})

await t.test('a dry run prints the entry and changes no file', async (t) => {
  const cli = await buildCliFixture(t, page, files)
  const before = picture(cli)
  const argv = ['dataset', 'add', join(cli.folder, 'data/contracts.parquet'), '--dry-run']
  const again = await cli.das(argv)
  t.equal(again.code, 2)
  t.match(again.stderr, /lists these files as "contracts": .* a second time, give a --name\.\n$/)
  const { code, stdout } = await cli.das([...argv, '--name', 'contracts_2'])
  t.equal(code, 0)
  t.match(stdout, /^ {2}contracts_2:\n {4}title: Contracts\n {4}files: data\/contracts\.parquet #/)
  t.match(stdout, '\n# warning: dataset "contracts" already lists the same files\n')
  t.match(parse(stdout), { contracts_2: { key: ['number'] } }, 'the entry is valid YAML')
  t.same(picture(cli), before)
})

await t.test(
  'on a terminal it asks no question and explains how to change the guesses',
  async (t) => {
    const cli = await buildCliFixture(t, page, files)
    const path = join(cli.folder, 'data/sales')
    const { code, stdout } = await cli.das(['dataset', 'add', path], { isTerminal: true })
    t.equal(code, 0)
    t.match(
      stdout,
      'Name, title, key and history are guesses where no option set them. Change them',
    )
    t.match(parse(registryOf(cli)), { datasets: { sales: { key: ['inn', 'year'] } } })
  },
)
