import { mkdir } from 'node:fs/promises'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClients } from '../harness/clients.js'
import { demand, eventually, Fault } from '../harness/fault.js'
import { subscribe } from '../harness/fixture.js'
import type { Sold } from '../harness/fixture.js'
import { getOnce } from '../harness/http.js'
import { startNginx } from '../harness/nginx.js'
import { whole } from '../harness/options.js'
import { startPostgresServer } from '../harness/postgres.js'
import type { PostgresServer } from '../harness/postgres.js'
import { randomOf } from '../harness/random.js'
import type { Random } from '../harness/random.js'
import { count } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { sum } from '../harness/statistics.js'
import { ask } from './parts/ask.js'
import type { Answer, Page } from './parts/ask.js'
import { Ledger, readChargedOf } from './parts/ledger.js'
import type { Table } from './parts/rows.js'
import { requireRun } from './parts/rule.js'
import { startServing } from './parts/serving.js'
import type { Serving } from './parts/serving.js'
import { makeTables } from './parts/tables.js'
import { messageOf, questionText, walkThrough } from './parts/walks.js'
import type { Question } from './parts/walks.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const outageSecondsMax = 20
const outageShare = 4

const options = {
  clients: whole('clients that walk at the same time', 32, 1, 256),
  seconds: whole('seconds in which they walk', 120, 8, 86_400),
  killSeconds: whole('seconds from one kill to the next', 5, 1, 3600),
}

const about = `Starts a PostgreSQL, built servers over one registry, and nginx in front of them. Clients walk
through nginx with cursors while one server after another is killed (SIGKILL) and started again. In
the middle, PostgreSQL is stopped for ${outageSecondsMax} seconds, or a quarter of --seconds. Checks that
  1  no subscription received more rows than PostgreSQL has charged
  2  rows charged in vain are those of answers that were lost: no more than the requests that failed
     or that nginx passed on, and no more than one page a client for each kill and outage
  3  every walk ends, with each row once, in order and right
  4  a request that a kill breaks succeeds when it is sent again once
  5  without PostgreSQL every question gets 503 and no row; then every server serves again by itself
It needs nginx and PostgreSQL (Debian's nginx-light and postgresql).`

const table: Table = { name: 'things', years: [1], rows: 20_000, letters: 300 }
const subscribersCount = 4
/** Servers over one PostgreSQL. */
const replicasCount = 3
/** Pages of a walk at most, and rows of a page at most. */
const pagesMax = 20
const limitMax = 400
const outagePauseMs = 100
const noticeMsMax = 15_000
const recovery = { withinMs: 60_000, everyMs: 50 }

/** What clients, kills and outage share. */
interface Parts extends Given<typeof options> {
  readonly run: Run
  readonly postgres: PostgresServer
  readonly servers: readonly Serving[]
  /** Through nginx. */
  readonly base: string
  readonly subscribers: readonly Sold[]
  readonly ledger: Ledger
  readonly outage: Outage
  readonly counts: { walks: number; healed: number; refused: number; kills: number }
}

/** When PostgreSQL is away; times of `performance.now()`. */
interface Outage {
  /** From here on requests may be refused. */
  beganMs: number
  /** Between these PostgreSQL does not run at all. */
  downMs: number
  upMs: number
  /** From here on every server is well. */
  endedMs: number
}

/** Starts clients that walk through nginx; each ends its walk before it stops. */
function startWalkers(parts: Parts) {
  const { base, clients, seed, subscribers, counts } = parts
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const { stop, done } = startClients(clients, (client) => {
    const random = randomOf(seed, client)
    return async () => {
      const { subscription, token } = random.oneOf(subscribers)
      const askOnce = (question: Question) => ask({ base, agent, token }, messageOf(question))
      const askPage = (question: Question) =>
        askUntilAnswered(parts, subscription, question, () => askOnce(question))
      await walkThrough({ ask: askPage }, drawQuestion(random))
      counts.walks += 1
    }
  })
  return { stop, done: done.finally(() => agent.destroy()) }
}

function drawQuestion(random: Random): Question {
  const limit = random.whole(1, limitMax)
  const span = random.whole(1, pagesMax * limit)
  const from = random.whole(0, table.rows - span)
  const selection = { years: table.years, from, to: from + span }
  return { door: random.oneOf(['get', 'get', 'post']), table, selection, limit, cursor: null }
}

