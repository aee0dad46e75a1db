import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Rows } from '../../../src/engine/engine.js'
import type { FilePosition, Question } from '../../../src/query/question.js'
import { filesIn, pageFolders } from '../../support/page-files.js'
import { readBytes, writeParquet } from '../../support/parquet.js'
import { openFolder } from '../fixtures/open-engine.js'
import type { EngineWorld, EngineWorldOptions } from '../fixtures/open-engine.js'

// Guarantee: a Parquet page is the JSON page in another form, and leaves nothing behind.

interface PageWorld extends EngineWorld {
  readonly page: (question?: Partial<Question>, signal?: AbortSignal) => Promise<Rows<FilePosition>>
  /** Below it pages are written. */
  readonly temp: string
}

async function open(t: Test, { files, ...options }: EngineWorldOptions): Promise<PageWorld> {
  const folder = t.testdir({})
  await writeParquet(join(folder, 'data'), files, options.writing)
  const temp = join(folder, 'temp')
  const engine = { ...options.engine, tempFolder: temp }
  const world = await openFolder(t, folder, { ...options, engine })
  const page: PageWorld['page'] = (question = {}, signal = new AbortController().signal) => {
    const { version } = world
    const usual = { version, predicates: [], columns: version.columns, after: null, limit: 1000 }
    const asked = { ...usual, format: 'parquet' as const, ...question }
    return world.engine.read(asked, { signal, client: 'a client' })
  }
  return { ...world, page, temp }
}

const readPage = (t: Test, { file }: Rows, select?: string) =>
  readBytes(t, file ?? Buffer.from('no file'), select)

const asJson = 'SELECT CAST(to_json(page) AS VARCHAR) FROM read_parquet($1) AS page'

/** More rows than one thread reads, then files laid out by turns; read in pieces of every plan. */
const manyFiles = {
  'a.parquet': `SELECT i AS id, 'x' || i % 1000 AS text FROM range(300_000) t(i)`,
  'b.parquet': `SELECT i AS id, 'x' || i % 10 AS text, [i] AS list FROM range(500) t(i)`,
  'c.parquet': `SELECT i AS id, 'x' || i % 10 AS text FROM range(0) t(i)`,
  'd.parquet': `SELECT i AS id, 'x' || i % 10 AS text FROM range(500) t(i)`,
}

await t.test('a walk meets the rows of the JSON pages, whatever the plan', async (t) => {
  const world = await open(t, { files: manyFiles, writing: ', ROW_GROUP_SIZE 10240' })
  const texts = Array.from({ length: 40 }, (_, index) => `x${index * 25}`)
  const questions = [
    world.filter('id', 'gte', '299000'),
    world.filter('text', 'eq', 'x7'),
    world.filter('text', 'in', ...texts),
    world.filter('id', 'lt', '300'),
  ]
  for (const predicates of questions) {
    const limit = 370
    let after: FilePosition | null = null
    for (let pages = 0; pages < 4; pages++) {
      const json: Rows<FilePosition> = await world.page({
        predicates,
        after,
        limit,
        format: 'json',
      })
      const page = await world.page({ predicates, after, limit })
      const placesOf = ({ rows }: Rows<FilePosition>) => rows.map(({ position }) => position)
      t.strictSame(placesOf(page), placesOf(json))
      t.equal(page.hasMore, json.hasMore)
      const { rows } = await readPage(t, page, asJson)
      t.strictSame(
        rows.map(String),
        json.rows.map(({ encoded }) => String(encoded)),
      )
      after = placesOf(json).at(-1) ?? null
    }
  }
})

await t.test('types are those of the dataset, in every file and on every page', async (t) => {
  const world = await open(t, {
    patterns: '"data/**/*.parquet"',
    files: {
      'year=2023/a.parquet': `SELECT 1::TINYINT AS id, -1::BIGINT AS wide, 1.5::DECIMAL(3,1) AS dec,
        'a' AS gone, DATE '2024-01-02' AS day`,
      'year=2024/b.parquet': `SELECT 2::INTEGER AS id, 18446744073709551615::UBIGINT AS wide,
        12.25::DECIMAL(38,2) AS dec, NULL::DATE AS day`,
    },
    entry: '    columns: {wide: {name: "odd \\"name\\"", json: string}, dec: {json: string}}\n',
  })
  const columns = ['year', 'odd "name"', 'id', 'dec', 'gone', 'day'].map(world.column)
  const all = await readPage(t, await world.page({ columns }))
  t.strictSame(all.names, ['year', 'odd "name"', 'id', 'dec', 'gone', 'day'])
  const types = ['BIGINT', 'DECIMAL(38,0)', 'INTEGER', 'DECIMAL(38,2)', 'VARCHAR', 'DATE']
  t.strictSame(all.types, types)
  t.strictSame(all.rows, [
    ['2023', '-1', '1', '1.50', 'a', '2024-01-02'],
    ['2024', '18446744073709551615', '2', '12.25', null, null],
  ])
  for (const after of [null, { file: 0, row: 0 }, { file: 1, row: 0 }]) {
    const page = await readPage(t, await world.page({ columns, after, limit: 1 }))
    t.strictSame(page.types, types)
    t.strictSame(page.rows, all.rows.slice(after ? after.file + 1 : 0).slice(0, 1))
  }
  const none = await readPage(t, await world.page({ predicates: world.filter('id', 'eq', '-9') }))
  t.strictSame(none.rows, [], 'no file is even looked at')
  t.equal(none.names.length, 6)
})

