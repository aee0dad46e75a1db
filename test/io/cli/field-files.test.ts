import { cpSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { build } from '../../cli/fixtures/das-process.js'

// Guarantee: the built program says the same of a file that people bring, in `das dataset check`,
// when it serves it, and in `das dataset list`.

interface Outcome {
  /** Rows that are served; null = none, with the reason. */
  readonly rows: number | null
  /** Findings of the check, and words of the reason. */
  readonly says?: RegExp
}

/** What the files of `test/fixtures/field` are, by what they match there. */
const outcomes: Readonly<Record<string, Outcome>> = {
  'decimal39.parquet': { rows: null, says: /column of more than 38 digits, "x"/ },
  'signed_statistics.parquet': { rows: 8 },
  'delta/**/*.parquet': { rows: null, says: /is a Delta table/ },
  'spark_output/**/*.parquet': { rows: 100 },
  'same_bytes_twice/*.parquet': { rows: null, says: /has the same bytes as/ },
  'corrected_beside_old/*.parquet': { rows: 200, says: /keys_between_files: 200 rows/ },
  'column_missing_in_one_year/*.parquet': { rows: 200, says: /columns_missing: 1 column/ },
  'year_20244/*.parquet': { rows: 201, says: /history_odd: .+ reaches 20244, 1 row/ },
  'truncated_year/2*.parquet': { rows: 200 },
  'pandas_all_null/*.parquet': { rows: 2 },
  'pandas_int_gap/*.parquet': { rows: 4 },
  'pandas_date_drift/*.parquet': { rows: 6 },
  'negative_zero.parquet': { rows: 3000 },
  'nanosecond_1677.parquet': { rows: 2000 },
  'int96_nanoseconds.parquet': { rows: 2, says: /nanoseconds_cut: nanoseconds in "t"/ },
  'byte_stream_split_integer.parquet': { rows: null, says: /column that can't be read, "n"/ },
  'invalid_utf8.parquet': { rows: null, says: /can't be read, "s", row 321/ },
}

const nameOf = (pattern: string) => /^\w+/.exec(pattern)?.[0] ?? ''

function entryOf(pattern: string): string {
  const isKeyed = /corrected|year_2/.test(pattern)
  const keys = isKeyed ? ', key: [inn, year], history: year' : ''
  const demo = pattern.startsWith('spark') ? ', demo: {year: [2024]}' : ''
  const plans = 'plans: {all: {rows_per_month: 1000, history: all, price_rub: 0}}'
  const files = JSON.stringify(`field/${pattern}`)
  return `  ${nameOf(pattern)}: {title: T, files: ${files}${keys}${demo}, ${plans}}`
}

interface Checked {
  readonly name: string
  readonly status: string
  readonly findings: readonly { code: string; level: string; message: string }[]
}

interface Listed {
  readonly name: string
  readonly rows: number | null
  readonly reason: string | null
}

await t.test('files that people bring, checked, served and listed by the program', async (t) => {
  const cli = await build(t)
  const folder = join(t.testdirName, 'site')
  cpSync(resolve('test/fixtures/field'), join(folder, 'field'), { recursive: true })
  const entries = Object.keys(outcomes).map(entryOf).join('\n')
  writeFileSync(
    join(folder, 'registry.yaml'),
    `demo: {token: das_demo_field}\ndatasets:\n${entries}\n`,
  )
  const site = { folder }
  const checked = JSON.parse(
    (await cli.das(site, ['dataset', 'check', '--json'])).stdout,
  ) as Checked[]
  const server = await cli.serve(site)
  const listed = JSON.parse((await cli.das(site, ['dataset', 'list', '--json'])).stdout) as Listed[]
  for (const [pattern, { rows, says }] of Object.entries(outcomes)) {
    const name = nameOf(pattern)
    const check = checked.find((each) => each.name === name)
    const list = listed.find((each) => each.name === name)
    const found = (check?.findings ?? []).map(({ code, message }) => `${code}: ${message}`)
    t.equal(check?.status === 'refused', rows === null, `${name}: ${found.join()}`)
    t.equal(list?.rows ?? null, rows, `${name}: ${list?.reason}`)
    if (says) {
      t.ok(
        found.some((each) => says.test(each)),
        `${name}: ${found.join()}`,
      )
    }
    if (says && rows === null) t.match(list?.reason, says)
  }
  server.kill('SIGTERM')
  await server.ended
})
