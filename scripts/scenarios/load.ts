import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeRows, readFacts } from '../bench/data.js'
import { startClients } from '../harness/clients.js'
import { demand, Fault } from '../harness/fault.js'
import {
  das,
  makeFixture,
  makeFolder,
  serve,
  subscribe,
  unlimited,
  writeRegistry,
} from '../harness/fixture.js'
import type { Sold } from '../harness/fixture.js'
import { send } from '../harness/http.js'
import { whole } from '../harness/options.js'
import { memoryOf } from '../harness/process.js'
import { randomOf } from '../harness/random.js'
import { countsText, textTable } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { quantile } from '../harness/statistics.js'
import { startWorker } from '../harness/worker.js'
import { ask } from './parts/ask.js'
import { Ledger, readCharged } from './parts/ledger.js'
import { requireRun } from './parts/rule.js'
import type { ScanOrder, ScanReport } from './scan-child.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const options = {
  rows: whole('rows of 131 columns in seven yearly files', 400_000, 1000, 1e9),
  seconds: whole('seconds of each phase', 30, 2, 3600),
  scanners: whole('clients that scan', 64, 4, 1000),
}

const about = `Asks the built server for single companies: first alone, then beside clients that scan all
rows without a pause (aggregates, tops, unselective filters, searches, exports), a quarter of which
hang up and a quarter of which read slowly, then alone again. A warm-up with both comes before.
Checks that
  1  no look-up is refused, and each gets rows of its company
  2  the rows charged for look-ups are the rows delivered
The times are reported, not judged.`

const scanTokens = 8
/** Clients that look up companies. */
const lookers = 8
const memoryLimit = '1GB'
const recoveryMs = 1000
const pauseMs = 100
const rowsMax = 100
const columns = 'inn,year,name,2110,2400'
const dataset = 'packed'

/** What look-ups are about, and where their rows are noted. */
interface Looking extends Given<typeof options> {
  readonly base: string
  readonly sold: Sold
  readonly companies: readonly string[]
  readonly ledger: Ledger
}

/** Makes the files, packs and sells; as many tokens as clients scan with, and one for look-ups. */
async function startStatements(given: Given<typeof options>, run: Run) {
  const fixture = await makeFixture(await makeFolder(run, 'check-load'))
  const source = join(fixture.folder, 'data')
  run.update(`making ${given.rows} rows`)
  await makeRows(given.rows, source)
  const statements = {
    title: 'Statements',
    files: `${source}/*.parquet`,
    key: ['inn', 'year'],
    history: 'year',
    require_filter: false,
    columns: { name: { search: true } },
    plans: { all: unlimited },
  }
  await writeRegistry(fixture.folder, { [dataset]: statements })
  await das(fixture, ['dataset', 'pack', dataset])
  const sell = () => subscribe(fixture, [`${dataset}:all`])
  const sold = await sell()
  const tokens: string[] = []
  while (tokens.length < scanTokens) tokens.push((await sell()).token)
  const server = await serve(fixture, run.cleanup, { argv: ['--memory-limit', memoryLimit] })
  return { fixture, sold, tokens, server, ...(await readFacts(source)) }
}

