import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { runScript } from './harness/script.js'
import { addLarge, addLimited, buildHouse, launcher } from './check-charges/charges-fixture.js'
import type { House, Subscriber } from './check-charges/charges-fixture.js'
import { help, readOptions } from './check-charges/charges-options.js'
import type { Options } from './check-charges/charges-options.js'
import { runPhase } from './check-charges/phase.js'
import type { Fault, PhasePlan } from './check-charges/phase.js'
import { startProgress } from './harness/progress.js'
import type { Progress } from './harness/progress.js'
import { randomOf } from './harness/random.js'
import {
  addFinding,
  counterExampleText,
  emptySummary,
  summaryText,
} from './check-charges/summary.js'
import type { CounterExample, Summary } from './check-charges/summary.js'
import type { Charged } from './check-charges/rule.js'

/** How a run ended. */
type Verdict =
  | { readonly kind: 'passed'; readonly summary: Summary }
  | { readonly kind: 'failed'; readonly summary: Summary; readonly example: CounterExample }

const killMsMin = 5
const killMsMax = 500
const cleanMs = 1000
/** About twice as many as use up what the limited subscriptions may have. */
const cyclesOfLimited = 20

/** Who has subscriptions. */
interface Cast {
  readonly large: readonly Subscriber[]
  /** Those of now; used up before long. */
  readonly limited: readonly Subscriber[]
  readonly everybody: readonly Subscriber[]
}

/** Runs the phases in their order, up to the first fault. */
async function check(
  house: House,
  options: Options,
  progress: Progress,
  signal: AbortSignal,
): Promise<Verdict> {
  const beganMs = performance.now()
  const large = [await addLarge(house), await addLarge(house)]
  let cast: Cast = { large, limited: [], everybody: large }
  let books: readonly Charged[] = []
  let summary = emptySummary(options.seed)
  for (let cycle = 0; cycle <= options.cycles + 1; cycle++) {
    if (cycle % cyclesOfLimited === 0) cast = await withNewLimited(house, cast)
    const plan = planOf(cycle, options, cast)
    const isCycle = plan.signal === 'SIGKILL'
    const scene = { ...options, house, everybody: cast.everybody, signal }
    const finding = await runPhase(scene, plan, books)
    books = finding.books
    summary = addFinding(summary, finding, isCycle, (performance.now() - beganMs) / 1000)
    if (finding.fault) return failed(summary, plan, finding.fault)
    if (isCycle) progress.step(cycle)
  }
  if (summary.rows_delivered === 0) throw new Error('not one row was delivered: nothing is shown')
  return { kind: 'passed', summary }
}

async function withNewLimited(house: House, { large, everybody }: Cast): Promise<Cast> {
  const limited = await addLimited(house)
  return { large, limited, everybody: [...everybody, ...limited] }
}

/** The first phase and the last are clean; those between them are the cycles. */
function planOf(cycle: number, { cycles, seed }: Options, { large, limited }: Cast): PhasePlan {
  const always = { number: cycle, subscribers: [...large, ...limited] }
  if (cycle === 0 || cycle > cycles) {
    return { ...always, signal: 'SIGTERM', afterMs: cleanMs, isAtAnswer: false }
  }
  const random = randomOf(seed, cycle)
  const afterMs = random.whole(killMsMin, killMsMax)
  return { ...always, signal: 'SIGKILL', afterMs, isAtAnswer: random.oneOf([true, false]) }
}

function failed(summary: Summary, { number, signal, afterMs }: PhasePlan, fault: Fault): Verdict {
  const example = { seed: summary.seed, cycle: number, signal, after_ms: afterMs, fault }
  return { kind: 'failed', summary, example }
}

/** Keeps the folder where something went wrong, and says where it is. */
async function run(options: Options): Promise<void> {
  if (!existsSync(launcher)) throw new Error('dist/das.cjs is missing: npm run build')
  const stopping = new AbortController()
  const onSignal = () => stopping.abort(new Error('stopped'))
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  const house = await buildHouse()
  const progress = startProgress(process.stderr, options.cycles)
  let isKept = true
  try {
    const verdict = await check(house, options, progress, stopping.signal)
    progress.end()
    tell(verdict, options)
    isKept = verdict.kind === 'failed'
  } catch (cause) {
    progress.end()
    isKept = !stopping.signal.aborted
    throw stopping.signal.aborted ? new Error('stopped') : cause
  } finally {
    if (isKept) say(`the folder is kept: ${house.folder}`)
    else await rm(house.folder, { recursive: true, force: true })
  }
}

function tell(verdict: Verdict, { isJson }: Options): void {
  const isPassed = verdict.kind === 'passed'
  if (!isPassed) process.exitCode = 1
  const example = isPassed ? null : verdict.example
  if (isJson) {
    const answer = { passed: isPassed, ...verdict.summary, counter_example: example }
    process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`)
    return
  }
  if (example) process.stdout.write(counterExampleText(example))
  process.stdout.write(summaryText(verdict.summary))
  if (isPassed) process.stdout.write('delivered ≤ charged ≤ attempted, always\n')
}

function say(words: string): void {
  process.stderr.write(`check-charges: ${words}\n`)
}

await runScript('check-charges', async () => {
  const options = readOptions(process.argv.slice(2))
  if (options) await run(options)
  else process.stdout.write(help)
})
