import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { demoToken, makeManyFixture } from './bench-many/many-fixture.js'
import { cpuSeconds, loadOf, untilQuiet, vitalsOf } from './bench-many/vitals.js'
import { requireBuild, serve } from './harness/fixture.js'
import type { Fixture } from './harness/fixture.js'
import { sendWell } from './harness/http.js'
import type { Message } from './harness/http.js'
import { text, whole } from './harness/options.js'
import { count, textTable } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import type { Server } from './harness/server.js'

const command = {
  name: 'bench-many',
  usage: 'npm run bench:many --',
  about: `Measures the built server over many small datasets, each with a demo subset and four plans: a start
with unknown files, then one with known ones, the CPU time when nothing happens, and long lists.
Needs /proc.`,
  options: {
    datasets: whole('how many', 1000, 1, 10_000),
    refused: whole('how many of them have a file that is not Parquet', 0, 0, 10_000),
    seconds: whole('how long the idle server is measured', 60, 1, 3600),
    quiet: whole('seconds to wait for it to become quiet', 300, 0, 3600),
    folder: text('where files are made', tmpdir()),
  },
}

const startMsMax = 600_000

interface Load {
  readonly seconds: number
  readonly quiet: number
}

/** Starts the server and measures it: cells of a table. */
async function measureStart(name: string, fixture: Fixture, load: Load, run: Run) {
  run.update(`${name} start`)
  const startedMs = performance.now()
  const server = await serve(fixture, run.cleanup, { startMsMax })
  const readySeconds = (performance.now() - startedMs) / 1000
  const pid = server.child.pid ?? 0
  const readyCpu = cpuSeconds(pid)
  const quiet = await untilQuiet(pid, load.quiet)
  const quietCpu = cpuSeconds(pid) - readyCpu
  run.update(`${name} start: idle`)
  const idle = await loadOf(pid, load.seconds * 1000)
  const { memoryBytes, openFiles, watches } = vitalsOf(pid)
  const row = [
    name,
    readySeconds.toFixed(1),
    readyCpu.toFixed(1),
    quiet === null ? `not in ${load.quiet}` : quiet.toFixed(0),
    quietCpu.toFixed(0),
    `${(100 * idle).toFixed(2)} %`,
    `${(memoryBytes / 1e6).toFixed(0)} MB`,
    count(openFiles),
    count(watches),
  ]
  return { server, row }
}

const titles = [
  'start',
  'ready s',
  'CPU s',
  'quiet after s',
  'CPU s',
  'idle CPU',
  'memory',
  'open files',
  'watches',
]

const call = (method: string, params: unknown): Message => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return { method: 'POST', path: '/mcp/', body }
}
const get = (path: string): Message => ({ method: 'GET', path, body: '' })

const lists: readonly (readonly [name: string, message: Message])[] = [
  ['GET /v1/', get('/v1/')],
  ['GET /openapi.json', get('/openapi.json')],
  ['GET / (portal)', get('/')],
  ['MCP list_resources', call('tools/call', { name: 'list_resources', arguments: {} })],
  ['MCP resources/list', call('resources/list', {})],
]

/** What lists of all datasets take, at first and again. */
async function measureLists({ base, child }: Server): Promise<readonly (readonly string[])[]> {
  const rows: string[][] = []
  using agent = Object.assign(new Agent(), {
    [Symbol.dispose]: () => agent.destroy(),
  })
  const target = { base, agent, token: demoToken }
  for (const [name, message] of lists) {
    const first = await sendWell(target, message)
    const before = cpuSeconds(child.pid ?? 0)
    const times = 5
    let ms = 0
    for (let at = 0; at < times; at += 1) ms += (await sendWell(target, message)).ms / times
    const cpuMs = ((cpuSeconds(child.pid ?? 0) - before) * 1000) / times
    const kilobytes = count(Math.round(first.text.length / 1000))
    rows.push([name, `${kilobytes} kB`, first.ms.toFixed(0), ms.toFixed(0), cpuMs.toFixed(0)])
  }
  return rows
}

await runScript(command, async ({ seconds, quiet, ...options }, run) => {
  requireBuild()
  run.update('making files')
  const fixture = await makeManyFixture(options, run)
  const load = { seconds, quiet }
  const first = await measureStart('unknown files', fixture, load, run)
  await first.server.stop()
  const second = await measureStart('known files', fixture, load, run)
  const answers = await measureLists(second.server)
  await second.server.stop()
  run.print(`${count(options.datasets)} datasets, ${count(options.refused)} of them refused\n`)
  run.print(textTable(titles, [first.row, second.row]))
  run.print(`\n${textTable(['list', 'size', 'first ms', 'again ms', 'CPU ms'], answers)}`)
})
