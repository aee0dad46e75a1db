import { writeSync } from 'node:fs'
import type { Job, PlannedRun, Report, SeedReport } from './job.js'
import { becomeMachine } from './machine/hooks.js'
import { mutations } from './mutations.js'
import { planOf } from './plan.js'
import type { PlannedEvent } from './plan.js'
import { runPlan } from './run-plan.js'
import { shrink } from './shrink.js'

// One process of the simulation: it does its job, which is its argument, and reports on stdout.

const write = writeSync
const report = (found: Report) => write(1, `${JSON.stringify(found)}\n`)
// The job comes from `start-child.ts`.
const job = JSON.parse(process.argv[2] ?? '') as Job
const machine = await becomeMachine()

async function runSeed({ seed, plan: given }: PlannedRun): Promise<SeedReport> {
  const plan = given ?? planOf(seed, job.days)
  const onLine = (line: string) => {
    if (job.isShown) report({ kind: 'line', line })
  }
  let result = await runPlan({ machine, plan, onLine })
  let shrunk: readonly PlannedEvent[] | null = null
  let { broken } = result
  const { kills, checks, rowsDelivered, rowsLost } = result
  if (broken === null && job.isTwice) {
    const again = await runPlan({ machine, plan })
    const at = again.lines.findIndex((line, index) => line !== result.lines[index])
    if (at >= 0) broken = `the second run differs: ${result.lines[at]} | ${again.lines[at]}`
  } else if (broken !== null && job.shrinks) {
    const attempt = async (smaller: readonly PlannedEvent[]) =>
      (await runPlan({ machine, plan: smaller })).broken
    shrunk = await shrink(plan.slice(0, result.events), broken, attempt)
    result = await runPlan({ machine, plan: shrunk })
  }
  const events: Record<string, number> = {}
  for (const { kind } of plan) events[kind] = (events[kind] ?? 0) + 1
  const figures = { events, kills, checks, rowsDelivered, rowsLost }
  return { seed, broken, shrunk, lines: broken === null ? [] : result.lines, ...figures }
}

for (const run of job.runs) {
  const undo = run.mutation === null ? null : mutations[run.mutation]()
  report({ kind: 'seed', ...(await runSeed(run)) })
  undo?.()
}
