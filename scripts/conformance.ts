import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startConformanceApp } from '../test/mcp/fixtures/conformance-app.js'
import {
  complaintsOf,
  conformancePage,
  readBaseline,
  rowsOf,
  suiteBaseline,
  totals,
} from './conformance/page.js'
import type { Baseline, Judged } from './conformance/page.js'
import { authorizationSuite, runAuthorization, runSuite, suites } from './conformance/suite.js'
import type { Outcome, Revision } from './conformance/suite.js'
import { makeFolder, requireBuild, serve, writeShippedRegistry } from './harness/fixture.js'
import { toggle } from './harness/options.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'

const command = {
  name: 'conformance',
  usage: 'npm run conformance --',
  about: `Runs the official MCP conformance suite against the built product, and against a test server with
the suite's fixtures behind the same door, in two revisions of the protocol each, and against the
product's sign-in. Writes docs/conformance.md. The exit code is 1 when a check fails that the lists
in test/mcp/conformance do not name, or passes that they name. Needs npm run build first, and npm's
registry for the suite.`,
  options: { check: toggle('compare docs/conformance.md instead of writing it') },
}

const pagePath = 'docs/conformance.md'
const token = 'das_demo_opendata'
/** More than the suite asks for. */
const demoRatePerMinute = 100_000

async function conformance(folder: string, run: Run): Promise<readonly Judged[]> {
  const { cleanup } = run
  run.log('starting the product')
  const product = await startProduct(await subfolder(folder, 'product'), run)
  const demo = { token, ratePerMinute: demoRatePerMinute }
  const fixtures = await startConformanceApp(await subfolder(folder, 'fixtures'), demo)
  cleanup.add(fixtures.close)
  const judged: Judged[] = []
  for (const [server, port] of [
    ['product', product],
    ['fixtures', fixtures.port],
  ] as const) {
    const proxy = await startProxy(port, run)
    for (const revision of Object.keys(suites) as Revision[]) {
      const runFolder = await subfolder(folder, `${server}-${revision}`)
      judged.push(await judge(server, revision, proxy, runFolder, run))
    }
  }
  return [...judged, await judgeSignIn(product, await subfolder(folder, 'sign-in'), run)]
}

/** Starts the built product over the shipped data, with a demo rate that the suite does not use up. */
async function startProduct(folder: string, { cleanup }: Run): Promise<number> {
  await writeShippedRegistry(folder, ['demo', 'rate_per_minute'], demoRatePerMinute)
  const argv = ['--log-level', 'info']
  const { base } = await serve({ folder, uid: null }, cleanup, { argv })
  return Number(new URL(base).port)
}

/**
 * The suite gives some answers half a second: what fails on a machine that stands still for a
 * moment runs once more.
 * @throws Error naming every scenario that did not end as the lists say, twice
 */
async function judge(
  server: 'product' | 'fixtures',
  revision: Revision,
  port: number,
  folder: string,
  run: Run,
): Promise<Judged> {
  try {
    return await judgeOnce(server, revision, port, folder, run)
  } catch (cause) {
    run.log(`${String(cause)}\nonce more`)
    return judgeOnce(server, revision, port, await subfolder(folder, 'again'), run)
  }
}

async function judgeOnce(
  server: 'product' | 'fixtures',
  revision: Revision,
  port: number,
  folder: string,
  { cleanup, log }: Run,
): Promise<Judged> {
  const { version, flags } = suites[revision]
  const name = `${server}, MCP ${revision}, suite ${version}`
  const known = await readBaseline(server, revision)
  const url = `http://localhost:${port}/mcp/`
  const baseline = suiteBaseline(known)
  const found = await runSuite({ revision, url, baseline, folder, cleanup })
  const { outcomes, isAsExpected, output } = found
  const rows = judgedRows(name, outcomes, known, log)
  if (!isAsExpected) throw new Error(`${name}: the suite's verdict differs:\n${output}`)
  return { server, revision, version, part: flags.join(' '), rows }
}

async function judgeSignIn(port: number, folder: string, { cleanup, log }: Run): Promise<Judged> {
  const issuer = `http://127.0.0.1:${port}`
  const outcomes = await runAuthorization({ issuer, token, folder, cleanup })
  const name = `sign-in, suite ${authorizationSuite.version}`
  const rows = judgedRows(name, outcomes, { needsFixture: [], doesNotApply: [] }, log)
  return { server: 'signIn', revision: null, ...authorizationSuite, rows }
}

/** @throws Error naming every scenario that did not end as the lists say */
function judgedRows(
  name: string,
  outcomes: readonly Outcome[],
  baseline: Baseline,
  log: Run['log'],
): Judged['rows'] {
  const complaints = complaintsOf(outcomes, baseline)
  if (complaints.length > 0) throw new Error(`${name}:\n  ${complaints.join('\n  ')}`)
  const rows = rowsOf(outcomes, baseline)
  const counts = Object.entries(totals(rows)).map(([result, count]) => `${count} ${result}`)
  log(`${name}: ${counts.join(', ')}`)
  return rows
}

/** Adds the token, which the suite can't send, to each request and passes it on; its port. */
async function startProxy(target: number, { cleanup }: Run): Promise<number> {
  const server = createServer((asked, answer) => {
    const { method, url: path } = asked
    const headers = { ...asked.headers, authorization: `Bearer ${token}` }
    const onward = request({ host: '127.0.0.1', port: target, method, path, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers)
      given.pipe(answer)
    })
    onward.on('error', () => answer.destroy())
    asked.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.add(async () => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

async function subfolder(folder: string, name: string): Promise<string> {
  const path = join(folder, name)
  await mkdir(path)
  return path
}

await runScript(command, async ({ check }, run) => {
  requireBuild()
  const page = await conformancePage(await conformance(await makeFolder(run, 'conformance'), run))
  if (!check) {
    await writeFile(pagePath, page)
    return run.log(`wrote ${pagePath}`)
  }
  const kept = await readFile(pagePath, 'utf8').catch(() => '')
  if (kept === page) return run.log(`${pagePath} is up to date`)
  throw new Error(`${pagePath} is out of date. Run npm run conformance and commit the page.`)
})
