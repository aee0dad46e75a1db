import { copyFileSync, existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readCells } from '../../support/parquet.js'
import { buildCliFixture } from '../fixtures/cli-fixture.js'
import type { CliFixture, Outcome } from '../fixtures/cli-fixture.js'

// Guarantee: `das dataset add FILE --yes` publishes what the file says, or says what to do.

const source = 'test/fixtures/field/tables'
const empty = 'datasets: {}\n'

const names = [
  ['1', 'АО Берёза и соседи'],
  ['2', 'общество с ограниченной ответственностью Сосна'],
  ['3', 'Южный завод'],
]

/** Published: the file → what the command says, types, rows. */
const published: Readonly<
  Record<string, readonly [said: RegExp, types: readonly string[], rows: unknown]>
> = {
  'koi8r.csv': [
    /: CSV, koi8-r, separator ";", header in line 1, 3 rows\n/,
    ['BIGINT', 'VARCHAR'],
    names,
  ],
  'mac_cyrillic.csv': [/: CSV, x-mac-cyrillic, separator ";"/, ['BIGINT', 'VARCHAR'], names],
  'sep_line.csv': [
    /: CSV, utf-8, separator ";", header in line 2, 1 row\n/,
    ['VARCHAR', 'DECIMAL(18,1)'],
    [['0277000001', '1.5']],
  ],
  'error_cells.xlsx': [
    /, 4 rows\n3 cells have an error, read as empty: B2 #N\/A, B4 #DIV\/0!, B5 #REF!\n/,
    ['VARCHAR', 'BIGINT'],
    [
      ['a', null],
      ['b', '5'],
      [null, null],
      ['d', null],
    ],
  ],
  'hidden_first_sheet.xlsx': [
    /: Excel, sheet "Данные", header in row 1, 1 row\nother sheets, not read: "Служебный" \(hidden\)\n/,
    ['VARCHAR'],
    [['7700000001']],
  ],
  'zeros_by_format.xlsx': [
    /: Excel, sheet "Sheet"/,
    ['VARCHAR', 'BIGINT'],
    [
      ['0261012138', '1'],
      ['7708004767', '2'],
    ],
  ],
  'first_day_of_1900.xlsx': [/: Excel/, ['DATE'], [['1900-01-01'], ['2024-01-02']]],
}

/** Refused: the file → the error, and options with which it is published as so many rows. */
const refused: Readonly<
  Record<string, readonly [error: RegExp, options: readonly string[], rows: number]>
> = {
  'title_above_header.csv': [
    /the reading of title_above_header\.csv is not certain, so nothing was written:\n {2}line 1 looks like a title above the names: "Список поставщиков на 1 мая"; leave it out with --skip-lines 1, or use --header/,
    ['--skip-lines', '1'],
    2,
  ],
  'no_header.csv': [
    /no_header\.csv is not certain[^]*line 1 looks like values, not like names: "7708004767"; use --no-header if there are no names, or --header/,
    ['--no-header'],
    2,
  ],
  'formula_without_result.xlsx': [
    /formula_without_result\.xlsx has 2 bad rows, so nothing was written:\n {2}row 2: C2 was never computed: open the file in Excel or LibreOffice and save it\n {2}row 3: C3 was never/,
    [],
    0,
  ],
}

async function start(
  t: Parameters<typeof buildCliFixture>[0],
  file: string,
): Promise<CliFixture & { readonly add: (...options: string[]) => Promise<Outcome> }> {
  const cli = await buildCliFixture(t, empty, {})
  const path = join(cli.folder, file)
  copyFileSync(join(source, file), path)
  return { ...cli, add: (...options) => cli.das(['dataset', 'add', path, ...options]) }
}

await t.test('every file has its outcome here', (t) => {
  t.same(readdirSync(source).sort(), Object.keys({ ...published, ...refused }).sort())
  t.end()
})

for (const [file, [said, types, rows]] of Object.entries(published)) {
  await t.test(`${file} is published as it is meant`, async (t) => {
    const cli = await start(t, file)
    const { code, stdout, stderr } = await cli.add('--yes')
    t.same({ code, stderr }, { code: 0, stderr: '' })
    t.match(stdout, said)
    const written = await readCells(join(cli.folder, file.replace(/\.\w+$/, '.parquet')))
    t.match(written, { types, rows })
    t.equal((await cli.das(['dataset', 'check'])).code, 0)
  })
}

for (const [file, [error, options, rows]] of Object.entries(refused)) {
  await t.test(`${file} is refused, and the error has the way on`, async (t) => {
    const cli = await start(t, file)
    const target = join(cli.folder, file.replace(/\.\w+$/, '.parquet'))
    for (const given of [['--yes'], ['--yes', '--json'], []]) {
      const { code, stderr } = await cli.add(...given)
      t.equal(code, 1)
      t.match(stderr, error)
    }
    t.notOk(existsSync(target))
    t.equal(readFileSync(join(cli.folder, 'registry.yaml'), 'utf8'), empty)
    if (rows === 0) return
    t.match(await cli.add('--yes', ...options), { code: 0 })
    t.equal((await readCells(target)).rows.length, rows)
  })
}

await t.test('what is not certain is shown, and an option decides', async (t) => {
  const cli = await start(t, 'title_above_header.csv')
  const options = ['--name', 's', '--title', 'S', '--no-key', '--no-history']
  const dry = await cli.add(...options, '--dry-run', '--json')
  t.match(JSON.parse(dry.stdout), {
    imported: [
      {
        encoding: 'utf-8',
        separator: ';',
        sheet: null,
        header_line: 2,
        notes: [],
        doubts: [/^line 1 looks like a title/],
        columns: [{ name: 'инн', why: 'codes, by the name of the column', empty_rows: 0 }, {}],
      },
    ],
  })
  const no = await cli.add(...options, '--yes')
  t.match(no, { code: 1, stdout: /\nnot certain: line 1 looks like a title/ })
  t.match(no.stderr, /is not certain, so nothing was written:\n {2}line 1 looks like a title/)
  const yes = await cli.add(...options, '--yes', '--skip-lines', '1')
  t.match(yes, { code: 0, stdout: /header in line 2, 2 rows\n[^]*Added to/ })
})

await t.test('a hidden sheet is read by its name', async (t) => {
  const cli = await start(t, 'hidden_first_sheet.xlsx')
  const { stdout } = await cli.add('--yes', '--json', '--sheet', 'Служебный')
  t.match(JSON.parse(stdout), {
    imported: [{ sheet: 'Служебный', notes: ['other sheets, not read: "Данные"'] }],
  })
})
