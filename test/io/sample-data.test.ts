import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Json } from '@duckdb/node-api'
import t from 'tap'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { parse } from 'yaml'

const home = resolve('.')
const data = join(home, 'data')
const instance = await DuckDBInstance.create(':memory:')
const connection = await instance.connect()
for (const name of ['financials', 'procurement']) {
  const files = `read_parquet('${data}/${name}/*.parquet', filename = true, file_row_number = true)`
  await connection.run(`CREATE VIEW ${name}_placed AS SELECT * FROM ${files}`)
  await connection.run(
    `CREATE VIEW ${name} AS SELECT * EXCLUDE (filename, file_row_number) FROM ${name}_placed`,
  )
}

const Plan = Type.Object({
  title: Type.Object({ en: Type.String(), ru: Type.String() }),
  rows_per_month: Type.Integer(),
  history: Type.Union([Type.Integer(), Type.Literal('all')]),
  price_rub: Type.Integer(),
  rate_per_minute: Type.Optional(Type.Integer()),
})

function dataset<Column extends string>(demoColumn: Column) {
  return Type.Object({
    key: Type.Array(Type.String()),
    dictionary: Type.String(),
    demo: Type.Record(Type.Literal(demoColumn), Type.Array(Type.String())),
    plans: Type.Record(Type.String(), Plan),
  })
}

const Registry = Type.Object({
  demo: Type.Object({ token: Type.String(), rate_per_minute: Type.Integer() }),
  datasets: Type.Object({ financials: dataset('inn'), procurement: dataset('okpd2') }),
})

t.teardown(() => {
  connection.closeSync()
  instance.closeSync()
})

/** Rows as DuckDB's JSON values: whole numbers beyond 32 bits and decimals are text. */
async function rows(sql: string): Promise<Json[][]> {
  return (await connection.runAndReadAll(sql)).getRowsJson()
}

async function value(sql: string): Promise<Json | undefined> {
  return (await rows(sql))[0]?.[0]
}

async function count(from: string): Promise<number> {
  return Number(await value(`SELECT count(*) FROM ${from}`))
}

async function columnNames(dataset: string): Promise<string[]> {
  const names = await rows(`SELECT column_name FROM (DESCRIBE FROM ${dataset})`)
  return names.map(([name]) => String(name))
}

async function filledCounts(dataset: string): Promise<Map<string, number>> {
  const [counts = []] = await rows(`SELECT count(COLUMNS(*)) FROM ${dataset}`)
  const names = await columnNames(dataset)
  return new Map(names.map((name, index) => [name, Number(counts[index])]))
}

await t.test('financials: 1,899 rows in a file a year', async (t) => {
  t.same(readdirSync(join(data, 'financials')).sort(), [
    ...[2019, 2020, 2021, 2022, 2023, 2024, 2025].map((year) => `${year}.parquet`),
  ])
  t.same(await rows('SELECT year, count(*) FROM financials GROUP BY year ORDER BY year'), [
    [2019, '249'],
    [2020, '260'],
    [2021, '268'],
    [2022, '273'],
    [2023, '285'],
    [2024, '283'],
    [2025, '281'],
  ])
  t.equal(await count("financials_placed WHERE filename NOT LIKE '%/' || year || '.parquet'"), 0)
  t.equal(await count('financials WHERE year >= 2025'), 281)
  t.equal(await count('financials WHERE year >= 2024'), 564)
  t.equal(await count('financials'), 1899)
})

await t.test('financials: 292 companies, one row per company and year', async (t) => {
  t.equal(await count('(SELECT DISTINCT inn, year FROM financials)'), 1899)
  t.equal(await count('(SELECT DISTINCT inn FROM financials)'), 292)
  t.equal(await count('(SELECT inn FROM financials GROUP BY inn HAVING count(*) = 7)'), 238)
})

await t.test('financials: 131 columns, codes are text and amounts are whole', async (t) => {
  const types = 'SELECT column_name, column_type FROM (DESCRIBE financials)'
  const columns = new Map((await rows(types)).map(([name, type]) => [name, type]))
  t.equal(columns.size, 131)
  for (const name of ['year', 'okfs']) t.equal(columns.get(name), 'INTEGER')
  for (const name of ['inn', 'name', 'kpp', 'okved', 'okopf', 'okpo']) {
    t.equal(columns.get(name), 'VARCHAR')
  }
  for (const name of ['2900', '2910']) t.equal(columns.get(name), 'DECIMAL(18,2)')
  t.equal([...columns.values()].filter((type) => type === 'BIGINT').length, 121)
})

