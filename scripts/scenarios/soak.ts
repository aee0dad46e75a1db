import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { periodOf } from '../../src/control/usage.js'
import { startClients } from '../harness/clients.js'
import { Fault } from '../harness/fault.js'
import { das, serve, subscribe } from '../harness/fixture.js'
import type { Fixture, Sold } from '../harness/fixture.js'
import { whole } from '../harness/options.js'
import { memoryOf } from '../harness/process.js'
import { randomOf } from '../harness/random.js'
import type { Random } from '../harness/random.js'
import { count, textTable } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { median, sum } from '../harness/statistics.js'
import { ask } from './parts/ask.js'
import { readCharged } from './parts/charged.js'
import { countsText, Ledger } from './parts/ledger.js'
import { checkFirst, rowsOf } from './parts/rows.js'
import { requireRule } from './parts/rule.js'
import { makeTables, openWriter } from './parts/tables.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'
import { nextRequest, other, things } from './soak-requests.js'

const options = {
  requests: whole('requests in all', 2_000_000, 1000, 1e9),
  lives: whole('servers, one after the other over the same state', 4, 1, 1000),
  clients: whole('clients that ask without a pause', 16, 1, 256),
}

const about = `Sends a mix of requests to the built server: look-ups by GET, POST and MCP, pages, CSV,
aggregates, tops, descriptions, mistakes, wrong tokens; meanwhile files are replaced, tokens are
reissued and the server restarts. Checks that
  1  each answer has the status and the rows that it must have
  2  the rows charged are the rows delivered, exactly, to each subscription
The memory is reported, not judged: a median for each fifth of a server's life.`

const subscriptions = 8
const memoryLimit = '512MB'
const fifths = 5
const sampleEveryMs = 1000
const disturbEveryMs = 15_000
const retryMs = 20
const wrongToken = `das_live_${'x'.repeat(20)}`
const Reissued = Type.Object({ token: Type.String() })

/** What clients share. */
interface Soak {
  readonly random: (client: number) => Random
  readonly fixture: Fixture
  /** Their tokens change. */
  readonly buyers: Sold[]
  readonly ledger: Ledger
  readonly counts: Record<string, number>
  asked: number
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
  const { kind, message, status, rows, selection, isStranger = false } = nextRequest(random)
  const { token, subscription } = random.oneOf(soak.buyers)
  const answer = await ask({ ...server, token: isStranger ? wrongToken : token }, message)
  if (answer.kind === 'broken' || answer.kind === 'unsent') {
    soak.asked -= 1
    await sleep(retryMs)
    return
  }
  const found = answer.kind === 'page' ? answer.rows.length : 0
  const given = answer.kind === 'page' ? 200 : answer.status
  // Wrong tokens of one address are limited too.
  const isDue = given === status || (isStranger && given === 429)
  if (!isDue || found !== (kind === 'catalog' ? found : rows)) {
    const words = answer.kind === 'page' ? '' : answer.words
    throw new Fault(`${given} with ${found} rows, not ${status} with ${rows}, to
  ${message.method} ${message.path} ${message.body}\n${words}`)
  }
  if (answer.kind === 'page' && selection) checkFirst(rowsOf(answer.rows), things, selection)
  const cost = { kind: 'whole', groups: found, rows } as const
  soak.ledger.note({ subscription, dataset: things.name, cost }, answer)
  soak.counts[kind] = (soak.counts[kind] ?? 0) + 1
}

/** Replaces a file and reissues a token in turn, until it is stopped. */
function startDisturbances({ fixture, buyers }: Soak) {
  const counts = { refreshes: 0, reissues: 0 }
  const stopping = new AbortController()
  const { signal } = stopping
  const disturb = async () => {
    using writer = await openWriter()
    for (;;) {
      await sleep(disturbEveryMs, undefined, { signal })
      const year = things.years[counts.refreshes % things.years.length] ?? 0
      counts.refreshes += 1
      const path = join(fixture.folder, 'data', things.name, `${year}.parquet`)
      await writer.write(path, things, year, counts.refreshes)
      await reissue(fixture, buyers, counts.reissues % buyers.length)
      counts.reissues += 1
    }
  }
  const failed = disturb().catch((cause: unknown) => {
    if (!signal.aborted) throw cause
  })
  failed.catch(() => undefined)
  const stop = async () => {
    stopping.abort()
    await failed.catch(() => undefined)
  }
  return { counts, failed, stop }
}

