import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bindBigint, bindText, bindTexts } from '../../src/engine/duckdb/bind.js'
import { startInstance } from '../../src/engine/duckdb/sandbox.js'
import { Session } from '../../src/engine/duckdb/session.js'
import { writeParquet } from '../support/world.js'

const { signal } = new AbortController()
const read = 'SELECT x FROM read_parquet($1) WHERE x = $2'

await t.test('one statement serves files of other schemas and values of other types', async (t) => {
  const folder = t.testdir({})
  const [numbers, texts] = [join(folder, 'numbers.parquet'), join(folder, 'texts.parquet')]
  await writeParquet(folder, {
    'numbers.parquet': 'SELECT 7 AS other, i AS x FROM range(5000) r(i)',
    'texts.parquet': "SELECT 'n' || i AS x FROM range(5000) r(i)",
  })
  const instance = await openInstance(folder)
  const session = new Session(await instance.connect(), null)
  for (const each of [4321n, 12n]) {
    const number = [bindTexts([numbers]), bindBigint(Number(each))]
    t.strictSame(await session.run({ sql: read, values: number }, signal), [[each]])
    const text = [bindTexts([texts]), bindText(`n${each}`)]
    t.strictSame(await session.run({ sql: read, values: text }, signal), [[`n${each}`]])
    const both = [bindTexts([texts, texts]), bindText(`n${each}`)]
    t.strictSame(await session.run({ sql: read, values: both }, signal), [[`n${each}`, `n${each}`]])
  }
  session.close()
  instance.closeSync()
})

await t.test(
  'an abort after the end changes nothing; one before it rejects with its reason',
  async (t) => {
    const instance = await openInstance(t.testdir({}))
    const session = new Session(await instance.connect(), null)
    const late = new AbortController()
    const one = { sql: 'SELECT 1', values: [] }
    t.strictSame(await session.run(one, late.signal), [[1]])
    late.abort(new Error('too late'))
    t.strictSame(await session.run(one, signal), [[1]])
    await t.rejects(session.run(one, late.signal), { message: 'too late' })
    const gone = new AbortController()
    const sql = 'SELECT count(*) FROM range(1e12::BIGINT)'
    const long = session.run({ sql, values: [] }, gone.signal)
    setImmediate(() => gone.abort(new Error('gone')))
    await t.rejects(long, { message: 'gone' })
    session.close()
    instance.closeSync()
  },
)

await t.test('between two runs no file is open, however many shapes there are', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.parquet')
  await writeParquet(folder, { 'a.parquet': 'SELECT 1 AS x' })
  const instance = await openInstance(folder)
  const session = new Session(await instance.connect(), null)
  const values = [bindTexts([path]), bindBigint(1)]
  for (let shape = 0; shape < 200; shape++) {
    const sql = `SELECT x + ${shape} FROM read_parquet($1) WHERE x = $2`
    t.strictSame(await session.run({ sql, values }, signal), [[shape + 1]])
    t.strictSame(await session.run({ sql: read, values }, signal), [[1]])
  }
  t.notOk(openFiles().includes(path))
  const file = openSync(path, 'r')
  t.equal(openFiles().includes(path), process.platform === 'linux', 'one that is open is seen')
  closeSync(file)
  session.close()
  instance.closeSync()
})

/** An instance as the server has it. */
function openInstance(folder: string) {
  const memoryLimitBytes = 128 * 1024 ** 2
  return startInstance({ folders: [folder], tempFolder: null, memoryLimitBytes, threads: 2 })
}

/** The files that this process has open, where the system tells. */
function openFiles(): readonly string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return []
    }
  })
}
