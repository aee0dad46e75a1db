import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { versionsFolderOf } from '../../../src/catalog.js'
import { LiveCatalog } from '../../../src/catalog/live/live-catalog.js'
import { findingLevels } from '../../../src/cli/check/finding-table.js'
import { recordChanges, recordVersion } from '../../../src/control/dataset-versions.js'
import { duckDbOpener } from '../../../src/engine/duckdb/open/open-files.js'
import { hashFile } from '../../../src/versions/hash-file.js'
import { FileChecks } from '../../../src/versions/store/file-checks.js'
import { openRecordsOf } from '../../support/database.js'
import { age, rot } from '../../support/damage.js'
import { buildThings, checksOf, findingsOf } from '../fixtures/checked.js'
import { machineClock } from '../../../src/clock.js'

const key = '    key: id\n'

await t.test('consistent files with exact values have no findings', async (t) => {
  const select = (from: number) =>
    `SELECT i AS id, CAST(i AS DOUBLE) AS x, CAST(i * 1.25 AS DECIMAL(15,2)) AS price, DATE '2024-01-02' AS day,
       TIMESTAMPTZ '2024-01-02 03:04:05Z' AS seen, 9007199254740991 AS most, '007' AS code
     FROM range(${from}, ${from + 5}) t(i)`
  const cli = await buildThings(
    t,
    { 'a.parquet': select(0), 'b.parquet': select(5) },
    { entry: key },
  )
  t.same(await checksOf(cli), [{ name: 'things', status: 'ok', findings: [] }])
})

await t.test('differences between the columns of files are reported', async (t) => {
  const files = {
    'a.parquet':
      'SELECT 1 AS id, CAST(0.1 AS FLOAT) AS x, CAST(1 AS INTEGER) AS n, 1 AS gone, 1 AS h',
    'b.parquet': 'SELECT CAST(0.2 AS DOUBLE) AS x, 2 AS id, CAST(2 AS BIGINT) AS n, 2 AS late',
    'c.parquet':
      'SELECT 3 AS id, CAST(0.1 AS FLOAT) AS x, CAST(1 AS INTEGER) AS n, 3 AS gone, 3 AS h',
  }
  const entry = `${key}    columns: {h: {hidden: true}}\n`
  const found = await findingsOf(t, files, { entry })
  t.same(Object.keys(found), ['columns_missing', 'float_widened'])
  t.match(
    found['columns_missing'],
    '2 columns missing in some files: "gone" in 1 of 3 files (first data/b.parquet) and "late" in ' +
      '2 of 3 files (first data/a.parquet).',
  )
  t.match(
    found['float_widened'],
    '"x" (FLOAT in data/a.parquet): FLOAT values are served as DOUBLE, 0.1 as 0.10000000149011612.',
  )
})

await t.test('why the newest version has no changes is one line', async (t) => {
  const files = { 'a.parquet': 'SELECT 1 AS id' }
  t.match(await findingsOf(t, files), { no_changes: /the dataset has no key/ })
  const cli = await buildThings(t, files, { entry: key })
  const store = openRecordsOf(join(cli.folder, 'var'))
  const version = { asOf: null, rows: 1, publishedAt: 1 }
  await recordVersion(store, 'things', { ...version, version: 'a', previous: null })
  await recordVersion(store, 'things', { ...version, version: 'b', previous: 'a' })
  const outcome = { changes: 'none', changesReason: '2 rows share their key' } as const
  await recordChanges(store, 'things', { version: 'b', previous: 'a' }, outcome)
  await store.close()
  const [{ findings } = { findings: [] }] = await checksOf(cli)
  t.match(findings, [{ code: 'no_changes', message: /2 rows share their key/ }])
})

await t.test('an empty file may have any columns', async (t) => {
  const files = { 'a.parquet': 'SELECT 1 AS id, 2 AS x', 'b.parquet': 'SELECT 1 AS id WHERE false' }
  t.same(await findingsOf(t, files, { entry: key }), {})
})

