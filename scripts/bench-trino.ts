import { Agent } from 'node:http'
import { availableParallelism } from 'node:os'
import { loadRound } from './bench-charge/load-round.js'
import type { Round } from './bench-charge/load-round.js'
import { datasets, startBoth } from './bench-trino/trino-fixture.js'
import { requireBuild } from './harness/fixture.js'
import { sendWell } from './harness/http.js'
import type { Target } from './harness/http.js'
import { toggle, whole } from './harness/options.js'
import type { OptionValues } from './harness/options.js'
import { randomOf } from './harness/random.js'
import type { Random } from './harness/random.js'
import { count, jsonText, linesText, textTable } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { median, quantile } from './harness/statistics.js'

const options = {
  rows: whole('rows of the table, of eight columns', 1_000_000, 10_000, 100_000_000),
  clients: whole('connections, each with one request at a time', 1, 1, 256),
  rounds: whole('rounds of each question and engine', 5, 1, 10_000),
  warmUp: whole('rounds before, which do not count', 2, 0, 10_000),
  requests: whole('requests of a round; groups are a fifth of them', 60, 5, 1_000_000),
  json: toggle('the report as JSON'),
}
type Options = OptionValues<typeof options>

const command = {
  name: 'bench-trino',
  usage: 'npm run bench:trino --',
  about: `Measures what a table of Trino costs: a look-up of one row, a page of 1,000 rows and groups
over all rows, over HTTP at the built server, of one Parquet file that Trino reads and DuckDB reads. The
engines take turns, and their answers are compared first. Trino, server and clients share the machine.
It needs Maven, a JDK of 24 or newer and 4 GB of memory; the first start downloads Trino.`,
  options,
}

/** A question about a random part of the rows, so that no answer is kept. */
interface Workload {
  readonly name: string
  readonly share: number
  readonly pathOf: (random: Random, rows: number) => string
}

const workloads: readonly Workload[] = [
  {
    name: 'look-up of one row',
    share: 1,
    pathOf: (random, rows) => `?id=eq.${random.whole(0, rows - 1)}`,
  },
  {
    name: 'page of 1,000 rows',
    share: 1,
    pathOf: (random, rows) => `?id=gte.${random.whole(0, rows - 1000)}&limit=1000`,
  },
  {
    name: 'count and sum by year, all rows',
    share: 0.2,
    pathOf: (random) => {
      return `/aggregate?group=year&measures=count,sum(price)&id=gte.${random.whole(0, 5000)}`
    },
  },
]

/** Of one question with one engine, over all rounds. */
interface Result {
  readonly workload: string
  readonly engine: string
  readonly min_ms: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly requests_per_second: number
  /** The median time beside that of DuckDB. */
  readonly times_duckdb: number
}

/** @throws Error where the engines give different rows */
async function requireSame(target: Target, path: string): Promise<void> {
  const [files, table] = await Promise.all(
    datasets.map(async (dataset) => {
      const { text } = await sendWell(target, {
        method: 'GET',
        path: `/v1/${dataset}${path}`,
        body: '',
      })
      // Cursors differ.
      return text.slice(0, text.lastIndexOf(']'))
    }),
  )
  if (files !== table) throw new Error(`the engines give different rows for ${path}`)
}

async function measure(given: Options, run: Run): Promise<readonly Result[]> {
  const { rows, clients, rounds, warmUp, requests } = given
  const target = await startBoth(rows, run)
  const random = randomOf(1)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const found = new Map<string, Round[]>()
  for (const { pathOf } of workloads) await requireSame({ ...target, agent }, pathOf(random, rows))
  agent.destroy()
  for (let turn = -warmUp; turn < rounds; turn += 1) {
    run.update(turn < 0 ? 'warming up' : `round ${turn + 1} of ${rounds}`, false)
    for (const { name, share, pathOf } of workloads) {
      for (const dataset of turn % 2 === 0 ? datasets : [...datasets].reverse()) {
        const path = () => `/v1/${dataset}${pathOf(random, rows)}`
        const round = await loadRound(target, path, clients, Math.ceil(requests * share))
        const key = `${name} ${dataset}`
        if (turn >= 0) found.set(key, [...(found.get(key) ?? []), round])
      }
    }
  }
  return workloads.flatMap(({ name }) => {
    const [files = [], table = []] = datasets.map((dataset) => found.get(`${name} ${dataset}`))
    return [resultOf(name, 'DuckDB', files, files), resultOf(name, 'Trino', table, files)]
  })
}

function resultOf(
  workload: string,
  engine: string,
  rounds: readonly Round[],
  others: readonly Round[],
): Result {
  const latencies = (of: readonly Round[]) => of.flatMap(({ latenciesMs }) => latenciesMs)
  const own = latencies(rounds)
  return {
    workload,
    engine,
    min_ms: Math.min(...own),
    p50_ms: median(own),
    p99_ms: quantile(own, 0.99),
    requests_per_second: median(rounds.map(({ wallMs }) => 1000 / wallMs)),
    times_duckdb: median(own) / median(latencies(others)),
  }
}

function reportText(
  results: readonly Result[],
  { rows, clients, rounds, requests }: Options,
): string {
  const titles = ['question', 'engine', 'min ms', 'p50 ms', 'p99 ms', 'requests/s', '× DuckDB']
  const lines = results.map((result) => [
    result.workload,
    result.engine,
    short(result.min_ms),
    short(result.p50_ms),
    short(result.p99_ms),
    short(result.requests_per_second),
    short(result.times_duckdb),
  ])
  const load = `${count(rows)} rows, ${clients} clients, ${rounds} rounds of ${requests} requests`
  const shared = `All share ${availableParallelism()} cores: only the ratios say something.`
  return linesText([load, shared, '']) + textTable(titles, lines)
}

function short(value: number): string {
  return value < 100 ? value.toPrecision(3) : count(Math.round(value))
}

await runScript(command, async (given, run) => {
  requireBuild()
  const results = await measure(given, run)
  run.print(given.json ? jsonText(results) : reportText(results, given))
})
