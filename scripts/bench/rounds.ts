import { median } from '../harness/statistics.js'
import { faultsIn } from './compare.js'
import type { Given } from './compare.js'
import type { Contestant } from './contestant.js'
import type { Facts } from './facts.js'
import type { Workload } from './questions.js'

/** What one contestant took for a workload's questions. */
interface Timed {
  readonly contestant: string
  /** Null where no question was answered. */
  readonly medianMs: number | null
  /** The first wrong answer, or why there was none. */
  readonly fault: string | null
}

export interface WorkloadResult {
  readonly name: string
  readonly title: string
  readonly rounds: number
  /** Rows of an answer, at the median. */
  readonly rows: number
  readonly timed: readonly Timed[]
}

/** Rounds that are not counted: they open what the later ones find open. */
const warmUps = 3

/**
 * Asks all contestants the same in each round, in an order that rotates, and compares their
 * answers. A contestant that fails is not asked again. `prepare` runs before each question.
 */
export async function runWorkload(
  workload: Workload,
  contestants: readonly Contestant[],
  facts: Facts,
  rounds: number,
  update: (words: string) => void,
  prepare: () => Promise<void> = async () => undefined,
): Promise<WorkloadResult> {
  const times = new Map<string, number[]>(contestants.map(({ name }) => [name, []]))
  const faults = new Map<string, string>()
  const failed = new Set<string>()
  const rowCounts: number[] = []
  for (let round = 0; round < warmUps + rounds; round += 1) {
    update(`${workload.name} ${roundWords(round, rounds)}`)
    const question = workload.questionOf(facts, round)
    const given: Given[] = []
    for (const contestant of rotated(contestants, round)) {
      if (failed.has(contestant.name)) continue
      try {
        await prepare()
        const { ms, rows } = await contestant.ask(question, null)
        given.push({ contestant, rows })
        if (round >= warmUps) times.get(contestant.name)?.push(ms)
      } catch (cause) {
        failed.add(contestant.name)
        faults.set(contestant.name, `round ${round + 1}: no answer: ${String(cause)}`)
      }
    }
    rowCounts.push(given[0]?.rows.length ?? 0)
    for (const [name, fault] of faultsIn(question, workload.isWhole, given)) {
      if (!faults.has(name)) faults.set(name, `round ${round + 1}: ${fault}`)
    }
  }
  const { name, title } = workload
  const timed = contestants.map((contestant) => {
    const all = times.get(contestant.name) ?? []
    const fault = faults.get(contestant.name) ?? null
    const medianMs = all.length > 0 ? median(all) : null
    return { contestant: contestant.name, medianMs, fault }
  })
  return { name, title, rounds, rows: median(rowCounts), timed }
}

/** The list, rotated by one more place in each round. */
export function rotated<T>(list: readonly T[], round: number): readonly T[] {
  const at = list.length === 0 ? 0 : round % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}

function roundWords(round: number, rounds: number): string {
  if (round < warmUps) return `warm-up ${round + 1} of ${warmUps}`
  return `round ${round - warmUps + 1} of ${rounds}`
}
