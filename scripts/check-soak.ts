import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { openWriter } from './check-reload/parquet.js'
import { makeReloadFixture } from './check-reload/reload-fixture.js'
import { readChargedRows } from './check-charges/charged-rows.js'
import { startDisturbances } from './check-soak/disturbances.js'
import { nextRequest } from './check-soak/requests.js'
import { rowsIn } from './check-soak/rows-in.js'
import { startClients } from './harness/clients.js'
import { Fault } from './harness/fault.js'
import { requireBuild, serve, subscribe } from './harness/fixture.js'
import { send, SocketError } from './harness/http.js'
import { seed, whole } from './harness/options.js'
import { memoryOf } from './harness/process.js'
import { randomOf } from './harness/random.js'
import type { Random } from './harness/random.js'
import { count, factsText, textTable } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { median, sum } from './harness/statistics.js'

const options = {
  requests: whole('requests in all', 2_000_000, 1000, 1e9),
  lives: whole('servers, one after the other over the same state', 4, 1, 1000),
  clients: whole('clients that ask without a pause', 16, 1, 256),
  seed: seed("repeats a run's requests"),
}

const command = {
  name: 'check-soak',
  usage: 'npm run check:soak --',
  about: `Sends a mix of requests to the built server: look-ups by GET, POST and MCP, pages, CSV,
aggregates, tops, descriptions, mistakes, wrong tokens; meanwhile files are replaced, tokens are
reissued and the server restarts. Checks that
  1  each answer has the status and the number of rows that it must have
  2  the rows charged are the rows delivered, exactly
The memory is reported, not judged: a median for each fifth of a server's life.`,
  options,
}

const subscriptions = 8
const memoryLimit = '512MB'
const parts = 5
const sampleEveryMs = 1000
const retryMs = 20
const milestones = 100
const wrongToken = `das_live_${'x'.repeat(20)}`

/** What clients share. */
interface Soak {
  readonly random: (client: number) => Random
  readonly tokens: string[]
  readonly counts: Record<string, number>
  asked: number
  delivered: number
}

/** Memory of one server, over its life. */
interface Life {
  /** Medians in bytes, one for each fifth of the samples. */
  readonly partBytes: readonly number[]
  readonly peakBytes: number
  readonly requests: number
}

/** Asks until the goal is reached; a request that the restart broke is asked again. */
async function askUntil(soak: Soak, base: string, clients: number, goal: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const running = startClients(clients, (at) => {
    const random = soak.random(at)
    return async () => {
      if (soak.asked >= goal) running.stop()
      else await askOne(soak, { base, agent }, random)
    }
  })
  await running.done
  agent.destroy()
}

async function askOne(
  soak: Soak,
  server: { readonly base: string; readonly agent: Agent },
  random: Random,
): Promise<void> {
  soak.asked += 1
  const { kind, message, status, rows, isStranger = false } = nextRequest(random)
  const token = isStranger ? wrongToken : random.oneOf(soak.tokens)
  const reply = await send({ ...server, token }, message).catch((cause: unknown) => {
    if (!(cause instanceof SocketError)) throw cause
    return null
  })
  if (!reply?.isComplete) {
    soak.asked -= 1
    await sleep(retryMs)
    return
  }
  // Wrong tokens of one address are limited too.
  const isDue = reply.status === status || (isStranger && reply.status === 429)
  const found = status === 200 ? rowsIn(reply) : 0
  if (!isDue || found !== (kind === 'catalog' ? found : rows)) {
    throw new Fault(`${reply.status} with ${found} rows, not ${status} with ${rows}, to
  ${message.method} ${message.path} ${message.body}\n${reply.text.slice(0, 500)}`)
  }
  soak.delivered += rows
  soak.counts[kind] = (soak.counts[kind] ?? 0) + 1
}

function mediansOf(samples: readonly number[]): readonly number[] {
  return Array.from({ length: parts }, (_, part) => {
    const [from, to] = [part, part + 1].map((edge) => Math.round((edge * samples.length) / parts))
    return median(samples.slice(from, to))
  })
}

async function sampleMemory(
  bytes: () => number,
  onSample: () => void,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const samples: number[] = []
  while (!signal.aborted) {
    await sleep(sampleEveryMs, undefined, { signal }).catch(() => undefined)
    samples.push(bytes())
    onSample()
  }
  return samples
}

const megabytes = (bytes: number) => Math.round(bytes / 1e6)

await runScript(command, async (given, run: Run) => {
  requireBuild()
  using writer = await openWriter()
  const fixture = await makeReloadFixture(run, { writer, uid: null, bucket: null })
  const sold = [{ token: fixture.token, subscription: '' }]
  while (sold.length <= subscriptions) {
    sold.push(await subscribe(fixture, ['things:all', 'other:all']))
  }
  const buyers = sold.slice(1)
  const soak: Soak = {
    random: (client) => randomOf(given.seed, client, soak.asked),
    tokens: buyers.map(({ token }) => token),
    counts: {},
    asked: 0,
    delivered: 0,
  }
  const disturbances = startDisturbances(fixture, buyers, soak.tokens)
  const startedMs = performance.now()
  const lives: Life[] = []
  let shown = 0
  const show = () => {
    const share = Math.floor((soak.asked * milestones) / given.requests)
    const seconds = (performance.now() - startedMs) / 1000
    const rate = Math.round(soak.asked / seconds)
    run.update(`${count(soak.asked)} requests, ${rate} a second`, share > shown)
    shown = Math.max(share, shown)
  }
  try {
    for (let life = 1; life <= given.lives; life++) {
      const goal = Math.round((given.requests * life) / given.lives)
      const before = soak.asked
      const argv = ['--memory-limit', memoryLimit]
      const server = await serve(fixture, run.cleanup, { argv, outputMax: 4000 })
      const done = new AbortController()
      const sampling = sampleMemory(() => memoryOf(server.child), show, done.signal)
      const asking = askUntil(soak, server.base, given.clients, goal)
      try {
        await Promise.race([asking, disturbances.failed])
      } finally {
        done.abort()
      }
      const samples = await sampling
      const peakBytes = memoryOf(server.child, 'VmHWM')
      lives.push({ partBytes: mediansOf(samples), peakBytes, requests: soak.asked - before })
      const exit = await server.end('SIGTERM')
      if (exit !== 0) throw new Fault(`the server ended: ${exit}\n${server.output()}`)
    }
  } finally {
    await disturbances.stop()
  }
  const { charged, damage } = readChargedRows(`${fixture.folder}/state/control.db`)
  const chargedRows = sum(charged.map(({ rows }) => Number(rows)))
  run.print(
    textTable(
      ['server', 'requests', ...mediansOf([]).map((_, part) => `MB, part ${part + 1}`), 'peak'],
      lives.map(({ partBytes, peakBytes, requests }, at) => [
        at + 1,
        count(requests),
        ...partBytes.map(megabytes),
        megabytes(peakBytes),
      ]),
    ),
  )
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
  run.print(
    factsText([
      ['seed', String(given.seed)],
      ['requests', `${count(soak.asked)} in ${minutes} min`],
      ...Object.entries(soak.counts).map(([kind, number]) => [kind, count(number)] as const),
      ['refreshes', count(disturbances.counts.refreshes)],
      ['reissues', count(disturbances.counts.reissues)],
      ['rows', `${count(soak.delivered)} delivered, ${count(chargedRows)} charged`],
    ]),
  )
  if (damage !== null) throw new Fault(damage)
  if (chargedRows !== soak.delivered) throw new Fault('other rows were charged than delivered')
})
