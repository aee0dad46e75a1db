import { readFileSync } from 'node:fs'
import { count, countsText, factsText, jsonText, linesText } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { sum } from './harness/statistics.js'
import type { Job, SeedReport } from './simulate/job.js'
import { command } from './simulate/options.js'
import type { Options } from './simulate/options.js'
import type { PlannedEvent } from './simulate/plan.js'
import { runJob } from './simulate/start-child.js'

/** Between two lines of progress where no terminal shows each seed. */
const seedsOfMilestone = 20

/** Runs the seeds in processes side by side; each takes every n-th. */
async function simulate(options: Options, run: Run): Promise<readonly SeedReport[]> {
  const { seed, seeds, days, twice, plan } = options
  const { first, last } = seeds ?? { first: seed, last: seed }
  const all = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const jobs = Math.min(options.jobs, all.length)
  const kept = plan === null ? null : readPlan(plan)
  let done = 0
  const onSeed = ({ seed: number, broken }: SeedReport) => {
    done += 1
    if (broken !== null) run.log(`seed ${number}: ${broken}`)
    if (seeds) run.update(`seed ${done} of ${all.length}`, done % seedsOfMilestone === 0)
  }
  const onLine = (line: string) => {
    run.print(`${line}\n`)
  }
  const job = (at: number): Job => ({
    runs: all
      .filter((_, index) => index % jobs === at)
      .map((each) => ({ seed: each, plan: kept, mutation: null })),
    days,
    isTwice: twice,
    shrinks: plan === null,
    isShown: seeds === null,
  })
  const { signal } = run.cleanup
  const ran = Array.from({ length: jobs }, (_, at) => runJob(job(at), { signal, onSeed, onLine }))
  return (await Promise.all(ran)).flat()
}

function readPlan(path: string): readonly PlannedEvent[] {
  // Written by this script.
  return JSON.parse(readFileSync(path, 'utf8')) as readonly PlannedEvent[]
}

function failureText({ seed, broken, lines, shrunk }: SeedReport): string {
  const kept = shrunk === null ? '' : `The plan, to be kept:\n${jsonText(shrunk)}`
  return `\nSeed ${seed}: ${broken}\n${linesText(lines)}${kept}`
}

function summaryText(reports: readonly SeedReport[], { days }: Options, seconds: number): string {
  const total = (of: (report: SeedReport) => number) => sum(reports.map(of))
  const kinds = (of: (report: SeedReport) => Readonly<Record<string, number>>) => {
    const sums: Record<string, number> = {}
    for (const [kind, times] of reports.flatMap((report) => Object.entries(of(report)))) {
      sums[kind] = (sums[kind] ?? 0) + times
    }
    return countsText(sums)
  }
  return factsText([
    ['seeds', `${count(reports.length)} of ${days} days, in ${seconds.toFixed(0)} s`],
    ['events', kinds(({ events }) => events)],
    ['kills', kinds(({ kills }) => kills)],
    [
      'rows',
      `${count(total((each) => each.rowsDelivered))} delivered, ` +
        `${count(total((each) => each.rowsLost))} charged and lost`,
    ],
    ['checks', count(total(({ checks }) => checks))],
    ['broken', count(total(({ broken }) => (broken === null ? 0 : 1)))],
  ])
}

await runScript(command, async (options, run) => {
  const startedMs = performance.now()
  const reports = await simulate(options, run)
  for (const report of reports) if (report.broken !== null) run.print(failureText(report))
  run.print(summaryText(reports, options, (performance.now() - startedMs) / 1000))
  if (reports.some(({ broken }) => broken !== null)) process.exitCode = 1
})
