import { Agent } from 'node:http'
import { demand } from '../harness/fault.js'
import { whole } from '../harness/options.js'
import { memoryOf } from '../harness/process.js'
import { randomOf } from '../harness/random.js'
import { count, countsText } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { sum } from '../harness/statistics.js'
import { readCharged } from './parts/ledger.js'
import type { Asking } from './questions/ask.js'
import { askForged, askMistaken } from './questions/ask-odd.js'
import { askRows, askTop } from './questions/ask-rows.js'
import { askSummary, summedTable } from './questions/ask-summary.js'
import type { SummedTable } from './questions/ask-summary.js'
import { startQuestionsFixture } from './questions/fixture.js'
import type { QuestionsFixture } from './questions/fixture.js'
import { learnTable } from './questions/table.js'
import type { Table } from './questions/table.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const options = {
  questions: whole('questions', 20_000, 1, 1e9),
  first: whole('the number of the first question', 0, 0, 1e9),
  clients: whole('questions asked at the same time', 8, 1, 64),
}

const about = `Asks the built server random questions over HTTP, and compares every answer byte by byte with a
plain model in memory: rows in walks by cursor, tops and aggregates; by URL, body and MCP; as JSON,
NDJSON and CSV; of columns of every type, with every operator; from files as dropped and
from all forms of packed ones. Checks that
  1  no answer differs from the model
  2  no answer blames the service (5xx), also where the question has random mistakes
  3  each subscription is charged exactly the rows that it got
A question depends only on the seed and its own number: --first N --questions 1 repeats it.`

const examplesMax = 20
const milestone = 50_000

/** What is asked, each as often as it stands here. */
const kinds = [
  ...(Array(13).fill('rows') as 'rows'[]),
  ...(['top', 'top', 'aggregate', 'aggregate', 'aggregate', 'mistaken', 'forged'] as const),
] as const
type Kind = (typeof kinds)[number]

/** What the datasets hold, as answers write it. */
interface Model {
  readonly typed: readonly Table[]
  readonly sums: readonly SummedTable[]
}

/** What a run has counted. */
interface Counts {
  readonly kinds: Record<string, number>
  readonly statuses: Record<string, number>
  readonly examples: string[]
  differences: number
  /** Rows that the subscriptions must have been charged. */
  rows: number
}

async function learn({ server, typed, sums, odd }: QuestionsFixture, agent: Agent): Promise<Model> {
  const target = { base: server.base, agent, token: odd.token }
  const learned = async (tables: readonly Table[]) => {
    const found: Table[] = []
    for (const table of tables) found.push(await learnTable(target, table))
    return found
  }
  return { typed: await learned(typed), sums: (await learned(sums)).map(summedTable) }
}

function askOne(kind: Kind, asking: Asking, { typed, sums }: Model): Promise<void> {
  const table = asking.random.oneOf(typed)
  switch (kind) {
    case 'rows':
      return askRows(asking, table)
    case 'top':
      return askTop(asking, table)
    case 'aggregate':
      return askSummary(asking, asking.random.oneOf(sums))
    case 'mistaken':
      return askMistaken(asking, table)
    case 'forged':
      return askForged(asking, table)
  }
}

async function askAll(
  fixture: QuestionsFixture,
  model: Model,
  agent: Agent,
  given: Given<typeof options>,
  run: Run,
): Promise<Counts> {
  const { server, sold, odd } = fixture
  const counts: Counts = { kinds: {}, statuses: {}, examples: [], differences: 0, rows: 0 }
  const add = (to: Record<string, number>, name: string) => {
    to[name] = (to[name] ?? 0) + 1
  }
  const startedMs = performance.now()
  let next = 0
  const work = async () => {
    while (next < given.questions) {
      run.cleanup.signal.throwIfAborted()
      const number = given.first + next
      next += 1
      if (next % milestone === 0) showProgress(run, next, given.questions, startedMs, counts)
      const random = randomOf(given.seed, number)
      const kind = random.oneOf(kinds)
      const isOdd = kind === 'mistaken' || kind === 'forged'
      const { token } = isOdd ? odd : random.oneOf(sold)
      const asking: Asking = {
        random,
        target: { base: server.base, agent, token },
        note: ({ status }) => add(counts.statuses, String(status)),
        pay: (rows) => {
          counts.rows += rows
        },
      }
      add(counts.kinds, kind)
      try {
        await askOne(kind, asking, model)
      } catch (cause) {
        run.cleanup.signal.throwIfAborted()
        counts.differences += 1
        const words = cause instanceof Error ? cause.message : String(cause)
        const example = `--seed ${given.seed} --first ${number} --questions 1: ${kind}: ${words}`
        if (counts.examples.length < examplesMax) counts.examples.push(example)
        run.log(example)
      }
    }
  }
  await Promise.race([
    Promise.all(Array.from({ length: given.clients }, work)),
    server.ended.then((exit) => Promise.reject(new Error(`the server ended: ${exit}`))),
  ])
  return counts
}

function showProgress(run: Run, done: number, total: number, startedMs: number, counts: Counts) {
  const perSecond = done / ((performance.now() - startedMs) / 1000)
  const minutes = Math.ceil((total - done) / perSecond / 60)
  const words = `${count(done)} of ${count(total)} questions, ${perSecond.toFixed(0)} a second`
  run.update(`${words}, ${counts.differences} differences, about ${minutes} min left`)
}

async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const fixture = await startQuestionsFixture(given.seed, run)
  const agent = new Agent({ keepAlive: true, maxSockets: given.clients })
  run.cleanup.add(() => Promise.resolve(agent.destroy()))
  const model = await learn(fixture, agent)
  const counts = await askAll(fixture, model, agent, given, run)
  const peakBytes = memoryOf(fixture.server.child, 'VmHWM')
  await fixture.server.stop()
  const names = new Set(fixture.sold.map(({ subscription }) => subscription))
  const charged = readCharged(fixture.folder).filter((each) => names.has(each.subscription))
  const chargedRows = sum(charged.map(({ rows }) => rows))
  const failures = Object.entries(counts.statuses).filter(([status]) => Number(status) >= 500)
  for (const example of counts.examples) run.print(`${example}\n`)
  demand(counts.differences === 0, `${counts.differences} answers differ`)
  demand(failures.length === 0, `answered ${countsText(Object.fromEntries(failures))}`)
  const rows = `${count(counts.rows)} delivered, ${count(chargedRows)} charged`
  demand(counts.rows === chargedRows, `other rows were charged than delivered: ${rows}`)
  return [
    ['questions', countsText(counts.kinds)],
    ['answers', countsText(counts.statuses)],
    ['rows', rows],
    ['peak memory', `${Math.round(peakBytes / 1e6)} MB`],
    ['holds', `${count(given.questions)} questions, 0 differences`],
  ]
}

/** `npm run check:questions`. */
export const questions = scenario({ name: 'questions', about, options, check })
