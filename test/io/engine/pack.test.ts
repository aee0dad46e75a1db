import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { makeForms } from '../../../src/engine/duckdb/pack/make-forms.js'
import { formsOf, isFormName } from '../../../src/versions/forms/form.js'
import { readFormRecord } from '../../../src/versions/forms/form-record.js'
import { draftsOf, formsOrder } from '../../../src/versions/forms/forms-order.js'
import type { FormsOrder, FormsProgress } from '../../../src/versions/forms/forms-order.js'
import { never, openVersion } from '../../engine/fixtures/open-engine.js'
import { rowsOf } from '../../engine/fixtures/rows-of.js'
import { testFolder } from '../../support/folder.js'
import { writeParquet } from '../../support/parquet.js'

const silent = { signal: never, report: () => undefined }
const entry = '    key: [k, n]\n    columns: {name: {search: true}}\n'

const files = {
  'a.parquet': `SELECT CASE WHEN i % 7 = 0 THEN NULL ELSE (i * 31) % 900 END AS k, i AS n,
    'a' || i AS name, -0.0::DOUBLE AS x, [i, NULL] AS l FROM range(21000) t(i)`,
  'b.parquet': `SELECT CASE WHEN i % 5 = 0 THEN NULL ELSE (i * 17) % 900 END AS k,
    CAST(i + 4000 AS INTEGER) AS n, 'b' || i AS name FROM range(3000) t(i)`,
}

/** The order for all forms of these files. */
async function orderOf(
  t: Test,
  own: Readonly<Record<string, string>> = files,
  patterns = 'data/*.parquet',
): Promise<FormsOrder> {
  const folder = testFolder(t)
  await writeParquet(join(folder, 'data'), own)
  const version = await openVersion(folder, { entry, patterns })
  return formsOrder(version, join(folder, 'forms'), formsOf(version), 256 * 1024 ** 2)
}

function namesOf({ forms }: FormsOrder): readonly string[] {
  return forms.map(({ name }) => name).sort()
}

await t.test('all forms are made and listed, and nothing is left beside them', async (t) => {
  const order = await orderOf(t)
  const reported: FormsProgress[] = []
  await makeForms(order, { signal: never, report: (each) => reported.push(each) })
  const record = await readFormRecord(order.folder)
  t.same(Object.keys(record).sort(), namesOf(order))
  for (const { kind, file, name } of order.forms) {
    const isNeeded = kind !== 'pages' || file === 0
    t.equal(record[name] !== null, isNeeded, `${kind} of ${file}`)
    if (isNeeded) t.equal(statSync(join(order.folder, name)).size, record[name]?.sizeBytes)
  }
  t.notOk(existsSync(draftsOf(order.folder)))
  const [first] = reported
  t.match(first, { stage: 'writing', rowsDone: 0, rows: 3 * 24_000 })
})

await t.test('pages have the same rows in the same order, in small row groups', async (t) => {
  const order = await orderOf(t)
  await makeForms(order, silent)
  const pages = join(order.folder, order.forms.find(({ kind }) => kind === 'pages')?.name ?? '')
  const ordered = (path: string) =>
    rowsOf(`SELECT file_row_number, * FROM read_parquet('${path}') ORDER BY file_row_number`)
  t.same(await ordered(pages), await ordered(order.files[0]?.path ?? ''))
  const [groups = ''] = await rowsOf(
    `SELECT max(row_group_num_rows) AS most FROM parquet_metadata('${pages}')`,
  )
  t.equal(groups, '{"most":10240}')
})

await t.test('the next run makes only what is missing, whatever was left behind', async (t) => {
  const order = await orderOf(t)
  await makeForms({ ...order, forms: order.forms.slice(0, 2) }, silent)
  const [kept = ''] = readdirSync(order.folder).filter(isFormName)
  const before = statSync(join(order.folder, kept)).ino
  writeFileSync(join(order.folder, 'record.json.draft'), 'cut off by a kil')
  await makeForms({ ...order, forms: order.forms.slice(2) }, silent)
  t.same(Object.keys(await readFormRecord(order.folder)).sort(), namesOf(order))
  t.equal(statSync(join(order.folder, kept)).ino, before)
})

