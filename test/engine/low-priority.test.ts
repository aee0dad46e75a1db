import { readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { machineClock } from '../../src/clock.js'
import { ServingInstance } from '../../src/engine/duckdb/serving.js'
import { givePriority, threadIds } from '../../src/machine.js'
import { never, openEngine } from './fixtures/open-engine.js'
import { summariesOf } from './fixtures/summaries.js'

// Guarantee: large work runs on threads that leave the cores to everything else.

const threads = 2
const options = {
  clock: machineClock,
  folders: [],
  tempFolder: null,
  memoryLimitBytes: 256 * 1024 ** 2,
  threads,
  hasLowPriority: true,
}
const long = { sql: 'SELECT sum(hash(i) % 1000)::DOUBLE FROM range(40_000_000) r(i)' }
/** Its sort makes DuckDB pause tasks. */
const sorted = {
  sql: `SELECT max(i)::DOUBLE FROM (
    SELECT i, row_number() OVER (ORDER BY hash(i)) FROM range(1_500_000) r(i)
  )`,
}
/** Never ends, and has more tasks than there are threads. */
const endless = {
  sql: Array.from(
    { length: 2 * threads },
    (_, part) => `SELECT count(*) FROM range(1e13::BIGINT) r(i) WHERE hash(i) = ${part}`,
  ).join(' UNION ALL '),
}
/** A second of work: one tick more or less says nothing then. */
const ticksMin = 100
const isLarge = () => true

const own = getPriority()
// Threads could not get a lower priority, and these tests would wait for ever.
if (own >= constants.priority.PRIORITY_BELOW_NORMAL) throw new Error('run these tests without nice')
/** Of tests before, whose engines may still be closing. */
const earlier = new Set(threadIds())
const lowThreads = () => threadIds().filter((id) => !earlier.has(id) && isLow(id))

/** Clock ticks that the threads of these ids ran: fields 14 and 15 of proc(5). Ended ones have none. */
function ticksOf(ids: readonly number[]): number {
  const ticks = ids.map((id) => {
    const [, fields = ''] = statOf(id).split(') ')
    const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number)
    return user + system
  })
  return ticks.reduce((sum, each) => sum + each, 0)
}

function isLow(id: number): boolean {
  try {
    return getPriority(id) > own
  } catch {
    return false
  }
}

const statOf = (id: number) => factOf(id, 'stat')

/** Those of the engine, and those that Node.js gives to native work: not its own loop and collectors. */
function canRunStatements(id: number): boolean {
  return !earlier.has(id) || factOf(id, 'comm').startsWith('libuv-worker')
}

/** A file of proc(5) about a thread; empty once it has ended. */
function factOf(id: number, name: 'stat' | 'comm'): string {
  try {
    return readFileSync(`/proc/self/task/${id}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

await t.test('statements run on threads of low priority alone', async (t) => {
  t.ok(threadIds().length > 0, 'the system gives each thread a priority')
  t.strictSame(lowThreads(), [])
  const serving = new ServingInstance(options)
  t.teardown(() => serving.close())
  for (const statement of [long, sorted]) {
    const ask = () => serving.run((session) => session.run(statement, never), isLarge)
    const [first] = await ask()
    const low = lowThreads()
    t.equal(low.length, threads)
    const others = threadIds().filter((id) => !low.includes(id) && canRunStatements(id))
    const ticks = () => ({ low: ticksOf(low), others: ticksOf(others) })
    const before = ticks()
    let ran = { low: 0, others: 0 }
    while (ran.low + ran.others < ticksMin) {
      t.strictSame(await ask(), [first])
      const now = ticks()
      ran = { low: now.low - before.low, others: now.others - before.others }
    }
    t.ok(ran.others < ran.low / 4, `${ran.others} ticks of other threads, ${ran.low} of these`)
  }
})

/** Resolves when the threads of low priority have worked for some time from now on. */
async function hasWorked(): Promise<void> {
  const before = ticksOf(lowThreads())
  while (ticksOf(lowThreads()) < before + 2) await sleep(1)
}

await t.test('no query waits until another ends', async (t) => {
  const serving = new ServingInstance(options)
  t.teardown(() => serving.close())
  const stop = new AbortController()
  const endlessly = () =>
    t.rejects(
      serving.run((session) => session.run(endless, stop.signal), isLarge),
      { message: 'enough' },
    )
  const first = endlessly()
  await hasWorked()
  for (const size of [isLarge, () => false]) {
    const answer = serving.run((session) => session.run({ sql: 'SELECT 42' }, never), size)
    t.strictSame(await answer, [[42]])
  }
  t.ok((await serving.memoryBytes()) >= 0)
  const second = endlessly()
  await hasWorked()
  stop.abort(new Error('enough'))
  await Promise.all([first, second])
})

await t.test('a system may refuse a priority', (t) => {
  const gone = 2 ** 22 + 1
  t.equal(givePriority([process.pid, gone], getPriority()), 1)
  t.end()
})

await t.test('a statement ends with its failure, or when it is stopped', async (t) => {
  const serving = new ServingInstance(options)
  t.teardown(() => serving.close())
  const sql =
    "SELECT sum(error('row ' || i)::INTEGER) FROM range(3_000_000) r(i) WHERE i > 2_999_990"
  await t.rejects(
    serving.run((session) => session.run({ sql }, never), isLarge),
    { message: /row 29999/ },
  )
  const stop = new AbortController()
  const running = serving.run((session) => session.run(endless, stop.signal), isLarge)
  setImmediate(() => stop.abort(new Error('enough')))
  await t.rejects(running, { message: 'enough' })
  const one = serving.run((session) => session.run({ sql: 'SELECT 1' }, never), isLarge)
  t.strictSame(await one, [[1]])
})

await t.test('an engine has such threads for large pages and for summaries', async (t) => {
  const before = lowThreads()
  const count = () => lowThreads().filter((id) => !before.includes(id)).length
  const world = await openEngine(t, {
    files: { 'a.parquet': "SELECT i AS x, 'n' || i AS name FROM range(600_000) t(i)" },
    engine: { threads },
  })
  const { ask } = summariesOf(world)
  t.equal(count(), 0, 'they start with the first question')
  await world.engine.count(world.version, world.filter('x', 'gt', '7'), {
    signal: never,
    client: 'a',
  })
  t.equal(count(), threads)
  await ask({ measures: ['sum(x)'] })
  t.equal(count(), 2 * threads)
  await ask({ measures: ['max(name)'] })
  t.equal(count(), 3 * threads)
})
