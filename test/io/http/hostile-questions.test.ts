import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { buildCliFixture } from '../../cli/fixtures/cli-fixture.js'
import { build } from '../../cli/fixtures/das-process.js'
import { runs } from '../../support/runs.js'

// Guarantee: no question that a caller can write takes the server down. Each ends in an answer, a
// refusal, 503 or 504; memory stays within its limit; look-ups of others go on and are right.

const built = await build(t)
const rows = 1_000_000
/** `DAS_MEMORY_LIMIT` of the fixture's server, and what the process may take beside it. */
const memoryMaxBytes = (512 + 300) * 1e6

const files = {
  'data/wide.parquet': `SELECT i AS id, 'company ' || i || repeat('x', 30) AS name, hash(i) AS h,
    (i * 7919 % 1_000_003)::BIGINT AS num, (i % 97)::DOUBLE / 7 AS ratio, i % 89 AS code,
    DATE '2000-01-01' + (i % 9000)::INT AS day FROM range(${rows}) t(i)`,
}
const registry = `
demo: {token: das_demo_test1}
datasets:
  wide:
    title: Wide
    files: data/wide.parquet
    key: id
    require_filter: false
    demo: {id: [1]}
    timeout_seconds: 5
    plans: {pro: {rows_per_month: 1000000000, history: all, price_rub: 0, rate_per_minute: 1000000}}
`

const numbers = ['id', 'num', 'ratio', 'code', 'h']
const columns = [...numbers, 'name', 'day']
const some = <T>(values: readonly T[], maxLength: number) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength })
const dear = [
  ...Array.from({ length: 16 }, (_, each) => `p${1 + each * 6}(ratio)`),
  ...Array.from({ length: 16 }, (_, each) => `p${1 + each * 6}(num/ratio)`),
  ...numbers.map((name) => `sum(${name})`),
  'max(name)',
  'min(name)',
]
const distinct = columns.map((name) => `distinct(${name})`)
const groups = [...columns, 'prefix(name,40)', 'day(day)', 'month(day)']
const unselective = fc.oneof(
  fc.array(fc.integer({ min: 0, max: rows }), { minLength: 100, maxLength: 1000 }).map((list) => ({
    column: 'num',
    op: 'not_in',
    value: list.map(String),
  })),
  fc.constantFrom('xx', 'company 9', 'x 1', 'nothing of it').map((value) => ({
    column: 'name',
    op: 'contains',
    value,
  })),
  fc
    .constantFrom('*', 'company*', 'company 9*')
    .map((value) => ({ column: 'name', op: 'like', value })),
)
const filters = fc.oneof(fc.constant([]), fc.array(unselective, { maxLength: 50 }))

/** A path and a body that ask for much work. */
const hostile = fc.oneof(
  { weight: 3, arbitrary: aggregates() },
  fc.record({ path: fc.constant('query'), body: fc.record({ filters }) }),
)

function aggregates() {
  const body = fc.record({
    group: some(groups, 4),
    measures: fc.tuple(some(dear, 14), some(distinct, 2)).map((lists) => lists.flat()),
    filters,
    limit: fc.constantFrom(1, 100, 10_000),
  })
  return fc.record({ path: fc.constant('aggregate'), body })
}

/** The most memory that a process has had, in bytes. */
function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

await t.test('hostile questions end, and look-ups beside them are answered', async (t) => {
  const cli = await buildCliFixture(t, registry, files)
  cli.clock.ms = Date.now()
  const sell = async () => {
    const argv = ['subscription', 'create', '--email', 'a@b.c', '--plan', 'wide:pro', '--json']
    return (JSON.parse((await cli.das(argv)).stdout) as { token: string }).token
  }
  const looker = await sell()
  const askers = [await sell(), await sell(), await sell(), await sell()]
  const server = await built.serve(cli)

  const send = async (token: string, path: string, body?: unknown) => {
    const response = await fetch(server.base + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
  const over = new AbortController()
  const lookUps = (async () => {
    let count = 0
    for (; !over.signal.aborted; count++) {
      const id = (count * 7919) % rows
      const { status, text } = await send(looker, `/v1/wide?id=eq.${id}&select=id`)
      t.equal(status === 200 && text, `{"data":[{"id":${id}}],"next_cursor":null}`)
    }
    return count
  })()

  const questions = fc.sample(hostile, {
    numRuns: runs(12),
    seed: 20,
  })
  const ends: Record<string, number> = {}
  const ask = async (token: string) => {
    for (;;) {
      const question = questions.pop()
      if (!question) return
      const { status, text } = await send(token, `/v1/wide/${question.path}`, question.body)
      ends[status] = (ends[status] ?? 0) + 1
      if (![200, 503, 504].includes(status)) t.fail(text.slice(0, 300), { question })
    }
  }
  await Promise.all(askers.map(ask))
  over.abort()

  const peak = peakMemory(server.pid)
  const looked = await lookUps
  t.comment({ ends, looked, megabytes: Math.round(peak / 1e6) })
  t.ok(looked > 0)
  t.ok(peak < memoryMaxBytes, `${Math.round(peak / 1e6)} MB`)
  const after = await send(looker, '/v1/wide/aggregate?measures=count')
  t.equal(after.status, 200, after.text)
  server.kill('SIGTERM')
  t.equal(await server.ended, 0)
})
