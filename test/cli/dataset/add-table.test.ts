import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readCells } from '../../support/parquet.js'
import { buildCliFixture } from '../fixtures/cli-fixture.js'
import type { CliFixture } from '../fixtures/cli-fixture.js'

const sales = 'inn;day;amount\n0261012138;31.12.2023;1,50\n7708004767;01.02.2024;20\n'
const empty = 'datasets: {}\n'

function names({ folder }: CliFixture): readonly string[] {
  return readdirSync(folder)
    .filter((name) => !['data', 'var'].includes(name))
    .sort()
}

async function start(t: Parameters<typeof buildCliFixture>[0]): Promise<CliFixture> {
  return await buildCliFixture(t, empty, {})
}

await t.test('a CSV is written as Parquet beside it and added', async (t) => {
  const cli = await start(t)
  const path = join(cli.folder, 'sales.csv')
  writeFileSync(path, sales)
  const { code, stdout } = await cli.das(['dataset', 'add', path, '--yes', '--json'])
  t.equal(code, 0)
  t.match(JSON.parse(stdout), {
    name: 'sales',
    files: ['sales.parquet'],
    rows: 2,
    imported: [
      {
        file: 'sales.csv',
        target: 'sales.parquet',
        replaced: false,
        format: 'csv',
        encoding: 'utf-8',
        separator: ';',
        rows: 2,
        columns: [
          { name: 'inn', type: 'text', why: 'zeros at the start: 0261012138', empty_rows: 0 },
          { name: 'day', type: 'date', samples: ['31.12.2023', '01.02.2024'] },
          { name: 'amount', type: 'decimal(18,2)', why: null },
        ],
      },
    ],
  })
  const { types, rows } = await readCells(join(cli.folder, 'sales.parquet'))
  t.same(types, ['VARCHAR', 'DATE', 'DECIMAL(18,2)'])
  t.same(rows, [
    ['0261012138', '2023-12-31', '1.50'],
    ['7708004767', '2024-02-01', '20.00'],
  ])
  t.same(names(cli), ['registry.yaml', 'sales.columns.csv', 'sales.csv', 'sales.parquet'])
})

await t.test('types are accepted with --yes only, on a terminal too', async (t) => {
  const cli = await start(t)
  const path = join(cli.folder, 'sales.csv')
  writeFileSync(path, sales)
  const given = ['--name', 's', '--title', 'S', '--no-key', '--no-history']
  const add = ['dataset', 'add', path, ...given]
  const piped = await cli.das(add)
  t.match(piped, {
    code: 2,
    stderr: /accept them with --yes, set some with --type column=TYPE, or .* --empty TEXT/,
  })
  t.match(piped.stdout, 'sales.csv: CSV, utf-8, separator ";", header in line 1, 2 rows')
  t.match(await cli.das([...add, '--json']), { code: 2, stdout: '' })
  t.match(await cli.das(add, { isTerminal: true }), { code: 2, stderr: /accept them with --yes/ })
  const dry = await cli.das([...add, '--dry-run'])
  t.match(dry, { code: 0, stdout: /sales\.parquet would be written and added\. No file/ })
  t.same(names(cli), ['registry.yaml', 'sales.csv'])
  t.equal(readFileSync(join(cli.folder, 'registry.yaml'), 'utf8'), empty)
  t.match(await cli.das([...add, '--yes']), { code: 0, stdout: /Added to/ })
})

