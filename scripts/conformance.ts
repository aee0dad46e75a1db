import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startConformanceApp } from '../test/mcp/fixtures/conformance-app.js'
import { readFlags } from './harness/options.js'
import { runScript } from './harness/script.js'
import { readBaseline, suiteBaseline } from './conformance/baseline.js'
import type { OnStart } from './harness/process.js'
import { Ends } from './harness/cleanup.js'
import { startProduct } from './conformance/product.js'
import { startProxy } from './conformance/proxy.js'
import { complaintsOf, conformancePage, rowsOf, totals } from './conformance/page.js'
import type { Judged } from './conformance/page.js'
import { runSuite, suites } from './conformance/suite.js'
import type { Revision } from './conformance/suite.js'

const help = `Usage: npm run conformance [-- --check]

Runs the official MCP conformance suite against the built product, and against a test server with
the suite's fixtures behind the same door, in two revisions of the protocol each. Writes
docs/conformance.md. Exit code 1 when anything failed that the lists in test/mcp/conformance do not
name, or passed that they do. Needs npm run build first, and npm's registry for the suite.

  --check  compare docs/conformance.md instead of writing it
  --help   this text
`

const pagePath = 'docs/conformance.md'
const token = 'das_demo_opendata'
/** More than the suite asks for. */
const demoRatePerMinute = 100_000

async function conformance(folder: string, ends: Ends): Promise<readonly Judged[]> {
  say('starting the product')
  const onStart: OnStart = (child) => ends.addChild(child)
  const product = await startProduct(await subfolder(folder, 'product'), demoRatePerMinute, onStart)
  const fixtures = await startConformanceApp(await subfolder(folder, 'fixtures'), {
    token,
    ratePerMinute: demoRatePerMinute,
  })
  ends.add(fixtures.close)
  const runs: Judged[] = []
  for (const [server, port] of [
    ['product', product],
    ['fixtures', fixtures.port],
  ] as const) {
    const proxy = await startProxy(port, token)
    ends.add(proxy.close)
    for (const revision of Object.keys(suites) as Revision[]) {
      const runFolder = await subfolder(folder, `${server}-${revision}`)
      runs.push(await judge(server, revision, proxy.port, runFolder, onStart))
    }
  }
  return runs
}

/** @throws Error naming every scenario that did not end as the lists say */
async function judge(
  server: Judged['server'],
  revision: Revision,
  port: number,
  folder: string,
  onStart: OnStart,
): Promise<Judged> {
  const name = `${server}, MCP ${revision}, suite ${suites[revision].version}`
  const baseline = await readBaseline(server, revision)
  const { outcomes, isAsExpected, output } = await runSuite({
    revision,
    url: `http://localhost:${port}/mcp/`,
    baseline: suiteBaseline(baseline),
    folder,
    onStart,
  })
  const complaints = complaintsOf(outcomes, baseline)
  if (complaints.length > 0) throw new Error(`${name}:\n  ${complaints.join('\n  ')}`)
  if (!isAsExpected) throw new Error(`${name}: the suite disagrees with us:\n${output}`)
  const rows = rowsOf(outcomes, baseline)
  const counts = Object.entries(totals(rows)).map(([result, count]) => `${count} ${result}`)
  say(`${name}: ${counts.join(', ')}`)
  return { server, revision, rows }
}

async function subfolder(folder: string, name: string): Promise<string> {
  const path = join(folder, name)
  await mkdir(path)
  return path
}

async function keepPage(page: string, isCheck: boolean): Promise<void> {
  if (!isCheck) {
    await mkdir('docs', { recursive: true })
    await writeFile(pagePath, page)
    say(`wrote ${pagePath}`)
    return
  }
  const kept = await readFile(pagePath, 'utf8').catch(() => '')
  if (kept === page) return say(`${pagePath} says the same`)
  throw new Error(
    `${pagePath} does not say what the suite found. Run npm run conformance and commit the page.`,
  )
}

async function run(isCheck: boolean): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'das-conformance-'))
  const ends = new Ends()
  ends.add(() => rm(folder, { recursive: true, force: true }))
  const onSignal = () => ends.stopChildren()
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  try {
    await keepPage(await conformancePage(await conformance(folder, ends)), isCheck)
  } catch (cause) {
    throw ends.isStopping ? new Error('stopped') : cause
  } finally {
    await ends.closeAll()
  }
}

function say(words: string): void {
  process.stderr.write(`conformance: ${words}\n`)
}

await runScript('conformance', async () => {
  const flags = { check: { type: 'boolean', default: false }, help: { type: 'boolean' } } as const
  const values = readFlags(process.argv.slice(2), flags)
  if (values.help) process.stdout.write(help)
  else await run(values.check)
})
