import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { recordOf } from '../../src/registry/shape.js'
import { sendConsent } from '../../test/support/mcp/signing-in.js'
import { eventually } from '../harness/fault.js'
import { freePort, startProgram } from '../harness/process.js'
import type { Program } from '../harness/process.js'
import type { Cleanup } from '../harness/script.js'

export type Revision = keyof typeof suites

/** What the suite printed, and its own verdict: exactly what the baseline names failed. */
export interface SuiteRun {
  readonly isAsExpected: boolean
  readonly output: string
}

/** How the suite's program is started. */
interface SuiteParts {
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

interface AuthorizationParts extends Omit<SuiteParts, 'version'> {
  /** The origin of the server, which is the issuer. */
  readonly issuer: string
  /** What the person pastes on the page. */
  readonly token: string
}

interface Check {
  readonly status: string
}

/** Which version of the suite tests a revision, and with which flags. */
export const suites = {
  '2025-11-25': { version: '0.1.16', flags: ['--suite', 'active'] },
  '2026-07-28': { version: '0.2.0-alpha.12', flags: ['--requirements', '2026-07-28'] },
} as const

/** Only this version has the scenarios. They are the same in every revision of the protocol. */
export const authorizationSuite = {
  version: suites['2026-07-28'].version,
  part: 'conformance authorization',
}

/** For the first scenario, under load. */
const askMs = 240_000

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
  return { isAsExpected: code === 0, output }
}

/**
 * Runs the suite's scenarios for authorization servers: it asks for a page as a client does, a
 * person connects there, and it exchanges the code.
 * @throws Error when a check failed, or a scenario checked nothing
 */
export async function runAuthorization(parts: AuthorizationParts): Promise<void> {
  const { issuer, token, folder, cleanup } = parts
  const { version, part } = authorizationSuite
  const suite = { version, folder, cleanup }
  const results = join(folder, 'results')
  await mkdir(results)
  await requireNode(suite)
  const port = await freePort()
  const { ended, output } = startNpm(suite, [
    ...part.split(' '),
    ...['--url', issuer],
    ...['--client-id', await register(issuer, `http://127.0.0.1:${port}/callback`)],
    ...['--port', String(port)],
    ...['--resource', `${issuer}/mcp`],
    ...['--output-dir', results],
  ])
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  const page = await eventually('the suite asks for a page', { withinMs: askMs }, async () => {
    const asked = new RegExp(`^${issuer}/authorize\\?\\S+$`, 'm').exec(output())?.[0]
    return asked ?? (isOver ? null : undefined)
  })
  if (page === null) throw new Error(`the suite asked for no page:\n${output()}`)
  const { status, location } = await sendConsent(page, token)
  if (location === null) throw new Error(`the page answered ${status} and leads nowhere`)
  await fetch(location)
  await ended
  const scenarios = await readChecks(results)
  const isSound = scenarios.every(
    (checks) => checks.length > 0 && checks.every(({ status }) => !/FAILURE|WARNING/.test(status)),
  )
  if (scenarios.length > 0 && isSound) return
  throw new Error(`a scenario failed, or checked nothing:\n${output()}`)
}

/** Registers the suite as a client; its id. */
async function register(issuer: string, redirectUri: string): Promise<string> {
  const response = await fetch(`${issuer}/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'Conformance', redirect_uris: [redirectUri] }),
  })
  const id = recordOf(await response.json())['client_id']
  if (typeof id !== 'string') throw new Error(`registration was answered ${response.status}`)
  return id
}

/** @throws Error when npm starts another Node than the suite needs */
async function requireNode(parts: SuiteParts): Promise<void> {
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
function startNpm(
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

/** The checks of each scenario, for which the suite leaves a folder. */
async function readChecks(folder: string): Promise<readonly (readonly Check[])[]> {
  const names = await readdir(folder)
  const texts = names.map((name) => readFile(join(folder, name, 'checks.json'), 'utf8'))
  return (await Promise.all(texts)).map((text) => JSON.parse(text) as readonly Check[])
}
