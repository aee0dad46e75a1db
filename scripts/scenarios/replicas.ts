import { mkdir, readFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { periodOf } from '../../src/control/usage.js'
import { startClients } from '../harness/clients.js'
import { Fault } from '../harness/fault.js'
import { bareEnvironment, subscribe } from '../harness/fixture.js'
import type { Fixture, Sold } from '../harness/fixture.js'
import { logOf, passedAgain, startNginx } from '../harness/nginx.js'
import { whole } from '../harness/options.js'
import { startPostgresServer } from '../harness/postgres.js'
import { randomOf } from '../harness/random.js'
import type { Random } from '../harness/random.js'
import { count } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { sum } from '../harness/statistics.js'
import { ask } from './parts/ask.js'
import type { Answer, Page } from './parts/ask.js'
import { readChargedOf } from './parts/charged.js'
import { Ledger } from './parts/ledger.js'
import type { Table } from './parts/rows.js'
import { requireRule } from './parts/rule.js'
import { startServing } from './parts/serving.js'
import type { Serving } from './parts/serving.js'
import { makeTables } from './parts/tables.js'
import { beginWalk, messageOf, nextPage, questionText } from './parts/walks.js'
import type { Question } from './parts/walks.js'
import { Outage, stopPostgres } from './replicas/outage.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const outageSecondsMax = 20
const outageShare = 4

const options = {
  replicas: whole('servers over one PostgreSQL', 3, 2, 16),
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
/** Pages of a walk at most, and rows of a page at most. */
const pagesMax = 20
const limitMax = 400
const outagePauseMs = 100

/** What clients, kills and outage share. */
interface Parts {
  readonly given: Given<typeof options>
  readonly run: Run
  readonly replicas: readonly Serving[]
  /** Through nginx. */
  readonly base: string
  readonly subscribers: readonly Sold[]
  readonly ledger: Ledger
  readonly outage: Outage
  readonly counts: { walks: number; healed: number; refused: number; kills: number }
}

/** Starts one of several servers, with a state folder of its own. */
async function startReplica(
  { folder }: Fixture,
  at: number,
  controlUrl: string,
  { cleanup }: Run,
): Promise<Serving> {
  const state = join(folder, `state-${at}`)
  await mkdir(state, { mode: 0o700 })
  return startServing({ folder, uid: null }, cleanup, {
    argv: ['--state', state, '--trust-proxy', '127.0.0.0/8'],
    env: { ...bareEnvironment(), DAS_CONTROL_URL: controlUrl, DAS_MEMORY_LIMIT: '512MB' },
  })
}

/** Starts clients that walk through nginx; each ends its walk before it stops. */
function startWalkers(parts: Parts) {
  const { given, base, subscribers, counts } = parts
  const agent = new Agent({ keepAlive: true, maxSockets: given.clients })
  const { stop, done } = startClients(given.clients, (client) => {
    const random = randomOf(given.seed, client)
    return async () => {
      const subscriber = random.oneOf(subscribers)
      const target = { base, agent, token: subscriber.token }
      const reader = {
        ask: (question: Question) =>
          askUntilAnswered(parts, subscriber.subscription, question, () =>
            ask(target, messageOf(question)),
          ),
      }
      const walk = beginWalk(reader, drawQuestion(random))
      while ((await nextPage(reader, walk)) !== 'ended');
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
    ledger.note({ subscription, dataset: table.name, cost }, answer)
    const what = whatOf(answer)
    if (outage.covers(sentMs) && !(answer.kind === 'refused' && answer.status === 503)) {
      throw new Fault(`${what}, not 503, without PostgreSQL (${questionText(question)})`)
    }
    if (answer.kind === 'page') {
      if (failed !== null) counts.healed += 1
      return answer
    }
    if (outage.touches(sentMs)) {
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
async function killFor(
  seconds: number,
  random: Random,
  { replicas, given, run, counts }: Parts,
  signal: AbortSignal,
): Promise<void> {
  const endMs = performance.now() + seconds * 1000
  for (let killedMs = performance.now(); ; counts.kills += 1) {
    const dueMs = Math.max(killedMs + given.killSeconds * 1000, performance.now())
    const nextMs = Math.min(dueMs, endMs)
    await sleep(nextMs - performance.now(), undefined, { signal })
    if (nextMs >= endMs) return
    const { base, server, restart } = random.oneOf(replicas)
    run.update(`${base} is killed, ${Math.ceil((endMs - nextMs) / 1000)} s left`, false)
    const { child, output } = server()
    if (child.exitCode !== null) throw new Fault(`the server at ${base} ended: ${output()}`)
    killedMs = performance.now()
    await restart('SIGKILL')
  }
}

/** @throws Fault when more rows were charged in vain than were lost */
function requireLost({ given, ledger, counts }: Parts, charged: number, again: number): string {
  const byFailures = ledger.attempted - ledger.delivered + again * limitMax
  const byKills = (counts.kills + 1) * given.clients * limitMax
  const lost = charged - ledger.delivered
  const bounds = `${lost} rows, at most ${byFailures} by failures and ${byKills} by kills`
  if (lost > Math.min(byFailures, byKills)) throw new Fault(`charged in vain: ${bounds}`)
  return bounds
}

async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const startedMs = Date.now()
  const fixture = await makeTables(run, 'replicas', [table])
  const postgres = await startPostgresServer((close) => run.cleanup.add(close))
  const subscribers: Sold[] = []
  while (subscribers.length < subscribersCount) {
    const settings = { DAS_CONTROL_URL: postgres.url }
    subscribers.push(await subscribe(fixture, [`${table.name}:all`], [], settings))
  }
  const replicas = await Promise.all(
    Array.from({ length: given.replicas }, (_, at) => startReplica(fixture, at, postgres.url, run)),
  )
  const nginx = join(fixture.folder, 'nginx')
  const servers = replicas.map((replica) => replica.base)
  const base = await startNginx(nginx, servers, run.cleanup)
  const ledger = new Ledger({ isProxied: true })
  const outage = new Outage()
  const counts = { walks: 0, healed: 0, refused: 0, kills: 0 }
  const shared = { given, run, replicas, subscribers, ledger, outage, counts }
  const parts: Parts = { ...shared, base }
  const outageSeconds = Math.min(outageSecondsMax, Math.floor(given.seconds / outageShare))
  const recoveryMs = await disturb(parts, outageSeconds, async (signal) => {
    const [subscriber] = subscribers
    if (!subscriber) throw new Error('no subscriber')
    const toOutage = { ...shared, postgres, dataset: table.name, subscriber, signal }
    return stopPostgres(toOutage, outageSeconds)
  })
  await Promise.all(replicas.map(({ server }) => server().stop()))
  const after = await readChargedOf(postgres.url)
  const again = passedAgain(await readFile(logOf(nginx), 'utf8'))
  const seen = ledger.seen().map((each) => {
    return { ...each, attempted: each.attempted + again * limitMax }
  })
  const periods = [periodOf(startedMs), periodOf(Date.now())]
  requireRule({ isClean: false, periods, seen, before: [], after, caps: [] })
  if (ledger.delivered === 0) throw new Error('no row was delivered: nothing was checked')
  const charged = sum(after.map(({ rows }) => rows))
  return [
    ['servers', `${given.replicas}, and ${given.clients} clients through nginx`],
    ['kills', `${counts.kills} by kill -9, each server started again`],
    ['requests', ledger.ends],
    ['walks', `${count(counts.walks)}, all complete`],
    ['failed once', `${counts.healed} healed by one retry; nginx passed on ${again}`],
    ['outage', `${outageSeconds} s without PostgreSQL, ${counts.refused} refused, no row`],
    ['served again', `after ${recoveryMs.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s`],
    ['rows', `${count(ledger.delivered)} delivered, ${count(charged)} charged`],
    ['charged in vain', requireLost(parts, charged, again)],
  ]
}

/** Kills, stops PostgreSQL in the middle and kills again while clients walk. */
async function disturb(
  parts: Parts,
  outageSeconds: number,
  stop: (signal: AbortSignal) => Promise<readonly number[]>,
): Promise<readonly number[]> {
  const { given, run } = parts
  const failed = new AbortController()
  const walkers = startWalkers(parts)
  walkers.done.catch((cause: unknown) => failed.abort(cause))
  run.cleanup.signal.addEventListener('abort', () => failed.abort())
  const random = randomOf(given.seed, given.clients)
  const half = (given.seconds - outageSeconds) / 2
  try {
    await killFor(half, random, parts, failed.signal)
    run.update(`PostgreSQL is stopped for ${outageSeconds} s`)
    const recoveryMs = await stop(failed.signal)
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

/** `npm run check:replicas`. */
export const replicas = scenario({ name: 'replicas', about, options, check })
