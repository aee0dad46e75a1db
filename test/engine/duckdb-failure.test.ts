import { closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import t from 'tap'
import { isFatal, readFailure, serviceErrorOf } from '../../src/engine/duckdb/duckdb-failure.js'
import { ServingInstance } from '../../src/engine/duckdb/serving.js'
import type { Session } from '../../src/engine/duckdb/session.js'
import { ServiceError } from '../../src/errors.js'
import { openEngine } from './fixtures/open-engine.js'
import type { EngineWorld } from './fixtures/open-engine.js'
import { machineClock } from '../../src/clock.js'

// Guarantee: a file that can't be read is a 503 without path and SQL, never a short answer.

const rows = 'SELECT i AS id, md5(i::VARCHAR) AS text FROM range(60_000) r(i)'
const writing = ', ROW_GROUP_SIZE 4096, COMPRESSION zstd'

/** Overwrites a file in place, as a failing disk would, between the given shares of its length. */
function damage(path: string, from: number, to: number): void {
  const size = statSync(path).size
  const file = openSync(path, 'r+')
  const bytes = Buffer.alloc(Math.floor(size * (to - from)), 0xaa)
  writeSync(file, bytes, 0, bytes.length, Math.floor(size * from))
  closeSync(file)
}

function isUnavailable(cause: unknown): boolean {
  const isOurs = cause instanceof ServiceError && cause.code === 'service_unavailable'
  return isOurs && !/[/\\]|parquet|SELECT/.test(cause.detail)
}

/** The error that a piece of work must end with. */
async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (cause) {
    return cause
  }
  throw new Error('no error')
}

const pathOf = (world: EngineWorld, file: number) => world.version.files[file]?.path ?? ''

await t.test('a damaged page ends a walk, which has given whole pages until there', async (t) => {
  const world = await openEngine(t, { files: { 'a.parquet': rows }, writing, unguarded: true })
  damage(pathOf(world, 0), 0.5, 0.52)
  const { rows: first } = await world.read([], { limit: 5000 })
  t.equal(first.length, 5000)
  t.equal(first.at(-1)?.position.row, 4999)
  const cause = await errorOf(world.walk([], 5000))
  t.ok(isUnavailable(cause), String(cause))
  const text = world.filter('text', 'eq', '8 is in no row')
  t.ok(isUnavailable(await errorOf(world.read(text))), 'a search that meets no row before it')
  t.ok(isUnavailable(await errorOf(world.read([], { limit: 60_000 }))))
})

await t.test('a file that was cut short is an error', async (t) => {
  const world = await openEngine(t, { files: { 'a.parquet': rows }, writing, unguarded: true })
  truncateSync(pathOf(world, 0), 100_000)
  const cause = await errorOf(world.read([], { limit: 10 }))
  t.ok(isUnavailable(cause), String(cause))
})

await t.test('a file that is gone is an error without a path, and the others serve', async (t) => {
  const others = rows.replace('range(60_000)', 'range(60_000, 60_009)')
  const files = { 'a.parquet': rows, 'b.parquet': others }
  const world = await openEngine(t, { files, entry: '    key: id\n' })
  rmSync(pathOf(world, 1))
  const cause = await errorOf(world.read(world.filter('id', 'gte', '60000')))
  t.ok(isUnavailable(cause), String(cause))
  const log = String((cause as Error).cause)
  t.match(log, /: data\/b\.parquet is gone from the versions folder$/, 'the log names the file')
  t.notMatch(log, world.folder, 'and not where the service lives')
  const { rows: found } = await world.read(world.filter('id', 'eq', '7'), { columns: ['id'] })
  t.strictSame(
    found.map(({ json }) => json),
    ['{"id":7}'],
  )
})

/** 38 KB a row. */
const wide = Array.from({ length: 20 }, (_, n) => `repeat(md5((i + ${n})::VARCHAR), 60) AS c${n}`)

await t.test('a page too large for the share of the one thread has the rest', async (t) => {
  const world = await openEngine(t, {
    files: { 'a.parquet': `SELECT i AS id, ${wide.join(', ')} FROM range(900) r(i)` },
    writing: ', ROW_GROUP_SIZE 2048',
    engine: { memoryLimitBytes: 1024 ** 3, threads: 2 },
  })
  const { rows: found } = await world.read([], { limit: 900 })
  t.strictSame(
    found.map(({ json }) => (JSON.parse(json) as { id: number }).id),
    Array.from({ length: 900 }, (_, id) => id),
  )
})

