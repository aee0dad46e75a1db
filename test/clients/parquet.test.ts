import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { buildThings, checksOf } from '../cli/fixtures/checked.js'
import { listen } from '../support/answers.js'
import { startShipped } from '../support/shipped.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

// Guarantee: what a client reads from Parquet pages is what the source file says, cell by cell, as
// another library than the server's own reads both.

const run = promisify(execFile)
/** Made by `npm run test:clients`. */
const python = join('.venv', 'bin', 'python')

interface Walked {
  readonly pages: number
  readonly rows: number
  readonly cells: number
  /** As pyarrow calls them. */
  readonly types: Readonly<Record<string, string>>
}

async function walk(url: string, token: string, files: readonly string[]) {
  const program = join('test', 'clients', 'parquet_pages.py')
  const env = { DAS_TOKEN: token }
  const { stdout } = await run(python, [program, url, ...files], { env })
  return JSON.parse(stdout) as Walked
}

const addressOf = async (world: World) => `http://127.0.0.1:${await listen(world)}`

const filesIn = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((name) => join(folder, name))

/** Columns of `every_type.py` whose names are not their types. */
const othersOfEvery = {
  float16: 'float',
  float32: 'float',
  float64: 'double',
  decimal_5_2: 'decimal128(5, 2)',
  decimal_38_0: 'decimal128(38, 0)',
  decimal_38_38: 'decimal128(38, 38)',
  date32: 'date32[day]',
  time_ms: 'time64[us]',
  time_us: 'time64[us]',
  time_ns: 'time64[ns]',
  timestamp_s: 'timestamp[us]',
  timestamp_s_zone: 'timestamp[us, tz=UTC]',
  timestamp_ms: 'timestamp[us]',
  timestamp_ms_zone: 'timestamp[us, tz=UTC]',
  timestamp_us: 'timestamp[us]',
  timestamp_us_zone: 'timestamp[us, tz=UTC]',
  timestamp_ns: 'timestamp[ns]',
  timestamp_ns_zone: 'timestamp[us, tz=UTC]',
  large_string: 'string',
  dictionary: 'string',
  fixed_binary: 'binary',
  list: 'list<element: int64>',
  nested_list: 'list<element: list<element: double>>',
  nested_zone: 'struct<at: list<element: timestamp[us, tz=UTC]>>',
  struct: 'struct<a: uint64, b: list<element: decimal128(10, 2)>>',
  map: "map<string, double ('map')>",
  uuid: 'extension<arrow.uuid>',
  json: 'extension<arrow.json>',
  null: 'int32',
}

await t.test('every type that a Parquet file can hold', async (t) => {
  const at = t.testdir({})
  const source = join(at, 'data', 'every.parquet')
  mkdirSync(join(at, 'data'))
  await run(python, [join('test', 'clients', 'every_type.py'), source])
  const registry = `datasets: {every: {title: T, files: data/every.parquet,
    plans: {all: {rows_per_month: 1000, history: all, price_rub: 0}}}}`
  const world = await startWorld(t, { at, files: {}, registry })
  const { token } = await world.subscribe(['every:all'])
  const { pages, rows, types } = await walk(`${await addressOf(world)}/v1/every?limit=2`, token, [
    source,
  ])
  t.strictSame([pages, rows], [2, 3])
  const same = Object.keys(types).filter((name) => types[name] === name)
  t.strictSame(same.sort(), [
    'binary',
    'bool',
    ...['int16', 'int32', 'int64', 'int8'],
    'string',
    ...['uint16', 'uint32', 'uint64', 'uint8'],
  ])
  const others = Object.entries(types).filter(([name]) => !same.includes(name))
  t.strictSame(Object.fromEntries(others), othersOfEvery)
})

await t.test('the check tells where the engine reads less than a file holds', async (t) => {
  const house = await buildThings(t, {})
  const source = join(house.folder, 'data', 'every.parquet')
  await run(python, [join('test', 'clients', 'every_type.py'), source])
  const [check] = await checksOf(house)
  const found = check?.findings.filter(({ code }) => code === 'nanoseconds_cut')
  t.equal(found?.length, 1)
  t.match(found?.[0]?.message, 'nanoseconds in "timestamp_ns_zone" and "nested_zone": DuckDB')
})

await t.test('the shipped datasets, page by page', async (t) => {
  const world = await startShipped(t)
  const { token } = await world.subscribe(['financials:pro', 'procurement:pro'])
  const address = await addressOf(world)
  const walks = [
    ['financials?year=gte.0&limit=500', 'data/financials', 4, 1899, 131],
    ['procurement?limit=500', 'data/procurement', 2, 969, 36],
  ] as const
  for (const [query, folder, pages, rows, columns] of walks) {
    const walked = await walk(`${address}/v1/${query}`, token, filesIn(folder))
    t.match(walked, { pages, rows, cells: rows * columns }, folder)
  }
})
