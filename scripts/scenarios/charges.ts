import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { periodOf } from '../../src/control/usage.js'
import { startClients } from '../harness/clients.js'
import { Fault } from '../harness/fault.js'
import { serve, subscribe, unlimited } from '../harness/fixture.js'
import type { Fixture } from '../harness/fixture.js'
import { whole } from '../harness/options.js'
import { randomOf } from '../harness/random.js'
import { count } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { sum } from '../harness/statistics.js'
import { drawQuestion } from './charges-questions.js'
import { ask } from './parts/ask.js'
import { readCharged } from './parts/charged.js'
import { Ledger } from './parts/ledger.js'
import { growthOf, requireRule } from './parts/rule.js'
import type { Cap, Charged, Phase } from './parts/rule.js'
import { makeTables } from './parts/tables.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const options = {
  cycles: whole('kills', 500, 1, 100_000),
  clients: whole('clients that ask at the same time', 16, 1, 256),
}

const about = `Kills the built server again and again while clients read, and checks after every kill that
  delivered ≤ charged ≤ attempted
for each subscription and dataset, that no quota is exceeded, that no charge is lost and that the
database is intact; and, in one phase before the kills and one after them, that without a crash
charged = delivered.
Half of the questions ask for pages, the others for aggregates and tops. A row of an answer that a
kill cut off counts as delivered when it arrived, an aggregate with its whole cost when one group of
it did. The explanation of an empty answer over MCP counts as the row that it costs.`

const table = { years: [1], rows: 2000 }
/** A kill cuts the long answers in the middle. */
const tables = [
  { ...table, name: 'short', letters: 60 },
  { ...table, name: 'long', letters: 2000 },
] as const
/** Rows a month: far above any run, and about what ten cycles ask for. */
const planRows = { large: 1_000_000_000, small: 4000 } as const
const globalRows = 8000
const killMsMin = 5
const killMsMax = 500
const cleanMs = 1000
/** About twice as many as use up what the limited subscriptions may have. */
const cyclesOfLimited = 20
const cyclesOfMilestone = 25
/** Refusals that a server under load, or a quota, may give. */
const refusals: readonly number[] = [429, 503, 504]

/** A subscription that asks, and how much it may have. */
interface Subscriber {
  readonly id: string
  readonly token: string
  readonly caps: readonly Cap[]
}

/** One run of the server: clients ask for a while, then a signal ends it. */
interface Plan {
  readonly number: number
  /** SIGTERM waits for all answers first; SIGKILL does not wait. */
  readonly signal: 'SIGTERM' | 'SIGKILL'
  readonly afterMs: number
  /** The signal waits, after that, for the next answer to begin: what it holds must be paid for. */
  readonly isAtAnswer: boolean
}

interface Context {
  readonly fixture: Fixture
  readonly run: Run
  readonly clients: number
  readonly seed: number
}

/** Those that have subscriptions. */
interface Subscribers {
  readonly all: readonly Subscriber[]
  /** Two that no run uses up, and two that are soon used up. */
  readonly asking: readonly Subscriber[]
}

async function sell(fixture: Fixture, plan: keyof typeof planRows, rowsOfAll: number | null) {
  const plans = tables.map(({ name }) => `${name}:${plan}`)
  const limit = rowsOfAll === null ? [] : ['--global-rows', String(rowsOfAll)]
  const { subscription, token } = await subscribe(fixture, plans, limit)
  const caps: Cap[] = tables.map(({ name: dataset }) => {
    return { subscription, dataset, rows: planRows[plan] }
  })
  if (rowsOfAll !== null) caps.push({ subscription, dataset: null, rows: rowsOfAll })
  return { id: subscription, token, caps }
}

/** Sells two more that are soon used up: by the quota of each dataset, and by that of both. */
async function withNewLimited(fixture: Fixture, { all }: Subscribers): Promise<Subscribers> {
  const limited = [await sell(fixture, 'small', null), await sell(fixture, 'large', globalRows)]
  return { all: [...all, ...limited], asking: [...all.slice(0, 2), ...limited] }
}

/** The first phase and the last are clean; those between them are the cycles. */
function planOf(number: number, cycles: number, seed: number): Plan {
  if (number === 0 || number > cycles) {
    return { number, signal: 'SIGTERM', afterMs: cleanMs, isAtAnswer: false }
  }
  const random = randomOf(seed, number)
  const afterMs = random.whole(killMsMin, killMsMax)
  return { number, signal: 'SIGKILL', afterMs, isAtAnswer: random.oneOf([true, false]) }
}

/** Starts clients with a connection each; the ledger notes what they see. */
function startReaders(
  { clients, seed }: Context,
  { number }: Plan,
  base: string,
  asking: readonly Subscriber[],
  ledger: Ledger,
) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  let onAnswer = () => {}
  const { stop, done } = startClients(clients, (client) => {
    const random = randomOf(seed, number, client)
    return async () => {
      const { id: subscription, token } = random.oneOf(asking)
      const table = random.oneOf(tables)
      const { name, message, cost, check } = drawQuestion(random, table)
      const answer = await ask({ base, agent, token }, message, (status) => {
        if (status === 200) onAnswer()
      })
      if (answer.kind === 'refused' && !refusals.includes(answer.status)) {
        throw new Fault(`unexpected answer to ${name}: ${answer.status} ${answer.words}`)
      }
      check(answer)
      ledger.note({ subscription, dataset: table.name, cost }, answer)
    }
  })
  const nextAnswer = () =>
    new Promise<void>((resolve) => {
      onAnswer = resolve
    })
  return { stop, nextAnswer, done: done.finally(() => agent.destroy()) }
}

