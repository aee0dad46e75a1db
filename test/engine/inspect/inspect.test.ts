import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { filterPredicates } from '../../../src/columns/predicate.js'
import { duckDbInspector } from '../../../src/engine/duckdb/inspect/inspect.js'
import type { InspectOrder, InspectProgress, Inspection } from '../../../src/versions/inspector.js'
import type { Version } from '../../../src/versions/version.js'
import { damagePage, writeParquet } from '../../support/parquet.js'
import { never, openVersion } from '../fixtures/open-engine.js'

const inspectFiles = duckDbInspector(256 * 1024 ** 2)

interface Opened {
  readonly folder: string
  readonly version: Version
  readonly inspect: (order?: Partial<InspectOrder>, signal?: AbortSignal) => Promise<Inspection>
  readonly progress: InspectProgress[]
}

async function open(
  t: Test,
  files: Readonly<Record<string, string>>,
  { entry = '    key: id\n', writing = '' } = {},
): Promise<Opened> {
  const folder = t.testdir({})
  await writeParquet(join(folder, 'data'), files, writing)
  const version = await openVersion(folder, { entry })
  const progress: InspectProgress[] = []
  return {
    folder,
    version,
    progress,
    inspect: (order = {}, signal = never) =>
      inspectFiles(
        { version, deep: false, countsKeys: false, subset: null, ...order },
        { signal, report: (each) => progress.push(each) },
      ),
  }
}

await t.test('footers show row groups, empty columns and long numbers', async (t) => {
  const { inspect } = await open(
    t,
    {
      'a.parquet':
        'SELECT i AS id, NULL::TEXT AS none, -9007199254740992 AS big FROM range(5000) t(i)',
      'b.parquet':
        'SELECT 5000 - i AS id, NULL::TEXT AS none, 1::BIGINT AS big FROM range(3000) t(i)',
      'c.parquet': 'SELECT 1::BIGINT AS id, 1::BIGINT AS big WHERE false',
    },
    { writing: ', ROW_GROUP_SIZE 2048' },
  )
  const unknown = {
    notFiniteRows: null,
    rounded: null,
  }
  t.strictSame(await inspect(), {
    rowGroups: 5,
    columns: [
      { ...unknown, isEmpty: false },
      { ...unknown, isEmpty: true },
      { ...unknown, isEmpty: false, rounded: { rows: null, example: '-9007199254740992' } },
    ],
    keys: null,
    subsetRows: null,
  })
})

await t.test("a deep inspection reads every type and finds what footers don't show", async (t) => {
  const files = {
    'a.parquet': 'SELECT 1 AS id, * FROM test_all_types()',
    'b.parquet': 'SELECT 2 AS id, * FROM test_all_types()',
  }
  const { inspect, version, progress } = await open(t, files)
  const { columns } = await inspect({ deep: true })
  t.equal(columns.length, version.columns.length)
  const factsOf = (name: string) => columns[version.columns.findIndex((each) => each.name === name)]
  t.match(factsOf('id'), { isEmpty: false })
  t.match(factsOf('bigint'), { rounded: { rows: 4, example: '9223372036854775807' } })
  t.match(factsOf('dec_18_6'), { rounded: { rows: 4 } })
  t.match(factsOf('ubigint'), { rounded: null }, 'served as a string anyway')
  t.match(factsOf('int'), { rounded: null })
  t.notOk(columns.some(({ isEmpty }) => isEmpty))
  t.strictSame(progress.at(-1), { rowsDone: 6, rows: 6 })
})

await t.test('keys are counted over all files; nested ones are not', async (t) => {
  const files = {
    'a.parquet': 'SELECT 1 AS id, [1] AS list UNION ALL SELECT 1, [1] UNION ALL SELECT NULL, [2]',
    'b.parquet': 'SELECT 1 AS id, [1] AS list UNION ALL SELECT 2, [2] UNION ALL SELECT 2, [3]',
  }
  const { inspect } = await open(t, files)
  t.strictSame((await inspect({ countsKeys: true })).keys, {
    sharingRows: 5,
    betweenFilesRows: 0,
    example: { values: ['1'], rows: 3 },
    emptyRows: [1],
  })
  const nested = await open(t, files, { entry: '    key: list\n' })
  t.equal((await nested.inspect({ countsKeys: true })).keys, null)
})

await t.test('a subset is counted', async (t) => {
  const { inspect, version } = await open(t, { 'a.parquet': 'SELECT i AS id FROM range(9) t(i)' })
  const [id] = version.columns
  const subset = id ? filterPredicates(id, 'gte', ['4']) : null
  t.equal((await inspect({ subset })).subsetRows, 5)
})

await t.test('a dataset without rows is inspected like any other', async (t) => {
  const { inspect } = await open(t, { 'a.parquet': 'SELECT 1 AS id WHERE false' })
  const { keys, columns } = await inspect({ deep: true, countsKeys: true })
  t.match(keys, { sharingRows: 0, example: null })
  t.equal(columns.length, 1)
})

await t.test('small files are read together and wide ones in parts, none left out', async (t) => {
  const names = Array.from({ length: 120 }, (_, index) => `${1000 + index}.parquet`)
  const cells = Array.from({ length: 60 }, (_, index) => `i + ${index} AS c${index}`).join(', ')
  const select = `SELECT i AS id, ${cells} FROM range(100) t(i)`
  const odd = `SELECT * REPLACE (9007199254740993 AS c59) FROM (${select})`
  const { inspect, version, progress } = await open(t, { 'a.parquet': select, 'b.parquet': odd })
  const [file, last] = version.files
  if (!file || !last) throw new Error('no file')
  const files = names.map((name, index) => ({ ...(index === 110 ? last : file), name }))
  const many = { ...version, files, rows: 120 * file.rows }
  const { columns } = await inspect({ version: many, deep: true })
  t.match(columns.at(-1), { rounded: { rows: 100 } })
  t.strictSame(progress.at(-1), { rowsDone: 12_000, rows: 12_000 })
})

await t.test('a file that was damaged after it was opened fails by its kind', async (t) => {
  const select = 'SELECT i AS id FROM range(5000) t(i)'
  const { inspect, version } = await open(t, { 'a.parquet': select })
  await damagePage(version.files[0]?.path ?? '', 'id', 0)
  await t.rejects(inspect({ deep: true, countsKeys: true }), /^(?!.*\/).*\(\w[\w ]*\)$/)
})

await t.test('a file that is gone is named', async (t) => {
  const { inspect, version } = await open(t, { 'a.parquet': 'SELECT 1 AS id, 2.5::DOUBLE AS x' })
  const path = version.files[0]?.path ?? ''
  await rename(path, `${path}.away`)
  await t.rejects(inspect({ deep: true }), /^(?!.*\/).*\(IO\)$/)
})

await t.test('it stops when the signal aborts, with the reason of the signal', async (t) => {
  const { inspect } = await open(t, {
    'a.parquet': "SELECT i AS id, 'text ' || i AS x FROM range(300000) t(i)",
  })
  const stop = new AbortController()
  const reason = new Error('enough')
  const looking = inspect({ deep: true, countsKeys: true }, stop.signal)
  stop.abort(reason)
  t.equal(await looking.catch((cause: unknown) => cause), reason)
})