await t.test("a file that can't be read exactly, or added, leaves no file behind", async (t) => {
  const cli = await start(t)
  const path = join(cli.folder, 'sales.csv')
  writeFileSync(path, `${sales}1;2\n`)
  const bad = await cli.das(['dataset', 'add', path, '--yes'])
  t.match(bad, { code: 1, stdout: '' })
  t.match(bad.stderr, /sales\.csv has 1 bad line, so nothing was written:\n {2}line 4: 2 fields/)
  writeFileSync(path, sales)
  const unknown = await cli.das(['dataset', 'add', path, '--yes', '--key', 'nokey'])
  t.match(unknown, { code: 1, stderr: /nokey/ })
  const wrong = await cli.das(['dataset', 'add', path, '--yes', '--sheet', 'One'])
  t.match(wrong, { code: 2, stderr: /--sheet is not for CSV files/ })
  const separator = await cli.das(['dataset', 'add', path, '--yes', '--separator', '::'])
  t.match(separator, { code: 2, stderr: /--separator takes one character or "tab", got "::"/ })
  const lines = await cli.das(['dataset', 'add', path, '--yes', '--skip-lines', 'two'])
  t.match(lines, { code: 2, stderr: /--skip-lines takes a number of lines, got "two"/ })
  const json = join(cli.folder, 'sales.ndjson')
  writeFileSync(json, '{"a": 1}\n')
  for (const [option, ...value] of [['--skip-lines', '1'], ['--no-header'], ['--sheet', 'x']]) {
    const refused = await cli.das(['dataset', 'add', json, '--yes', String(option), ...value])
    t.match(refused, { code: 2, stderr: / is not for NDJSON files\./ })
  }
  rmSync(json)
  t.same(names(cli), ['registry.yaml', 'sales.csv'])
})

await t.test('--replace writes the Parquet of a changed file again', async (t) => {
  const cli = await start(t)
  const path = join(cli.folder, 'sales.csv')
  writeFileSync(path, sales)
  t.match(await cli.das(['dataset', 'add', path, '--yes']), { code: 0 })
  const registry = readFileSync(join(cli.folder, 'registry.yaml'), 'utf8')
  const again = ['dataset', 'add', path, '--yes', '--type', 'amount=decimal']
  t.match(await cli.das(again), { code: 2, stderr: /sales\.parquet exists\..*--replace/ })
  writeFileSync(path, `${sales}0000000001;13.03.2024;3\n`)
  const { code, stdout } = await cli.das([...again, '--replace'])
  t.equal(code, 0)
  t.match(stdout, 'Replaced sales.parquet of "sales": 3 rows.')
  t.match(
    stdout,
    /\n\nsales: ok \(3 rows, 3 columns, 1 file\)\n(.*\n)+\nA running server serves them/,
  )
  t.equal((await readCells(join(cli.folder, 'sales.parquet'))).rows.length, 3)
  t.equal(readFileSync(join(cli.folder, 'registry.yaml'), 'utf8'), registry)
  writeFileSync(path, 'inn;amount\n1\n')
  t.match(await cli.das([...again, '--replace']), { code: 1 })
  t.equal((await readCells(join(cli.folder, 'sales.parquet'))).rows.length, 3, 'the last good one')
})

await t.test('--replace says what keeps the new file from being served', async (t) => {
  const cli = await start(t)
  const path = join(cli.folder, 'sales.csv')
  const again = ['dataset', 'add', path, '--yes', '--replace']
  writeFileSync(path, sales)
  t.match(await cli.das(again), { code: 0 })
  writeFileSync(path, sales.replace('amount', 'Amount'))
  const refused = await cli.das(again)
  t.match(refused, { code: 1, stderr: "error: 1 of 1 datasets can't be served.\n" })
  t.match(
    refused.stdout,
    /\nsales: refused\n {2}error: .* no column "amount"\. Did you mean "Amount"\?/,
  )
  t.match(
    refused.stdout,
    /\nA running server goes on with what it serves until that is corrected\.\n$/,
  )
  const json = await cli.das([...again, '--json'])
  t.match({ ...json, stdout: '' }, { code: 1 })
  t.match(JSON.parse(json.stdout), { written: true, check: [{ name: 'sales', status: 'refused' }] })
  const folder = join(cli.folder, 'in')
  mkdirSync(folder)
  const each = ['dataset', 'add', folder, '--each', '--yes', '--replace']
  writeFileSync(join(folder, 'goods.csv'), sales)
  t.match(await cli.das(each), { code: 0 })
  writeFileSync(join(folder, 'goods.csv'), sales.replace('amount', 'Amount'))
  const failed = await cli.das(each)
  t.match(failed, { code: 1, stdout: /\ngoods: refused\n/, stderr: /not added: goods\.csv/ })
})

