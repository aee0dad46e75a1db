import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { busyFor, cpuAfterMax, cpuOfNextSecond } from '../../engine/fixtures/long-query.js'
import { never, openEngine } from '../../engine/fixtures/open-engine.js'
import { summariesOf, summaryOf } from '../../engine/fixtures/summaries.js'
import { runs } from '../../support/runs.js'

// Guarantee: a question that needs too much memory is refused, an abandoned one stops, and neither
// leaves anything behind. test/io/http/hostile-questions asks hundreds of them.

const megabyte = 1024 ** 2
const rows = 1_500_000
/** So many leave the memory that the allocator keeps in any case. */
const warmUps = 4
const files = {
  '1.parquet': `SELECT i AS id, 'company ' || i || repeat('x', 30) AS name, hash(i) AS h,
    (i * 7919 % 1_000_003)::BIGINT AS num, (i % 97)::DOUBLE / 7 AS ratio, i % 89 AS code
    FROM range(${rows}) t(i)`,
}

await t.test('groups that do not fit in memory are an error that says so', async (t) => {
  const { ask } = summariesOf(
    await openEngine(t, { files, engine: { memoryLimitBytes: 200 * megabyte, threads: 2 } }),
  )
  const detail = /too many groups or values: add filters or group by fewer columns/
  await t.rejects(ask({ group: ['name', 'id'], measures: ['max(name)'] }), {
    code: 'timeout',
    detail,
  })
  t.equal((await ask({ measures: ['count'] })).rowsMet, rows, 'the next question is answered')
})

await t.test('a summary whose caller is gone stops', async (t) => {
  const world = await openEngine(t, { files, engine: { threads: 2 } })
  const caller = new AbortController()
  const summary = summaryOf(world, { group: ['id'], measures: ['p1(ratio)', 'distinct(name)'] })
  const asked = world.engine.summarize(summary, { signal: caller.signal, client: 'a' })
  await busyFor(100)
  const gone = new Error('the client hung up')
  caller.abort(gone)
  await t.rejects(asked, gone)
  t.ok((await cpuOfNextSecond()) < cpuAfterMax)
})

await t.test('summaries that are refused leave no memory behind', async (t) => {
  const ask = await askerOf(t, 400 * megabyte)
  await grewLittle(t, runs(16), () => t.rejects(ask(never), { code: 'timeout' }))
})

await t.test('summaries whose caller hangs up leave no memory behind', async (t) => {
  // Enough for the whole answer: what ends the question is its caller alone.
  const ask = await askerOf(t, 20_000 * megabyte)
  await grewLittle(t, runs(8), async () => {
    const caller = new AbortController()
    const rejected = t.rejects(ask(caller.signal), { message: 'the client hung up' })
    await busyFor(300)
    caller.abort(new Error('the client hung up'))
    await rejected
  })
})

/** Asks for a summary of which the whole answer takes about 1 GiB and 3 s of CPU. */
async function askerOf(t: Test, memoryLimitBytes: number) {
  const tempFolder = join(t.testdir({}), 'spill')
  const world = await openEngine(t, { files, engine: { tempFolder, memoryLimitBytes, threads: 2 } })
  const summary = summaryOf(world, {
    group: ['prefix(name,40)', 'h'],
    measures: ['min(name)', 'max(name)'],
  })
  return (signal: AbortSignal) => world.engine.summarize(summary, { signal, client: 'a' })
}

/** Checks that the process holds less than 300 MiB more after so many of these. */
async function grewLittle(t: Test, times: number, ask: () => Promise<unknown>): Promise<void> {
  for (let time = 0; time < warmUps; time++) await ask()
  const before = process.memoryUsage.rss()
  for (let time = 0; time < times; time++) await ask()
  const grown = (process.memoryUsage.rss() - before) / megabyte
  t.comment(`${Math.round(grown)} MiB more after ${times} of them`)
  t.ok(grown < 300)
}
