import { join } from 'node:path'
import { optionalText, toggle, UsageError } from '../harness/options.js'
import { textTable } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { runSteps } from './run-steps.js'
import type { Outcome, Step, StepList } from './step.js'

const logFolder = '.checks'

/** What both lists of checks take. */
export const listOptions = {
  only: optionalText('these steps alone, and what they need', 'A,B'),
  from: optionalText('this step and those after it', 'A'),
  list: toggle('the steps with their commands and lengths; runs nothing'),
}

interface Chosen {
  readonly only: string | null
  readonly from: string | null
}

/**
 * The steps that a command line asks for, in the order of the list.
 * @throws UsageError naming a step that the list does not have
 */
export function chooseSteps(list: StepList, { only, from }: Chosen): StepList {
  const stepOf = (name: string) => {
    const found = list.steps.find((step) => step.name === name)
    if (!found) throw new UsageError(`check:${list.name} has no step "${name}"; see --list`)
    return found
  }
  const first = from === null ? 0 : list.steps.indexOf(stepOf(from))
  const asked = only === null ? list.steps.slice(first) : only.split(',').map(stepOf)
  const needed = new Set<Step>()
  const need = (step: Step) => {
    needed.add(step)
    for (const name of step.after ?? []) need(stepOf(name))
  }
  asked.forEach(need)
  return { ...list, steps: list.steps.filter((step) => needed.has(step)) }
}

/** The steps as `--list` prints them. */
export function listText({ steps }: StepList): string {
  const rows = steps.map(({ name, line, seconds }) => {
    return [name, seconds, line.replace(/\s*\\?\n\s*/g, ' ')]
  })
  return textTable(['step', 'seconds', 'command'], rows)
}

/** Runs steps and prints a table of them; its last line counts them. Sets the exit code. */
export async function runList(list: StepList, run: Run): Promise<readonly Outcome[]> {
  const startedMs = performance.now()
  const outcomes = await runSteps(list, join(logFolder, list.name), run)
  const rows = outcomes.map(({ step, result, seconds }) => [
    step.name,
    result,
    seconds.toFixed(0),
    step.seconds,
  ])
  run.print(textTable(['step', 'result', 'seconds', 'expected'], rows))
  run.print(`${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes\n`)
  const passed = outcomes.filter(({ result }) => result === 'passed').length
  const failed = outcomes.length - passed
  for (const { step, result, note } of outcomes) {
    if (result !== 'passed') run.print(`${step.name}: ${result}: ${note}\n`)
  }
  run.print(`${passed} passed, ${failed} failed\n`)
  if (failed > 0) process.exitCode = 1
  return outcomes
}
