import { Agent } from 'node:http'
import { sendWell } from '../harness/http.js'
import type { Target } from '../harness/http.js'

/** One server's part of a run under load. */
export interface Round {
  /** The time of the round divided by its requests: the cost of one when no server is idle. */
  readonly wallMs: number
  /** Of each request, in no order. */
  readonly latenciesMs: readonly number[]
}

/**
 * Sends so many requests over `clients` connections that are kept open; each asks again as soon as
 * it has its answer. `pathOf` makes the path of each request.
 * @throws Error when an answer has no row
 */
export async function loadRound(
  { base, token }: Omit<Target, 'agent'>,
  pathOf: () => string,
  clients: number,
  requests: number,
): Promise<Round> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const latenciesMs: number[] = []
  let sent = 0
  const client = async () => {
    while (sent < requests) {
      sent += 1
      const target = { base, token, agent }
      const { text, ms } = await sendWell(target, { method: 'GET', path: pathOf(), body: '' })
      if (!text.startsWith('{"data":[{')) throw new Error(`no row: ${text.slice(0, 200)}`)
      latenciesMs.push(ms)
    }
  }
  const startedMs = performance.now()
  await Promise.all(Array.from({ length: clients }, client))
  const elapsedMs = performance.now() - startedMs
  agent.destroy()
  return { wallMs: elapsedMs / requests, latenciesMs }
}