await t.test('financials: the answers of the documented questions', async (t) => {
  const sum = 'SELECT sum("2110"), typeof(sum("2110")) FROM financials WHERE year = 2024'
  t.same(await rows(sum), [['11601126087', 'HUGEINT']])
  t.equal(await count('financials WHERE year = 2024 AND "2400" < 0'), 20)
  t.equal(await count('financials WHERE year = 2024 AND okfs <> 16'), 31)
  t.equal(await count("financials WHERE year = 2024 AND okved LIKE '64.%'"), 68)
  t.equal(await count("financials WHERE okved LIKE '64.%'"), 435)
  t.equal(await count('financials WHERE year = 2024 AND "2110" >= 1000000'), 174)
  t.equal(await count('financials WHERE year IN (2023, 2024) AND "2110" >= 1000000000'), 4)
  t.equal(await count('financials WHERE kpp IS NULL'), 0)
})

await t.test('financials: 54.9 % of the cells are filled, and only 1330 is empty', async (t) => {
  const filled = await filledCounts('financials')
  const empty = [...filled].filter(([, cells]) => cells === 0)
  t.same(empty, [['1330', 0]])
  const cells = [...filled.values()].reduce((sum, each) => sum + each, 0)
  t.equal(((100 * cells) / (1899 * 131)).toFixed(1), '54.9')
})

await t.test('financials: the largest company, and whole numbers beyond 32 bits', async (t) => {
  const largest = `SELECT inn, name, "2110", "2400", "1600" FROM financials
    WHERE year = 2024 ORDER BY "2110" DESC NULLS LAST LIMIT 1`
  const lukoil = 'Публичное акционерное общество "Нефтяная компания "ЛУКОЙЛ"'
  t.same(await rows(largest), [['7708004767', lukoil, '3046943699', '732516214', '2863934119']])
  t.equal(await count("financials WHERE inn = '7708004767'"), 7)
  const latest = `SELECT "2110" FROM financials WHERE inn = '7708004767' AND year = 2025`
  t.equal(await value(latest), '3453224535')
  const railways = 'SELECT year, "1600" FROM financials WHERE inn = \'7708503727\' ORDER BY year'
  t.same(await rows(railways), [
    [2019, '6657872706'],
    [2020, '7081815204'],
    [2021, '7436550217'],
  ])
  t.equal(await value('SELECT max("1600") FROM financials'), '7436550217')
  const largestOfAll = "SELECT max(greatest(*COLUMNS('[0-9]{4}'))) FROM financials"
  t.equal(Number(await value(largestOfAll)), 8971605618)
})

await t.test('financials: taxpayer numbers keep their leading zeros', async (t) => {
  const zeros = "SELECT DISTINCT inn FROM financials WHERE inn LIKE '0%' ORDER BY inn"
  const inns = ['0261012138', '0278181110', '0278202835', '0411137185']
  t.same((await rows(zeros)).flat(), inns)
  const one = `SELECT "2110", okved FROM financials WHERE inn = '0261012138' AND year = 2024`
  t.same(await rows(one), [['1959588', '28.99.9']])
  t.equal(await count("financials WHERE inn = '7736050003'"), 0, 'Gazprom is not in the sample')
  t.equal(await count(`financials WHERE NOT (${validInn('inn')})`), 0)
})

