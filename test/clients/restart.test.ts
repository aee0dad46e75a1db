import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import t from 'tap'
import { buildCliFixture } from '../cli/fixtures/cli-fixture.js'
import { build } from '../cli/fixtures/das-process.js'

// Guarantee: under a manager that holds the socket, as systemd does, no client notices a restart.

const { launcher } = await build(t)
const restarts = Number(process.env['RESTARTS'] ?? 3)
const clients = 32
const registry = `
demo: {token: das_demo_test1}
datasets:
  financials:
    title: Statements
    files: data/financials/*.parquet
    key: [inn, year]
    history: year
    plans: {pro: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 1000000}}
`
const asked = '/v1/financials?inn=eq.0000000007&select=year,2110'
const answered = '{"data":[{"year":2023,"2110":70},{"year":2024,"2110":70}],"next_cursor":null}'

await t.test(`${clients} clients notice none of ${restarts} restarts`, async (t) => {
  const cli = await buildCliFixture(t, registry)
  cli.clock.ms = Date.now()
  const buy = ['subscription', 'create', '--email', 'a@b.c', '--plan', 'financials:pro', '--json']
  const { token } = JSON.parse((await cli.das(buy)).stdout) as { token: string }
  const serve = [process.execPath, launcher, 'serve', '--drain-seconds', '3']
  const child = spawn('python3', ['test/clients/keep_socket.py', ...serve], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      DAS_REGISTRY: join(cli.folder, 'registry.yaml'),
      DAS_STATE: join(cli.folder, 'var'),
      DAS_MEMORY_LIMIT: '512MB',
    },
  })
  const ended = once(child, 'close')
  t.teardown(() => child.kill('SIGTERM'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`it ended before ${pattern}`)
      const [, found] = pattern.exec(value) ?? []
      if (found !== undefined) return found
    }
  }

  const base = `http://127.0.0.1:${await next(/^port (\d+)$/)}`
  const over = new AbortController()
  const counts = Array.from({ length: clients }, async () => {
    let count = 0
    for (; !over.signal.aborted; count += 1) {
      const response = await fetch(base + asked, { headers: { authorization: `Bearer ${token}` } })
      const text = await response.text()
      if (response.status !== 200 || text !== answered) t.fail(`${response.status} ${text}`)
    }
    return count
  })
  const isReady = async () => (await fetch(`${base}/readyz`)).ok

  let run = Number(await next(/^process (\d+)$/))
  for (let restart = 0; restart < restarts; restart += 1) {
    await next(/"msg":"(Server listening)/)
    t.ok(await isReady())
    process.kill(run, 'SIGTERM')
    await next(/"msg":"(stopping)/)
    t.notOk(await isReady(), 'a balancer sends no more to a server that drains')
    run = Number(await next(/^process (\d+)$/))
  }
  await next(/"msg":"(Server listening)/)
  over.abort()
  const total = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  t.comment(`${total} answers, ${restarts} restarts`)
  t.ok(total > clients * restarts)
  child.kill('SIGTERM')
  for await (const line of { [Symbol.asyncIterator]: () => lines }) void line
  t.same(await ended, [0, null])
})
