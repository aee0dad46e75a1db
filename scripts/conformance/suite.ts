import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Cleanup } from '../harness/cleanup.js'
import { startProgram } from '../harness/process.js'
import type { Program } from '../harness/process.js'

export type Revision = keyof typeof suites

/** One scenario of a run. */
export interface Outcome {
  readonly scenario: string
  /** Checks that failed or warned; empty = passed. */
  readonly faults: readonly Fault[]
  readonly checksPassed: number
  /** False where the revision does not require it. */
  readonly isScored: boolean
}

interface Fault {
  readonly check: string
  readonly message: string
}

export interface SuiteRun {
  readonly outcomes: readonly Outcome[]
  /** The suite's own verdict: exactly what the baseline names failed. */
  readonly isAsExpected: boolean
  readonly output: string
}

/** How the suite's program is started. */
export interface SuiteParts {
  readonly version: string
  /** An empty folder for what the suite leaves behind. */
  readonly folder: string
  readonly cleanup: Cleanup
}

interface RunParts extends Omit<SuiteParts, 'version'> {
  readonly revision: Revision
  readonly url: string
  /** What may fail, as the suite reads it. */
  readonly baseline: string
}

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** Which version of the suite tests a revision, and with which flags. */
export const suites = {
  '2025-11-25': { version: '0.1.16', flags: ['--suite', 'active'] },
  '2026-07-28': { version: '0.2.0-alpha.12', flags: ['--requirements', '2026-07-28'] },
} as const

/** The suite needs a newer Node than the product. */
const nodeVersion = '22.23.3'
const suiteMs = 300_000

/** Runs the official suite against a server, once. */
export async function runSuite({ revision, url, baseline, ...rest }: RunParts): Promise<SuiteRun> {
  const { folder } = rest
  const parts = { ...rest, version: suites[revision].version }
  const baselinePath = join(folder, 'baseline.yml')
  const resultsFolder = join(folder, 'results')
  await mkdir(resultsFolder)
  await writeFile(baselinePath, baseline)
  await requireNode(parts)
  const { code, output } = await npmExec(parts, [
    'conformance',
    'server',
    ...['--url', url],
    ...suites[revision].flags,
    ...['--expected-failures', baselinePath],
    ...['--output-dir', resultsFolder],
  ])
  const optional = await unscored(parts, suites[revision].flags)
  const outcomes = await readOutcomes(resultsFolder, 'server', optional)
  if (outcomes.length === 0) throw new Error(`the suite ran no scenario:\n${output}`)
  return { outcomes, isAsExpected: code === 0, output }
}

/** @throws Error when npm starts another Node than the suite needs */
export async function requireNode(parts: SuiteParts): Promise<void> {
  const { output } = await npmExec(parts, ['node', '--version'])
  if (output.split('\n').includes(`v${nodeVersion}`)) return
  throw new Error(`the suite needs Node ${nodeVersion}, and npm starts another one:\n${output}`)
}

async function npmExec(parts: SuiteParts, argv: readonly string[]) {
  const { ended, output } = startNpm(parts, argv)
  const code = await ended
  return { code, output: stripVTControlCharacters(output()) }
}

/** Starts a program of the suite's packages, for `suiteMs` at most. */
export function startNpm(
  { version, folder, cleanup }: SuiteParts,
  argv: readonly string[],
): Pick<Program, 'ended' | 'output'> {
  const packages = [
    `--package=node@${nodeVersion}`,
    `--package=@modelcontextprotocol/conformance@${version}`,
  ]
  const all = ['exec', '--yes', ...packages, '--', ...argv]
  const start = { command: 'npm', argv: all, folder, isGroup: true, outputMax: Infinity }
  const { ended, output, stop } = startProgram(start, cleanup)
  const limit = setTimeout(() => {
    void stop()
  }, suiteMs)
  void ended.then(() => clearTimeout(limit))
  return { ended, output }
}

/** The scenarios that the suite runs and does not score. */
async function unscored(parts: SuiteParts, flags: readonly string[]): Promise<ReadonlySet<string>> {
  if (flags[0] !== '--requirements') return new Set()
  const { output } = await npmExec(parts, ['conformance', 'list', ...flags])
  const names = [...output.matchAll(/^ +- (\S+) \[server\]$/gm)].map(([, name = '']) => name)
  if (names.length === 0) throw new Error(`the suite lists nothing as not scored:\n${output}`)
  return new Set(names)
}

/** The suite leaves a folder for each scenario, named `<kind>-<scenario>-<time>`. */
export async function readOutcomes(
  folder: string,
  kind: 'server' | 'authorization-server',
  optional: ReadonlySet<string>,
): Promise<readonly Outcome[]> {
  const pattern = new RegExp(`^${kind}-(.+)-\\d{4}-\\d\\d-\\d\\dT[\\d-]+Z$`)
  const names = (await readdir(folder)).flatMap((name) => {
    const scenario = pattern.exec(name)?.[1]
    return scenario === undefined ? [] : [{ name, scenario }]
  })
  const outcomes = await Promise.all(
    names.map(async ({ name, scenario }) => {
      const checks = JSON.parse(
        await readFile(join(folder, name, 'checks.json'), 'utf8'),
      ) as readonly Check[]
      const checksPassed = checks.filter(({ status }) => status === 'SUCCESS').length
      const isScored = !optional.has(scenario)
      return { scenario, faults: faultsOf(checks), checksPassed, isScored }
    }),
  )
  return outcomes.sort((a, b) => (a.scenario < b.scenario ? -1 : 1))
}

function faultsOf(checks: readonly Check[]): readonly Fault[] {
  return checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, errorMessage = 'no reason given' }) => ({ check: id, message: errorMessage }))
}