/** Clients ask, each with a short pause, until `work` has ended; returns what each answer took. */
async function askDuring(
  work: Promise<unknown>,
  clients: number,
  clientOf: (agent: Agent, at: number) => () => Promise<void>,
): Promise<number[]> {
  const times: number[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const running = startClients(clients, (at) => {
    const askOnce = clientOf(agent, at)
    return async () => {
      const sentMs = performance.now()
      await askOnce()
      times.push(performance.now() - sentMs)
      await sleep(pauseMs)
    }
  })
  try {
    await Promise.race([work, running.done])
  } finally {
    running.stop()
  }
  await running.done
  agent.destroy()
  return times
}

/** Asks for single companies. */
function lookUpDuring(work: Promise<unknown>, looking: Looking): Promise<number[]> {
  const { base, sold, companies, seed, ledger } = looking
  const { subscription, token } = sold
  return askDuring(work, lookers, (agent, at) => {
    const random = randomOf(seed, at)
    return async () => {
      const inn = random.oneOf(companies)
      const path = `/v1/${dataset}?inn=eq.${inn}&select=${columns}`
      const answer = await ask({ base, agent, token }, { method: 'GET', path, body: '' })
      ledger.note({ subscription, dataset, cost: { kind: 'each', most: rowsMax } }, answer)
      if (answer.kind !== 'page') {
        throw new Fault(`a look-up was refused: ${JSON.stringify(answer)}`)
      }
      // Rows as our contract defines them.
      const rows = answer.rows as readonly { readonly inn: string }[]
      const isRight = rows.length > 0 && rows.every((row) => row.inn === inn)
      demand(isRight, `no rows, or those of another company than ${inn}`)
    }
  })
}

/** Asks whether the process answers. */
function checkHealthDuring(work: Promise<unknown>, base: string): Promise<number[]> {
  return askDuring(work, 1, (agent) => async () => {
    const message = { method: 'GET', path: '/healthz', body: '' } as const
    const { status } = await send({ base, agent, token: '' }, message)
    demand(status === 200, `/healthz answers ${status}`)
  })
}

const titles = ['phase', 'look-ups', 'p50 ms', 'p99', 'max', 'health', 'p50 ms', 'p99', 'max']
const milliseconds = (value: number) => value.toFixed(value < 10 ? 1 : 0)

function timesCells(ms: readonly number[]): readonly string[] {
  return [String(ms.length), ...[0.5, 0.99, 1].map((share) => milliseconds(quantile(ms, share)))]
}

async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const startedMs = Date.now()
  const { fixture, sold, tokens, server, companies, years } = await startStatements(given, run)
  const { base } = server
  const ledger = new Ledger()
  const looking = { ...given, base, sold, companies, ledger }
  const rows: (readonly string[])[] = []
  const phaseOf = async (name: string, work: Promise<unknown>) => {
    run.update(name)
    const [lookUps, health] = await Promise.all([
      lookUpDuring(work, looking),
      checkHealthDuring(work, base),
    ])
    rows.push([name, ...timesCells(lookUps), ...timesCells(health)])
    return quantile(lookUps, 0.99)
  }
  const during = () => sleep(given.seconds * 1000)
  const program = new URL('scan-child.ts', import.meta.url)
  const scanners = startWorker<ScanOrder, ScanReport>(program, run.cleanup)
  const besideScans = async (name: string, seed: number) => {
    const { scanners: clients } = given
    await scanners.send({ kind: 'start', options: { base, tokens, years, clients, seed } })
    const p99 = await phaseOf(name, during())
    return { p99, stopped: scanners.send({ kind: 'stop' }) }
  }

  // It opens the files that the others find open, and runs the code that they find compiled. Its
  // questions are others: answers of small summaries are kept.
  const warmUp = await besideScans('warm-up', given.seed + 1)
  await warmUp.stopped
  const alone = await phaseOf('alone', during())
  const beside = await besideScans('beside scans', given.seed)
  const peakBytes = memoryOf(server.child, 'VmHWM')
  const { ends, again } = await beside.stopped
  await phaseOf('the second after', sleep(recoveryMs))
  await phaseOf('alone again', during())
  await server.stop()

  const { subscription } = sold
  const after = readCharged(fixture.folder).filter((each) => each.subscription === subscription)
  requireRun({ startedMs, isClean: true }, ledger.seen(), after)
  run.print(textTable(titles, rows.slice(1)))
  return [
    ['look-ups p99', `${(beside.p99 / alone).toFixed(1)} × alone`],
    ['scans', countsText(ends)],
    ['asked again', `${again.asked}, of which ${again.answered} not refused`],
    ['peak memory', `${Math.round(peakBytes / 1e6)} MB, limit ${memoryLimit}`],
    ['look-up rows', `${ledger.delivered} delivered and charged; none refused`],
  ]
}

/** `npm run check:load`. */
export const load = scenario({ name: 'load', about, options, check })
