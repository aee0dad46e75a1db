import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import type { Cleanup } from './harness/cleanup.js'
import { requireBuild } from './harness/fixture.js'
import { toggle, whole } from './harness/options.js'
import { printedBy } from './harness/process.js'
import { count, textTable } from './harness/report.js'
import { runScript } from './harness/script.js'

const options = {
  questions: whole('questions in all', 1_000_000, 1, 1e9),
  requests: whole('mixed requests in all', 2_000_000, 1000, 1e9),
  afresh: toggle('repeats also what this build has passed'),
}

const folder = '.operation'
/** Of each part: what a break loses of them. */
const questionsOfPart = 50_000

const command = {
  name: 'check-operation',
  usage: 'npm run check:operation --',
  about: `Runs the checks whose figures docs/operating.md shows: faults, load, mixed requests and random
questions, the last in parts of ${count(questionsOfPart)}. Keeps what each printed in ${folder}/, and prints all of it at
the end. The run takes hours: started again, it goes on after what the same build has passed.`,
  options,
}

interface Check {
  readonly name: string
  readonly argv: readonly string[]
}

/** What a check printed, and how long it took. */
interface Passed {
  readonly minutes: number
  readonly printed: string
}

function checksOf(questions: number, requests: number): readonly Check[] {
  const parts = Array.from({ length: Math.ceil(questions / questionsOfPart) }, (_, part) => {
    const first = part * questionsOfPart
    const asked = Math.min(questionsOfPart, questions - first)
    const range = ['--first', first, '--questions', asked].map(String)
    return { name: 'check-questions', argv: ['--seed', '22', '--clients', '12', ...range] }
  })
  return [
    { name: 'check-faults', argv: ['--seed', '5'] },
    { name: 'check-load', argv: ['--companies', '60000', '--seed', '22'] },
    { name: 'check-soak', argv: ['--requests', String(requests), '--lives', '2', '--seed', '22'] },
    ...parts,
  ]
}

/** What is checked: the program and the versions of what it needs. */
async function hashOfBuild(): Promise<string> {
  const hash = createHash('sha256')
  for (const path of ['package-lock.json', ...globSync('dist/**/*.{js,cjs}').sort()]) {
    hash.update(path).update(await readFile(path))
  }
  return hash.digest('hex').slice(0, 12)
}

const commandOf = ({ name, argv }: Check) =>
  `npm run ${name.replace('-', ':')} -- ${argv.join(' ')}`

/** What this build printed earlier; null where it has not passed the check. */
async function earlier(path: string): Promise<Passed | null> {
  const found = await readFile(path, 'utf8').catch(() => null)
  return found === null ? null : (JSON.parse(found) as Passed)
}

/** @throws Error where the check fails or is stopped */
async function runCheck({ name, argv }: Check, cleanup: Cleanup): Promise<Passed> {
  const startedMs = performance.now()
  const script = join('scripts', `${name}.ts`)
  const printed = await printedBy({ argv: ['--import', 'tsx', script, ...argv] }, cleanup)
  return { minutes: (performance.now() - startedMs) / 60_000, printed }
}

await runScript(command, async ({ questions, requests, afresh }, run) => {
  requireBuild()
  const build = await hashOfBuild()
  const place = join(folder, build)
  if (afresh) await rm(place, { recursive: true, force: true })
  await mkdir(place, { recursive: true })
  const checks = checksOf(questions, requests)
  const passed: (readonly [command: string, Passed])[] = []
  for (const [at, check] of checks.entries()) {
    const line = commandOf(check)
    const path = join(place, `${[check.name, ...check.argv].join(' ')}.json`)
    let found = await earlier(path)
    run.log(`${at + 1} of ${checks.length}: ${line}${found ? ' (passed earlier)' : ''}`)
    if (!found) {
      found = await runCheck(check, run.cleanup)
      await writeFile(`${path}.new`, JSON.stringify(found))
      await rename(`${path}.new`, path)
    }
    passed.push([line, found])
  }
  for (const [line, { printed }] of passed) run.print(`$ ${line}\n${printed}\n`)
  const rows = passed.map(([line, { minutes }]) => [line, minutes.toFixed(1)])
  run.print(textTable(['passed', 'minutes'], rows))
  const memory = (totalmem() / 2 ** 30).toFixed(0)
  run.print(`\n${availableParallelism()} cores, ${memory} GiB, build ${build}\n`)
})
