import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import t from 'tap'
import { timedOut, withDeadline } from '../../../src/engine/deadline.js'
import { runStatement } from '../../../src/engine/duckdb/run-statement.js'
import { startInstance } from '../../../src/engine/duckdb/sandbox.js'
import {
  busyFor,
  cpuAfterMax,
  cpuMs,
  cpuOf,
  cpuOfNextSecond,
  openLong,
} from '../../engine/fixtures/long-query.js'
import { never } from '../../engine/fixtures/open-engine.js'
import { machineClock } from '../../../src/clock.js'

// Guarantee: a query whose caller is gone stops, so that the next one gets its slot and its core.
// Measured in CPU time, which other processes hardly change, as a share of the query's own work,
// which a slow machine does not change.

await t.test('a query whose caller is gone stops at once', async (t) => {
  const { count, listMs } = await openLong(t)
  const caller = new AbortController()
  const counting = count({ signal: caller.signal })
  await busyFor(300)
  const gone = new Error('the client hung up')
  caller.abort(gone)
  const start = cpuMs()
  await t.rejects(counting, gone)
  t.ok((await cpuOfNextSecond()) < cpuAfterMax)
  const spent = cpuMs() - start
  t.ok(spent < 5 * listMs, `${spent} ms of CPU after the abort, less than a tenth of the work`)
})

await t.test('a query past its deadline is a timeout and leaves the CPU idle', async (t) => {
  const { count, listMs } = await openLong(t)
  let start = 0
  const reason = () => {
    start = cpuMs()
    return timedOut(300)
  }
  const counting = withDeadline(machineClock, 300, never, (signal) => count({ signal }), reason)
  await t.rejects(counting, { code: 'timeout', detail: /did not finish in 0\.3 s/ })
  const spent = cpuMs() - start
  t.ok(spent < 5 * listMs, `${spent} ms of CPU after it, less than a tenth of the work`)
  t.ok((await cpuOfNextSecond()) < cpuAfterMax)
})

await t.test('an abort before the start costs nothing', async (t) => {
  const { count, engine, version, listMs } = await openLong(t)
  const gone = new Error('gone already')
  const spent = await cpuOf(() => t.rejects(count({ signal: AbortSignal.abort(gone) }), gone))
  t.ok(spent < listMs / 5, `${spent} ms of CPU, less than a 250th of the work`)
  t.equal(await engine.count(version, [], { signal: never, client: 'next' }), 2_000_000)
})

await t.test('an abort in the queue ends the wait, and nothing runs for it', async (t) => {
  const { count, engine, version } = await openLong(t, { slots: 1 })
  const [first, second] = [new AbortController(), new AbortController()]
  const running = count({ signal: first.signal })
  const queued = count({ signal: second.signal })
  const next = engine.count(version, [], { signal: never, client: 'next' })
  await busyFor(100)
  const gone = new Error('gone while waiting')
  second.abort(gone)
  await t.rejects(queued, gone)
  first.abort(gone)
  await t.rejects(running, gone)
  t.equal(await next, 2_000_000, 'who waited behind them is served')
})

await t.test('every place is free again after many abandoned queries', async (t) => {
  const { count, engine, version } = await openLong(t, { slots: 2, queueMax: 64 })
  for (let round = 0; round < 5; round++) {
    const callers = Array.from({ length: 6 }, () => new AbortController())
    const results = callers.map(({ signal }, index) => count({ signal, client: `${index}` }))
    const settled = Promise.allSettled(results)
    if (round > 0) await busyFor(10 * round)
    for (const caller of callers) caller.abort()
    for (const { status } of await settled) t.equal(status, 'rejected')
  }
  const quick = Array.from({ length: 8 }, (_, index) =>
    engine.count(version, [], { signal: never, client: `${index}` }),
  )
  t.strictSame(await Promise.all(quick), Array(8).fill(2_000_000))
  t.ok((await cpuOfNextSecond()) < cpuAfterMax)
})

await t.test('an engine that closes stops what runs and refuses what comes', async (t) => {
  const { count, engine } = await openLong(t, { slots: 1 })
  const results = [count(), count()]
  const refused = results.map((each) => t.rejects(each, { code: 'service_unavailable' }))
  await busyFor(100)
  await engine.close()
  await Promise.all(refused)
  await t.rejects(count(), { code: 'service_unavailable', detail: 'The service is stopping.' })
  t.ok((await cpuOfNextSecond()) < cpuAfterMax)
})

await t.test('an abort while the query still waits for a thread stops it too', async (t) => {
  const folder = t.testdir({})
  const instance = await startInstance({
    folders: [folder],
    tempFolder: null,
    memoryLimitBytes: 256 * 1024 ** 2,
    threads: 2,
  })
  const connection = await instance.connect()
  t.teardown(() => {
    connection.disconnectSync()
    instance.closeSync()
  })
  // Each thread of the pool opens a pipe and waits until the test writes to it.
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4)
  const caller = new AbortController()
  let isFree: Promise<unknown> = Promise.resolve()
  const prepare = async (sql: string) => {
    const prepared = await connection.prepare(sql)
    const run = () => {
      const readers = Array.from({ length: threads }, () => open(pipe, 'r'))
      const result = prepared.run()
      caller.abort(new Error('gone'))
      // DuckDB has not begun: the interrupt of this moment is lost. Then the threads go on.
      const writer = openSync(pipe, 'w')
      isFree = Promise.all(readers).then(async (opened) => {
        await Promise.all(opened.map((file) => file.close()))
        closeSync(writer)
      })
      return result
    }
    return Object.assign(Object.create(prepared) as DuckDBPreparedStatement, { run })
  }
  const blocked = Object.assign(Object.create(connection) as DuckDBConnection, { prepare })
  const sqlOf = (rows: number) => `SELECT count(*) FROM range(${rows}) t(i) WHERE sqrt(i) = 0.5`
  const share = await cpuOf(() => connection.run(sqlOf(200_000_000)))
  const start = cpuMs()
  const sql = sqlOf(20_000_000_000)
  await t.rejects(runStatement(blocked, { sql, values: [] }, caller.signal), { message: 'gone' })
  await isFree
  t.ok((await cpuOfNextSecond()) < cpuAfterMax)
  const spent = cpuMs() - start
  t.ok(spent < share, `${spent} ms of CPU, less than a hundredth of the work: ${share} ms`)
})