/** @throws Error when the server ends in another way than the plan's */
async function letClientsAsk(
  context: Context,
  plan: Plan,
  asking: readonly Subscriber[],
  ledger: Ledger,
): Promise<void> {
  const { cleanup } = context.run
  const server = await serve(context.fixture, cleanup, { argv: ['--log-level', 'info'] })
  const readers = startReaders(context, plan, server.base, asking, ledger)
  const moment = async () => {
    await sleep(plan.afterMs, undefined, { signal: cleanup.signal })
    if (plan.isAtAnswer) await readers.nextAnswer()
  }
  try {
    await Promise.race([moment(), readers.done, server.ended])
    readers.stop()
    if (plan.signal === 'SIGTERM') await readers.done
    const [exit] = await Promise.all([server.end(plan.signal), readers.done])
    cleanup.signal.throwIfAborted()
    const due = plan.signal === 'SIGTERM' ? 0 : plan.signal
    if (exit !== due) throw new Error(`the server ended: ${exit}, not ${due}:\n${server.output()}`)
  } finally {
    readers.stop()
    await server.end('SIGKILL')
    // A client's failure has been thrown above.
    await readers.done.catch(() => undefined)
  }
}

/** Runs a phase over the database that the last one left, and judges it. */
async function runPhase(
  context: Context,
  plan: Plan,
  { all, asking }: Subscribers,
  before: readonly Charged[],
) {
  const startedMs = Date.now()
  const ledger = new Ledger()
  await letClientsAsk(context, plan, asking, ledger)
  const isClean = plan.signal === 'SIGTERM'
  const broken = ledger.ended('broken off')
  if (isClean && broken + ledger.ended('no answer') > 0) {
    throw new Fault('answers broke off though nothing crashed')
  }
  const after = readCharged(context.fixture.folder)
  const phase: Phase = {
    isClean,
    periods: [periodOf(startedMs), periodOf(Date.now())],
    seen: ledger.seen(),
    before,
    after,
    caps: all.flatMap(({ caps }) => caps),
  }
  requireRule(phase)
  return { ledger, broken, after, charged: sum(growthOf(phase).map(({ rows }) => rows)) }
}

type Phases = readonly Awaited<ReturnType<typeof runPhase>>[]

function factsOf(phases: Phases): Facts {
  const total = (figure: (phase: Phases[number]) => number) => count(sum(phases.map(figure)))
  const over = phases.map(({ charged, ledger }) => charged - ledger.delivered)
  const worst = over.indexOf(Math.max(...over))
  return [
    ['cycles', `${phases.length - 2}, each ended by kill -9`],
    ['answered', total(({ ledger }) => ledger.ended('200'))],
    ['refused', total(({ ledger }) => sum(refusals.map((status) => ledger.ended(`${status}`))))],
    ['cut off', total(({ broken }) => broken)],
    ['rows delivered', total(({ ledger }) => ledger.delivered)],
    ['rows charged', total(({ charged }) => charged)],
    ['rows attempted', total(({ ledger }) => ledger.attempted)],
    ['largest overcharge', `${over[worst]} rows, ${phases[worst]?.broken} answers cut off`],
    ['database intact', `${phases.length} times`],
    ['holds', 'delivered ≤ charged ≤ attempted, always'],
  ]
}

async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const { cycles, seed } = given
  const plans = Object.fromEntries(
    Object.entries(planRows).map(([name, rows]) => [name, { ...unlimited, rows_per_month: rows }]),
  )
  const fixture = await makeTables(run, 'charges', tables, { plans })
  const large = [await sell(fixture, 'large', null), await sell(fixture, 'large', null)]
  let subscribers: Subscribers = { all: large, asking: large }
  let charged: readonly Charged[] = []
  const phases: Awaited<ReturnType<typeof runPhase>>[] = []
  for (let cycle = 0; cycle <= cycles + 1; cycle++) {
    if (cycle % cyclesOfLimited === 0) subscribers = await withNewLimited(fixture, subscribers)
    const plan = planOf(cycle, cycles, seed)
    const phase = await runPhase({ ...given, fixture, run }, plan, subscribers, charged).catch(
      (cause: unknown) => {
        if (!(cause instanceof Fault)) throw cause
        const where = `cycle ${cycle} (${plan.signal} after ${plan.afterMs} ms)`
        throw new Fault(`${cause.message}, in ${where}`)
      },
    )
    charged = phase.after
    phases.push(phase)
    run.update(`cycle ${cycle} of ${cycles}`, cycle % cyclesOfMilestone === 0)
  }
  const delivered = sum(phases.map(({ ledger }) => ledger.delivered))
  if (delivered === 0) throw new Error('no row was delivered: nothing was checked')
  return factsOf(phases)
}

/** `npm run check:charges`. */
export const charges = scenario({ name: 'charges', about, options, check })
