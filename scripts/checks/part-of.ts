import { UsageError } from '../harness/options.js'
import type { Step, StepList } from './step.js'

/**
 * Part K of N of a list: the longest step goes to the part that has least so far, and so on.
 * @throws UsageError where the text is not `K/N`
 */
export function partOf(list: StepList, text: string): StepList {
  const [, part, parts] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number)
  if (part === undefined || parts === undefined || part < 1 || part > parts) {
    throw new UsageError(`--part must be K/N, like 1/3, got "${text}"`)
  }
  const lots = Array.from({ length: parts }, () => ({ seconds: 0, steps: new Set<Step>() }))
  for (const step of list.steps.toSorted((a, b) => b.seconds - a.seconds)) {
    const least = lots.reduce((a, b) => (b.seconds < a.seconds ? b : a))
    least.steps.add(step)
    least.seconds += step.seconds
  }
  return { ...list, steps: list.steps.filter((step) => lots[part - 1]?.steps.has(step)) }
}