/** One failure is healed by the second try; while PostgreSQL is away, tries follow. */
async function askUntilAnswered(
  { ledger, outage, counts }: Parts,
  subscription: string,
  question: Question,
  askOnce: () => Promise<Answer>,
): Promise<Page> {
  const cost = { kind: 'each', most: question.limit } as const
  let failed: string | null = null
  for (;;) {
    const sentMs = performance.now()
    const answer = await askOnce()
    const nowMs = performance.now()
    ledger.note({ subscription, dataset: table.name, cost }, answer)
    const what = whatOf(answer)
    const isUnpaid = sentMs >= outage.downMs && nowMs < outage.upMs
    if (isUnpaid && !(answer.kind === 'refused' && answer.status === 503)) {
      throw new Fault(`${what}, not 503, without PostgreSQL (${questionText(question)})`)
    }
    if (answer.kind === 'page') {
      if (failed !== null) counts.healed += 1
      return answer
    }
    if (nowMs >= outage.beganMs && sentMs <= outage.endedMs) {
      counts.refused += 1
      await sleep(outagePauseMs)
    } else if (failed === null) failed = what
    else throw new Fault(`${what} on the second try, first ${failed} (${questionText(question)})`)
  }
}

function whatOf(answer: Answer): string {
  if (answer.kind === 'refused') return `${answer.status} ${answer.words.slice(0, 300)}`
  return answer.kind === 'page' ? 'a page' : `no whole answer (${answer.kind})`
}

/** Kills one server after another for so long. */
async function killFor(seconds: number, random: Random, parts: Parts, signal: AbortSignal) {
  const { servers, killSeconds, run, counts } = parts
  const endMs = performance.now() + seconds * 1000
  for (let killedMs = performance.now(); ; counts.kills += 1) {
    const dueMs = Math.max(killedMs + killSeconds * 1000, performance.now())
    const nextMs = Math.min(dueMs, endMs)
    await sleep(nextMs - performance.now(), undefined, { signal })
    if (nextMs >= endMs) return
    const { base, server, restart } = random.oneOf(servers)
    run.update(`${base} is killed, ${Math.ceil((endMs - nextMs) / 1000)} s left`, false)
    const { child, output } = server()
    if (child.exitCode !== null) throw new Fault(`the server at ${base} ended: ${output()}`)
    killedMs = performance.now()
    await restart('SIGKILL')
  }
}

/**
 * Stops PostgreSQL for a while; returns how long each server took, from its first answer on, until
 * it served again.
 *
 * @throws Fault when a server serves unpaid rows, ends, or does not serve again
 */
async function stopPostgres(parts: Parts, seconds: number, signal: AbortSignal) {
  const { postgres, servers, outage } = parts
  const processes = servers.map(({ server }) => server())
  outage.beganMs = performance.now()
  await postgres.stop()
  outage.downMs = performance.now()
  const pause = sleep(seconds * 1000, undefined, { signal })
  await Promise.all([pause, ...servers.map(({ base }) => requireRefusal(parts, base))])
  outage.upMs = performance.now()
  await postgres.start()
  const startedMs = performance.now()
  const times = await Promise.all(
    servers.map(async ({ base }) => {
      await untilWell(parts, base)
      return performance.now() - startedMs
    }),
  )
  outage.endedMs = performance.now()
  for (const [at, { base, server }] of servers.entries()) {
    const { child } = server()
    const isSame = server() === processes[at] && child.exitCode === null && !child.signalCode
    demand(isSame, `the server at ${base} ended while PostgreSQL was away`)
  }
  return times
}

async function requireRefusal({ subscribers }: Parts, base: string): Promise<void> {
  const statusOf = async (path: string, token?: string) =>
    (await getOnce(base, path, token))?.status
  const asked = await statusOf(`/v1/${table.name}?limit=1`, subscribers[0]?.token)
  demand(asked === 503, `${base} answers ${asked} unpaid`)
  const alive = await statusOf('/healthz')
  demand(alive === 200, `/healthz of ${base} answers ${alive}`)
  await eventually(`/readyz of ${base} says 503`, { withinMs: noticeMsMax }, async () => {
    return (await statusOf('/readyz')) === 503 || undefined
  })
}

async function untilWell({ ledger, subscribers }: Parts, base: string): Promise<void> {
  const { subscription = '', token = '' } = subscribers[0] ?? {}
  const agent = new Agent()
  const message = { method: 'GET', path: `/v1/${table.name}?limit=1`, body: '' } as const
  await eventually(`${base} charges again`, recovery, async () => {
    const answer = await ask({ base, agent, token }, message)
    ledger.note({ subscription, dataset: table.name, cost: { kind: 'each', most: 1 } }, answer)
    return answer.kind === 'page' || undefined
  })
  agent.destroy()
  await eventually(`${base} is ready again`, recovery, async () => {
    return (await getOnce(base, '/readyz'))?.status === 200 || undefined
  })
}

