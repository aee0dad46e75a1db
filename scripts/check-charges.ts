import { makeChargesFixture, sellLarge, sellLimited } from './check-charges/charges-fixture.js'
import type { ChargesFixture, Subscriber } from './check-charges/charges-fixture.js'
import { command } from './check-charges/charges-options.js'
import type { Options } from './check-charges/charges-options.js'
import { runPhase } from './check-charges/phase.js'
import type { PhasePlan } from './check-charges/phase.js'
import type { Charged } from './check-charges/rule.js'
import { counterExampleText, summaryOf, summaryText } from './check-charges/summary.js'
import type { CounterExample, PhaseFigures, Summary } from './check-charges/summary.js'
import { requireBuild } from './harness/fixture.js'
import { randomOf } from './harness/random.js'
import { jsonText } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'

/** How a run ended. */
interface Verdict {
  readonly summary: Summary
  /** Null where every rule held. */
  readonly example: CounterExample | null
}

/** Those that have subscriptions. */
interface Subscribers {
  readonly large: readonly Subscriber[]
  /** Those of now, which are soon used up. */
  readonly limited: readonly Subscriber[]
  readonly all: readonly Subscriber[]
}

const killMsMin = 5
const killMsMax = 500
const cleanMs = 1000
/** About twice as many as use up what the limited subscriptions may have. */
const cyclesOfLimited = 20
/** Between two lines where no terminal shows each cycle. */
const cyclesOfMilestone = 25

/** Runs the phases in their order, up to the first fault. */
async function check(fixture: ChargesFixture, options: Options, run: Run): Promise<Verdict> {
  const startedMs = performance.now()
  const { cycles, seed } = options
  const large = [await sellLarge(fixture), await sellLarge(fixture)]
  let subscribers: Subscribers = { large, limited: [], all: large }
  let charged: readonly Charged[] = []
  const phases: PhaseFigures[] = []
  for (let cycle = 0; cycle <= cycles + 1; cycle++) {
    if (cycle % cyclesOfLimited === 0) subscribers = await withNewLimited(fixture, subscribers)
    const plan = planOf(cycle, options, subscribers)
    const isCycle = plan.signal === 'SIGKILL'
    const context = { ...options, fixture, cleanup: run.cleanup, allSubscribers: subscribers.all }
    const { after, ...finding } = await runPhase(context, plan, charged)
    charged = after
    phases.push({ ...finding, isCycle })
    if (finding.fault) {
      const summary = summaryOf(seed, phases, (performance.now() - startedMs) / 1000)
      const { signal, afterMs } = plan
      return { summary, example: { seed, cycle, signal, after_ms: afterMs, fault: finding.fault } }
    }
    if (isCycle) showProgress(run, cycle, cycles, performance.now() - startedMs)
  }
  const summary = summaryOf(seed, phases, (performance.now() - startedMs) / 1000)
  if (summary.rows_delivered === 0) throw new Error('no row was delivered: nothing was checked')
  return { summary, example: null }
}

async function withNewLimited(
  fixture: ChargesFixture,
  { large, all }: Subscribers,
): Promise<Subscribers> {
  const limited = await sellLimited(fixture)
  return { large, limited, all: [...all, ...limited] }
}

/** The first phase and the last are clean; those between them are the cycles. */
function planOf(
  cycle: number,
  { cycles, seed }: Options,
  { large, limited }: Subscribers,
): PhasePlan {
  const always = { number: cycle, subscribers: [...large, ...limited] }
  if (cycle === 0 || cycle > cycles) {
    return { ...always, signal: 'SIGTERM', afterMs: cleanMs, isAtAnswer: false }
  }
  const random = randomOf(seed, cycle)
  const afterMs = random.whole(killMsMin, killMsMax)
  return { ...always, signal: 'SIGKILL', afterMs, isAtAnswer: random.oneOf([true, false]) }
}

/** The time left is estimated from the cycles so far. */
function showProgress(run: Run, done: number, total: number, elapsedMs: number): void {
  const seconds = Math.ceil(((elapsedMs / done) * (total - done)) / 1000)
  const left = seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
  const isMilestone = done % cyclesOfMilestone === 0
  run.update(`cycle ${done} of ${total}, about ${left} left`, isMilestone)
}

function verdictText({ summary, example }: Verdict, { json }: Options): string {
  const passed = example === null
  if (json) return jsonText({ passed, ...summary, counter_example: example })
  if (!passed) return counterExampleText(example) + summaryText(summary)
  return `${summaryText(summary)}delivered ≤ charged ≤ attempted, always\n`
}

await runScript(command, async (options, run) => {
  requireBuild()
  const verdict = await check(await makeChargesFixture(run), options, run)
  run.print(verdictText(verdict, options))
  if (verdict.example) process.exitCode = 1
})
