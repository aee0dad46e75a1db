import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'node:http'
import { Fault } from '../harness/fault.js'
import { send } from '../harness/http.js'
import { eventually } from '../harness/wait.js'
import type { Ledger } from './ledger.js'
import type { Replica } from './replica.js'
import { dataset } from './replicas-fixture.js'
import type { ReplicasFixture, Subscriber } from './replicas-fixture.js'

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
  readonly fixture: ReplicasFixture
  readonly replicas: readonly Replica[]
  readonly outage: Outage
  readonly ledger: Ledger
  readonly seconds: number
  readonly signal: AbortSignal
}

const noticeMsMax = 15_000
const recoveryMsMax = 60_000
const probeMs = 50

/**
 * Stops PostgreSQL for a while; returns how long each server took, from its first answer on, until
 * it served again.
 *
 * @throws Fault when a server serves unpaid rows, ends, or does not serve again
 */
export async function stopPostgres(parts: OutageParts): Promise<readonly number[]> {
  const { fixture, replicas, outage, ledger, seconds, signal } = parts
  const processes = replicas.map(({ server }) => server())
  const [subscriber] = fixture.subscribers
  if (!subscriber) throw new Error('no subscriber')
  outage.begin()
  await fixture.postgres.stop()
  outage.isDown()
  const wait = sleep(seconds * 1000, undefined, { signal })
  await Promise.all([wait, ...replicas.map((replica) => checkRefusal(replica, subscriber))])
  outage.isStarting()
  await fixture.postgres.start()
  const startedMs = performance.now()
  const times = await Promise.all(
    replicas.map(async (replica) => {
      await untilWell(replica, subscriber, ledger)
      return performance.now() - startedMs
    }),
  )
  outage.end()
  for (const [at, { name, server }] of replicas.entries()) {
    const { child } = server()
    const isSame = server() === processes[at] && child.exitCode === null && !child.signalCode
    if (!isSame) throw new Fault(`server ${name} ended while PostgreSQL was away`)
  }
  return times
}

async function checkRefusal(replica: Replica, { token }: Subscriber): Promise<void> {
  const { name, base } = replica
  const asked = await get(base, `/v1/${dataset}?limit=1`, token)
  if (asked.status !== 503) throw new Fault(`server ${name} answers ${asked.status} unpaid`)
  const alive = await get(base, '/healthz', '')
  if (alive.status !== 200) throw new Fault(`/healthz of server ${name} answers ${alive.status}`)
  await eventually(`/readyz of server ${name} says 503`, { withinMs: noticeMsMax }, async () => {
    return (await get(base, '/readyz', '')).status === 503 || undefined
  })
}

async function untilWell({ name, base }: Replica, to: Subscriber, ledger: Ledger): Promise<void> {
  const wait = { withinMs: recoveryMsMax, everyMs: probeMs }
  await eventually(`server ${name} charges again`, wait, async () => {
    const { status } = await get(base, `/v1/${dataset}?limit=1`, to.token)
    if (status === 200) ledger.deliver(to.id, 1)
    else ledger.rowsAtRisk += 1
    return status === 200 || undefined
  })
  await eventually(`server ${name} is ready again`, wait, async () => {
    return (await get(base, '/readyz', '')).status === 200 || undefined
  })
}

async function get(base: string, path: string, token: string) {
  const agent = new Agent()
  try {
    return await send({ base, agent, token }, { method: 'GET', path, body: '' })
  } finally {
    agent.destroy()
  }
}
