import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { datasetOf, makeHome } from './fixtures/home.js'
import { startWorld, writeParquet } from '../support/world.js'

// Guarantee: a file is served as it is, or refused in words for people that hold no absolute path;
// whatever it is, other datasets are served.

const plans = 'plans: {all: {rows_per_month: 1000000, history: all, price_rub: 0}}'

function registryOf(names: readonly string[]): string {
  const entries = names.map(
    (name) => `  ${name}:
    title: Odd
    files: ${JSON.stringify(`data/${name}.parquet`)}
    require_filter: false
    ${plans}`,
  )
  return `datasets:\n${entries.join('\n')}\n`
}

const longName = 'long '.repeat(200)
const wide = Array.from({ length: 400 }, (_, index) => `i + ${index} AS "${index}"`).join(', ')
const nested = `[{'m': MAP {'k': [1, NULL], 'l': []}, 's': {'x y': 1.5, '2110': NULL}}, NULL]`
const deep = `${'['.repeat(20)}1${']'.repeat(20)}`

/** Dataset → the SELECT of its file, how it is written, and the JSON text of its first row. */
const served: Readonly<Record<string, readonly [select: string, writing: string, row?: string]>> = {
  good: [`SELECT i AS id FROM range(100) t(i)`, '', '{"id":0}'],
  no_rows: [`SELECT i AS id FROM range(0) t(i)`, ''],
  columns_400: [`SELECT ${wide} FROM range(3) t(i)`, ''],
  row_groups: [`SELECT i AS id FROM range(60000) t(i)`, ', ROW_GROUP_SIZE 2048', '{"id":0}'],
  names: [
    `SELECT 1 AS "Имя", 2 AS "🦆", 3 AS "a.b", 4 AS "c d", 5 AS "q""q", 6 AS "it's", 7 AS "${longName}"`,
    '',
    `{"Имя":1,"🦆":2,"a.b":3,"c d":4,"q\\"q":5,"it's":6,"${longName}":7}`,
  ],
  line_break: [`SELECT 1 AS "a\nb"`, '', '{"a\\nb":1}'],
  ...Object.fromEntries(
    ['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw', 'brotli'].flatMap((codec) =>
      ['v1', 'v2'].map((version) => [
        `${codec}_${version}`,
        [
          `SELECT 'text ' || i AS a, i * 0.5 AS b FROM range(3000) t(i)`,
          `, COMPRESSION ${codec}, PARQUET_VERSION ${version}`,
          '{"a":"text 0","b":0.0}',
        ] as const,
      ]),
    ),
  ),
  nested: [
    `SELECT ${nested} AS x`,
    '',
    '{"x":[{"m":{"k":[1,null],"l":[]},"s":{"x y":1.5,"2110":null}},null]}',
  ],
  deep: [`SELECT ${deep} AS x`, '', `{"x":${deep}}`],
  nulls: ['SELECT NULL::INTEGER AS a, NULL::VARCHAR[] AS b', '', '{"a":null,"b":null}'],
  floats: [
    `SELECT 'nan'::DOUBLE AS a, '-inf'::FLOAT AS b, -0.0::DOUBLE AS c, 5e-324::DOUBLE AS d`,
    '',
    '{"a":null,"b":null,"c":-0.0,"d":5e-324}',
  ],
  dates: [
    `SELECT '0044-03-15 (BC)'::DATE AS a, '12024-01-02'::DATE AS b, 'infinity'::DATE AS c`,
    '',
    '{"a":"-0043-03-15","b":"+12024-01-02","c":null}',
  ],
  decimals: [
    `SELECT '-99999999999999999999999999999999999999'::DECIMAL(38,0) AS a,
      '0.00000000000000000000000000000000000001'::DECIMAL(38,38) AS b`,
    '',
    '{"a":-99999999999999999999999999999999999999,"b":0.00000000000000000000000000000000000001}',
  ],
  bytes: [`SELECT '\\xFF\\x00'::BLOB AS a`, '', '{"a":"/wA="}'],
}

