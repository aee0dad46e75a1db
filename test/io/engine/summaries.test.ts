import { join } from 'node:path'
import t from 'tap'
import { ServiceError } from '../../../src/errors.js'
import { timeLimit } from '../../../src/engine/deadline.js'
import { cpuOfNextSecond, busyFor } from '../../engine/fixtures/long-query.js'
import { never, openEngine } from '../../engine/fixtures/open-engine.js'
import { summariesOf, summaryOf } from '../../engine/fixtures/summaries.js'
import type { AskedSummary } from '../../engine/fixtures/summaries.js'

// Guarantee: no question that a caller can write takes the engine down: it ends in an answer, or
// in 503 or 504; look-ups beside it go on, and an abandoned one stops.

const megabyte = 1024 ** 2
const rows = 1_500_000
const files = {
  '1.parquet': `SELECT i AS id, 'company ' || i || repeat('x', 30) AS name, hash(i) AS h,
    (i * 7919 % 1_000_003)::BIGINT AS num, (i % 97)::DOUBLE / 7 AS ratio, i % 89 AS code
    FROM range(${rows}) t(i)`,
}

/** Kinds of questions that need much memory or time. */
const hostile: readonly AskedSummary[] = [
  { group: ['id', 'name', 'h', 'num'], measures: ['distinct(name)', 'max(name)', 'sum(ratio)'] },
  { group: ['code'], measures: ['distinct(name)', 'distinct(h)'] },
  {
    group: ['code'],
    measures: Array.from({ length: 16 }, (_, each) => `p${1 + each * 6}(num/ratio)`),
  },
  {
    group: ['name'],
    measures: Array.from({ length: 16 }, (_, each) => `p${1 + each * 6}(ratio)`),
    order: ['-p1(ratio)'],
    limit: 10_000,
  },
  { group: ['prefix(name,40)', 'h'], measures: ['min(name)', 'max(name)'], limit: 10_000 },
]

await t.test('hostile questions end, and look-ups beside them are answered', async (t) => {
  const temp = t.testdir({})
  const world = await openEngine(t, {
    files,
    engine: { tempFolder: join(temp, 'spill'), memoryLimitBytes: 400 * megabyte, threads: 2 },
  })
  const filters = Array.from({ length: 50 }, (_, each) =>
    world.filter(
      'num',
      'not_in',
      ...Array.from({ length: 20 }, (_, value) => `${each * 20 + value}`),
    ),
  ).flat()
  const questions = Array.from(
    { length: Number(process.env['HOSTILE_RUNS'] ?? 10) },
    (_, index) => {
      const asked = hostile[index % hostile.length] ?? { measures: ['count'] }
      return summaryOf(world, { ...asked, predicates: index % 2 === 0 ? [] : filters })
    },
  )
  const ends = { answers: 0, timeout: 0, service_unavailable: 0 }
  const end = new AbortController()
  const lookUps = (async () => {
    let count = 0
    for (; !end.signal.aborted; count++) {
      const id = String((count * 7919) % rows)
      const { rows: found } = await world.read(world.filter('id', 'eq', id), { client: 'looker' })
      t.equal(found.length, 1)
    }
    return count
  })()
  await Promise.all(
    questions.map(async (summary, index) => {
      const options = { signal: never, client: `client ${index % 3}`, timeLimit: timeLimit(5000) }
      try {
        await world.engine.summarize(summary, options)
        ends.answers += 1
      } catch (cause) {
        if (!(cause instanceof ServiceError)) throw cause
        if (cause.code !== 'timeout' && cause.code !== 'service_unavailable') throw cause
        ends[cause.code] += 1
      }
    }),
  )
  end.abort()
  t.comment(ends, process.memoryUsage.rss() / megabyte)
  t.ok((await lookUps) > 0)
  t.equal(ends.answers + ends.timeout + ends.service_unavailable, questions.length)
  t.ok(
    process.memoryUsage.rss() < 1000 * megabyte,
    'the limit, the process and two files in memory',
  )
  t.equal(await world.engine.count(world.version, [], { signal: never, client: 'a' }), rows)
})

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
  t.ok((await cpuOfNextSecond()) < 400)
})

await t.test('summaries that are stopped or refused leave no memory behind', async (t) => {
  const temp = t.testdir({})
  const world = await openEngine(t, {
    files,
    engine: { tempFolder: join(temp, 'spill'), memoryLimitBytes: 400 * megabyte, threads: 2 },
  })
  const summary = summaryOf(world, {
    group: ['prefix(name,40)', 'h'],
    measures: ['min(name)', 'max(name)'],
  })
  const stop = async () => {
    const caller = new AbortController()
    const ended = new AbortController()
    const asked = world.engine.summarize(summary, { signal: caller.signal, client: 'a' })
    const rejected = t.rejects(asked.finally(() => ended.abort()))
    await busyFor(700, ended.signal)
    caller.abort(new Error('the client hung up'))
    await rejected
  }
  await stop()
  const before = process.memoryUsage.rss()
  for (let times = 0; times < 8; times++) await stop()
  const grown = (process.memoryUsage.rss() - before) / megabyte
  t.comment(`${Math.round(grown)} MiB more after 8 of them`)
  t.ok(grown < 300)
})