await t.test('the largest page is one row group, and holds nothing but its columns', async (t) => {
  const files = {
    'a.parquet': `SELECT i AS id, i AS "a secret's source" FROM range(60000) t(i)`,
    'b.parquet': `SELECT i + 60000 AS id, i AS "a secret's source" FROM range(60000) t(i)`,
  }
  const entry = '    columns: {"a secret\'s source": {name: shown}}\n'
  const world = await open(t, { files, entry })
  const page = await world.page({ limit: 100_000 })
  const sorted = 'SELECT count(*), bool_and(id = file_row_number) FROM read_parquet($1)'
  const { rows, rowGroups, notes } = await readPage(t, page, sorted)
  t.strictSame(rows, [['100000', 'true']])
  t.strictSame(rowGroups, [100_000])
  t.strictSame(notes, [])
  const bytes = String(page.file)
  for (const word of [world.folder, 'secret', 'piece', 'number', 'c0', 'year=']) {
    t.notOk(bytes.includes(word), word)
  }
})

await t.test('pages at the same time do not meet, and leave nothing behind', async (t) => {
  const world = await open(t, { files: manyFiles, engine: { slots: 4 } })
  const limits = Array.from({ length: 12 }, (_, index) => 10 + index)
  const pages = await Promise.all(
    limits.map((limit) =>
      world.page({ limit, predicates: world.filter('text', 'eq', `x${limit}`) }),
    ),
  )
  for (const [index, page] of pages.entries()) {
    const { rows } = await readPage(
      t,
      page,
      'SELECT count(*), any_value(text) FROM read_parquet($1) GROUP BY text',
    )
    t.strictSame(rows, [[`${limits[index]}`, `x${limits[index]}`]])
  }
  t.strictSame(filesIn(world.temp), [])
})

/** Much to write, none of it alike. */
const bulky = {
  'a.parquet': `SELECT i AS id, md5(i::VARCHAR) AS a, sha256(i::VARCHAR) AS b,
    sha256((-i)::VARCHAR) AS c FROM range(40_000) t(i)`,
}

const unwritable = {
  code: 'service_unavailable',
  detail: "A Parquet page can't be written now. Try again shortly, or ask for another format.",
  retryAfterSeconds: 5,
}

/** Part of util-linux. */
const prlimit = '/usr/bin/prlimit'

/** Lets files of this process grow no further: the kernel refuses as it does on a full disk. */
function limitFiles(size: string): void {
  execFileSync(prlimit, ['--pid', String(process.pid), `--fsize=${size}:`])
}

await t.test('a disk that fills midway is a 503, and nothing is left on it', async (t) => {
  const world = await open(t, { files: bulky })
  const ask = () => world.page({ limit: 40_000 })
  // Else the kernel ends the process.
  const goOn = () => {}
  process.on('SIGXFSZ', goOn)
  limitFiles('200000')
  const error: unknown = await ask().catch((cause: unknown) => cause)
  limitFiles('unlimited')
  process.off('SIGXFSZ', goOn)
  t.match(error, unwritable)
  const { cause } = error as Error
  t.match(String(cause), /DuckDB IO: .*\.parquet/, 'the log learns why')
  t.notMatch(String(cause), world.folder)
  t.strictSame(filesIn(world.temp), [])
  t.equal((await ask()).rows.length, 40_000, 'the next one is')
})

await t.test('a folder that takes no file is a 503, until it does', async (t) => {
  const world = await open(t, { files: { 'a.parquet': 'SELECT 1 AS id' } })
  for (const folder of pageFolders(world.temp)) writeFileSync(folder, 'in the way')
  await t.rejects(world.page(), unwritable)
  t.equal((await world.page({ format: 'json' })).rows.length, 1, 'other formats go on')
  for (const folder of pageFolders(world.temp)) rmSync(folder)
  t.equal((await world.page()).rows.length, 1)
})

await t.test('a caller who leaves while a page is written leaves no file', async (t) => {
  const world = await open(t, { files: bulky })
  await world.page({ limit: 1 })
  const gone = new AbortController()
  const reason = new Error('the caller is gone')
  const [folder = ''] = pageFolders(world.temp).filter((each) => existsSync(each))
  const watcher = watch(folder, () => gone.abort(reason))
  await t.rejects(world.page({ limit: 40_000 }, gone.signal), reason)
  watcher.close()
  t.strictSame(filesIn(world.temp), [])
  t.equal((await world.page({ limit: 40_000 })).rows.length, 40_000, 'the next one is whole')
})