await t.test('numbers that readers round are found in footers and counted by --deep', async (t) => {
  const files = {
    'a.parquet': `SELECT i AS id, 9007199254740993 - i AS big, -9007199254740993 AS text,
      CAST('123456789012.3456' AS DECIMAL(20,4)) AS amount,
      CAST('20000000000000.00' AS DECIMAL(18,2)) AS round, -9007199254740993 AS hidden,
      CAST('18446744073709551615' AS UBIGINT) AS unsigned
    FROM range(4) t(i)`,
  }
  const entry = `${key}    columns: {text: {json: string}, hidden: {hidden: true}}\n`
  const { rounded_by_readers: rounded, ...others } = await findingsOf(t, files, { entry })
  t.same(others, {
    decimal_wide:
      'decimals of more than 15 digits in "round": readers may round later values; ' +
      'serve them as text: columns: {NAME: {json: string}}',
  })
  t.match(
    rounded,
    'in "big" (such as 9007199254740993) and "amount" (such as 123456789012.3456): JavaScript, ' +
      'Excel and others round them; serve them as text: columns: {NAME: {json: string}}',
  )
  const deep = await findingsOf(t, files, { entry, flags: ['--deep'] })
  t.match(deep['rounded_by_readers'], 'in "big" (2 rows, such as 9007199254740993)')
})

await t.test('values that are served as null are counted', async (t) => {
  const files = {
    'a.parquet': `SELECT i AS id, CASE WHEN i = 1 THEN 'NaN'::FLOAT ELSE i END AS x,
      CASE WHEN i < 2 THEN '-infinity'::DATE ELSE DATE '2024-01-01' END AS day FROM range(4) t(i)`,
  }
  const found = await findingsOf(t, files, { entry: key })
  t.same(Object.keys(found), ['not_finite'])
  t.match(found['not_finite'], 'in "x" (1 row) and "day" (2 rows): callers get null')
})

await t.test('timestamps without a zone are reported', async (t) => {
  const select =
    "SELECT 1 AS id, TIMESTAMP '2024-01-01' AS at, TIMESTAMPTZ '2024-01-01 00:00:00Z' AS zoned"
  const cli = await buildThings(t, { 'a.parquet': select }, { entry: key })
  const [check] = await checksOf(cli)
  t.equal(check?.status, 'ok', 'what is good to know is no warning')
  t.match(check?.findings, [{ code: 'no_time_zone', level: 'info', message: /in "at": served/ }])
})

await t.test('rows that lack a key are counted', async (t) => {
  const files = {
    'a.parquet': 'SELECT i % 4 AS id, 7 AS part, i AS x FROM range(6) t(i)',
    'b.parquet':
      'SELECT 1 AS id, 7 AS part, 6 AS x UNION ALL SELECT 9, NULL, 7 UNION ALL SELECT 9, NULL, 8',
  }
  const found = await findingsOf(t, files, { entry: '    key: [id, part]\n' })
  t.same(Object.keys(found), ['key_empty'])
  t.match(found['key_empty'], 'no value in the key column "part" (2 rows)')
})

await t.test('columns without a value are reported, those of lists by --deep', async (t) => {
  const files = {
    'a.parquet':
      "SELECT i AS id, NULL::INTEGER AS nothing, 'x' AS only, NULL::INTEGER[] AS list FROM range(3) t(i)",
    'b.parquet':
      "SELECT 7::BIGINT AS id, NULL::INTEGER AS nothing, 'x' AS only, NULL::INTEGER[] AS list",
  }
  const shallow = await findingsOf(t, files, { entry: key })
  t.same(Object.keys(shallow), ['column_empty'])
  t.match(shallow['column_empty'], '1 column without any value: "nothing"')
  const deep = await findingsOf(t, files, { entry: key, flags: ['--deep'] })
  t.match(deep['column_empty'], '2 columns without any value: "nothing" and "list"')
})

