import { chmod, mkdir } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChargeServerOrder, ChargeServerState } from './bench-charge/charge-server.js'
import { reportOf, reportText } from './bench-charge/cost-report.js'
import type { Report } from './bench-charge/cost-report.js'
import { measureCharge } from './bench-charge/both-charges.js'
import { measureDisk } from './bench-charge/disk.js'
import { loadRound } from './bench-charge/load-round.js'
import type { Round } from './bench-charge/load-round.js'
import type { Cleanup } from './harness/cleanup.js'
import { makeFolder, unlimited, writeShippedRegistry } from './harness/fixture.js'
import { text, toggle, whole } from './harness/options.js'
import type { OptionValues } from './harness/options.js'
import { startPostgresServer } from './harness/postgres.js'
import { jsonText } from './harness/report.js'
import { runScript } from './harness/script.js'
import { startWorker } from './harness/worker.js'

const options = {
  clients: whole('connections, each with one request at a time', 16, 1, 256),
  rounds: whole('rounds of each server', 20, 1, 10_000),
  requests: whole('requests of a round', 2000, 1, 1_000_000),
  folder: text('where the databases are made, to measure another disk', tmpdir()),
  postgres: toggle('charges in a PostgreSQL of its own against charges in SQLite'),
  json: toggle('the report as JSON'),
}
type Options = OptionValues<typeof options>

const command = {
  name: 'bench-charge',
  usage: 'npm run bench:charge --',
  about: `Measures what charging costs a request: two servers over the product's modules, one of which grants
rows without recording them, under the same load in turns (ABBA). The request looks up one row.
With --postgres, one server keeps its records in a PostgreSQL that waits for the disk, the other in
SQLite, and both charge.`,
  options,
}

/** One row of the shipped sample. */
const question = '/v1/financials?inn=eq.7708004767&year=eq.2024&select=inn,year,2110&limit=1'

/** How the records of a server are kept. */
interface Records {
  readonly name: string
  readonly isCharging: boolean
  readonly controlUrl: string | null
}

/** Starts a server in a process of its own; what it returns asks for its state again. */
async function startServer(folder: string, { name, ...records }: Records, cleanup: Cleanup) {
  const state = join(folder, name)
  await mkdir(state)
  const program = new URL('bench-charge/charge-server.ts', import.meta.url)
  const worker = startWorker<ChargeServerOrder, ChargeServerState>(program, cleanup)
  const order = { ...records, registry: join(folder, 'registry.yaml'), folder: state }
  return { ...(await worker.send(order)), state: () => worker.send(order) }
}

/** The charging server, and the one that it is compared with. */
function startServers(folder: string, url: string | null, cleanup: Cleanup) {
  const sqlite = { name: 'queue', isCharging: true, controlUrl: null }
  const postgres = { name: 'postgres', isCharging: true, controlUrl: url }
  const none = { name: 'none', isCharging: false, controlUrl: null }
  const both = url === null ? [sqlite, none] : [postgres, sqlite]
  return Promise.all(both.map((records) => startServer(folder, records, cleanup)))
}

async function bench(folder: string, load: Options, cleanup: Cleanup): Promise<Report> {
  await writeShippedRegistry(folder, ['datasets', 'financials', 'plans', 'bench'], unlimited)
  const url = load.postgres ? await startDurablePostgres(folder, cleanup) : null
  const disk = await measureDisk(folder, load.clients)
  const charge = url === null ? null : await measureCharge(folder, url, load.clients)
  const [queue, none] = await startServers(folder, url, cleanup)
  if (!queue || !none) throw new Error('two servers are compared')
  const round = (server: ChargeServerState) =>
    loadRound(server, () => question, load.clients, load.requests)
  // The first use compiles, caches and opens things: it is not part of a request.
  for (const server of [queue, none]) await round(server)
  const before = await queue.state()
  const pairs: { charged: Round; free: Round }[] = []
  for (let pair = 0; pair < load.rounds; pair += 1) {
    if (pair % 2 === 0) {
      const charged = await round(queue)
      pairs.push({ charged, free: await round(none) })
    } else {
      const free = await round(none)
      pairs.push({ charged: await round(queue), free })
    }
  }
  const after = await queue.state()
  return reportOf({
    cores: availableParallelism(),
    clients: load.clients,
    requestsPerRound: load.requests,
    pairs,
    batchSize: (after.charges - before.charges) / (after.writes - before.writes),
    disk,
    charge,
  })
}

/** Its commits wait for the disk of this folder, like those of SQLite. */
async function startDurablePostgres(folder: string, cleanup: Cleanup): Promise<string> {
  // The user of PostgreSQL must reach its folder.
  await chmod(folder, 0o755)
  const place = { parent: folder, settings: ['fsync=on'] }
  return (await startPostgresServer((close) => cleanup.add(close), place)).url
}

await runScript(command, async (options, run) => {
  const folder = await makeFolder(run, 'bench-charge', { parent: options.folder })
  const report = await bench(folder, options, run.cleanup)
  run.print(options.json ? jsonText(report) : reportText(report))
})
