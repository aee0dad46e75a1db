import { setTimeout } from 'node:timers/promises'
import { median, quantile } from '../harness/statistics.js'
import type { Cleanup } from '../harness/cleanup.js'
import { memoryOf } from '../harness/process.js'
import type { Contestant } from './contestant.js'
import { beginLoop, endLoop } from './das.js'
import type { Das, LoopDelay } from './das.js'
import type { Engine } from './engine.js'
import type { Facts } from './facts.js'
import type { BenchTarget } from './messages.js'
import { lookUpOf, workloads } from './questions.js'
import type { Question } from './questions.js'
import { startWorker } from '../harness/worker.js'
import type { Worker } from '../harness/worker.js'

/** What `load-child.ts` takes. */
export interface LoadOrder {
  /** Asked one after the other, again and again. */
  readonly asks: readonly { readonly target: BenchTarget; readonly question: Question }[]
  readonly connections: number
  readonly seconds: number
}

export interface LoadReply {
  readonly requests: number
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
  readonly failure: string | null
}

export interface LoadResult extends LoadReply {
  readonly contestant: string
  /** Of our server alone. */
  readonly loop: LoopDelay | null
}

/** Resident memory of our server under a mixed load, in bytes. */
export interface MemoryResult {
  readonly minutes: number
  readonly load: LoadReply
  /** After one minute, two minutes, …; the last one is at the end. */
  readonly minuteBytes: readonly number[]
  readonly maxBytes: number
}

export const connections = 16
const warmUpSeconds = 2
const questionsMax = 5000
const mixedRounds = 500
const sampleEveryMs = 1000
const samplesOfMinute = 60

type Clients = Worker<LoadOrder, LoadReply>

/** Clients in a process of their own. */
export function startClients(cleanup: Cleanup): Clients {
  return startWorker<LoadOrder, LoadReply>(new URL('load-child.ts', import.meta.url), cleanup)
}

/** W7: look-ups from 16 connections, always of another company. */
export async function loadServer(
  clients: Clients,
  contestant: Contestant & { readonly target: BenchTarget },
  das: Das,
  facts: Facts,
  seconds: number,
): Promise<LoadResult> {
  const { target, name, kind } = contestant
  const asks = lookUps(facts).map((question) => ({ target, question }))
  await clients.send({ asks, connections, seconds: Math.min(warmUpSeconds, seconds) })
  if (kind !== 'das') {
    return { contestant: name, ...(await clients.send({ asks, connections, seconds })), loop: null }
  }
  beginLoop(das)
  const reply = await clients.send({ asks, connections, seconds })
  return { contestant: name, ...reply, loop: await endLoop(das) }
}

/** The same in the engine, in a loop for each core: the limit of what a server can do. */
export async function loadEngine(
  engine: Engine,
  contestant: string,
  facts: Facts,
  seconds: number,
): Promise<LoadResult> {
  const questions = lookUps(facts)
  const { latenciesMs } = await engine.send({ kind: 'load', questions, seconds })
  return {
    contestant,
    requests: latenciesMs.length,
    requestsPerSecond: latenciesMs.length / seconds,
    p50Ms: median(latenciesMs),
    p99Ms: quantile(latenciesMs, 0.99),
    failed: 0,
    failure: null,
    loop: null,
  }
}

function lookUps(facts: Facts): readonly Question[] {
  const count = Math.min(facts.companies.length, questionsMax)
  return Array.from({ length: count }, (_, at) => lookUpOf(facts, at))
}

/** Runs all workloads on both layouts for so many minutes, and samples the server's memory. */
export async function watchMemory(
  clients: Clients,
  targets: readonly BenchTarget[],
  das: Das,
  facts: Facts,
  minutes: number,
): Promise<MemoryResult> {
  const asks = Array.from({ length: mixedRounds }, (_, round) => round).flatMap((round) =>
    workloads.flatMap(({ questionOf }) => {
      const target = targets[round % targets.length]
      return target ? [{ target, question: questionOf(facts, round) }] : []
    }),
  )
  const samples: number[] = []
  const done = new AbortController()
  const sampling = sample(das, samples, done.signal)
  try {
    const load = await clients.send({ asks, connections, seconds: minutes * 60 })
    return {
      minutes,
      load,
      minuteBytes: eachMinute(samples, minutes),
      maxBytes: Math.max(0, ...samples),
    }
  } finally {
    done.abort()
    await sampling
  }
}

/** The load ends a moment after its last minute, or a sample comes late: the last one counts. */
function eachMinute(samples: readonly number[], minutes: number): readonly number[] {
  const last = samples.at(-1) ?? 0
  return Array.from({ length: minutes }, (_, minute) =>
    minute === minutes - 1 ? last : (samples[(minute + 1) * samplesOfMinute - 1] ?? last),
  )
}

/**
 * By what factor it grew from the first minute after which it held the limit, or from the first
 * one where it never did, to the end; null = not watched for long enough.
 */
export function growthOf({ minuteBytes }: MemoryResult, limitBytes: number): number | null {
  const full = minuteBytes.findIndex((bytes) => bytes >= limitBytes)
  const [first, ...later] = minuteBytes.slice(Math.max(0, full))
  const end = later.at(-1)
  return first === undefined || end === undefined ? null : end / first
}

async function sample({ server }: Das, samples: number[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await setTimeout(sampleEveryMs, undefined, { signal }).catch(() => undefined)
    if (!signal.aborted) samples.push(memoryOf(server.child))
  }
}
