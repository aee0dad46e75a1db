import { setTimeout as sleep } from 'node:timers/promises'
import { periodOf } from '../../src/control/usage.js'
import { demand, Fault } from '../harness/fault.js'
import { serve, subscribe, unlimited } from '../harness/fixture.js'
import type { Fixture, Sold } from '../harness/fixture.js'
import { whole } from '../harness/options.js'
import { randomOf } from '../harness/random.js'
import { count } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { sum } from '../harness/statistics.js'
import { Ledger, readCharged } from './parts/ledger.js'
import type { Charged } from './parts/ledger.js'
import { startMix, unexpected } from './parts/mix.js'
import { growthOf, requireRule } from './parts/rule.js'
import type { Cap, Phase } from './parts/rule.js'
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
const weights = { rows: 15, explained: 1, aggregate: 8, top: 8 } as const
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
interface Buyer extends Sold {
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

interface Context extends Given<typeof options> {
  readonly fixture: Fixture
  readonly run: Run
}

async function sell(fixture: Fixture, plan: keyof typeof planRows, rowsOfAll?: number) {
  const limit = rowsOfAll === undefined ? [] : ['--global-rows', String(rowsOfAll)]
  const sold = await subscribe(
    fixture,
    tables.map(({ name }) => `${name}:${plan}`),
    limit,
  )
  const { subscription } = sold
  const caps: Cap[] = tables.map(({ name: dataset }) => {
    return { subscription, dataset, rows: planRows[plan] }
  })
  if (rowsOfAll !== undefined) caps.push({ subscription, dataset: null, rows: rowsOfAll })
  return { ...sold, caps }
}

/** The first phase and the last are clean; those between them are the cycles. */
function planOf(number: number, { cycles, seed }: Context): Plan {
  if (number === 0 || number > cycles) {
    return { number, signal: 'SIGTERM', afterMs: cleanMs, isAtAnswer: false }
  }
  const random = randomOf(seed, number)
  const afterMs = random.whole(killMsMin, killMsMax)
  return { number, signal: 'SIGKILL', afterMs, isAtAnswer: random.oneOf([true, false]) }
}

/** @throws Error when the server ends in another way than the plan's */
async function letClientsAsk(
  { fixture, run: { cleanup }, clients, seed }: Context,
  { number, signal, afterMs, isAtAnswer }: Plan,
  asking: readonly Buyer[],
  ledger: Ledger,
): Promise<void> {
  const server = await serve(fixture, cleanup, { argv: ['--log-level', 'info'] })
  let onAnswer = () => {}
  const mix = startMix({
    base: server.base,
    clients,
    tables,
    weights,
    ledger,
    buyers: () => asking,
    random: (client) => randomOf(seed, number, client),
    onStatus: (status) => status === 200 && onAnswer(),
    judge: (drawn, answer) => {
      const isRefused = answer.kind === 'refused' && !refusals.includes(answer.status)
      if (isRefused) throw unexpected(drawn, answer)
    },
  })
  const moment = async () => {
    await sleep(afterMs, undefined, { signal: cleanup.signal })
    if (isAtAnswer) await new Promise<void>((resolve) => (onAnswer = resolve))
  }
  try {
    await Promise.race([moment(), mix.done, server.ended])
    mix.stop()
    if (signal === 'SIGTERM') await mix.done
    const [exit] = await Promise.all([server.end(signal), mix.done])
    cleanup.signal.throwIfAborted()
    const due = signal === 'SIGTERM' ? 0 : signal
    if (exit !== due) throw new Error(`the server ended: ${exit}, not ${due}:\n${server.output()}`)
  } finally {
    mix.stop()
    await server.end('SIGKILL')
    // A client's failure has been thrown above.
    await mix.done.catch(() => undefined)
  }
}

/** Runs a phase over the database that the last one left, and judges it. */
async function runPhase(
  context: Context,
  plan: Plan,
  buyers: { readonly all: readonly Buyer[]; readonly asking: readonly Buyer[] },
  before: readonly Charged[],
) {
  const startedMs = Date.now()
  const ledger = new Ledger()
  await letClientsAsk(context, plan, buyers.asking, ledger)
  const isClean = plan.signal === 'SIGTERM'
  const broken = ledger.ended('broken off')
  demand(!isClean || broken + ledger.ended('no answer') === 0, 'answers broke off by themselves')
  const after = readCharged(context.fixture.folder)
  const phase: Phase = {
    isClean,
    seen: ledger.seen(),
    before,
    after,
    periods: [periodOf(startedMs), periodOf(Date.now())],
    caps: buyers.all.flatMap(({ caps }) => caps),
  }
  requireRule(phase)
  return { ledger, broken, after, charged: sum(growthOf(phase).map(({ rows }) => rows)) }
}

async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const plans = Object.fromEntries(
    Object.entries(planRows).map(([name, rows]) => [name, { ...unlimited, rows_per_month: rows }]),
  )
  const fixture = await makeTables(run, 'charges', tables, { plans })
  const context = { ...given, fixture, run }
  const large = [await sell(fixture, 'large'), await sell(fixture, 'large')]
  let buyers = { all: large, asking: large }
  let charged: readonly Charged[] = []
  const phases: Awaited<ReturnType<typeof runPhase>>[] = []
  for (let cycle = 0; cycle <= given.cycles + 1; cycle++) {
    if (cycle % cyclesOfLimited === 0) {
      // Soon used up: by the quota of each dataset, and by that of both.
      const limited = [await sell(fixture, 'small'), await sell(fixture, 'large', globalRows)]
      buyers = { all: [...buyers.all, ...limited], asking: [...large, ...limited] }
    }
    const plan = planOf(cycle, context)
    const phase = await runPhase(context, plan, buyers, charged).catch((cause: unknown) => {
      if (!(cause instanceof Fault)) throw cause
      throw new Fault(
        `${cause.message}, in cycle ${cycle} (${plan.signal} after ${plan.afterMs} ms)`,
      )
    })
    charged = phase.after
    phases.push(phase)
    run.update(`cycle ${cycle} of ${given.cycles}`, cycle % cyclesOfMilestone === 0)
  }
  const total = (figure: (phase: (typeof phases)[number]) => number) => sum(phases.map(figure))
  const delivered = total(({ ledger }) => ledger.delivered)
  if (delivered === 0) throw new Error('no row was delivered: nothing was checked')
  const refused = total(({ ledger }) => sum(refusals.map((status) => ledger.ended(`${status}`))))
  const over = phases.map((phase) => phase.charged - phase.ledger.delivered)
  const worst = over.indexOf(Math.max(...over))
  return [
    ['cycles', `${phases.length - 2}, each ended by kill -9; the database intact each time`],
    ['answered', count(total(({ ledger }) => ledger.ended('200')))],
    ['refused', count(refused)],
    ['cut off', count(total(({ broken }) => broken))],
    ['rows delivered', count(delivered)],
    ['rows charged', count(total((phase) => phase.charged))],
    ['rows attempted', count(total(({ ledger }) => ledger.attempted))],
    ['largest overcharge', `${over[worst]} rows, ${phases[worst]?.broken} answers cut off`],
    ['holds', 'delivered ≤ charged ≤ attempted, always'],
  ]
}

/** `npm run check:charges`. */
export const charges = scenario({ name: 'charges', about, options, check })