async function reissue(fixture: Fixture, buyers: Sold[], at: number): Promise<void> {
  const subscription = buyers[at]?.subscription ?? ''
  const argv = ['token', 'reissue', subscription, '--grace', '1h', '--json']
  const { code, stdout, stderr } = await das(fixture, argv)
  if (code !== 0) throw new Error(`das token reissue failed: ${stderr}`)
  buyers[at] = { subscription, token: Value.Parse(Reissued, JSON.parse(stdout)).token }
}

/** Runs one server until the goal is reached; cells of a table of memory. */
async function runLife(
  soak: Soak,
  goal: number,
  clients: number,
  failed: Promise<void>,
  run: Run,
): Promise<readonly string[]> {
  const before = soak.asked
  const argv = ['--memory-limit', memoryLimit]
  const server = await serve(soak.fixture, run.cleanup, { argv, outputMax: 4000 })
  const samples: number[] = []
  const sampling = setInterval(() => {
    samples.push(memoryOf(server.child))
    run.update(`${count(soak.asked)} requests`, false)
  }, sampleEveryMs)
  try {
    await Promise.race([askUntil(soak, server.base, clients, goal), failed])
  } finally {
    clearInterval(sampling)
  }
  const peak = memoryOf(server.child, 'VmHWM')
  const exit = await server.end('SIGTERM')
  if (exit !== 0) throw new Fault(`the server ended: ${exit}\n${server.output()}`)
  const parts = Array.from({ length: fifths }, (_, part) => {
    const [from, to] = [part, part + 1].map((edge) => Math.round((edge * samples.length) / fifths))
    return median(samples.slice(from, to))
  })
  const megabytes = [...parts, peak].map((bytes) => String(Math.round(bytes / 1e6)))
  return [count(soak.asked - before), ...megabytes]
}

async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const startedMs = Date.now()
  const fixture = await makeTables(run, 'soak', [things, other], {
    key: ['id', 'year'],
    pack: 'off',
  })
  const buyers: Sold[] = []
  while (buyers.length < subscriptions) {
    buyers.push(await subscribe(fixture, ['things:all', 'other:all']))
  }
  const soak: Soak = {
    random: (client) => randomOf(given.seed, client, soak.asked),
    ...{ fixture, buyers, ledger: new Ledger(), counts: {}, asked: 0 },
  }
  const disturbances = startDisturbances(soak)
  const lives: (readonly string[])[] = []
  try {
    for (let life = 1; life <= given.lives; life++) {
      const goal = Math.round((given.requests * life) / given.lives)
      lives.push(await runLife(soak, goal, given.clients, disturbances.failed, run))
      run.update(`${count(soak.asked)} requests by ${life} of ${given.lives} servers`)
    }
  } finally {
    await disturbances.stop()
  }
  const after = readCharged(fixture.folder)
  const periods = [periodOf(startedMs), periodOf(Date.now())]
  const seen = soak.ledger.seen()
  requireRule({ isClean: true, periods, seen, before: [], after, caps: [] })
  const medians = Array.from({ length: fifths }, (_, part) => `MB, part ${part + 1}`)
  run.print(textTable(['requests', ...medians, 'peak'], lives))
  return [
    ['requests', `${count(soak.asked)}: ${countsText(soak.counts)}`],
    ['disturbed', countsText(disturbances.counts)],
    ['rows charged', `${count(sum(after.map(({ rows }) => Number(rows))))}, as delivered`],
  ]
}

/** `npm run check:soak`. */
export const soak = scenario({ name: 'soak', about, options, check })
