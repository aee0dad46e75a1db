import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../harness/fault.js'
import type { Sold } from '../../harness/fixture.js'
import { send } from '../../harness/http.js'
import type { PostgresServer } from '../../harness/postgres.js'
import { eventually } from '../../harness/wait.js'
import { ask } from '../parts/ask.js'
import type { Ledger } from '../parts/ledger.js'
import type { Serving } from '../parts/serving.js'

/** When PostgreSQL is away; times of `performance.now()`. */
export class Outage {
  /** From here on requests may be refused. */
  #beganMs = Infinity
  /** Between these PostgreSQL does not run at all. */
  #downMs = Infinity
  #upMs = Infinity
  /** From here on every server is well. */
  #endedMs = Infinity

  begin(): void {
    this.#beganMs = performance.now()
  }

  isDown(): void {
    this.#downMs = performance.now()
  }

  isStarting(): void {
    this.#upMs = performance.now()
  }

  end(): void {
    this.#endedMs = performance.now()
  }

  /** A request that was sent then, and ended now, may have met the outage. */
  touches(sentMs: number): boolean {
    return performance.now() >= this.#beganMs && sentMs <= this.#endedMs
  }

  /** Nothing could be charged between then and now. */
  covers(sentMs: number): boolean {
    return sentMs >= this.#downMs && performance.now() < this.#upMs
  }
}

interface OutageParts {
  readonly postgres: PostgresServer
  readonly dataset: string
  readonly subscriber: Sold
  readonly replicas: readonly Serving[]
  readonly outage: Outage
  readonly ledger: Ledger
  readonly signal: AbortSignal
}

const noticeMsMax = 15_000
const wait = { withinMs: 60_000, everyMs: 50 }

/**
 * Stops PostgreSQL for a while; returns how long each server took, from its first answer on, until
 * it served again.
 *
 * @throws Fault when a server serves unpaid rows, ends, or does not serve again
 */
export async function stopPostgres(
  parts: OutageParts,
  seconds: number,
): Promise<readonly number[]> {
  const { postgres, replicas, outage, signal } = parts
  const processes = replicas.map(({ server }) => server())
  outage.begin()
  await postgres.stop()
  outage.isDown()
  const pause = sleep(seconds * 1000, undefined, { signal })
  await Promise.all([pause, ...replicas.map((replica) => requireRefusal(parts, replica))])
  outage.isStarting()
  await postgres.start()
  const startedMs = performance.now()
  const times = await Promise.all(
    replicas.map(async (replica) => {
      await untilWell(parts, replica)
      return performance.now() - startedMs
    }),
  )
  outage.end()
  for (const [at, { base, server }] of replicas.entries()) {
    const { child } = server()
    const isSame = server() === processes[at] && child.exitCode === null && !child.signalCode
    if (!isSame) throw new Fault(`the server at ${base} ended while PostgreSQL was away`)
  }
  return times
}

async function requireRefusal(parts: OutageParts, { base }: Serving): Promise<void> {
  const asked = await statusOf(base, `/v1/${parts.dataset}?limit=1`, parts.subscriber.token)
  if (asked !== 503) throw new Fault(`${base} answers ${asked} unpaid`)
  const alive = await statusOf(base, '/healthz')
  if (alive !== 200) throw new Fault(`/healthz of ${base} answers ${alive}`)
  await eventually(`/readyz of ${base} says 503`, { withinMs: noticeMsMax }, async () => {
    return (await statusOf(base, '/readyz')) === 503 || undefined
  })
}

async function untilWell(parts: OutageParts, { base }: Serving): Promise<void> {
  const { dataset, ledger, subscriber } = parts
  const { subscription, token } = subscriber
  const agent = new Agent()
  const message = { method: 'GET', path: `/v1/${dataset}?limit=1`, body: '' } as const
  await eventually(`${base} charges again`, wait, async () => {
    const answer = await ask({ base, agent, token }, message)
    ledger.note({ subscription, dataset, cost: { kind: 'each', most: 1 } }, answer)
    return answer.kind === 'page' || undefined
  })
  agent.destroy()
  await eventually(`${base} is ready again`, wait, async () => {
    return (await statusOf(base, '/readyz')) === 200 || undefined
  })
}

async function statusOf(base: string, path: string, token = ''): Promise<number> {
  const agent = new Agent()
  try {
    return (await send({ base, agent, token }, { method: 'GET', path, body: '' })).status
  } finally {
    agent.destroy()
  }
}