await t.test(
  'columns that a dictionary lacks are reported; a missing dictionary is not',
  async (t) => {
    const cli = await buildThings(
      t,
      { 'a.parquet': 'SELECT 1 AS id, 2 AS x' },
      { entry: '    dictionary: data/words.csv\n' },
    )
    writeFileSync(join(cli.folder, 'data', 'words.csv'), 'column,description\nid,Number\n')
    const [check] = await checksOf(cli)
    t.match(check?.findings, [
      { code: 'no_description', message: /^1 column without a description: "x"/ },
    ])
  },
)

await t.test('implausible years are reported, because plans count from the newest', async (t) => {
  const years = (...values: readonly number[]) =>
    values.map((year, index) => `SELECT ${index} AS id, ${year} AS year`).join(' UNION ALL ')
  const entry = `${key}    history: year\n`
  const odd = await buildThings(t, { 'a.parquet': years(0, 2024, 9999) }, { entry })
  const [check] = await checksOf(odd)
  t.match(check?.findings, [
    { code: 'history_odd', message: /reaches 9999, 1 row is after 2027: .* see no rows of 2026/ },
    { code: 'history_odd', message: /goes back to the year 0/ },
  ])
  t.same(await findingsOf(t, { 'a.parquet': years(2019, 2026, 2027) }, { entry }), {})
  const days = "SELECT 1 AS id, DATE '2999-01-01' AS year UNION ALL SELECT 2, DATE '2024-05-05'"
  t.match(
    (await findingsOf(t, { 'a.parquet': days }, { entry }))['history_odd'],
    'reaches 2999-01-01',
  )
})

await t.test('--deep counts the demo subset', async (t) => {
  const files = { 'a.parquet': 'SELECT i * 2 AS id FROM range(5) t(i)' }
  const flags = ['--deep']
  const some = await findingsOf(t, files, { entry: `${key}    demo: {id: [2, 4]}\n`, flags })
  t.same(some, {})
  const none = await findingsOf(t, files, { entry: `${key}    demo: {id: [3]}\n`, flags })
  t.match(none, { demo_empty: /^the demo subset has no rows/ })
})

await t.test('columns with the names of parameters are named', async (t) => {
  const names = ['group', 'measures', 'q', 'header', 'explain', 'since', 'watch', 'excel', 'lang']
  const columns = [...names, 'secret', 'other'].map((name, at) => `${at} AS "${name}"`)
  const files = { 'a.parquet': `SELECT 1 AS id, ${columns.join(', ')}` }
  const entry = `${key}    columns: {secret: {name: order, hidden: true}}\n`
  t.same(await findingsOf(t, files, { entry }), {
    name_parameter:
      '"group", "measures", "q", "header", "explain", "since", "watch", "excel", "lang": also ' +
      'parameters of requests, such as aggregates; filter on them by POST and MCP',
  })
})

await t.test('names that some generators of clients fail on are warned of', async (t) => {
  const files = { 'a.parquet': 'SELECT 1 AS id, 2 AS "год", 3 AS "two words", 4 AS "ИНН"' }
  const entry = `${key}    columns: {ИНН: {name: inn}}\n`
  const cli = await buildThings(t, files, { entry })
  t.match(await checksOf(cli), [
    {
      status: 'warning',
      findings: [
        {
          code: 'name_not_ascii',
          message:
            'names with letters beyond ASCII: "год": some generators of clients fail on them; ' +
            'rename them: columns: {NAME: {name: other_name}}',
        },
      ],
    },
  ])
})

await t.test('a refusal says what to do', async (t) => {
  const codesOf = async (files: Readonly<Record<string, string>>, entry = '') => {
    const found = await findingsOf(t, files, { entry })
    return Object.entries(found).map(([code, message]) => `${code}: ${message}`)
  }
  t.match(await codesOf({ 'a.parquet': 'SELECT 1 AS "limit"' }), [/^refused: .*rename it/])
  t.match(await codesOf({ 'a.parquet': 'SELECT 1 AS file_index' }), [
    /^refused: .*remove it from the files/,
  ])
  t.match(await codesOf({ 'a.parquet': 'SELECT 1 AS a', 'b.parquet': 'SELECT 1 AS "A"' }), [
    /^refused: .*rename it/,
  ])
  t.match(
    await codesOf({ 'a.parquet': 'SELECT 1 AS a, 2 AS b' }, '    columns: {b: {name: a}}\n'),
    [/^refused: .*two columns have the name "a".*rename it/],
  )
  t.match(await codesOf({ 'a.parquet': 'SELECT 1 AS a', 'b.parquet': "SELECT 'x' AS a" }), [
    /^refused: .*Write one type, or serve texts: columns: \{"a": \{type: string\}\}$/,
  ])
})