/** Kills, stops PostgreSQL in the middle and kills again while clients walk. */
async function disturb(parts: Parts, outageSeconds: number): Promise<readonly number[]> {
  const { run, seed, clients, seconds } = parts
  const failed = new AbortController()
  const walkers = startWalkers(parts)
  walkers.done.catch((cause: unknown) => failed.abort(cause))
  run.cleanup.signal.addEventListener('abort', () => failed.abort())
  const random = randomOf(seed, clients)
  const half = (seconds - outageSeconds) / 2
  try {
    await killFor(half, random, parts, failed.signal)
    run.update(`PostgreSQL is stopped for ${outageSeconds} s`)
    const recoveryMs = await stopPostgres(parts, outageSeconds, failed.signal)
    run.update('PostgreSQL is back, and every server is well')
    await killFor(half, random, parts, failed.signal)
    return recoveryMs
  } catch (cause) {
    // What a client found comes first.
    if (failed.signal.aborted) await walkers.done
    throw cause
  } finally {
    walkers.stop()
    await walkers.done
  }
}

async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const startedMs = Date.now()
  const fixture = await makeTables(run, 'replicas', [table])
  const postgres = await startPostgresServer((close) => run.cleanup.add(close))
  const settings = { DAS_CONTROL_URL: postgres.url, DAS_MEMORY_LIMIT: '512MB' }
  const subscribers: Sold[] = []
  while (subscribers.length < subscribersCount) {
    subscribers.push(await subscribe(fixture, [`${table.name}:all`], [], settings))
  }
  const start = async (at: number) => {
    // Each has a state folder of its own.
    const state = join(fixture.folder, `state-${at}`)
    await mkdir(state, { mode: 0o700 })
    const argv = ['--state', state, '--trust-proxy', '127.0.0.0/8']
    return startServing(fixture, run.cleanup, { argv, settings })
  }
  const servers = await Promise.all(Array.from({ length: replicasCount }, (_, at) => start(at)))
  const bases = servers.map((server) => server.base)
  const nginx = await startNginx(join(fixture.folder, 'nginx'), bases, run.cleanup)
  const ledger = new Ledger({ isProxied: true })
  const outage = { beganMs: Infinity, downMs: Infinity, upMs: Infinity, endedMs: Infinity }
  const counts = { walks: 0, healed: 0, refused: 0, kills: 0 }
  const { base } = nginx
  const shared = { run, postgres, servers, base, subscribers, ledger, outage, counts }
  const outageSeconds = Math.min(outageSecondsMax, Math.floor(given.seconds / outageShare))
  const recoveryMs = await disturb({ ...given, ...shared }, outageSeconds)
  await Promise.all(servers.map(({ server }) => server().stop()))
  const after = await readChargedOf(postgres.url)
  const again = await nginx.passedAgain()
  const seen = ledger.seen().map((each) => {
    return { ...each, attempted: each.attempted + again * limitMax }
  })
  requireRun({ startedMs, isClean: false }, seen, after)
  const charged = sum(after.map(({ rows }) => rows))
  const lost = charged - ledger.delivered
  const byFailures = ledger.attempted - ledger.delivered + again * limitMax
  const byKills = (counts.kills + 1) * given.clients * limitMax
  const inVain = `${lost} rows, at most ${byFailures} by failures and ${byKills} by kills`
  demand(lost <= Math.min(byFailures, byKills), `charged in vain: ${inVain}`)
  return [
    ['servers', `${replicasCount}, and ${given.clients} clients through nginx`],
    ['kills', `${counts.kills} by kill -9, each server started again`],
    ['requests', ledger.ends],
    ['walks', `${count(counts.walks)}, all complete`],
    ['failed once', `${counts.healed} healed by one retry; nginx passed on ${again}`],
    ['outage', `${outageSeconds} s without PostgreSQL, ${counts.refused} refused, no row`],
    ['served again', `after ${recoveryMs.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s`],
    ['rows', `${count(ledger.delivered)} delivered, ${count(charged)} charged`],
    ['charged in vain', inVain],
  ]
}

/** `npm run check:replicas`. */
export const replicas = scenario({ name: 'replicas', about, options, check })