await t.test('financials: the quirks that data/README.md tells users', async (t) => {
  t.equal(await count('financials WHERE year = 2024 AND "2110" IS NULL'), 27)
  t.equal(await count('financials WHERE year = 2024 AND "2110" = 0'), 1)
  t.equal(await count('financials WHERE "2900" <> trunc("2900")'), 70)
  const signs = ['2120', '2410', '4120'].map(
    (code) => `count(*) FILTER ("${code}" > 0), count(*) FILTER ("${code}" < 0)`,
  )
  t.same(await rows(`SELECT ${signs.join()} FROM financials WHERE year >= 2021`), [
    ['1154', '45', '251', '944', '1209', '49'],
  ])
  t.equal(await count('financials WHERE year >= 2021'), 1390)
  t.equal(await count('financials WHERE year >= 2021 AND "1600" = "1700"'), 1385)
  t.equal(await count('financials WHERE year >= 2021 AND "1600" = "1100" + "1200"'), 1235)
  t.equal(await count("financials WHERE name LIKE '%\"%'"), 1780)
  const renamed = 'SELECT inn FROM financials GROUP BY inn HAVING count(DISTINCT name) > 1'
  t.equal(await count(`(${renamed})`), 178)
  t.equal(await count("financials WHERE regexp_matches(kpp, '^\\d{4}[0-9A-Z]{2}\\d{3}$')"), 1899)
  const reasons = 'SELECT kpp[5:6], count(*) FROM financials GROUP BY 1 ORDER BY 1'
  t.same(await rows(reasons), [
    ['01', '1671'],
    ['50', '228'],
  ])
})

await t.test(
  'financials: 2019 has the balance sheet, 2020 no changes in equity but 3600',
  async (t) => {
    const filled = async (year: number): Promise<string[]> =>
      [...(await filledCounts(`(FROM financials WHERE year = ${year})`))]
        .filter(([name, cells]) => /^\d{4}$/.test(name) && cells > 0)
        .map(([name]) => name)
    t.same(
      (await filled(2019)).filter((name) => !name.startsWith('1')),
      ['3600'],
    )
    t.same(
      (await filled(2020)).filter((name) => name.startsWith('3')),
      ['3600'],
    )
    const last = await filled(2025)
    t.same(
      ['1120', '3310', '3320', '3600'].filter((name) => last.includes(name)),
      [],
      'gone in 2025',
    )
    t.same(
      ['1105', '1215', '2420', '4114'].filter((name) => !last.includes(name)),
      [],
      'new in 2025',
    )
  },
)

await t.test('procurement: 969 contracts in a file a month', async (t) => {
  t.same(readdirSync(join(data, 'procurement')).sort(), ['2018-01.parquet', '2018-02.parquet'])
  t.equal(await count('procurement'), 969)
  const placed = "filename LIKE '%/' || strftime(sign_date, '%Y-%m') || '.parquet'"
  t.equal(await count(`procurement_placed WHERE ${placed}`), 969)
  const days = 'SELECT min(sign_date), max(sign_date) FROM procurement'
  t.same(await rows(days), [['2018-01-01', '2018-02-14']])
  t.equal(await value('SELECT sum(price) FROM procurement'), '2726485449.29')
  const distinct = ['reg_number', 'customer_inn', 'supplier_inn', 'okpd2']
  const counts = distinct.map((column) => `count(DISTINCT ${column})`).join()
  t.same(await rows(`SELECT ${counts} FROM procurement`), [['969', '347', '128', '20']])
})

await t.test('procurement: the answers of the documented questions', async (t) => {
  t.same(await rows('SELECT status, count(*) FROM procurement GROUP BY 1 ORDER BY 1'), [
    ['E', '960'],
    ['EC', '7'],
    ['ET', '2'],
  ])
  t.equal(await count('procurement WHERE price > 10000000'), 59)
  const electricity = "SELECT count(*), sum(price) FROM procurement WHERE okpd2 LIKE '35.11%'"
  t.same(await rows(electricity), [['160', '1055071811.48']])
  t.equal(await count("procurement WHERE okpd2 = '35.13.10.000'"), 510)
  t.equal(await count("procurement WHERE okpd2 = '35.14.10.000'"), 110)
  t.equal(await count("procurement WHERE currency = 'RUB' AND price = price_rub"), 969)
  t.equal(await count('procurement WHERE suppliers_count = 2'), 6)
  const dearest = 'SELECT reg_number, price FROM procurement ORDER BY price DESC LIMIT 1'
  t.same(await rows(dearest), [['1772472939018000010', '167705820.32']])
})

