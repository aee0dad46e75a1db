/** Clients of W7 in a process of their own, so that their work delays nothing else. */
import { Agent } from 'node:http'
import { sendWell } from '../harness/http.js'
import type { Message } from '../harness/http.js'
import { quantile } from '../harness/statistics.js'
import { serveOrders } from '../harness/worker.js'

/** Requests that are sent one after the other, again and again. */
interface Stream {
  readonly token: string
  readonly messages: readonly Message[]
  readonly connections: number
}

/** What is asked for so many seconds; only the first stream is measured. */
export interface LoadOrder {
  readonly base: string
  readonly streams: readonly [measured: Stream, ...beside: Stream[]]
  readonly seconds: number
}

export interface LoadReply {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers of the other streams. */
  readonly beside: number
  /** The first failure. */
  readonly failure: string | null
}

async function load({ base, streams, seconds }: LoadOrder): Promise<LoadReply> {
  const startedMs = performance.now()
  const endMs = startedMs + seconds * 1000
  let failure: string | null = null
  const run = async ({ token, messages, connections }: Stream) => {
    const agent = new Agent({ keepAlive: true, maxSockets: connections })
    const times: number[] = []
    let begun = 0
    const client = async () => {
      while (performance.now() < endMs) {
        const message = messages[begun++ % messages.length]
        if (!message) return
        try {
          times.push((await sendWell({ base, agent, token }, message)).ms)
        } catch (cause) {
          failure ??= String(cause)
        }
      }
    }
    await Promise.all(Array.from({ length: connections }, client))
    agent.destroy()
    return { times, seconds: (performance.now() - startedMs) / 1000 }
  }
  const [measured, ...others] = await Promise.all(streams.map(run))
  const times = measured?.times ?? []
  return {
    requestsPerSecond: times.length / (measured?.seconds ?? 1),
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    beside: others.reduce((total, other) => total + other.times.length, 0),
    failure,
  }
}

serveOrders(load)
