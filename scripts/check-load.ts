import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { prepareData } from './bench/bench-data.js'
import { startDas } from './bench/das.js'
import { readChargedRows } from './check-charges/charged-rows.js'
import { checkHealthDuring, lookUpDuring } from './check-load/lookers.js'
import type { Times } from './check-load/lookers.js'
import type { ScanOrder, ScanReport } from './check-load/scanners.js'
import { requireBuild, subscribe } from './harness/fixture.js'
import { optionalText, seed, text, whole } from './harness/options.js'
import { memoryOf } from './harness/process.js'
import { factsText, textTable } from './harness/report.js'
import { runScript } from './harness/script.js'
import { quantile } from './harness/statistics.js'
import { startWorker } from './harness/worker.js'

const options = {
  companies: whole('generated companies, about seven rows of 131 columns each', 60_000, 1000, 1e8),
  source: optionalText('yearly Parquet files to use instead'),
  keep: optionalText('folder of registry, state and packed copy, used again'),
  folder: text('where a new folder is made', tmpdir()),
  seconds: whole('seconds of each phase', 30, 2, 3600),
  lookers: whole('clients that look up companies', 8, 1, 1000),
  scanners: whole('clients that scan', 64, 4, 1000),
  seed: seed("repeats a run's questions"),
}

const command = {
  name: 'check-load',
  usage: 'npm run check:load --',
  about: `Asks the built server for single companies: first alone, then beside clients that scan all
rows without a pause (aggregates, tops, unselective filters, searches, exports), a quarter of which
hang up and a quarter of which read slowly, then alone again. A warm-up with both comes before.
Checks that
  1  no look-up is refused, and each gets rows of its company
  2  the rows charged for look-ups are the rows delivered
The times are reported, not judged.`,
  options,
}

const scanTokens = 8
const memoryLimit = 1e9
const recoveryMs = 1000

const milliseconds = (value: number) => value.toFixed(value < 10 ? 1 : 0)
const countsText = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, number]) => `${number} × ${name}`)
    .join(', ') || 'none'

function timesRow(phase: string, lookUps: Times, health: Times): readonly string[] {
  const cells = [lookUps, health].flatMap(({ ms }) => [
    String(ms.length),
    ...[0.5, 0.99, 1].map((share) => milliseconds(quantile(ms, share))),
  ])
  return [phase, ...cells, countsText({ ...lookUps.refused, ...health.refused })]
}

const titles = ['phase', 'look-ups', 'p50 ms', 'p99', 'max', 'health', 'p50 ms', 'p99', 'max']

await runScript(command, async (given, run) => {
  requireBuild()
  const facts = await prepareData(given, run)
  const { fixture, companies, years } = facts
  const sold = await subscribe(fixture, ['packed:bench'])
  const tokens: string[] = []
  while (tokens.length < scanTokens) {
    tokens.push((await subscribe(fixture, ['packed:bench'])).token)
  }
  const { server } = await startDas(facts, { memoryLimit, serverCores: null }, run)
  const { base } = server
  const looking = { base, token: sold.token, companies, clients: given.lookers, seed: given.seed }
  const phaseOf = async (name: string, work: Promise<unknown>) => {
    run.update(name)
    const [lookUps, health] = await Promise.all([
      lookUpDuring(looking, work),
      checkHealthDuring(base, work),
    ])
    return { lookUps, health, row: timesRow(name, lookUps, health) }
  }
  const during = () => sleep(given.seconds * 1000)

  const program = new URL('check-load/scan-child.ts', import.meta.url)
  const scanners = startWorker<ScanOrder, ScanReport>(program, run.cleanup)
  const besideScans = async (name: string, seed: number) => {
    const { scanners: clients } = given
    await scanners.send({ kind: 'start', options: { base, tokens, years, clients, seed } })
    const phase = await phaseOf(name, during())
    return { phase, stopped: scanners.send({ kind: 'stop' }) }
  }

  // It opens the files that the others find open, and runs the code that they find compiled. Its
  // questions are others: answers of small summaries are kept.
  const { phase: warm, stopped: warmed } = await besideScans('warm-up', given.seed + 1)
  await warmed
  const alone = await phaseOf('alone', during())
  const { phase: beside, stopped } = await besideScans('beside scans', given.seed)
  const peakBytes = memoryOf(server.child, 'VmHWM')
  const { ends, again } = await stopped
  const next = await phaseOf('the second after', sleep(recoveryMs))
  const after = await phaseOf('alone again', during())
  await server.stop()

  const phases = [warm, alone, beside, next, after]
  const rows = phases.reduce((total, { lookUps }) => total + lookUps.rows, 0)
  const charged = readChargedRows(`${fixture.folder}/state/control.db`)
    .charged.filter(({ subscription }) => subscription === sold.subscription)
    .reduce((total, { rows: each }) => total + Number(each), 0)
  const ratio = quantile(beside.lookUps.ms, 0.99) / quantile(alone.lookUps.ms, 0.99)
  run.print(
    textTable(
      [...titles, 'refused'],
      phases.slice(1).map(({ row }) => row),
    ),
  )
  run.print(
    factsText([
      ['seed', String(given.seed)],
      ['look-ups p99', `${ratio.toFixed(1)} × alone`],
      ['scans', countsText(ends)],
      ['asked again', `${again.asked}, of which ${again.answered} not refused`],
      ['peak memory', `${Math.round(peakBytes / 1e6)} MB, limit ${memoryLimit / 1e6} MB`],
      ['look-up rows', `${rows} delivered, ${charged} charged`],
    ]),
  )
  const refused = phases.filter(({ lookUps }) => Object.keys(lookUps.refused).length > 0)
  if (refused.length > 0) throw new Error('look-ups were refused')
  if (rows !== charged) throw new Error('other rows were charged than delivered')
})
