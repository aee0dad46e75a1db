import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClients } from '../harness/clients.js'
import type { Clients } from '../harness/clients.js'
import { randomOf } from '../harness/random.js'
import type { Random } from '../harness/random.js'

/** What the scans came to. */
export interface ScanReport {
  /** Answers by status; `hung up` = a client left before it. */
  readonly ends: Readonly<Record<string, number>>
  /** Refused questions that were asked again after their `Retry-After`, and those then answered. */
  readonly again: { readonly asked: number; readonly answered: number }
}

/** Clients that make the server read many rows. */
export interface Scanners extends Clients, ScanReport {}

/** What `scan-child.ts` takes: its answer to `stop` is the report. */
export type ScanOrder =
  { readonly kind: 'start'; readonly options: ScannersOptions } | { readonly kind: 'stop' }

interface ScannersOptions {
  readonly base: string
  readonly tokens: readonly string[]
  readonly years: readonly number[]
  readonly clients: number
  readonly seed: number
}

/** How a client takes its answers: each fourth hangs up, each fourth reads slowly. */
const manners = ['patient', 'hanging up', 'patient', 'slow'] as const
type Manner = (typeof manners)[number]

/** What a client that hangs up waits before it does. */
const patienceMs = [50, 3000] as const
const slowPartMs = 50
/** A `Retry-After` longer than this is not waited for. */
const retrySecondsMax = 20

/** Starts clients that ask for aggregates, unselective pages and exports without a pause. */
export function startScanners(options: ScannersOptions): Scanners {
  const { clients, tokens, seed } = options
  const ends: Record<string, number> = {}
  const again = { asked: 0, answered: 0 }
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  const running = startClients(clients, (at) => {
    const random = randomOf(seed, at)
    const manner = manners[at % manners.length] ?? 'patient'
    const token = tokens[at % tokens.length] ?? ''
    return async () => {
      const path = scanPath(random, options.years)
      const first = await scan({ ...options, agent, token, path, manner, random })
      count(ends, first.end)
      const { retrySeconds } = first
      if (first.end !== '503' || retrySeconds > retrySecondsMax) return
      await sleep(retrySeconds * 1000)
      const second = await scan({ ...options, agent, token, path, manner: 'patient', random })
      count(ends, second.end)
      again.asked += 1
      if (second.end !== '503') again.answered += 1
    }
  })
  const done = running.done.finally(() => agent.destroy())
  return { ...running, done, ends, again }
}

function count(ends: Record<string, number>, end: string): void {
  ends[end] = (ends[end] ?? 0) + 1
}

/** A question that reads a whole year, or all of them. */
function scanPath(random: Random, years: readonly number[]): string {
  const year = random.oneOf(years)
  const least = random.whole(1, 1e9)
  return random.oneOf([
    `/aggregate?group=prefix(okved,2)&measures=count,sum(2110),median(2400)&2110=gte.${least}`,
    `/aggregate?year=eq.${year}&group=okved&measures=distinct(inn),p90(1600)&2110=gte.${least}`,
    `/top?by=-2400&2110=gte.${least}&limit=20`,
    `?2110=eq.${least}&2400=lte.0&limit=1000`,
    `?name=contains.x${least}&limit=100`,
    `/export?year=eq.${year}&2110=gte.${least}`,
  ])
}

interface Scan {
  readonly base: string
  readonly agent: Agent
  readonly token: string
  readonly path: string
  readonly manner: Manner
  readonly random: Random
}

interface ScanEnd {
  readonly end: string
  /** Of a refusal; 0 without one. */
  readonly retrySeconds: number
}

function scan({ base, agent, token, path, manner, random }: Scan): Promise<ScanEnd> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    const sent = request(`${base}/v1/packed${path}`, { headers, agent })
    const leave = () => {
      sent.destroy()
      resolve({ end: 'hung up', retrySeconds: 0 })
    }
    if (manner === 'hanging up') setTimeout(leave, random.whole(...patienceMs)).unref()
    sent.on('error', () => resolve({ end: 'no answer', retrySeconds: 0 }))
    sent.once('response', (answer) => {
      const retrySeconds = Number(answer.headers['retry-after'] ?? 0)
      const settle = () => resolve({ end: String(answer.statusCode), retrySeconds })
      answer.on('error', settle).once('close', settle)
      if (manner === 'slow') readSlowly(answer)
      else answer.resume()
    })
    sent.end()
  })
}

/** Takes a part, then waits. */
function readSlowly(answer: IncomingMessage): void {
  answer.on('data', () => {
    answer.pause()
    setTimeout(() => answer.resume(), slowPartMs)
  })
}
