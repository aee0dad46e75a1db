import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { measureDisk } from './bench-charge/disk.js'
import { loadRound } from './bench-charge/load-round.js'
import type { Round } from './bench-charge/load-round.js'
import { reportOf, tableOf } from './bench-charge/cost-report.js'
import type { Report } from './bench-charge/cost-report.js'
import { startServer, writeRegistry } from './bench-charge/start-servers.js'
import { readFlags, wholeNumber } from './harness/options.js'
import { runScript } from './harness/script.js'
import { Ends } from './harness/cleanup.js'

const help = `Usage: npm run bench:charge [-- options]

What charging costs a request: two servers over the product's modules, one of which grants rows without
recording them, under the same load in turns (ABBA). The question is a look-up of one row.

  --clients N   connections, each with one request at a time; 16
  --rounds N    rounds of each server; 20
  --requests N  requests of a round; 2000
  --folder F    where the databases are made, for another disk; the system's temporary folder
  --json        the report as JSON
  --help        this text
`

const flags = {
  clients: { type: 'string', default: '16' },
  rounds: { type: 'string', default: '20' },
  requests: { type: 'string', default: '2000' },
  folder: { type: 'string', default: tmpdir() },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const clientsMax = 256
const roundsMax = 10_000
const requestsMax = 1_000_000
/** One row of the shipped sample. */
const question = '/v1/financials?inn=eq.7708004767&year=eq.2024&select=inn,year,2110&limit=1'

interface Load {
  readonly clients: number
  readonly rounds: number
  readonly requests: number
}

async function bench(folder: string, load: Load, ends: Ends): Promise<Report> {
  await writeRegistry(folder)
  const disk = await measureDisk(folder, load.clients)
  const queue = await startServer('queue', folder, question, ends)
  const none = await startServer('none', folder, question, ends)
  const round = (server: typeof queue) => loadRound(server.target, load.clients, load.requests)
  // What is compiled, cached and opened at first use is no part of a request.
  for (const server of [queue, none]) await round(server)
  const before = await queue.counts()
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
  const after = await queue.counts()
  return reportOf({
    cores: availableParallelism(),
    clients: load.clients,
    requestsPerRound: load.requests,
    pairs,
    counts: {
      charges: after.charges - before.charges,
      writes: after.writes - before.writes,
    },
    disk,
  })
}

async function run(): Promise<void> {
  const values = readFlags(process.argv.slice(2), flags)
  if (values.help) {
    process.stdout.write(help)
    return
  }
  const load = {
    clients: wholeNumber('--clients', values.clients, 1, clientsMax),
    rounds: wholeNumber('--rounds', values.rounds, 1, roundsMax),
    requests: wholeNumber('--requests', values.requests, 1, requestsMax),
  }
  const folder = await mkdtemp(join(resolve(values.folder), 'das-bench-'))
  const ends = new Ends()
  ends.add(() => rm(folder, { recursive: true, force: true }))
  try {
    const report = await bench(folder, load, ends)
    process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : tableOf(report))
  } finally {
    await ends.closeAll()
  }
}

await runScript('bench-charge', run)
