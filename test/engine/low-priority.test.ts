import { readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import t from 'tap'
import { ServingInstance } from '../../src/engine/duckdb/serving.js'
import { hasThreadPriorities, threadIds } from '../../src/machine.js'
import { never, openEngine } from './fixtures/open-engine.js'

// Guarantee: large work runs on threads that leave the cores to everything else.

const threads = 2
const options = {
  folders: [],
  tempFolder: null,
  memoryLimitBytes: 256 * 1024 ** 2,
  threads,
  hasLowPriority: true,
}
const long = { sql: 'SELECT sum(hash(i) % 1000)::DOUBLE FROM range(40_000_000) r(i)' }

const lowThreads = () =>
  threadIds().filter((id) => getPriority(id) > constants.priority.PRIORITY_NORMAL)

/** Clock ticks that the threads of these ids ran: fields 14 and 15 of proc(5). */
function ticksOf(ids: readonly number[]): number {
  const ticks = ids.map((id) => {
    const [, fields = ''] = readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ')
    const [user, system] = fields.split(' ').slice(11, 13).map(Number)
    return Number(user) + Number(system)
  })
  return ticks.reduce((sum, each) => sum + each, 0)
}

await t.test('statements run on threads of low priority alone', async (t) => {
  t.ok(hasThreadPriorities, 'the system gives each thread a priority')
  t.strictSame(lowThreads(), [])
  const serving = new ServingInstance(options)
  t.teardown(() => serving.close())
  const sum = () => serving.run((session) => session.run(long, never))
  const [first] = await sum()
  const low = lowThreads()
  t.equal(low.length, threads)
  const others = threadIds().filter((id) => !low.includes(id))
  const before = { low: ticksOf(low), others: ticksOf(others) }
  t.strictSame(await sum(), [first])
  const ran = { low: ticksOf(low) - before.low, others: ticksOf(others) - before.others }
  t.ok(ran.low > 10, `${ran.low} ticks`)
  t.ok(ran.others < ran.low / 4, `${ran.others} ticks of other threads, ${ran.low} of these`)
})

await t.test('a statement ends with its failure, or when it is stopped', async (t) => {
  const serving = new ServingInstance(options)
  t.teardown(() => serving.close())
  const sql =
    "SELECT sum(error('row ' || i)::INTEGER) FROM range(3_000_000) r(i) WHERE i > 2_999_990"
  await t.rejects(
    serving.run((session) => session.run({ sql }, never)),
    { message: /row 29999/ },
  )
  const stop = new AbortController()
  const endless = { sql: 'SELECT count(*) FROM range(1e13::BIGINT) r(i) WHERE hash(i) = 1' }
  const running = serving.run((session) => session.run(endless, stop.signal))
  setImmediate(() => stop.abort(new Error('enough')))
  await t.rejects(running, { message: 'enough' })
  t.strictSame(await serving.run((session) => session.run({ sql: 'SELECT 1' }, never)), [[1]])
})

await t.test('an engine has such threads for large pages and for summaries', async (t) => {
  const before = lowThreads()
  await openEngine(t, { files: { 'a.parquet': 'SELECT 1 AS x' }, engine: { threads } })
  t.equal(lowThreads().filter((id) => !before.includes(id)).length, 2 * threads)
})