await t.test('procurement: 36 columns keep their types, 22 of them are filled', async (t) => {
  const types = 'SELECT column_type, count(*) FROM (DESCRIBE procurement) GROUP BY 1 ORDER BY 1'
  t.same(await rows(types), [
    ['BOOLEAN', '2'],
    ['DATE', '3'],
    ['DECIMAL(18,2)', '4'],
    ['INTEGER', '4'],
    ['TIMESTAMP WITH TIME ZONE', '1'],
    ['VARCHAR', '21'],
    ['VARCHAR[]', '1'],
  ])
  const filled = await filledCounts('procurement')
  t.equal([...filled.values()].filter((cells) => cells > 0).length, 22)
})

await t.test('procurement: a contract number holds level, customer, year and serial', async (t) => {
  const parts = "'^[123]' || customer_inn || strftime(sign_date, '%y') || '\\d{6}$'"
  t.equal(await count(`procurement WHERE regexp_matches(reg_number, ${parts})`), 969)
  t.equal(await count('procurement WHERE length(supplier_inn) = 10'), 969)
})

await t.test('rows are sorted within each file, by the key of the registry', async (t) => {
  for (const [name, { key }] of Object.entries(registry().datasets)) {
    const window = 'PARTITION BY filename ORDER BY file_row_number'
    const previous = key.map((column) => `lag(${column}) OVER (${window})`)
    const sorted = `SELECT (${key.join()}) > (${previous.join()}) AS ascends,
      file_row_number FROM ${name}_placed`
    const wrong = `(${sorted}) WHERE file_row_number > 0 AND ascends IS NOT TRUE`
    t.equal(await count(wrong), 0, name)
  }
})

await t.test('the files are compressed with zstd', async (t) => {
  const codecs = `SELECT DISTINCT compression FROM parquet_metadata('${data}/*/*.parquet')`
  t.same(await rows(codecs), [['ZSTD']])
})

await t.test(
  'a dictionary covers each column exactly once, in the order of the files',
  async (t) => {
    for (const [name, { dictionary }] of Object.entries(registry().datasets)) {
      const csv = `read_csv('${join(home, dictionary)}', all_varchar = true)`
      const texts = 'unit,description,unit_ru,description_ru'.split(',')
      const labels = 'label_en,label_ru,section,section_ru'.split(',')
      t.same(await columnNames(csv), ['column', ...labels, 'nullable', ...texts, 'source'])
      const covered = (await rows(`SELECT "column" FROM ${csv}`)).flat()
      t.same(covered, await columnNames(name))
      const needed = ['description', 'description_ru', 'source']
      t.equal(
        await count(`${csv} WHERE ${needed.map((text) => `${text} IS NULL`).join(' OR ')}`),
        0,
      )
      t.equal(await count(`${csv} WHERE (unit IS NULL) <> (unit_ru IS NULL)`), 0)
      t.equal(await count(`${csv} WHERE regexp_matches(description, '[А-Яа-яЁё]')`), 0, 'English')
    }
  },
)

await t.test('what a dictionary promises never to be empty is filled in every row', async (t) => {
  const promised = async (name: string) => {
    const csv = `read_csv('${data}/${name}.columns.csv', all_varchar = true)`
    t.equal(
      await count(`${csv} WHERE nullable IN ('true', 'false')`),
      (await columnNames(name)).length,
    )
    return (await rows(`SELECT "column" FROM ${csv} WHERE nullable = 'false'`)).flat()
  }
  t.same(await promised('financials'), ['year', 'inn'])
  t.same(await promised('procurement'), ['reg_number', 'law', 'customer_inn'])
  for (const name of ['financials', 'procurement']) {
    const filled = await filledCounts(name)
    const rowCount = await count(name)
    for (const column of await promised(name)) {
      t.equal(filled.get(String(column)), rowCount, String(column))
    }
  }
})

await t.test(
  'every numeric column has a unit, except for numbers that only name something',
  async (t) => {
    const without = (name: string): string => `SELECT column_name FROM (DESCRIBE ${name})
    JOIN read_csv('${data}/${name}.columns.csv', all_varchar = true) ON "column" = column_name
    WHERE unit IS NULL AND regexp_matches(column_type, 'INT|DECIMAL') ORDER BY 1`
    t.same(await rows(without('financials')), [])
    t.same((await rows(without('procurement'))).flat(), ['lot_number', 'version_number'])
    const units = `SELECT unit, count(*) FROM read_csv('${data}/*.columns.csv', all_varchar = true)
    WHERE unit IS NOT NULL GROUP BY 1 ORDER BY 1`
    t.same(await rows(units), [
      ['RUB', '2'],
      ['RUB per share', '2'],
      ['code', '1'],
      ['count', '2'],
      ['currency', '2'],
      ['thousand RUB', '121'],
      ['year', '1'],
    ])
  },
)

