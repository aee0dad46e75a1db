import type { Statements } from '../harness/duckdb.js'
import { randomOf } from '../harness/random.js'
import { quantile } from '../harness/statistics.js'
import { ask } from './ask.js'
import type { Answer } from './ask.js'
import type { Form } from './form.js'
import type { Case, Facts } from './questions.js'
import { meanWork } from './work.js'
import type { Work } from './work.js'

/** What one case took in one form. */
export interface Timing {
  readonly case: string
  readonly form: string
  readonly asked: number
  readonly medianMs: number
  readonly p95Ms: number
  /** User and system time of the process. */
  readonly cpuMs: number
  /** The mean of what the questions made DuckDB do. */
  readonly work: Work
}

interface RoundsOrder {
  readonly rounds: number
  readonly seed: number
  /** Stops early; what was measured until then counts. */
  readonly secondsMax: number
}

const slowShare = 0.95

/**
 * Asks every form the same question in turns, round by round.
 * @throws Error when forms answer differently
 */
export async function measureCase(
  statements: Statements,
  forms: readonly Form[],
  each: Case,
  facts: Facts,
  { rounds, seed, secondsMax }: RoundsOrder,
): Promise<readonly Timing[]> {
  const samples = forms.map((): Sample[] => [])
  const endMs = performance.now() + secondsMax * 1000
  // The first round opens what the later ones find open; it is not counted.
  for (let round = -1; round < rounds; round += 1) {
    const random = randomOf(seed, round + 1)
    const question = each.questionOf(facts, Math.max(round, 0), random)
    const texts = new Map<string, string>()
    for (let turn = 0; turn < forms.length; turn += 1) {
      const at = (turn + Math.max(round, 0)) % forms.length
      const form = forms[at]
      if (!form) continue
      const sample = await timed(() => ask(statements, form, question, facts.columns))
      texts.set(form.name, [...sample.answer.rows].sort().join('\n'))
      if (round >= 0) samples[at]?.push(sample)
    }
    if (each.isWhole) requireSame(each, texts)
    if (round >= 0 && performance.now() > endMs) break
  }
  return forms.map((form, at) => timingOf(each, form, samples[at] ?? []))
}

interface Sample {
  readonly ms: number
  readonly cpuMs: number
  readonly answer: Answer
}

async function timed(work: () => Promise<Answer>): Promise<Sample> {
  const before = process.cpuUsage()
  const startedMs = performance.now()
  const answer = await work()
  const ms = performance.now() - startedMs
  const { user, system } = process.cpuUsage(before)
  return { ms, cpuMs: (user + system) / 1000, answer }
}

function requireSame({ name }: Case, texts: ReadonlyMap<string, string>): void {
  const [first, ...others] = texts
  const other = others.find(([, text]) => text !== first?.[1])
  if (other) throw new Error(`${name}: ${other[0]} and ${first?.[0]} answer differently`)
}

function timingOf({ name }: Case, form: Form, samples: readonly Sample[]): Timing {
  const times = samples.map(({ ms }) => ms)
  return {
    case: name,
    form: form.name,
    asked: samples.length,
    medianMs: quantile(times, 0.5),
    p95Ms: quantile(times, slowShare),
    cpuMs: quantile(
      samples.map(({ cpuMs }) => cpuMs),
      0.5,
    ),
    work: meanWork(samples.map(({ answer }) => answer.work)),
  }
}
