import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { Fault } from '../harness/fault.js'
import { das, serve, subscribe } from '../harness/fixture.js'
import type { Fixture, Sold } from '../harness/fixture.js'
import { whole } from '../harness/options.js'
import { memoryOf } from '../harness/process.js'
import { randomOf } from '../harness/random.js'
import { count, countsText, textTable } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { median, sum } from '../harness/statistics.js'
import { Ledger, readCharged } from './parts/ledger.js'
import { startMix, unexpected } from './parts/mix.js'
import type { Table } from './parts/rows.js'
import { requireRun } from './parts/rule.js'
import { makeTables, openWriter } from './parts/tables.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

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

const years = [2019, 2020, 2021, 2022, 2023]
const things: Table = { name: 'things', years, rows: 3000, letters: 0 }
const weights = {
  'look-up': 30,
  rows: 4,
  CSV: 2,
  aggregate: 2,
  top: 2,
  'no rows': 10,
  schema: 10,
  catalog: 10,
  'wrong question': 10,
  'unknown dataset': 10,
  'wrong token': 5,
  health: 5,
} as const
const subscriptions = 8
const memoryLimit = '512MB'
const fifths = 5
const sampleEveryMs = 1000
const disturbEveryMs = 15_000
const retryMs = 20
const Reissued = Type.Object({ token: Type.String() })

/** What clients and disturbances share. */
interface Soak extends Given<typeof options> {
  readonly run: Run
  readonly fixture: Fixture
  /** Their tokens change. */
  readonly buyers: Sold[]
  readonly ledger: Ledger
  readonly counts: Record<string, number>
  asked: number
}

/** Asks until the goal is reached; a request that the restart broke is asked again. */
async function askUntil(soak: Soak, base: string, goal: number): Promise<void> {
  const { buyers, clients, ledger, counts, seed } = soak
  const mix = startMix({
    base,
    clients,
    tables: [things],
    weights,
    ledger,
    buyers: () => buyers,
    random: (client) => randomOf(seed, client, soak.asked),
    judge: async (drawn, answer) => {
      if (answer.kind === 'broken' || answer.kind === 'unsent') return sleep(retryMs)
      const status = answer.kind === 'page' ? 200 : answer.status
      // Wrong tokens of one address are limited too.
      const isLimited = drawn.kind === 'wrong token' && status === 429
      if (status !== drawn.status && !isLimited) throw unexpected(drawn, answer)
      soak.asked += 1
      counts[drawn.kind] = (counts[drawn.kind] ?? 0) + 1
      if (soak.asked >= goal) mix.stop()
    },
  })
  await mix.done
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
      const at = counts.reissues % buyers.length
      const { subscription = '' } = buyers[at] ?? {}
      const argv = ['token', 'reissue', subscription, '--grace', '1h', '--json']
      const { token } = Value.Parse(Reissued, JSON.parse(await das(fixture, argv)))
      buyers[at] = { subscription, token }
      counts.reissues += 1
    }
  }
  const failed = disturb().catch((cause: unknown) => {
    if (!signal.aborted) throw cause
  })
  failed.catch(() => undefined)
  return { counts, failed, stop: () => stopping.abort() }
}

/** Runs one server until the goal is reached; cells of a table of memory. */
async function runLife(soak: Soak, goal: number, failed: Promise<void>) {
  const before = soak.asked
  const argv = ['--memory-limit', memoryLimit]
  const server = await serve(soak.fixture, soak.run.cleanup, { argv, outputMax: 4000 })
  const samples: number[] = []
  const sampling = setInterval(() => {
    samples.push(memoryOf(server.child))
    soak.run.update(`${count(soak.asked)} requests`, false)
  }, sampleEveryMs)
  try {
    await Promise.race([askUntil(soak, server.base, goal), failed])
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
  const fixture = await makeTables(run, 'soak', [things], { key: ['id', 'year'], pack: 'off' })
  const buyers: Sold[] = []
  while (buyers.length < subscriptions) buyers.push(await subscribe(fixture, ['things:all']))
  const soak = { ...given, run, fixture, buyers, ledger: new Ledger(), counts: {}, asked: 0 }
  const disturbances = startDisturbances(soak)
  const lives: (readonly string[])[] = []
  try {
    for (let life = 1; life <= given.lives; life++) {
      const goal = Math.round((given.requests * life) / given.lives)
      lives.push(await runLife(soak, goal, disturbances.failed))
      run.update(`${count(soak.asked)} requests by ${life} of ${given.lives} servers`)
    }
  } finally {
    disturbances.stop()
  }
  await disturbances.failed
  const after = readCharged(fixture.folder)
  requireRun({ startedMs, isClean: true }, soak.ledger.seen(), after)
  const medians = Array.from({ length: fifths }, (_, part) => `MB, part ${part + 1}`)
  run.print(textTable(['requests', ...medians, 'peak'], lives))
  return [
    ['requests', `${count(soak.asked)}: ${countsText(soak.counts)}`],
    ['disturbed', countsText(disturbances.counts)],
    ['rows charged', `${count(sum(after.map(({ rows }) => rows)))}, as delivered`],
  ]
}

/** `npm run check:soak`. */
export const soak = scenario({ name: 'soak', about, options, check })