await t.test('--each makes every file a dataset and continues after a bad one', async (t) => {
  const cli = await buildCliFixture(t, empty, { 'in/OLD.PARQUET': 'SELECT 1 AS a' })
  const folder = join(cli.folder, 'in')
  mkdirSync(join(folder, 'sub'))
  const files = {
    'apples.csv': sales,
    'bad.csv': 'x,y\n1\n',
    'cars.ndjson': '{"a": 1}\n',
    'd.txt': 'x',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const each = ['dataset', 'add', folder, '--each', '--yes']
  const dry = await cli.das([...each, '--dry-run'])
  t.match(dry, { code: 1, stdout: '\nWould add 3 datasets.' })
  const { code, stdout, stderr } = await cli.das([...each, '--json'])
  t.equal(code, 1)
  t.match(JSON.parse(stdout), {
    added: [{ name: 'old' }, { name: 'apples' }, { name: 'cars' }],
    failed: [{ file: 'bad.csv', error: /bad\.csv has 1 bad line[^]*line 2: 1 field instead of 2/ }],
    unchanged: [],
  })
  t.match(stderr, '1 of 4 files were not added: bad.csv')
  writeFileSync(join(folder, 'bad.csv'), 'x,y\n1,2\n')
  const second = await cli.das(each)
  t.match(second, { code: 0 })
  t.match(
    second.stdout,
    'Added 1 dataset.\nAlready datasets, and left as they are: OLD.PARQUET, apples.csv, cars.ndjson',
  )
  t.ok(existsSync(join(folder, 'bad.parquet')))
  t.match(await cli.das([...each, '--name', 'x']), { code: 2, stderr: /--name is for one dataset/ })
})

await t.test('the server and a glob say what to do with a CSV', async (t) => {
  const cli = await start(t)
  writeFileSync(join(cli.folder, 'a.csv'), sales)
  const glob = await cli.das(['dataset', 'add', join(cli.folder, '*.csv'), '--yes'])
  t.match(glob, { code: 2, stderr: /a\.csv is CSV\. Name such files one by one, or use --each/ })
  writeFileSync(join(cli.folder, 'registry.yaml'), 'datasets: {a: {title: A, files: a.csv}}\n')
  const { code, stdout } = await cli.das(['dataset', 'check'])
  t.equal(code, 1)
  t.match(stdout, 'a.csv is CSV, not Parquet; `das dataset add` writes it as Parquet')
})

await t.test('a server serves what was added', async (t) => {
  const cli = await start(t)
  writeFileSync(join(cli.folder, 'sales.csv'), sales)
  t.match(await cli.das(['dataset', 'add', join(cli.folder, 'sales.csv'), '--yes']), { code: 0 })
  const sold = await cli.das([
    'subscription',
    'create',
    '--email',
    'a@example.org',
    '--plan',
    'sales:free',
    '--json',
  ])
  const { token } = JSON.parse(sold.stdout) as { readonly token: string }
  const answers: unknown[] = []
  await cli.das(['serve', '--port', '0', '--host', '127.0.0.1'], {
    whileServing: async ({ stdout, stderr }) => {
      const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout + stderr) ?? []
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(`${url}/v1/sales?inn=eq.0261012138`, { headers })
      answers.push(await answer.json())
    },
  })
  t.match(answers, [{ data: [{ inn: '0261012138', day: '2023-12-31', amount: 1.5 }] }])
})

await t.test('what a killed import left goes with a later one, a running one stays', async (t) => {
  const cli = await start(t)
  const left = join(cli.folder, '.das-import-left')
  const running = join(cli.folder, '.das-import-running')
  for (const [folder, ageMs] of [
    [left, 25 * 3_600_000],
    [running, 60_000],
  ] as const) {
    mkdirSync(folder)
    writeFileSync(join(folder, 'table.csv'), 'half')
    utimesSync(folder, new Date(cli.clock.ms - ageMs), new Date(cli.clock.ms - ageMs))
  }
  writeFileSync(join(cli.folder, 'sales.csv'), sales)
  t.equal((await cli.das(['dataset', 'add', join(cli.folder, 'sales.csv'), '--yes'])).code, 0)
  t.same([existsSync(left), existsSync(running)], [false, true])
})
