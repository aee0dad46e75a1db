import { startEngine } from '../bench/engine.js'
import type { Facts } from '../bench/facts.js'
import { connections as many, startClients } from '../bench/load.js'
import type { LoadReply } from '../bench/load.js'
import type { ReaderOrder, ReaderReply } from '../bench/overhead.js'
import { lookUpOf } from '../bench/questions.js'
import type { Run } from '../harness/script.js'
import { median, sum } from '../harness/statistics.js'
import { startWorker } from '../harness/worker.js'
import { timeByModule } from './profile.js'
import type { ServerUnderTest } from './server-under-test.js'

/** A build under one number of connections. */
export interface RoadOf {
  readonly connections: number
  /** At the client; medians of the rounds. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly requestsPerSecond: number
  /** CPU time of a request: on the event loop's thread, and of the whole process. */
  readonly loopCpuMs: number
  readonly allCpuMs: number
  /** Wall time of each part of a request, and `total` up to the answer; medians. */
  readonly parts: Readonly<Record<string, number>>
}

export interface BuildRoad {
  readonly name: string
  readonly roads: readonly RoadOf[]
  readonly poolTripMs: number
  /** CPU time of a request on the event loop's thread, by module. */
  readonly modules: readonly (readonly [module: string, ms: number])[]
}

/** The same look-ups without a server; medians of time, means of CPU time. */
export interface EngineRoad {
  readonly bareMs: number
  readonly ownMs: number
  readonly ownCpuMs: number
}

interface Amount {
  readonly rounds: number
  readonly seconds: number
  /** Look-ups. */
  readonly warmUp: number
}

const questionsMax = 5000
const engineAsks = 300

/** One look-up after another in the bare engine and in the product's own, in turns. */
export async function measureEngines(
  facts: Facts,
  registry: string,
  run: Run,
): Promise<EngineRoad> {
  const bare = await startEngine(facts.packed, facts.columns, run.cleanup)
  const own = startWorker<ReaderOrder, ReaderReply>(
    new URL('../bench/reader-child.ts', import.meta.url),
    run.cleanup,
  )
  await own.send({ kind: 'open', registry, dataset: 'packed' })
  const [bareMs, replies]: [number[], ReaderReply[]] = [[], []]
  // The first half is not counted: it opens the files that the second half finds open.
  for (let round = 0; round < 2 * engineAsks; round += 1) {
    const question = lookUpOf(facts, round % engineAsks)
    bareMs.push((await bare.send({ kind: 'ask', question })).ms)
    replies.push(await own.send({ kind: 'ask', question }))
  }
  const counted = replies.slice(engineAsks)
  return {
    bareMs: median(bareMs.slice(engineAsks)),
    ownMs: median(counted.map(({ ms }) => ms)),
    ownCpuMs: sum(counted.map(({ cpuMs }) => cpuMs)) / engineAsks,
  }
}

/** Measures every build in turns. */
export async function measureBuilds(
  builds: readonly ServerUnderTest[],
  facts: Facts,
  { rounds, seconds, warmUp }: Amount,
  run: Run,
): Promise<readonly BuildRoad[]> {
  const clients = startClients(run.cleanup)
  const ask: Ask = ({ target }, connections) => {
    const asks = Array.from({ length: questionsMax }, (_, at) => ({
      target,
      question: lookUpOf(facts, at),
    }))
    return clients.send({ asks, connections, seconds })
  }
  const measured = builds.map((build) => ({ build, found: new Map<number, Found[]>() }))
  for (const each of builds) {
    run.update(`warming up: ${each.name}`)
    for (let asked = 0; asked < warmUp;) asked += (await ask(each, many)).requests
  }
  for (let round = 0; round < rounds; round += 1) {
    run.update(`round ${round + 1} of ${rounds}`)
    // Forth and back, so that no build is always the first.
    for (const { build, found } of round % 2 === 0 ? measured : measured.toReversed()) {
      for (const connections of [1, many]) {
        const before = found.get(connections) ?? []
        found.set(connections, [...before, await measureOnce(build, connections, ask)])
      }
    }
  }
  const roads: BuildRoad[] = []
  for (const { build, found } of measured) {
    roads.push({
      name: build.name,
      roads: [...found].map(([connections, rounds]) => roadOf(connections, rounds)),
      poolTripMs: await build.poolTripMs(),
      modules: await profile(build, ask),
    })
  }
  return roads
}

interface Found {
  readonly load: LoadReply
  readonly loopCpuMs: number
  readonly allCpuMs: number
  readonly parts: readonly Readonly<Record<string, number>>[]
}

type Ask = (build: ServerUnderTest, connections: number) => Promise<LoadReply>

async function measureOnce(build: ServerUnderTest, connections: number, ask: Ask): Promise<Found> {
  await build.begin('cpu')
  const load = await ask(build, connections)
  const { loopMs, allMs } = await build.stop()
  if (load.failed > 0) throw new Error(`a look-up failed: ${load.failure}`)
  await build.begin('parts')
  await ask(build, connections)
  const { parts } = await build.stop()
  return {
    load,
    loopCpuMs: loopMs / load.requests,
    allCpuMs: allMs / load.requests,
    parts,
  }
}

function roadOf(connections: number, rounds: readonly Found[]): RoadOf {
  const of = (value: (found: Found) => number) => median(rounds.map(value))
  const all = rounds.flatMap(({ parts }) => parts)
  // Requests whose charge was committed together with another one's lack its parts.
  const whole = all.filter((parts) => 'sync' in parts && 'log' in parts)
  const names = [...new Set(whole.flatMap((parts) => Object.keys(parts)))]
  const parts = names.map((name) => [name, median(whole.map((each) => each[name] ?? 0))] as const)
  return {
    connections,
    p50Ms: of(({ load }) => load.p50Ms),
    p99Ms: of(({ load }) => load.p99Ms),
    requestsPerSecond: of(({ load }) => load.requestsPerSecond),
    loopCpuMs: of(({ loopCpuMs }) => loopCpuMs),
    allCpuMs: of(({ allCpuMs }) => allCpuMs),
    parts: Object.fromEntries(parts),
  }
}

async function profile(build: ServerUnderTest, ask: Ask) {
  await build.begin('profile')
  const { requests } = await ask(build, many)
  const { profile: found } = await build.stop()
  const times = found ? timeByModule(found) : []
  return times.map(([module, ms]) => [module, ms / requests] as const)
}