await t.test('odd files are served as they are, all by one server', async (t) => {
  const folder = t.testdir({})
  const names = Object.keys(served)
  for (const [name, [select, writing]] of Object.entries(served)) {
    await writeParquet(join(folder, 'data'), { [`${name}.parquet`]: select }, writing)
  }
  const world = await startWorld(t, { files: {}, registry: registryOf(names), at: folder })
  const { token } = world.subscribe(names.map((name) => `${name}:all`))
  for (const [name, [, , row]] of Object.entries(served)) {
    const { status, text } = await world.get(`/v1/${name}?limit=1`, token)
    t.equal(status, 200, `${name}: ${text}`)
    if (row) t.ok(text.startsWith(`{"data":[${row}]`), `${name}: ${text}`)
  }
  t.same((await world.get('/v1/no_rows', token)).body, { data: [], next_cursor: null })
  const { body } = await world.get('/v1/columns_400?select=399,0', token)
  t.same(
    body.data,
    [0, 1, 2].map((i) => ({ 0: i, 399: i + 399 })),
  )
  const last = await world.get('/v1/row_groups?id=gte.59998', token)
  t.same(last.body.data, [{ id: 59998 }, { id: 59999 }])
})

/** Dataset → bytes made of a whole Parquet file, and why they are refused. */
const broken: Readonly<Record<string, readonly [(whole: Buffer) => Buffer, RegExp]>> = {
  empty: [() => Buffer.alloc(0), /is empty/],
  truncated: [(whole) => whole.subarray(0, whole.length - 20), /is not a whole Parquet file/],
  garbage: [(whole) => Buffer.from(whole.map((byte, at) => byte ^ (at * 31))), /not a whole/],
  wrong_magic: [(whole) => Buffer.concat([whole.subarray(0, -4), Buffer.from('PAR2')]), /no PAR1/],
  encrypted: [(whole) => Buffer.concat([whole.subarray(0, -4), Buffer.from('PARE')]), /encrypted/],
  footer_too_long: [(whole) => withFooterLength(whole, 0xfffffff0), /footer is cut/],
  footer_too_short: [(whole) => withFooterLength(whole, 3), /can't be read/],
  footer_not_there: [(whole) => withFooterLength(whole, 0), /can't be read/],
  text: [() => Buffer.from('id,name\n1,a\n'), /no PAR1/],
  head_only: [(whole) => whole.subarray(0, 4), /not a whole/],
  pages_gone: [(whole) => Buffer.concat([whole.subarray(0, 4), whole.subarray(2000)]), /can't be/],
}

function withFooterLength(whole: Buffer, length: number): Buffer {
  const changed = Buffer.from(whole)
  changed.writeUInt32LE(length, whole.length - 8)
  return changed
}

/** Dataset → how something that is no regular file is put at a path, and why it is refused. */
const strange: Readonly<Record<string, readonly [(path: string) => unknown, RegExp]>> = {
  folder: [(path) => mkdirSync(path), /is a folder/],
  dangling: [(path) => symlinkSync(`${path}.gone`, path), /is not there/],
  loop: [(path) => symlinkSync(path, path), /is not there/],
  pipe: [(path) => execFileSync('mkfifo', [path]), /is not a regular file/],
  missing: [() => undefined, /is not there/],
}

/** Dataset → SELECT of a file whose columns can't be asked for, and why it is refused. */
const unaskable: Readonly<Record<string, readonly [select: string, reason: RegExp]>> = {
  ...Object.fromEntries(
    ['select', 'limit', 'cursor', 'format'].map((name) => [
      `reserved_${name}`,
      [`SELECT 1 AS "${name}"`, /clashes with the request parameter/] as const,
    ]),
  ),
  file_row_number: ['SELECT 1 AS file_row_number', /a name that the engine uses/],
  file_index: ["SELECT 'x' AS FILE_INDEX", /a name that the engine uses/],
}

await t.test('what is no Parquet file is refused, and another dataset served', async (t) => {
  const folder = t.testdir({})
  const data = join(folder, 'data')
  const select = `SELECT i AS id, 'name ' || i AS name FROM range(1000) t(i)`
  await writeParquet(data, { 'good.parquet': select })
  const whole = readFileSync(join(data, 'good.parquet'))
  const reasons = new Map<string, RegExp>()
  for (const [name, [change, reason]] of Object.entries(broken)) {
    writeFileSync(join(data, `${name}.parquet`), change(whole))
    reasons.set(name, reason)
  }
  for (const [name, [put, reason]] of Object.entries(strange)) {
    put(join(data, `${name}.parquet`))
    reasons.set(name, reason)
  }
  for (const [name, [columns, reason]] of Object.entries(unaskable)) {
    await writeParquet(data, { [`${name}.parquet`]: columns })
    reasons.set(name, reason)
  }
  const names = ['good', ...reasons.keys()]
  const world = await startWorld(t, { files: {}, registry: registryOf(names), at: folder })
  const { token } = world.subscribe(names.map((name) => `${name}:all`))
  const home = await makeHome(t, { folder, registry: registryOf(names) })
  const catalog = await home.check()
  for (const [name, reason] of reasons) {
    const dataset = datasetOf(catalog, name)
    t.match(dataset.reason, reason, name)
    t.notMatch(dataset.reason, folder)
    t.equal((await world.get(`/v1/${name}`, token)).status, 503, name)
    t.equal((await world.get('/v1/good?id=eq.7', token)).status, 200)
  }
})

await t.test(
  'a file that may not be read is refused, if anything may be kept from us',
  async (t) => {
    const home = await makeHome(t, { files: { 'data/a.parquet': 'SELECT 1 AS x' } })
    chmodSync(join(home.folder, 'data', 'a.parquet'), 0)
    const { reason } = datasetOf(await home.open())
    if (process.getuid?.() === 0) t.equal(reason, null)
    else t.equal(reason, "data/a.parquet can't be read (EACCES)")
  },
)

await t.test('a pattern passes over what is no regular file', async (t) => {
  const home = await makeHome(t, { files: { 'data/a.parquet': 'SELECT 1 AS x' } })
  const data = join(home.folder, 'data')
  mkdirSync(join(data, 'b.parquet'))
  execFileSync('mkfifo', [join(data, 'c.parquet')])
  symlinkSync(join(data, 'gone'), join(data, 'd.parquet'))
  t.equal(datasetOf(await home.open()).version?.files.length, 1)
  symlinkSync(join(data, 'c.parquet'), join(data, 'e.parquet'))
  t.match(datasetOf(await home.open()).reason, /^data\/e\.parquet is not a regular file/)
})

await t.test('damaged pages are never served as rows', async (t) => {
  const folder = t.testdir({})
  const data = join(folder, 'data')
  const select = `SELECT i AS id, md5(i::VARCHAR) AS name FROM range(60000) t(i)`
  await writeParquet(data, { 'good.parquet': select, 'torn.parquet': select })
  const registry = registryOf(['good', 'torn'])
  const path = join(data, 'torn.parquet')
  const bytes = readFileSync(path)
  const [from, to] = [Math.floor(bytes.length * 0.5), Math.floor(bytes.length * 0.52)]
  writeFileSync(path, bytes.fill(0xa5, from, to))
  const world = await startWorld(t, { files: {}, registry, at: folder })
  const { token } = world.subscribe(['good:all', 'torn:all'])
  const statuses = new Set<number>()
  for (let id = 0; id < 60_000; id += 2000) {
    const query = `id=gte.${id}&limit=1000`
    const torn = await world.get(`/v1/torn?${query}`, token)
    const good = await world.get(`/v1/good?${query}`, token)
    statuses.add(torn.status)
    t.equal(good.status, 200)
    if (torn.status === 200) t.same(torn.body.data, good.body.data)
    else t.notMatch(torn.text, folder)
  }
  t.ok(statuses.has(503), 'the damage was met')
  t.same(
    [...statuses].filter((status) => ![200, 503].includes(status)),
    [],
  )
  t.equal(readdirSync(data).length, 2)
})
