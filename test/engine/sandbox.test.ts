import { readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import t from 'tap'
import type { Test } from 'tap'
import { inSandboxes, startInstance, valueOf } from '../../src/engine/duckdb/sandbox.js'
import type { SandboxOptions } from '../../src/engine/duckdb/sandbox.js'
import { writeParquet } from '../support/world.js'
import { patch } from './fixtures/open-file.js'

/** A sandboxed connection that may read `inside/`, beside files that it may not. */
async function sandbox(
  t: Test,
  options: Partial<SandboxOptions> = {},
): Promise<{ folder: string; connection: DuckDBConnection }> {
  const folder = t.testdir({ inside: {}, outside: {}, temp: {} })
  const rows = 'SELECT i FROM range(3) t(i)'
  await writeParquet(folder, {
    'inside/a.parquet': rows,
    'inside-twin/b.parquet': rows,
    'outside/b.parquet': rows,
  })
  writeFileSync(join(folder, 'outside', 'secret.csv'), 'secret\n')
  symlinkSync(join(folder, 'outside', 'b.parquet'), join(folder, 'inside', 'link.parquet'))
  const instance = await startInstance({
    folders: [join(folder, 'inside')],
    tempFolder: join(folder, 'temp'),
    memoryLimitBytes: 256 * 1024 ** 2,
    threads: 1,
    ...options,
  })
  const connection = await instance.connect()
  t.teardown(() => {
    connection.disconnectSync()
    instance.closeSync()
  })
  return { folder, connection }
}

const permission = { message: /"exception_type":"Permission"/ }

await t.test('Guarantee: a statement reads the given folders and nothing else', async (t) => {
  const { folder, connection } = await sandbox(t)
  const inside = join(folder, 'inside')
  const read = await connection.runAndReadAll(`SELECT count(*) FROM '${inside}/a.parquet'`)
  t.same(read.getRowsJson(), [['3']])
  const escapes = [
    `${folder}/outside/b.parquet`,
    `${inside}/../outside/b.parquet`,
    `${inside}/link.parquet`,
    `${inside}-twin/b.parquet`,
    '/etc/passwd',
    '/proc/self/environ',
  ]
  for (const path of escapes) {
    for (const reader of ['read_parquet', 'read_text', 'read_csv', 'glob', 'parquet_metadata']) {
      const sql = `SELECT * FROM ${reader}('${path}')`
      await t.rejects(connection.run(sql), permission, sql)
    }
  }
})

await t.test('Guarantee: no statement reaches a network or writes outside', async (t) => {
  const { folder, connection } = await sandbox(t)
  const refused = [
    'INSTALL httpfs',
    'LOAD httpfs',
    `LOAD '${folder}/inside/own.duckdb_extension'`,
    "SELECT * FROM read_parquet('https://127.0.0.1:9/a.parquet')",
    "SELECT * FROM read_parquet('s3://bucket/a.parquet')",
    `COPY (SELECT 1) TO '${folder}/outside/new.parquet'`,
    `COPY (SELECT 1) TO '${folder}/inside/../outside/new.csv'`,
    `ATTACH '${folder}/outside/new.db'`,
    `EXPORT DATABASE '${folder}/outside/dump'`,
    'CREATE PERSISTENT SECRET own (TYPE http)',
  ]
  for (const sql of refused) await t.rejects(connection.run(sql), permission, sql)
  t.strictSame(readdirSync(join(folder, 'outside')), ['b.parquet', 'secret.csv'])
})

await t.test(
  'Guarantee: pages are written in the temp folder without a right for it',
  async (t) => {
    const { folder, connection } = await sandbox(t)
    await connection.run(`COPY (SELECT 1 AS id) TO '${folder}/temp/page.parquet'`)
    t.strictSame(readdirSync(join(folder, 'temp')), ['page.parquet'])
    const allowed = await connection.runAndReadAll("SELECT current_setting('allowed_directories')")
    const folders = ['inside', 'temp'].map((name) => `${join(folder, name)}/`)
    t.same(allowed.getRowsJson(), [[folders]])
  },
)

await t.test('Guarantee: where nothing may spill, what needs more memory is refused', async (t) => {
  const numbered = `SELECT max(place) FROM (
    SELECT row_number() OVER (ORDER BY hash(i)) AS place FROM range(3_000_000) r(i))`
  const memoryLimitBytes = 32 * 1024 ** 2
  await t.test('elsewhere it spills', async (t) => {
    const { connection } = await sandbox(t, { memoryLimitBytes })
    t.same((await connection.runAndReadAll(numbered)).getRowsJson(), [['3000000']])
  })
  const { folder, connection } = await sandbox(t, { memoryLimitBytes, spills: false })
  await t.rejects(connection.run(numbered), { message: /"exception_type":"Out of Memory"/ })
  await connection.run(`COPY (SELECT 1 AS id) TO '${folder}/temp/page.parquet'`)
  t.strictSame(readdirSync(join(folder, 'temp')), ['page.parquet'])
})

await t.test('Guarantee: no later statement changes a setting', async (t) => {
  const { connection } = await sandbox(t)
  const changes = [
    "SET TimeZone = 'Europe/Moscow'",
    'SET GLOBAL enable_external_access = true',
    'RESET allowed_directories',
    'SET memory_limit = "100GB"',
    'PRAGMA threads = 8',
    'SET lock_configuration = false',
    'SET SESSION errors_as_json = false',
    'RESET TimeZone',
  ]
  for (const sql of changes) {
    await t.rejects(connection.run(sql), { message: /configuration has been locked/ }, sql)
  }
})

await t.test('Guarantee: only a setting that was named can change', async (t) => {
  const { connection } = await sandbox(t, { changeable: ['threads'] })
  await connection.run('SET GLOBAL threads = 2')
  const threads = await connection.runAndReadAll("SELECT current_setting('threads')")
  t.same(threads.getRowsJson(), [['2']])
  for (const sql of ["SET GLOBAL allowed_configs = ['memory_limit']", 'SET memory_limit = "9GB"']) {
    await t.rejects(connection.run(sql), { message: /configuration has been locked/ }, sql)
  }
})

await t.test(
  'a connection made later has the same time zone and the same form of errors',
  async (t) => {
    const { connection } = await sandbox(t)
    const zone = await connection.runAndReadAll("SELECT current_setting('TimeZone')")
    t.same(zone.getRowsJson(), [['UTC']])
    await t.rejects(connection.run('SELECT nothing'), { message: /\{"exception_type":"Binder"/ })
  },
)

await t.test('Guarantee: a prepared text is one statement', async (t) => {
  const { connection } = await sandbox(t)
  await t.rejects(connection.prepare('SELECT 1; SELECT 2'), { message: /multiple statements/ })
  await t.rejects(connection.prepare('SELECT 1; DROP TABLE t'), { message: /multiple statements/ })
})

await t.test('after a fatal error the next piece of work has a new instance', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'poisoned.parquet')
  const select = 'SELECT CAST(i AS VARIANT) AS x FROM range(5) t(i)'
  await writeParquet(folder, { 'poisoned.parquet': select })
  patch(path, 'value', 'valux')
  const options = { folders: [folder], tempFolder: null, memoryLimitBytes: 2 ** 28, threads: 1 }
  await inSandboxes(options, async (runPiece) => {
    const rows = async (sql: string) => {
      const outcome = await runPiece((connection) => connection.runAndReadAll(sql))
      return valueOf(outcome).getRowsJson()
    }
    await rows('CREATE TABLE kept AS SELECT 7')
    await t.rejects(rows("SELECT 'x'::INTEGER"), { message: /"Conversion"/ })
    t.same(await rows('FROM kept'), [[7]], 'other errors end no instance')
    await t.rejects(rows(`SELECT x::VARCHAR FROM '${path}'`), { message: /"INTERNAL"/ })
    await t.rejects(rows('FROM kept'), { message: /"Catalog"/ })
  })
})
