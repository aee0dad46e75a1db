import { version as duckdb } from '@duckdb/node-api'
import { availableParallelism, cpus, totalmem } from 'node:os'
import type { Run } from '../harness/script.js'
import { httpContestant } from './contestant.js'
import type { Contestant } from './contestant.js'
import { startDas } from './das.js'
import type { Das } from './das.js'
import { prepareData } from './bench-data.js'
import { engineContestant, startEngine } from './engine.js'
import type { Engine } from './engine.js'
import type { Facts, Layout } from './facts.js'
import type { Findings } from './findings.js'
import type { BenchTarget } from './messages.js'
import { loadEngine, loadServer, startClients, watchMemory } from './load.js'
import type { LoadResult } from './load.js'
import type { Options } from './bench-options.js'
import { measureOverhead } from './overhead.js'
import { dropPageCache } from './page-cache.js'
import { noPeers, startPeers } from './peers.js'
import type { Peers } from './peers.js'
import { workloads } from './questions.js'
import { runWorkload } from './rounds.js'
import type { WorkloadResult } from './rounds.js'
import { runWalks } from './walk.js'

/** What runs, and what it runs on. */
interface Bench {
  readonly options: Options
  readonly run: Run
  readonly facts: Facts
  readonly das: Das
  readonly engines: Readonly<Record<Layout['name'], Engine>>
  readonly contestants: readonly Contestant[]
}

/** Prepares data and contestants, and measures what the options ask for. */
export async function measure(options: Options, run: Run): Promise<Findings> {
  const facts = await prepareData(options, run)
  run.update('starting the server, and the peers that are installed')
  const das = await startDas(facts, options, run)
  const peers = options.dasOnly ? noPeers : await startPeers(facts, options, run)
  const engines = {
    yearly: await startEngine(facts.yearly, facts.columns, run.cleanup, options.serverCores),
    packed: await startEngine(facts.packed, facts.columns, run.cleanup, options.serverCores),
  }
  const contestants = contestantsOf(das, engines, peers)
  const bench = { options, run, facts, das, engines, contestants }
  return { ...placeOf(bench, peers), ...(await measureAll(bench)) }
}

function contestantsOf(
  { server, token }: Das,
  engines: Bench['engines'],
  peers: Peers,
): readonly Contestant[] {
  const both = ['yearly', 'packed'] as const
  const ours = both.map((dataset) =>
    httpContestant({ kind: 'das', base: server.base, dataset, token }),
  )
  const bare = both.map((dataset) => engineContestant(engines[dataset], dataset))
  const theirs = peers.present.flatMap((peer) =>
    both.map((dataset) =>
      httpContestant({ kind: peer.kind, base: peer.server.base, dataset, token: '' }),
    ),
  )
  return [...ours, ...bare, ...theirs]
}

function placeOf({ options, facts, das, contestants }: Bench, peers: Peers) {
  const layout = ({ files, sizeBytes }: Layout) => ({ files: files.length, sizeBytes })
  return {
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      memoryBytes: totalmem(),
      node: process.version,
      duckdb: duckdb(),
    },
    data: {
      rows: facts.rows,
      columns: facts.columns.length,
      yearly: layout(facts.yearly),
      packed: layout(facts.packed),
    },
    peers: peers.versions,
    contestants: contestants.map(({ name }) => name),
    startMs: das.startMs,
    memoryLimitBytes: options.memoryLimit,
  }
}

async function measureAll(bench: Bench) {
  const { options, run, facts, contestants } = bench
  const { rounds } = options
  const isAsked = (name: string) => options.only.includes(name)
  const prepare = options.cold ? dropPageCache : undefined
  const found: WorkloadResult[] = []
  for (const workload of workloads.filter(({ name }) => isAsked(name))) {
    found.push(await runWorkload(workload, contestants, facts, rounds, run.update, prepare))
  }
  const packed = contestants.find(({ name }) => name === 'das packed')
  if (isAsked('overhead')) run.update('overhead')
  const overhead =
    packed && isAsked('overhead')
      ? await measureOverhead(facts, packed, run.cleanup, options.serverCores)
      : null
  const walks = isAsked('W6') ? await runWalks(contestants, facts, options, run.update) : []
  const loads = isAsked('W7') ? await measureLoads(bench) : []
  const memory = options.minutes > 0 ? await measureMemory(bench) : null
  return { workloads: found, walks, overhead, loads, memory }
}

async function measureLoads(bench: Bench): Promise<readonly LoadResult[]> {
  const { options, run, facts, das, engines, contestants } = bench
  const clients = startClients(run.cleanup)
  const loads: LoadResult[] = []
  for (const contestant of contestants) {
    const { name, dataset, target } = contestant
    run.update(`W7 ${name}, ${options.seconds} s`)
    loads.push(
      target === null
        ? await loadEngine(engines[dataset], name, facts, options.seconds)
        : await loadServer(clients, { ...contestant, target }, das, facts, options.seconds),
    )
  }
  return loads
}

function measureMemory({ options, run, facts, das, contestants }: Bench) {
  run.update(`memory, ${options.minutes} minutes of a mixed load`)
  const targets = contestants.flatMap(({ kind, target }): readonly BenchTarget[] =>
    kind === 'das' && target ? [target] : [],
  )
  return watchMemory(startClients(run.cleanup), targets, das, facts, options.minutes)
}