await t.test('every column has a label and a section in both languages', async (t) => {
  for (const name of ['financials', 'procurement']) {
    const texts = await rows(`SELECT "column", label_en, label_ru, section, section_ru
      FROM read_csv('${data}/${name}.columns.csv', all_varchar = true)`)
    t.equal(texts.length, (await columnNames(name)).length)
    for (const [column, ...each] of texts) {
      t.ok(
        each.every((text) => text !== null && [...String(text)].length <= 60),
        String(column),
      )
    }
    for (const place of [1, 2]) {
      const labels = texts.map((text) => text[place])
      t.equal(new Set(labels).size, labels.length, `${name}: no label is there twice`)
    }
    const pairs = new Set(texts.map(([, , , ...sections]) => sections.join()))
    t.equal(pairs.size, new Set(texts.map((text) => text[3])).size, 'sections match in both')
  }
})

await t.test('sections are in the order of the forms', async (t) => {
  const sections = await rows(`SELECT DISTINCT ON (section) section, row_number() OVER () AS place
    FROM read_csv('${data}/financials.columns.csv', all_varchar = true) ORDER BY place`)
  t.same(
    sections.map(([section]) => section),
    [
      ...['Details of the company', 'Assets', 'Equity and liabilities', 'Income statement'],
      ...['Changes in equity', 'Cash flows', 'Targeted use of funds'],
    ],
  )
})

await t.test('descriptions say which columns are empty', async (t) => {
  for (const name of ['financials', 'procurement']) {
    const empty = [...(await filledCounts(name))].filter(([, cells]) => cells === 0)
    const said = await rows(`SELECT "column" FROM read_csv('${data}/${name}.columns.csv',
      all_varchar = true) WHERE description LIKE '%; empty throughout this sample'`)
    t.same(
      said.flat(),
      empty.map(([column]) => column),
      name,
    )
  }
})

await t.test('the code lists are whole, and explain the codes of the data', async (t) => {
  const list = (name: string): string =>
    `read_csv('${data}/dictionaries/${name}.csv', all_varchar = true)`
  for (const [name, codes] of [
    ['okfs', 33] as const,
    ['okopf', 43] as const,
    ['okved2', 2899] as const,
  ]) {
    t.equal(await count(list(name)), codes)
  }
  t.equal(await count(list('okpd2')), 20307)
  t.equal(await count(`${list('okpd2')} WHERE length(code) = 12`), 14653)
  const unknown = async (dataset: string, code: string, name: string): Promise<Json[]> =>
    (
      await rows(`SELECT DISTINCT ${code}::VARCHAR FROM ${dataset}
        WHERE ${code}::VARCHAR NOT IN (SELECT code FROM ${list(name)})`)
    ).flat()
  t.same(await unknown('financials', 'okfs', 'okfs'), [])
  t.same(await unknown('financials', 'okopf', 'okopf'), [])
  t.same(await unknown('financials', 'okved', 'okved2'), [])
  t.same(await unknown('procurement', 'okpd2', 'okpd2'), ['35.14.10.000'])
})

await t.test('each demo value of the registry occurs in the data', async (t) => {
  for (const [name, { demo }] of Object.entries(registry().datasets)) {
    for (const [column, values] of Object.entries(demo)) {
      for (const each of values) t.not(await count(`${name} WHERE ${column} = '${each}'`), 0, each)
    }
  }
  const { financials, procurement } = registry().datasets
  t.equal(await count(`financials WHERE inn IN (${quoted(financials.demo.inn)})`), 31)
  t.equal(await count(`procurement WHERE okpd2 IN (${quoted(procurement.demo.okpd2)})`), 63)
})

