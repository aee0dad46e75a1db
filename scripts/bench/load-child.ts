/** Clients in a process of their own, so that their work delays nothing else. */
import { Agent } from 'node:http'
import { median, quantile } from '../harness/statistics.js'
import type { LoadOrder, LoadReply } from './load.js'
import { ask } from './messages.js'
import { serveOrders } from '../harness/worker.js'

async function load({ asks, connections, seconds }: LoadOrder): Promise<LoadReply> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const latenciesMs: number[] = []
  const failures: string[] = []
  const startedMs = performance.now()
  const endMs = startedMs + seconds * 1000
  let begun = 0
  const client = async () => {
    while (performance.now() < endMs) {
      const next = asks[begun++ % asks.length]
      if (!next) return
      try {
        latenciesMs.push((await ask(agent, next.target, next.question)).ms)
      } catch (cause) {
        failures.push(String(cause))
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  const elapsedSeconds = (performance.now() - startedMs) / 1000
  agent.destroy()
  return {
    requests: latenciesMs.length,
    requestsPerSecond: latenciesMs.length / elapsedSeconds,
    p50Ms: median(latenciesMs),
    p99Ms: quantile(latenciesMs, 0.99),
    failed: failures.length,
    failure: failures[0] ?? null,
  }
}

serveOrders(load, () => Promise.resolve())
