import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClients } from '../harness/clients.js'
import { Fault } from '../harness/fault.js'
import { send, SocketError } from '../harness/http.js'
import type { Target } from '../harness/http.js'
import { randomOf } from '../harness/random.js'

/** What look-ups, or checks of the process, took. */
export interface Times {
  /** Milliseconds of each answer with 200. */
  readonly ms: readonly number[]
  /** Other answers by status. */
  readonly refused: Readonly<Record<string, number>>
  readonly rows: number
}

interface Looking {
  readonly base: string
  readonly token: string
  readonly companies: readonly string[]
  readonly clients: number
  readonly seed: number
}

const columns = 'inn,year,name,2110,2400'
const pauseMs = 100

/** Asks for single companies, each client with a short pause, until `work` has ended. */
export async function lookUpDuring(looking: Looking, work: Promise<unknown>): Promise<Times> {
  const { base, token, companies, clients, seed } = looking
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const target = { base, agent, token }
  const times = collect()
  const running = startClients(clients, (at) => {
    const random = randomOf(seed, at)
    return async () => {
      const inn = random.oneOf(companies)
      const path = `/v1/packed?inn=eq.${inn}&select=${columns}`
      await ask(target, path, times, (text) => rowsOf(text, inn))
      await sleep(pauseMs)
    }
  })
  return stopAfter(running, agent, work, times)
}

/** Asks whether the process answers, ten times a second, until `work` has ended. */
export async function checkHealthDuring(base: string, work: Promise<unknown>): Promise<Times> {
  const agent = new Agent({ keepAlive: true })
  const times = collect()
  const running = startClients(1, () => async () => {
    await ask({ base, agent, token: '' }, '/healthz', times, () => 0)
    await sleep(pauseMs)
  })
  return stopAfter(running, agent, work, times)
}

interface Collected {
  readonly ms: number[]
  readonly refused: Record<string, number>
  rows: number
}

function collect(): Collected {
  return { ms: [], refused: {}, rows: 0 }
}

async function ask(
  target: Target,
  path: string,
  times: Collected,
  rowsIn: (text: string) => number,
): Promise<void> {
  try {
    const { status, text, ms } = await send(target, { method: 'GET', path, body: '' })
    if (status === 200) {
      times.ms.push(ms)
      times.rows += rowsIn(text)
    } else times.refused[status] = (times.refused[status] ?? 0) + 1
  } catch (cause) {
    if (!(cause instanceof SocketError)) throw cause
    times.refused['no answer'] = (times.refused['no answer'] ?? 0) + 1
  }
}

/** @throws Fault when a row of another company came */
function rowsOf(text: string, inn: string): number {
  // An answer as our contract defines it.
  const { data } = JSON.parse(text) as { data: readonly { readonly inn: string }[] }
  if (data.some((row) => row.inn !== inn)) throw new Fault(`rows of another company than ${inn}`)
  return data.length
}

async function stopAfter(
  { stop, done }: ReturnType<typeof startClients>,
  agent: Agent,
  work: Promise<unknown>,
  times: Collected,
): Promise<Times> {
  try {
    await Promise.race([work, done])
  } finally {
    stop()
  }
  await done
  agent.destroy()
  return times
}
