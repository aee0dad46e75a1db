import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startConformanceApp } from '../test/mcp/fixtures/conformance-app.js'
import { authorizationSuite, runAuthorization } from './conformance/authorization.js'
import { readBaseline, suiteBaseline } from './conformance/baseline.js'
import { complaintsOf, conformancePage, rowsOf, totals } from './conformance/page.js'
import type { Judged } from './conformance/page.js'
import { startProxy } from './conformance/proxy.js'
import { runSuite, suites } from './conformance/suite.js'
import type { Revision } from './conformance/suite.js'
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
    const proxy = await startProxy(port, token)
    cleanup.add(proxy.close)
    for (const revision of Object.keys(suites) as Revision[]) {
      const runFolder = await subfolder(folder, `${server}-${revision}`)
      judged.push(await judge(server, revision, proxy.port, runFolder, run))
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

/** @throws Error naming every scenario that did not end as the lists say */
async function judgeOnce(
  server: 'product' | 'fixtures',
  revision: Revision,
  port: number,
  folder: string,
  { cleanup, log }: Run,
): Promise<Judged> {
  const name = `${server}, MCP ${revision}, suite ${suites[revision].version}`
  const baseline = await readBaseline(server, revision)
  const { outcomes, isAsExpected, output } = await runSuite({
    revision,
    url: `http://localhost:${port}/mcp/`,
    baseline: suiteBaseline(baseline),
    folder,
    cleanup,
  })
  const complaints = complaintsOf(outcomes, baseline)
  if (complaints.length > 0) throw new Error(`${name}:\n  ${complaints.join('\n  ')}`)
  if (!isAsExpected) throw new Error(`${name}: the suite's verdict differs:\n${output}`)
  const rows = rowsOf(outcomes, baseline)
  log(`${name}: ${countsOf(rows)}`)
  const { version, flags } = suites[revision]
  return { server, revision, version, part: flags.join(' '), rows }
}

/** @throws Error naming every check that did not pass */
async function judgeSignIn(port: number, folder: string, { cleanup, log }: Run): Promise<Judged> {
  const issuer = `http://127.0.0.1:${port}`
  const outcomes = await runAuthorization({ issuer, token, folder, cleanup })
  const baseline = { needsFixture: [], doesNotApply: [] }
  const name = `sign-in, suite ${authorizationSuite.version}`
  const complaints = complaintsOf(outcomes, baseline)
  if (complaints.length > 0) throw new Error(`${name}:\n  ${complaints.join('\n  ')}`)
  const rows = rowsOf(outcomes, baseline)
  log(`${name}: ${countsOf(rows)}`)
  return { server: 'signIn', revision: null, ...authorizationSuite, rows }
}

function countsOf(rows: Judged['rows']): string {
  const counts = Object.entries(totals(rows)).map(([result, count]) => `${count} ${result}`)
  return counts.join(', ')
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
