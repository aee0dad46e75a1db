import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parse } from 'yaml'
import { startConformanceApp } from '../test/mcp/fixtures/conformance-app.js'
import { authorizationSuite, runAuthorization, runSuite, suites } from './conformance/suite.js'
import type { Revision } from './conformance/suite.js'
import { makeFolder, requireBuild, serve, writeShippedRegistry } from './harness/fixture.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'

const command = {
  name: 'conformance',
  usage: 'npm run conformance --',
  about: `Runs the official MCP conformance suite against the built product, and against a test server with
the suite's fixtures behind the same door, in two revisions of the protocol each, and against the
product's sign-in. The exit code is 1 when a check fails that the lists in test/mcp/conformance do not
name, or passes that they name. Needs npm run build first, and npm's registry for the suite.`,
  options: {},
}

const token = 'das_demo_opendata'
/** More than the suite asks for. */
const demoRatePerMinute = 100_000

async function conformance(folder: string, run: Run): Promise<void> {
  const { cleanup } = run
  run.log('starting the product')
  const product = await startProduct(await subfolder(folder, 'product'), run)
  const demo = { token, ratePerMinute: demoRatePerMinute }
  const fixtures = await startConformanceApp(await subfolder(folder, 'fixtures'), demo)
  cleanup.add(fixtures.close)
  for (const [server, port] of [
    ['product', product],
    ['fixtures', fixtures.port],
  ] as const) {
    const proxy = await startProxy(port, run)
    for (const revision of Object.keys(suites) as Revision[]) {
      const runFolder = await subfolder(folder, `${server}-${revision}`)
      await judge(server, revision, proxy, runFolder, run)
    }
  }
  const issuer = `http://127.0.0.1:${product}`
  await runAuthorization({ issuer, token, folder: await subfolder(folder, 'sign-in'), cleanup })
  run.log(`sign-in, suite ${authorizationSuite.version}: as expected`)
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
 * @throws Error when it did not end as the lists say, twice
 */
async function judge(
  server: 'product' | 'fixtures',
  revision: Revision,
  port: number,
  folder: string,
  { cleanup, log }: Run,
): Promise<void> {
  const name = `${server}, MCP ${revision}, suite ${suites[revision].version}`
  const baseline = await baselineOf(server, revision)
  const url = `http://localhost:${port}/mcp/`
  for (const part of ['once', 'again']) {
    const own = await subfolder(folder, part)
    const { isAsExpected, output } = await runSuite({
      revision,
      url,
      baseline,
      folder: own,
      cleanup,
    })
    if (isAsExpected) return log(`${name}: as expected`)
    if (part === 'again') throw new Error(`${name}: the suite's verdict differs:\n${output}`)
    log(`${name}: differs; once more`)
  }
}

/** What may fail, as the suite reads it: the lists say why. */
async function baselineOf(server: 'product' | 'fixtures', revision: Revision): Promise<string> {
  const names = server === 'product' ? ['product', 'fixtures'] : ['fixtures']
  const lists = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(`test/mcp/conformance/${name}.yml`, 'utf8')
      return (parse(text) as Record<string, readonly string[]>)[revision] ?? []
    }),
  )
  return JSON.stringify({ server: lists.flat() })
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

await runScript(command, async (_, run) => {
  requireBuild()
  await conformance(await makeFolder(run, 'conformance'), run)
})
