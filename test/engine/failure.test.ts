import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { isFatal, readFailure, serviceErrorOf } from '../../src/engine/duckdb/failure.js'
import { ServingInstance } from '../../src/engine/duckdb/serving.js'
import { openEngine } from './fixtures/open-engine.js'

const rows = 'SELECT i AS id, md5(i::VARCHAR) AS text FROM range(60000) r(i)'
const groups = ', ROW_GROUP_SIZE 4096, COMPRESSION zstd'

/** Changes a file in place, as a failing disk would, between the given shares of its length. */
function damage(path: string, from: number, to: number): void {
  const size = readFileSync(path).length
  const file = openSync(path, 'r+')
  const bytes = Buffer.alloc(Math.floor(size * (to - from)), 0xaa)
  writeSync(file, bytes, 0, bytes.length, Math.floor(size * from))
  closeSync(file)
}

function isUnavailable(cause: unknown): boolean {
  const isOurs = cause instanceof ServiceError && cause.code === 'service_unavailable'
  return isOurs && !/[/\\]|parquet|SELECT/.test(cause.detail)
}

await t.test('a damaged page is an error without a path, never a short answer', async (t) => {
  const world = await openEngine(t, { files: { 'a.parquet': rows }, writing: groups })
  damage(world.version.files[0]?.path ?? '', 0.3, 0.7)
  let cause: unknown
  try {
    await world.walk([], 1000)
  } catch (error) {
    cause = error
  }
  t.ok(isUnavailable(cause), String(cause))
})

await t.test('a file that is gone is an error without a path, and the others serve', async (t) => {
  const files = {
    'a.parquet': rows,
    'b.parquet': rows.replace('range(60000)', 'range(60000, 60009)'),
  }
  const world = await openEngine(t, { files, entry: '    key: id\n' })
  rmSync(world.version.files[1]?.path ?? '')
  const gone = world.read(world.filter('id', 'gte', '60000'))
  await t.rejects(
    gone.catch((error: unknown) => Promise.reject(new Error(String(isUnavailable(error))))),
    {
      message: 'true',
    },
  )
  const { rows: found } = await world.read(world.filter('id', 'eq', '7'), { columns: ['id'] })
  t.same(
    found.map((row) => row.json),
    ['{"id":7}'],
  )
})

await t.test(
  'a query beyond the memory limit is refused, and the engine serves on',
  async (t) => {
    const wide = Array.from(
      { length: 20 },
      (_, n) => `repeat(md5((i + ${n})::VARCHAR), 60) AS c${n}`,
    )
    const world = await openEngine(t, {
      files: { 'a.parquet': `SELECT i AS id, ${wide.join(', ')} FROM range(12000) r(i)` },
      writing: ', ROW_GROUP_SIZE 2048',
      engine: { memoryLimitBytes: 64 * 1024 ** 2, threads: 2 },
    })
    const large = Array.from({ length: 4 }, () => world.read([], { limit: 12_000 }))
    const small = Array.from({ length: 4 }, () =>
      world.read(world.filter('id', 'eq', '5'), { columns: ['id'] }),
    )
    for (const result of await Promise.allSettled(large)) {
      t.equal(result.status, 'rejected')
      if (result.status === 'rejected') t.ok(isUnavailable(result.reason), String(result.reason))
    }
    for (const result of await Promise.allSettled(small)) {
      if (result.status === 'rejected') t.ok(isUnavailable(result.reason), String(result.reason))
    }
    const { rows: found } = await world.read(world.filter('id', 'eq', '5'), { columns: ['id'] })
    t.same(
      found.map((row) => row.json),
      ['{"id":5}'],
      'and the engine serves on',
    )
  },
)

await t.test('after a fatal error the next work runs on a new instance', async (t) => {
  const folder = t.testdir({ inside: {} })
  mkdirSync(join(folder, 'inside'), { recursive: true })
  const serving = new ServingInstance({
    folders: [join(folder, 'inside')],
    tempFolder: null,
    memoryLimitBytes: 128 * 1024 ** 2,
    threads: 1,
  })
  t.teardown(() => serving.close())
  const mark = () =>
    serving.run(async (connection) => {
      await connection.run('CREATE TABLE IF NOT EXISTS mark AS SELECT 1')
      return (await connection.runAndReadAll('SELECT count(*) FROM duckdb_tables()')).getRowsJson()
    })
  t.same(await mark(), [['1']])
  const fatal =
    'Error: {"exception_type":"FATAL","exception_message":"database has been invalidated"}'
  await t.rejects(
    serving.run(async () => Promise.reject(new Error(fatal))),
    { message: /FATAL/ },
  )
  const tables = await serving.run(async (connection) =>
    (await connection.runAndReadAll('SELECT count(*) FROM duckdb_tables()')).getRowsJson(),
  )
  t.same(tables, [['0']], 'the table of the old instance is not there')
})

await t.test('an instance that cannot be made is tried again by the next work', async (t) => {
  const folder = t.testdir({ inside: {} })
  const options = {
    folders: [join(folder, 'inside')],
    tempFolder: null,
    memoryLimitBytes: NaN,
    threads: 1,
  }
  const serving = new ServingInstance(options)
  await t.rejects(
    serving.run(async () => 'never'),
    { code: 'service_unavailable' },
  )
  options.memoryLimitBytes = 128 * 1024 ** 2
  t.equal(await serving.run(async () => 'runs'), 'runs')
  await serving.close()
})

await t.test('each kind of error has its meaning', (t) => {
  const error = (type: string, prefix = '') =>
    new Error(`${prefix}{"exception_type":"${type}","exception_message":"at /secret/path.parquet"}`)
  for (const type of [
    'IO',
    'Permission',
    'Invalid Input',
    'Invalid',
    'Out of Memory',
    'INTERRUPT',
  ]) {
    t.ok(isUnavailable(serviceErrorOf(error(type))), type)
    t.notOk(isFatal(readFailure(error(type))), type)
  }
  for (const type of ['INTERNAL', 'FATAL']) {
    t.ok(isUnavailable(serviceErrorOf(error(type))), type)
    t.ok(isFatal(readFailure(error(type))), type)
  }
  const ours = error('Binder')
  t.equal(serviceErrorOf(ours), ours, 'our own mistake stays a 500')
  t.equal(readFailure(error('Parser', 'Parser Error: ')).type, 'Parser')
  t.same(readFailure('no JSON at all'), { type: 'unknown', text: 'no JSON at all' })
  t.end()
})
