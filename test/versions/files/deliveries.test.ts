import t from 'tap'
import { bring, forms } from '../../support/brought-files.js'

// Guarantee: a first delivery that is odd is served with a word on it, in check, list and log; one
// that takes something away from callers is not served until its owner says so.

const entry = '    key: [inn, year]\n    history: year'
const years = (year: number, rows: number, more = '') =>
  `SELECT (7700000000 + i)::VARCHAR AS inn, ${year} AS year, i AS v ${more} FROM range(${rows}) t(i)`

const firsts = {
  corrected_beside_old:
    /^200 rows of which other files have the same inn, year, such as inn = 7700000\d+, year = 2024 in 2 files: /,
  column_missing_in_one_year:
    /^1 column missing in some files: "v" in 1 of 2 files \(first data\/2024\.parquet\)/,
  year_20244:
    /^the history column "year" reaches 20244, 1 row is after 2027: .*; correct the rows$/,
}

for (const [field, warning] of Object.entries(firsts)) {
  await t.test(`${field}: a first delivery is served with a warning`, async (t) => {
    const { check, reason, warnings, das, ask } = await bring(t, { field, lines: entry })
    t.equal(reason, null)
    t.match(check, /^things: warning /)
    t.match(warnings, [warning])
    t.equal(warnings.length, 1)
    t.ok(check.includes(`warning: ${warnings[0]}`), 'check and list use the same words')
    t.match((await das(['dataset', 'list'])).stdout, `things: warning: ${warnings[0]}`)
    for (const form of forms) t.match(await ask(form, 'inn=eq.7700000000'), '"inn":"7700000000"')
  })
}

await t.test('the same is refused as a refresh, until the owner says so', async (t) => {
  const sound = {
    corrected_beside_old: { files: { 'data/2023.parquet': years(2023, 100) } },
    column_missing_in_one_year: { files: { 'data/2024.parquet': years(2024, 100) } },
    year_20244: { files: { 'data/2024.parquet': years(2024, 101) } },
  }
  const refusals = {
    corrected_beside_old: /^200 rows of the new files share their inn, year with another row/,
    column_missing_in_one_year: /2024\.parquet lacks column "v", which it had before/,
    year_20244: /^the newest value of "year" went from 2024 to 20244; 1 row is after 2027; correct/,
  }
  for (const [field, refusal] of Object.entries(refusals)) {
    const first = sound[field as keyof typeof sound]
    const { reason, deliver, das, ask } = await bring(t, { ...first, lines: entry })
    t.equal(reason, null)
    const before = await ask('dropped', 'measures=count', 'aggregate')
    const next = await deliver({ field })
    t.match(next.reason, refusal, field)
    t.match(next.check, /^things: refused/)
    t.ok(next.check.includes(`error: ${next.reason}`), 'check says what the server says')
    t.match((await das(['dataset', 'list'])).stdout, /^things: since 2026-11-15 12:\d\d UTC: /m)
    t.equal(await ask('dropped', 'measures=count', 'aggregate'), before, 'the old rows are served')
  }
})

await t.test('a file that comes back with a twentieth of its rows is refused', async (t) => {
  const lines = entry
  const pattern = 'data/*.parquet'
  const { deliver, ask } = await bring(t, { field: 'truncated_year', pattern, lines })
  const next = await deliver({ field: 'truncated_year/redelivered/2024.parquet' })
  t.match(next.reason, 'the new files hold 105 rows, 47.5 % fewer than the 200 served')
  t.match(next.check, 'the new files hold 105 rows, 47.5 % fewer than the 200 served')
  t.match(await ask('dropped', 'year=eq.2024&measures=count', 'aggregate'), '"count":100')
})

await t.test('a folder is looked at before its files', async (t) => {
  const delta = await bring(t, { field: 'delta' })
  t.match(delta.reason, /Delta/)
  t.match(delta.check, delta.reason ?? '')
  const twice = await bring(t, { field: 'same_bytes_twice', lines: entry })
  t.match(twice.reason, /2024 \(1\)\.parquet.*2024\.parquet|2024\.parquet.*2024 \(1\)\.parquet/)
  t.match(twice.check, twice.reason ?? '')
  const spark = await bring(t, { field: 'spark_output', lines: '    key: inn' })
  t.equal(spark.reason, null)
  for (const form of forms) t.match(await spark.ask(form, 'measures=count', 'aggregate'), '":100')
})

await t.test('rows that share a key are told apart by where they are', async (t) => {
  const half = (rows: string) => `SELECT inn, year, v FROM (${rows})`
  const cases = {
    'each row again, in a third file': {
      files: {
        'data/a.parquet': half(years(2023, 50)),
        'data/b.parquet': half(years(2024, 50)),
        'data/c.parquet': `${years(2023, 50)} UNION ALL ${years(2024, 50)}`,
      },
      warns: true,
    },
    'one row again': {
      files: { 'data/a.parquet': years(2024, 50), 'data/b.parquet': years(2024, 1, ', 1 AS w') },
      warns: true,
    },
    'a key that is not meant to be unique': {
      files: {
        'data/a.parquet': `${years(2024, 50)} UNION ALL ${years(2024, 50)}`,
        'data/b.parquet': `${years(2024, 50)} UNION ALL ${years(2024, 9)}`,
      },
      warns: false,
    },
    'a year in each file': {
      files: { 'data/a.parquet': years(2023, 50), 'data/b.parquet': years(2024, 50) },
      warns: false,
    },
  }
  for (const [name, { files, warns }] of Object.entries(cases)) {
    const { reason, warnings } = await bring(t, { files, lines: entry })
    t.equal(reason, null)
    t.equal(
      warnings.some((each) => /of which other files have the same/.test(each)),
      warns,
      name,
    )
  }
})
