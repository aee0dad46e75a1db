import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { youngSpace } from '../harness/process.js'
import type { Job, Report, SeedReport } from './job.js'

// As sources or compiled, like this file.
const program = fileURLToPath(
  new URL(`./simulate-child${import.meta.url.endsWith('.js') ? '.js' : '.ts'}`, import.meta.url),
)

interface ChildParts {
  /** Ends the process. */
  readonly signal?: AbortSignal
  readonly onLine?: (line: string) => void
  readonly onSeed?: (report: SeedReport) => void
}

/**
 * Does a job in a process of its own, which becomes a simulated machine.
 * @throws Error when the process ends before its last run
 */
export async function runJob(
  job: Job,
  { signal, onLine, onSeed }: ChildParts,
): Promise<readonly SeedReport[]> {
  const argv = [...process.execArgv, youngSpace, program, JSON.stringify(job)]
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(signal && { signal }),
  })
  const ended = once(child, 'close')
  const reports: SeedReport[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    // What `simulate-child.ts` prints.
    const report = JSON.parse(line) as Report
    if (report.kind === 'line') {
      onLine?.(report.line)
    } else {
      reports.push(report)
      onSeed?.(report)
    }
  }
  const [code, killedBy] = (await ended) as [number | null, NodeJS.Signals | null]
  if (reports.length < job.runs.length) {
    throw new Error(`a simulation ended after ${reports.length} runs: ${killedBy ?? code}`)
  }
  return reports
}