await t.test('an abort lists nothing that is not finished', async (t) => {
  const order = await orderOf(t)
  const stop = new AbortController()
  const reason = new Error('enough')
  const report = () => stop.abort(reason)
  await t.rejects(makeForms(order, { signal: stop.signal, report }), reason)
  t.same(await readFormRecord(order.folder), {})
  t.same(readdirSync(order.folder).filter(isFormName), [])
  await t.resolves(makeForms(order, silent))
})

await t.test('a file that is replaced, gone or damaged gets no form', async (t) => {
  const order = await orderOf(t, { 'b.parquet': files['b.parquet'] })
  const [file] = order.files
  if (!file) throw new Error('no file')
  const cases: readonly (readonly [string, Partial<typeof file>, RegExp])[] = [
    ['replaced', { guard: 'another inode' }, /was replaced while it was packed/],
    ['gone', { path: join(order.folder, 'gone.parquet') }, /can't be read/],
    ['damaged', { contentHash: '0'.repeat(64) }, /is damaged: its content is not what/],
  ]
  for (const [what, change, message] of cases) {
    const other = { ...order, files: [{ ...file, ...change }] }
    await t.rejects(makeForms(other, silent), { message }, what)
    t.same(await readFormRecord(order.folder), {}, what)
  }
  const bytes = readFileSync(file.path)
  const path = join(order.folder, 'rotten.parquet')
  writeFileSync(path, bytes.fill(7, 100, 2000))
  const rotten = { ...order, files: [{ ...file, path, guard: null }] }
  await t.rejects(makeForms(rotten, silent), { message: /./ })
  t.same(await readFormRecord(order.folder), {})
})

await t.test(
  'a type that Parquet lacks keeps the file from pages, not from a row copy',
  async (t) => {
    const huge =
      'SELECT i AS k, i AS n, i::VARCHAR AS name, (i % 200)::UTINYINT AS x FROM range(21000) t(i)'
    const order = await orderOf(t, { 'a.parquet': huge })
    const columns = order.columns.map((column) => {
      const wide = { kind: 'scalar', name: 'HUGEINT' } as const
      return column.source === 'x' ? { ...column, type: wide } : column
    })
    await makeForms({ ...order, columns }, silent)
    const record = await readFormRecord(order.folder)
    t.equal(Object.values(record).filter((each) => each === null).length, 0)
  },
)

await t.test('files with the same content, of different folders, share their pages', async (t) => {
  const twice = Object.fromEntries(
    [1, 2, 3].map((region) => [`region=${region}/a.parquet`, files['a.parquet']]),
  )
  const order = await orderOf(t, twice, 'data/**/*.parquet')
  t.equal(order.files.length, 3)
  t.equal(order.forms.filter(({ kind }) => kind === 'pages').length, 1)
  t.equal(order.forms.filter(({ kind }) => kind === 'rows').length, 3)
  const memoryLimitBytes = 1024 ** 3
  await makeForms({ ...order, memoryLimitBytes }, silent)
  t.same(Object.keys(await readFormRecord(order.folder)).sort(), namesOf(order))
  for (const { name } of order.forms) t.ok(existsSync(join(order.folder, name)), name)
})

await t.test('rows that are suddenly long are read a few at a time', async (t) => {
  const growing = `SELECT i AS k, i AS n, CASE WHEN i < 1024 THEN 'short'
    ELSE repeat(md5(i::VARCHAR), 1500) END AS name FROM range(4000) t(i)`
  const order = await orderOf(t, { 'a.parquet': growing })
  const forms = order.forms.filter(({ kind }) => kind === 'rows')
  await makeForms({ ...order, forms }, silent)
  t.same(Object.keys(await readFormRecord(order.folder)), [forms[0]?.name])
})