await t.test('the worst finding is first, one line for each', async (t) => {
  const select = "SELECT i % 2 AS id, 'NaN'::DOUBLE AS x, NULL::INTEGER AS y FROM range(5) t(i)"
  const { das } = await buildThings(t, { 'a.parquet': select }, { entry: key })
  const lines = (await das(['dataset', 'check'])).stdout.trimEnd().split('\n')
  t.equal(lines[0], 'things: warning (5 rows, 3 columns, 1 file)')
  t.match(lines[1], /^ {2}warning: NaN or infinite/)
  t.match(lines[2], /^ {2}info: 1 column without any value/)
  t.equal(lines.length, 3)
})

await t.test('the table has exactly the codes that are used', (t) => {
  const sources = readdirSync('src/cli/check')
    .filter((name) => name !== 'finding-table.ts' && name.endsWith('.ts'))
    .map((name) => `src/cli/check/${name}`)
    .concat('src/versions/version-warnings.ts')
    .map((path) => readFileSync(path, 'utf8'))
  const used = sources.flatMap((text) =>
    [...text.matchAll(/\bfinding\(\s*'(\w+)'|\bcode: '(\w+)',/g)].map(([, one, two]) => one ?? two),
  )
  t.same([...new Set(used)].sort(), Object.keys(findingLevels).sort())
  t.end()
})

await t.test('--deep also reads the files in the state folder', async (t) => {
  const select = 'SELECT i AS id, md5(i::VARCHAR) AS text FROM range(2000) t(i)'
  const writing = ', COMPRESSION uncompressed'
  const cli = await buildThings(t, { 'a.parquet': select }, { entry: key, writing })
  const registryPath = join(cli.folder, 'registry.yaml')
  const source = join(cli.folder, 'data/a.parquet')
  age(source)
  await LiveCatalog.open({
    registryPath,
    openFiles: duckDbOpener(256 * 2 ** 20),
    checks: new FileChecks(hashFile, machineClock),
    versionsFolder: versionsFolderOf(join(cli.folder, 'var')),
    clock: { ...machineClock, now: () => Date.now() },
    sold: async () => [],
  })
  t.match(await checksOf(cli, ['--deep']), [{ status: 'ok' }])
  rot(source, 0.5)
  t.match(await checksOf(cli), [{ status: 'ok' }], 'only --deep reads every byte')
  const [check] = await checksOf(cli, ['--deep'])
  const found = check?.findings.find(({ code }) => code === 'stored_damaged')
  t.match(found?.message, /^data\/a\.parquet is damaged in the state folder: its content is not/)
  t.equal(check?.status, 'refused')
  t.notMatch(JSON.stringify(check), new RegExp(cli.folder))
})

await t.test('a key of the registry that is gone is a warning, also of das doctor', async (t) => {
  const entry = `${key}    pack_to: s3://data/packed/\n`
  const { das } = await buildThings(t, { 'a.parquet': 'SELECT 1 AS id' }, { entry })
  const warning =
    /registry\.yaml:\d+:5: datasets\.things\.pack_to: is gone and ignored: each server /
  const { code, stdout, stderr } = await das(['dataset', 'check'])
  t.match({ code, stdout }, { code: 0, stdout: /^things: ok/ })
  t.match(stderr, new RegExp(`^warning: ${warning.source}.*\\n$`))
  t.match((await das(['doctor'])).stdout, new RegExp(`^warn  registry: ${warning.source}`, 'm'))
})