await t.test('the registry sells the plans of the specification', async (t) => {
  const { plans } = registry().datasets.financials
  const sold = Object.entries(plans).map(([name, { title, ...plan }]) => {
    t.match(title, { en: /^[A-Z]/, ru: /^[А-Я]/ }, name)
    return [name, plan] as const
  })
  t.same(Object.fromEntries(sold), {
    free: { rows_per_month: 1000, history: 1, price_rub: 0, rate_per_minute: 60 },
    start: { rows_per_month: 50000, history: 2, price_rub: 990 },
    pro: { rows_per_month: 500000, history: 'all', price_rub: 3900, rate_per_minute: 600 },
    business: { rows_per_month: 3000000, history: 'all', price_rub: 9900, rate_per_minute: 3000 },
  })
  t.same(registry().demo, { token: 'das_demo_opendata', rate_per_minute: 30 })
})

await t.test('making the data twice gives the same bytes', async (t) => {
  const source = t.testdir(sourceTexts())
  const parquet = { financials: 'girbo_2019_2025', procurement: '44fz_2018' }
  for (const [name, rest] of Object.entries(parquet)) {
    await connection.run(`COPY ${name} TO '${source}/${name}_${rest}.parquet' (FORMAT parquet)`)
  }
  const made = ['first', 'second'].map((folder) => {
    const run = makeSampleData(source, '--out', join(source, folder))
    t.equal(run.status, 0, run.stderr)
    return digests(join(source, folder))
  })
  t.equal(made[0]?.length, 14)
  t.same(made[0], made[1])
  const files = `read_parquet('${source}/first/financials/*.parquet')`
  t.equal(await count(`(FROM financials EXCEPT ALL FROM ${files})`), 0)
  t.notMatch(made[0]?.join(), /\.tmp/)
})

await t.test('making the data says what the source folder lacks', async (t) => {
  const folder = t.testdir({ 'financials_columns.csv': '' })
  const lacking = makeSampleData(folder)
  t.equal(lacking.status, 1)
  t.match(lacking.stderr, /lacks financials_girbo_2019_2025\.parquet, procurement_44fz_2018/)
  t.notMatch(lacking.stderr, /financials_columns\.csv|\n {4}at /)
  t.match(makeSampleData(join(folder, 'absent')).stderr, /there is no folder/)
  t.match(makeSampleData(), { status: 2, stdout: '', stderr: /Usage:/ })
  t.match(makeSampleData('--help'), { status: 0, stdout: /Usage:[^]*Example:/, stderr: '' })
})

function registry(): Type.Static<typeof Registry> {
  return Value.Parse(Registry, parse(readFileSync(join(home, 'registry.yaml'), 'utf8')))
}

function quoted(values: readonly string[]): string {
  return values.map((each) => `'${each}'`).join()
}

/** SQL that is true for a number of ten digits whose check digit is right. */
function validInn(column: string): string {
  const weights = [2, 4, 10, 3, 5, 9, 4, 6, 8]
  const terms = weights.map((weight, index) => `${weight} * ${column}[${index + 1}]::INTEGER`)
  return `length(${column}) = 10 AND (${terms.join(' + ')}) % 11 % 10 = ${column}[10]::INTEGER`
}

/** The CSV files of a source folder, made from the shipped dictionaries, with CRLF as in the source. */
function sourceTexts(): Record<string, string | Record<string, string>> {
  const shipped = (name: string): string => readFileSync(join(data, name), 'utf8')
  const labels = (name: string): string =>
    shipped(name)
      .replace('label_en,label_ru,', 'short_en,short_ru,')
      .replace('unit,description,unit_ru,description_ru', 'unit,label_en,unit_ru,label_ru')
  return {
    'financials_columns.csv': labels('financials.columns.csv'),
    'procurement_columns.csv': labels('procurement.columns.csv'),
    dictionaries: {
      'okfs.csv': shipped('dictionaries/okfs.csv').replaceAll('\n', '\r\n'),
      'okved2_full.csv': shipped('dictionaries/okved2.csv').replace(
        /^([^,]+,[^,]+),(?:"[^"]*"|[^,]*),/gm,
        '$1,',
      ),
      'okpd2_full.csv': shipped('dictionaries/okpd2.csv'),
    },
  }
}

function makeSampleData(...args: string[]) {
  const script = join(home, 'scripts', 'make-sample-data.ts')
  return spawnSync(process.execPath, ['--import', 'tsx', script, ...args], {
    cwd: home,
    encoding: 'utf8',
  })
}

function digests(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
      return `${path.slice(folder.length)} ${digest}`
    })
    .sort()
}
