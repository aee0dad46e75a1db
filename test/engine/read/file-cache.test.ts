import { existsSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import { ServingInstance } from '../../../src/engine/duckdb/serving.js'
import { never, openEngine } from '../fixtures/open-engine.js'
import { MovingClock } from '../../support/moving-clock.js'

// Guarantee: what DuckDB keeps of files can be dropped, also while queries read them. So files that
// were replaced take no memory.

const rows = 60_000
const files = { 'a.parquet': `SELECT i, hash(i) AS h, hash(i + 1) AS k FROM range(${rows}) t(i)` }
/** Three columns of eight bytes that can't be compressed; the file is larger. */
const keptMin = 500_000

await t.test('the kept parts of files are dropped, and read again', async (t) => {
  const { engine, read, filter } = await openEngine(t, { files })
  const held = async () => {
    const bytes = await Promise.all(engine.instances.map((each) => each.memoryBytes()))
    return bytes.reduce((sum, each) => sum + each, 0)
  }
  const lookUp = async () => (await read(filter('h', 'eq', '0'), { limit: 10 })).rows.length
  t.equal(await lookUp(), 1)
  const before = await held()
  t.ok(before > keptMin, `${before} bytes`)
  await Promise.all(engine.instances.map((each) => each.forgetFiles()))
  const after = await held()
  t.ok(after < before - keptMin, `${after} bytes`)
  t.equal(await lookUp(), 1)
  t.ok((await held()) > keptMin, 'later reads are kept again')
})

await t.test('queries that run meanwhile find their rows', async (t) => {
  const { engine, walk } = await openEngine(t, { files })
  const done = new AbortController()
  const forgetting = async () => {
    let times = 0
    while (!done.signal.aborted) {
      await Promise.all(engine.instances.map((each) => each.forgetFiles()))
      times += 1
    }
    return times
  }
  const walking = Promise.all([walk([], 20_000), walk([], 25_000)]).finally(() => {
    done.abort()
  })
  const [walks, times] = await Promise.all([walking, forgetting()])
  for (const found of walks) {
    t.equal(found.length, rows)
    t.ok(found.every(({ json }, at) => json.startsWith(`{"i":${at},`)))
  }
  t.ok(times > 1)
})

await t.test('footers are dropped with their instance, ten minutes after its start', async (t) => {
  const folder = t.testdir({})
  const clock = new MovingClock(0)
  const options = { clock, memoryLimitBytes: 64e6, threads: 1 }
  const serving = new ServingInstance({ ...options, folders: [], tempFolder: folder })
  t.teardown(() => serving.close())
  const current = () => serving.run((session) => Promise.resolve(session.filesFolder))
  const first = await current()
  await clock.advance(599_999)
  await serving.forgetFiles()
  t.equal(await current(), first)
  await clock.advance(1)
  const end = Promise.withResolvers<string>()
  const asked = serving.run(() => end.promise)
  await Promise.all([serving.forgetFiles(), serving.forgetFiles()])
  const second = await current()
  t.not(second, first)
  end.resolve('done')
  t.equal(await asked, 'done', 'work that began before ends')
  t.equal(readdirSync(folder).length, 1, 'nothing is left of the others')
  t.ok(existsSync(dirname(second)))
  const [[one] = []] = await serving.run((session) => session.run({ sql: 'SELECT 1' }, never))
  t.equal(one, 1)
  await clock.advance(600_000)
  const stopping = serving.forgetFiles()
  await serving.close()
  await stopping
  t.strictSame(readdirSync(folder), [])
})
