import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { loadRound } from './bench-charge/load-round.js'
import type { Round } from './bench-charge/load-round.js'
import { startReplica, startReplicas } from './check-replicas/replica.js'
import { dataset, makeReplicasFixture, plan } from './check-replicas/replicas-fixture.js'
import { requireBuild, subscribe } from './harness/fixture.js'
import { startNginx } from './harness/nginx.js'
import { toggle, whole } from './harness/options.js'
import type { OptionValues } from './harness/options.js'
import { jsonText, linesText, textTable } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { median, quantile } from './harness/statistics.js'

const options = {
  replicas: whole('servers over one PostgreSQL, measured from 1 up to so many', 3, 1, 16),
  clients: whole('connections, each with one request at a time', 16, 1, 256),
  rounds: whole('rounds of each set-up', 10, 1, 10_000),
  requests: whole('requests of a round', 1000, 1, 1_000_000),
  json: toggle('the report as JSON'),
}
type Options = OptionValues<typeof options>

const command = {
  name: 'bench-replicas',
  usage: 'npm run bench:replicas --',
  about: `Measures look-ups of one row: of one server with SQLite, directly and through nginx, and of
1, 2, … servers over one PostgreSQL through nginx. The set-ups take turns under the same load; clients,
nginx, PostgreSQL and servers share the machine. PostgreSQL and SQLite both wait for the disk.
It needs nginx and PostgreSQL (Debian's nginx-light and postgresql).`,
  options,
}

/** One way to reach the rows. */
interface SetUp {
  readonly name: string
  readonly base: string
  readonly token: string
}

/** Medians over the rounds. */
interface Result {
  readonly name: string
  readonly requests_per_second: number
  /** Throughput beside that of the first set-up in the same round. */
  readonly share: number
  readonly p50_ms: number
  readonly p99_ms: number
}

const question = `/v1/${dataset}?id=eq.12345&limit=1`

/** Starts everything; the first set-up is what the others are compared with. */
async function startAll({ replicas: count }: Options, run: Run): Promise<readonly SetUp[]> {
  const fixture = await makeReplicasFixture(run, ['fsync=on'])
  const { folder, postgres, subscribers } = fixture
  const alone = (await subscribe({ folder, uid: null }, [`${dataset}:${plan}`])).token
  const shared = subscribers[0]?.token ?? ''
  const registry = join(folder, 'registry.yaml')
  const place = { registry, state: join(folder, 'state'), controlUrl: null }
  const one = await startReplica('one', place, run.cleanup)
  const replicas = await startReplicas(folder, postgres.url, count, run.cleanup)
  const bases = replicas.map(({ base }) => base)
  const groups = [[one.base], ...bases.map((_, at) => bases.slice(0, at + 1))]
  const nginx = await startNginx(join(folder, 'nginx'), groups, run.cleanup)
  const fronts = nginx.bases.map((base, servers) => {
    const isAlone = servers === 0
    const name = isAlone ? 'one server, SQLite, nginx' : `${servers} × PostgreSQL, nginx`
    return { name, base, token: isAlone ? alone : shared }
  })
  return [{ name: 'one server, SQLite', base: one.base, token: alone }, ...fronts]
}

async function measure(given: Options, run: Run): Promise<readonly Result[]> {
  const { clients, rounds, requests } = given
  const setUps = await startAll(given, run)
  const round = (setUp: SetUp) => loadRound(setUp, () => question, clients, requests)
  // The first use compiles, caches and opens things.
  for (const setUp of setUps) await round(setUp)
  const found = new Map<SetUp, Round[]>(setUps.map((setUp) => [setUp, []]))
  for (let turn = 0; turn < rounds; turn += 1) {
    run.update(`round ${turn + 1} of ${rounds}`, false)
    const start = turn % setUps.length
    const order = [...setUps.slice(start), ...setUps.slice(0, start)]
    for (const setUp of order) found.get(setUp)?.push(await round(setUp))
  }
  const [first = []] = found.values()
  return [...found].map(([{ name }, all]) => resultOf(name, all, first))
}

function resultOf(name: string, rounds: readonly Round[], first: readonly Round[]): Result {
  const latencies = rounds.flatMap(({ latenciesMs }) => latenciesMs)
  return {
    name,
    requests_per_second: median(rounds.map(({ wallMs }) => 1000 / wallMs)),
    share: median(rounds.map(({ wallMs }, at) => (first[at]?.wallMs ?? NaN) / wallMs)),
    p50_ms: median(latencies),
    p99_ms: quantile(latencies, 0.99),
  }
}

function reportText(results: readonly Result[], { clients, rounds, requests }: Options): string {
  const titles = ['set-up', 'requests/s', 'of the first', 'p50 ms', 'p99 ms']
  const rows = results.map(
    ({ name, requests_per_second: speed, share, p50_ms: p50, p99_ms: p99 }) => [
      name,
      speed.toFixed(0),
      `${(share * 100).toFixed(0)} %`,
      p50.toFixed(1),
      p99.toFixed(1),
    ],
  )
  const load = `${clients} clients, ${rounds} rounds of ${requests} requests for each set-up`
  const shared = `All share ${availableParallelism()} cores: only the ratios say something.`
  return linesText([load, shared, '']) + textTable(titles, rows)
}

await runScript(command, async (given, run) => {
  requireBuild()
  const results = await measure(given, run)
  run.print(given.json ? jsonText(results) : reportText(results, given))
})
