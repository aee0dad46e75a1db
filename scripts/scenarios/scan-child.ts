/** The clients that scan, in a process of their own, so that their work delays no look-up's clock. */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClients } from '../harness/clients.js'
import { randomOf } from '../harness/random.js'
import type { Random } from '../harness/random.js'
import { serveOrders } from '../harness/worker.js'

/** What the scans came to. */
export interface ScanReport {
  /** Answers by status; `hung up` = a client left before it. */
  readonly ends: Readonly<Record<string, number>>
  /** Refused questions that were asked again after their `Retry-After`, and those then answered. */
  readonly again: { readonly asked: number; readonly answered: number }
}

/** The answer to `stop` is the report. */
export type ScanOrder =
  { readonly kind: 'start'; readonly options: ScanOptions } | { readonly kind: 'stop' }

interface ScanOptions {
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

let running: ReturnType<typeof startScanners> | null = null

async function answer(order: ScanOrder): Promise<ScanReport> {
  if (order.kind === 'start') {
    running = startScanners(order.options)
    return running.report
  }
  running?.stop()
  await running?.done
  return running?.report ?? { ends: {}, again: { asked: 0, answered: 0 } }
}

/** Starts clients that ask for aggregates, unselective pages and exports without a pause. */
function startScanners({ base, tokens, years, clients, seed }: ScanOptions) {
  const ends: Record<string, number> = {}
  const again = { asked: 0, answered: 0 }
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  const { stop, done } = startClients(clients, (at) => {
    const random = randomOf(seed, at)
    const own = manners[at % manners.length] ?? 'patient'
    const headers = { authorization: `Bearer ${tokens[at % tokens.length]}` }
    const ask = async (path: string, manner: Manner) => {
      const sent = request(`${base}/v1/packed${path}`, { headers, agent })
      const found = await scan(sent, manner, random)
      ends[found.end] = (ends[found.end] ?? 0) + 1
      return found
    }
    return async () => {
      const path = scanPath(random, years)
      const { end, retrySeconds } = await ask(path, own)
      if (end !== '503' || retrySeconds > retrySecondsMax) return
      await sleep(retrySeconds * 1000)
      again.asked += 1
      if ((await ask(path, 'patient')).end !== '503') again.answered += 1
    }
  })
  return { stop, done: done.finally(() => agent.destroy()), report: { ends, again } }
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

/** How an answer ended, and the seconds of its `Retry-After`. */
function scan(sent: ReturnType<typeof request>, manner: Manner, random: Random) {
  return new Promise<{ readonly end: string; readonly retrySeconds: number }>((resolve) => {
    if (manner === 'hanging up') {
      const leave = () => {
        sent.destroy()
        resolve({ end: 'hung up', retrySeconds: 0 })
      }
      setTimeout(leave, random.whole(...patienceMs)).unref()
    }
    sent.on('error', () => resolve({ end: 'no answer', retrySeconds: 0 }))
    sent.once('response', (answer) => {
      const retrySeconds = Number(answer.headers['retry-after'] ?? 0)
      const settle = () => resolve({ end: String(answer.statusCode), retrySeconds })
      answer.on('error', settle).once('close', settle)
      if (manner !== 'slow') {
        answer.resume()
        return
      }
      answer.on('data', () => {
        answer.pause()
        setTimeout(() => answer.resume(), slowPartMs)
      })
    })
    sent.end()
  })
}

serveOrders(answer)
