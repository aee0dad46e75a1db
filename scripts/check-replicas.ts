import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Ledger } from './check-replicas/ledger.js'
import { Outage, stopPostgres } from './check-replicas/outage.js'
import { makeReplicasFixture, readCharged } from './check-replicas/replicas-fixture.js'
import type { ReplicasFixture } from './check-replicas/replicas-fixture.js'
import { command, outageSecondsOf } from './check-replicas/replicas-options.js'
import type { Options } from './check-replicas/replicas-options.js'
import { startReplicas } from './check-replicas/replica.js'
import type { Replica } from './check-replicas/replica.js'
import { summaryText } from './check-replicas/summary.js'
import type { Summary } from './check-replicas/summary.js'
import { limitMax, startWalkers } from './check-replicas/walkers.js'
import { Fault } from './harness/fault.js'
import { requireBuild } from './harness/fixture.js'
import { logOf, passedAgain, startNginx } from './harness/nginx.js'
import { randomOf } from './harness/random.js'
import type { Random } from './harness/random.js'
import { jsonText } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { sum } from './harness/statistics.js'

/** What runs while clients walk. */
interface Disturbance {
  readonly fixture: ReplicasFixture
  readonly replicas: readonly Replica[]
  readonly ledger: Ledger
  readonly outage: Outage
  readonly options: Options
  readonly run: Run
  /** Aborts when a client fails. */
  readonly signal: AbortSignal
}

interface Findings {
  readonly kills: number
  readonly recoveryMs: readonly number[]
}

/** Kills one server after another for so long; returns how many. */
async function killFor(seconds: number, random: Random, parts: Disturbance): Promise<number> {
  const { replicas, options, run, signal } = parts
  const endMs = performance.now() + seconds * 1000
  const killMs = options.killSeconds * 1000
  for (let [kills, killedMs] = [0, performance.now()]; ; kills += 1) {
    const nextMs = Math.min(Math.max(killedMs + killMs, performance.now()), endMs)
    await sleep(nextMs - performance.now(), undefined, { signal })
    if (nextMs >= endMs) return kills
    const replica = random.oneOf(replicas)
    const { name, server } = replica
    run.update(`server ${name} is killed, ${Math.ceil((endMs - nextMs) / 1000)} s left`, false)
    const { child, output } = server()
    if (child.exitCode !== null) throw new Fault(`server ${name} ended: ${output()}`)
    killedMs = performance.now()
    await replica.restart()
  }
}

async function disturb(parts: Disturbance): Promise<Findings> {
  const { options, run } = parts
  const seconds = outageSecondsOf(options)
  const random = randomOf(options.seed, options.clients)
  const half = (options.seconds - seconds) / 2
  const before = await killFor(half, random, parts)
  run.update(`PostgreSQL is stopped for ${seconds} s`)
  const recoveryMs = await stopPostgres({ ...parts, seconds })
  run.update('PostgreSQL is back, and every server is well')
  return { recoveryMs, kills: before + (await killFor(half, random, parts)) }
}

/** @throws Fault naming the subscription that breaks the rule of the counter */
function checkCharges(
  { fixture, ledger }: Pick<Disturbance, 'fixture' | 'ledger'>,
  charged: ReadonlyMap<string, number>,
): void {
  for (const { id } of fixture.subscribers) {
    const [paid, received] = [charged.get(id) ?? 0, ledger.deliveredTo(id)]
    if (received > paid) throw new Fault(`${id} received ${received} rows and paid ${paid}`)
  }
  if (ledger.delivered === 0) throw new Error('no row was delivered: nothing was checked')
}

/** @throws Fault when more rows were charged in vain than were lost */
function checkLost({ rows_charged: charged, rows_delivered: delivered, ...rest }: Summary): void {
  const { by_failures: byFailures, by_kills: byKills } = rest.rows_lost_max
  const most = Math.min(byFailures, byKills)
  if (charged - delivered <= most) return
  throw new Fault(`${charged} rows charged, ${delivered} delivered, ${most} lost at most`)
}

async function check(options: Options, run: Run): Promise<Summary> {
  const startedMs = performance.now()
  const fixture = await makeReplicasFixture(run)
  const { folder, subscribers, postgres } = fixture
  const replicas = await startReplicas(folder, postgres.url, options.replicas, run.cleanup)
  const nginx = join(folder, 'nginx')
  const { bases } = await startNginx(nginx, [replicas.map(({ base }) => base)], run.cleanup)
  const [ledger, outage, failed] = [new Ledger(), new Outage(), new AbortController()]
  const walkers = startWalkers({ ...options, base: bases[0] ?? '', subscribers, ledger, outage })
  walkers.done.catch((cause: unknown) => failed.abort(cause))
  run.cleanup.signal.addEventListener('abort', () => failed.abort())
  const { signal } = failed
  const parts = { fixture, replicas, ledger, outage, options, run, signal }
  const findings = await disturb(parts)
    .catch(async (cause: unknown) => {
      // What a client found comes first.
      await (signal.aborted ? walkers.done : undefined)
      throw cause
    })
    .finally(() => walkers.stop())
  await walkers.done
  await Promise.all(replicas.map(({ server }) => server().stop()))
  const charged = await readCharged(postgres.url)
  checkCharges(parts, charged)
  const again = passedAgain(await readFile(logOf(nginx), 'utf8'))
  const seconds = (performance.now() - startedMs) / 1000
  const summary = summaryOf(parts, findings, sum([...charged.values()]), again, seconds)
  checkLost(summary)
  return summary
}

function summaryOf(
  { options, ledger }: Pick<Disturbance, 'options' | 'ledger'>,
  { kills, recoveryMs }: Findings,
  charged: number,
  again: number,
  seconds: number,
): Summary {
  const { seed, replicas, clients } = options
  const { requests, walks, healed, refused, delivered, rowsAtRisk } = ledger
  return {
    ...{ seed, replicas, clients, kills, requests, walks, healed, refused },
    cut_off: ledger.cutOff,
    passed_again: again,
    outage_seconds: outageSecondsOf(options),
    recovery_ms: recoveryMs.map(Math.round),
    rows_delivered: delivered,
    rows_charged: charged,
    rows_lost_max: {
      by_failures: rowsAtRisk + again * limitMax,
      by_kills: (kills + 1) * clients * limitMax,
    },
    wall_seconds: seconds,
  }
}

await runScript(command, async (options, run) => {
  requireBuild()
  const summary = await check(options, run)
  const holds = 'delivered ≤ charged, every walk complete\n'
  run.print(options.json ? jsonText({ passed: true, ...summary }) : summaryText(summary) + holds)
})