await t.test('a query beyond the memory limit is refused, and small ones go on', async (t) => {
  const world = await openEngine(t, {
    files: { 'a.parquet': `SELECT i AS id, ${wide.join(', ')} FROM range(12_000) r(i)` },
    writing: ', ROW_GROUP_SIZE 2048',
    engine: { memoryLimitBytes: 64 * 1024 ** 2, threads: 2 },
  })
  const cause = await errorOf(world.read([], { limit: 12_000 }))
  t.ok(isUnavailable(cause), String(cause))
  t.match((cause as Error).cause, { message: /^DuckDB Out of Memory/ })
  const large = Array.from({ length: 4 }, () => errorOf(world.read([], { limit: 12_000 })))
  for (let id = 0; id < 5; id++) {
    const { rows: found } = await world.read(world.filter('id', 'eq', `${id}`), { columns: ['id'] })
    t.equal(found[0]?.json, `{"id":${id}}`)
  }
  for (const each of await Promise.all(large)) t.ok(isUnavailable(each), String(each))
})

const instanceOptions = {
  clock: machineClock,
  tempFolder: null,
  memoryLimitBytes: 128 * 1024 ** 2,
  threads: 1,
}

await t.test('an instance that cannot be made is tried again by the next work', async (t) => {
  const options = { ...instanceOptions, folders: [t.testdir({})], threads: 0 }
  const serving = new ServingInstance(options)
  const runs = () => serving.run(() => Promise.resolve('runs'))
  const both = await Promise.all([errorOf(runs()), errorOf(runs())])
  for (const cause of both) t.ok(isUnavailable(cause), String(cause))
  options.threads = 1
  t.equal(await runs(), 'runs')
  await serving.close()
})

await t.test('work that runs on an instance ends on it, though it is replaced', async (t) => {
  const serving = new ServingInstance({
    ...instanceOptions,
    folders: [t.testdir({})],
  })
  const { signal } = new AbortController()
  const tables = async (session: Session) =>
    (
      await session.run({ sql: 'SELECT table_name FROM duckdb_tables()', values: [] }, signal)
    ).flat()
  const fatal = new Error('{"exception_type":"FATAL","exception_message":"invalidated"}')
  await serving.run(async (session) => {
    await session.run({ sql: 'CREATE TABLE of_the_first AS SELECT 1', values: [] }, signal)
    await t.rejects(
      serving.run(() => Promise.reject(fatal)),
      fatal,
    )
    t.strictSame(await serving.run(tables), [], 'the next work has another instance')
    t.strictSame(await tables(session), ['of_the_first'])
  })
  await serving.close()
  t.strictSame(await serving.run(tables), [], 'closed, it opens again when asked')
  await serving.close()
})

await t.test('each kind of error has its meaning', (t) => {
  const error = (type: string, prefix = '') =>
    new Error(`${prefix}{"exception_type":"${type}","exception_message":"at /data/x/1.parquet"}`)
  const kinds = ['IO', 'Permission', 'Invalid Input', 'Invalid', 'Out of Memory', 'INTERRUPT']
  for (const type of kinds) {
    t.ok(isUnavailable(serviceErrorOf(error(type), [])), type)
    t.notOk(isFatal(readFailure(error(type))), type)
  }
  for (const type of ['INTERNAL', 'FATAL']) {
    t.ok(isUnavailable(serviceErrorOf(error(type), [])), type)
    t.ok(isFatal(readFailure(error(type))), type)
  }
  const ours = serviceErrorOf(error('Binder'), ['/data'])
  t.notOk(ours instanceof ServiceError, 'our own mistake stays a 500')
  t.match(ours, { message: 'DuckDB Binder: at x/1.parquet' })
  t.equal(readFailure(error('Parser', 'Parser Error: ')).type, 'Parser')
  const foreign = new TypeError('not {DuckDB}')
  t.equal(serviceErrorOf(foreign, []), foreign)
  t.strictSame(readFailure('no JSON at all'), { type: null, text: 'no JSON at all' })
  t.end()
})
