import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { periodOf } from '../../src/control/usage.js'
import { prepareData } from '../bench/bench-data.js'
import { startDas } from '../bench/das.js'
import { startClients } from '../harness/clients.js'
import { Fault } from '../harness/fault.js'
import { subscribe } from '../harness/fixture.js'
import { send } from '../harness/http.js'
import { optionalText, text, whole } from '../harness/options.js'
import { memoryOf } from '../harness/process.js'
import { randomOf } from '../harness/random.js'
import { textTable } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { quantile } from '../harness/statistics.js'
import { startWorker } from '../harness/worker.js'
import { ask } from './parts/ask.js'
import { readCharged } from './parts/charged.js'
import { countsText, Ledger } from './parts/ledger.js'
import { requireRule } from './parts/rule.js'
import type { ScanOrder, ScanReport } from './scanners.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const options = {
  companies: whole('generated companies, about seven rows of 131 columns each', 60_000, 1000, 1e8),
  source: optionalText('yearly Parquet files to use instead'),
  keep: optionalText('folder of registry, state and packed copy, used again'),
  folder: text('where a new folder is made', tmpdir()),
  seconds: whole('seconds of each phase', 30, 2, 3600),
  lookers: whole('clients that look up companies', 8, 1, 1000),
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
const memoryLimit = 1e9
const recoveryMs = 1000
const pauseMs = 100
const rowsMax = 100
const columns = 'inn,year,name,2110,2400'
const dataset = 'packed'

/** What look-ups are about, and where their rows are noted. */
interface Looking {
  readonly base: string
  readonly token: string
  readonly subscription: string
  readonly companies: readonly string[]
  readonly clients: number
  readonly seed: number
  readonly ledger: Ledger
}

/** Clients ask, each with a short pause, until `work` has ended. */
async function askDuring(
  work: Promise<unknown>,
  clients: number,
  clientOf: (agent: Agent, at: number) => () => Promise<void>,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const running = startClients(clients, (at) => {
    const askOnce = clientOf(agent, at)
    return async () => {
      await askOnce()
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
}

/** Asks for single companies; returns what each answer took. */
async function lookUpDuring(work: Promise<unknown>, looking: Looking): Promise<number[]> {
  const { base, token, subscription, companies, clients, seed, ledger } = looking
  const times: number[] = []
  await askDuring(work, clients, (agent, at) => {
    const random = randomOf(seed, at)
    return async () => {
      const inn = random.oneOf(companies)
      const path = `/v1/${dataset}?inn=eq.${inn}&select=${columns}`
      const sentMs = performance.now()
      const answer = await ask({ base, agent, token }, { method: 'GET', path, body: '' })
      ledger.note({ subscription, dataset, cost: { kind: 'each', most: rowsMax } }, answer)
      if (answer.kind !== 'page') {
        throw new Fault(`a look-up was refused: ${JSON.stringify(answer)}`)
      }
      times.push(performance.now() - sentMs)
      // Rows as our contract defines them.
      const rows = answer.rows as readonly { readonly inn: string }[]
      if (rows.length === 0 || rows.some((row) => row.inn !== inn)) {
        throw new Fault(`no rows, or those of another company than ${inn}`)
      }
    }
  })
  return times
}

/** Asks whether the process answers; returns what each answer took. */
async function checkHealthDuring(work: Promise<unknown>, base: string): Promise<number[]> {
  const times: number[] = []
  await askDuring(work, 1, (agent) => async () => {
    const message = { method: 'GET', path: '/healthz', body: '' } as const
    const { status, ms } = await send({ base, agent, token: '' }, message)
    if (status !== 200) throw new Fault(`/healthz answers ${status}`)
    times.push(ms)
  })
  return times
}

const titles = ['phase', 'look-ups', 'p50 ms', 'p99', 'max', 'health', 'p50 ms', 'p99', 'max']
const milliseconds = (value: number) => value.toFixed(value < 10 ? 1 : 0)

function timesCells(ms: readonly number[]): readonly string[] {
  return [String(ms.length), ...[0.5, 0.99, 1].map((share) => milliseconds(quantile(ms, share)))]
}

async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const startedMs = Date.now()
  const facts = await prepareData(given, run)
  const { fixture, companies, years } = facts
  const sold = await subscribe(fixture, [`${dataset}:bench`])
  const tokens: string[] = []
  while (tokens.length < scanTokens) {
    tokens.push((await subscribe(fixture, [`${dataset}:bench`])).token)
  }
  const { server } = await startDas(facts, { memoryLimit, serverCores: null }, run)
  const { base } = server
  const ledger = new Ledger()
  const looking = { ...sold, base, companies, clients: given.lookers, seed: given.seed, ledger }
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
  await (
    await besideScans('warm-up', given.seed + 1)
  ).stopped
  const alone = await phaseOf('alone', during())
  const beside = await besideScans('beside scans', given.seed)
  const peakBytes = memoryOf(server.child, 'VmHWM')
  const { ends, again } = await beside.stopped
  await phaseOf('the second after', sleep(recoveryMs))
  await phaseOf('alone again', during())
  await server.stop()

  const { subscription } = sold
  const after = readCharged(fixture.folder).filter((each) => each.subscription === subscription)
  const periods = [periodOf(startedMs), periodOf(Date.now())]
  requireRule({ isClean: true, periods, seen: ledger.seen(), before: [], after, caps: [] })
  run.print(textTable(titles, rows.slice(1)))
  return [
    ['look-ups p99', `${(beside.p99 / alone).toFixed(1)} × alone`],
    ['scans', countsText(ends)],
    ['asked again', `${again.asked}, of which ${again.answered} not refused`],
    ['peak memory', `${Math.round(peakBytes / 1e6)} MB, limit ${memoryLimit / 1e6} MB`],
    ['look-up rows', `${ledger.delivered} delivered and charged; none refused`],
  ]
}

/** `npm run check:load`. */
export const load = scenario({ name: 'load', about, options, check })
