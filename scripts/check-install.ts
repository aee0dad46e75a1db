import { join, resolve } from 'node:path'
import { bareMachine } from './harness/bare-machine.js'
import type { Tools } from './harness/bare-machine.js'
import { Fault } from './harness/fault.js'
import { makeFolder } from './harness/fixture.js'
import { toggle } from './harness/options.js'
import { runProgram, startServer, system } from './harness/process.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'

const command = {
  name: 'check-install',
  usage: 'npm run check:install --',
  about: `Installs, starts and tests a clean clone of the last commit as machines with another
Node.js and npm do it. While npm installs, there is no compiler.`,
  options: {
    allTests: toggle('run the everyday tests; by default one file of them'),
  },
}

const machines: readonly Tools[] = [
  { node: '20.20.2', npm: '11.19.1' },
  { node: '22.23.2', npm: '10.9.9' },
  { node: '24.21.0', npm: '12.2.2' },
]

const oneTest = ['--', 'test/text.test.ts']
const testMsMax = 60 * 60_000
/** The request of README.md, and what it answers. */
const question = '/v1/financials?inn=in.7708004767,7712040126&year=eq.2025&select=inn,year,1100'
const answer =
  '{"data":[{"inn":"7708004767","year":2025,"1100":1833500459},' +
  '{"inn":"7712040126","year":2025,"1100":689733794}],"next_cursor":null}'

async function checkMachine(machine: Tools, hasAllTests: boolean, run: Run): Promise<void> {
  const { log, cleanup } = run
  const name = `Node.js ${machine.node}, npm ${machine.npm}`
  const folder = await makeFolder(run, 'install', { isKept: true })
  const bin = await bareMachine(folder, machine)
  const clone = join(folder, 'clone')
  await system('git', 'clone', '--quiet', resolve('.'), clone)
  const npm = async (argv: readonly string[], path: string) => {
    const { HOME, NODE_EXTRA_CA_CERTS } = process.env
    const env = { PATH: path, HOME, NODE_EXTRA_CA_CERTS, npm_config_nodedir: '' }
    const startedMs = performance.now()
    const start = { command: join(bin, 'npm'), argv, folder: clone, env }
    const { code, stdout, stderr } = await runProgram(start, testMsMax)
    if (code !== 0) throw new Fault(`${name}: npm ${argv.join(' ')}: ${stdout}${stderr}`)
    log(`${name}: npm ${argv[0]}: ${Math.round((performance.now() - startedMs) / 1000)} s`)
    return stdout
  }
  await npm(['ci'], bin)
  const path = `${bin}:/usr/local/bin:/usr/bin:/bin`
  const env = { PATH: path, HOME: process.env['HOME'], DAS_PORT: '0' }
  const start = { command: join(bin, 'npm'), argv: ['start'], folder: clone, env, isGroup: true }
  const server = await startServer(start, cleanup)
  const headers = { authorization: 'Bearer das_demo_opendata' }
  const body = await (await fetch(server.base + question, { headers })).text()
  await server.stop()
  if (body !== answer) throw new Fault(`${name}: npm start answers ${body}`)
  log(`${name}: npm start: ${body}`)
  const printed = await npm(['test', ...(hasAllTests ? [] : oneTest)], path)
  log(`${name}: npm test: ${/^# \{ total: .*/m.exec(printed)?.[0] ?? 'no count'}`)
}

await runScript(command, async ({ allTests }, run) => {
  for (const machine of machines) await checkMachine(machine, allTests, run)
})
