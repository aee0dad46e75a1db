import { Agent } from 'node:http'
import { readCharged } from './scenarios/parts/charged.js'
import { askForged, askMistaken } from './check-questions/ask-odd.js'
import { askRows, askTop } from './check-questions/ask-rows.js'
import { askSummary, summedTable } from './check-questions/ask-summary.js'
import type { SummedTable } from './check-questions/ask-summary.js'
import type { Asking } from './check-questions/asker.js'
import { learnTable } from './check-questions/learn-table.js'
import { startQuestionsFixture } from './check-questions/questions-fixture.js'
import type { QuestionsFixture } from './check-questions/questions-fixture.js'
import type { Table } from './check-questions/table.js'
import { requireBuild } from './harness/fixture.js'
import type { Reply } from './harness/http.js'
import { seed, whole } from './harness/options.js'
import type { OptionValues } from './harness/options.js'
import { memoryOf } from './harness/process.js'
import { randomOf } from './harness/random.js'
import { count, factsText, textTable } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { sum } from './harness/statistics.js'

const options = {
  questions: whole('questions', 20_000, 1, 1e9),
  first: whole('the number of the first question', 0, 0, 1e9),
  clients: whole('questions asked at the same time', 8, 1, 64),
  seed: seed("repeats a run's data and questions"),
}
type Options = OptionValues<typeof options>

const command = {
  name: 'check-questions',
  usage: 'npm run check:questions --',
  about: `Asks the built server random questions over HTTP, and compares every answer byte by byte with a
plain model in memory: rows in walks by cursor, tops and aggregates; by URL, body and MCP; as JSON,
NDJSON and CSV; of columns of every type, with every operator; from files as dropped and from a
packed copy. Checks that
  1  no answer differs from the model
  2  no answer blames the service (5xx), also where the question has random mistakes
  3  each subscription is charged exactly the rows that it got
A question depends only on the seed and its own number: --first N --questions 1 repeats it.`,
  options,
}

const examplesMax = 20
const milestone = 50_000

/** What is asked, each as often as it stands here. */
const kinds = [
  ...(Array(13).fill('rows') as 'rows'[]),
  ...(['top', 'top', 'aggregate', 'aggregate', 'aggregate', 'mistaken', 'forged'] as const),
] as const
type Kind = (typeof kinds)[number]

interface Model {
  readonly typed: readonly Table[]
  readonly sums: readonly SummedTable[]
}

/** What a run has counted. */
interface Counts {
  readonly questions: Map<Kind, number>
  readonly statuses: Map<number, number>
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
  given: Options,
  run: Run,
): Promise<Counts> {
  const { server, sold, odd } = fixture
  const counts: Counts = {
    questions: new Map(),
    statuses: new Map(),
    examples: [],
    differences: 0,
    rows: 0,
  }
  const note = ({ status }: Reply) => add(counts.statuses, status)
  const pay = (rows: number) => {
    counts.rows += rows
  }
  const started = performance.now()
  let next = 0
  const work = async () => {
    while (next < given.questions && !run.cleanup.signal.aborted) {
      const number = given.first + next
      next += 1
      if (next % milestone === 0) showProgress(run, next, given.questions, started, counts)
      const random = randomOf(given.seed, number)
      const kind = random.oneOf(kinds)
      const isOdd = kind === 'mistaken' || kind === 'forged'
      const { token } = isOdd ? odd : random.oneOf(sold)
      const asking = { random, target: { base: server.base, agent, token }, note, pay }
      add(counts.questions, kind)
      try {
        await askOne(kind, asking, model)
      } catch (cause) {
        if (run.cleanup.signal.aborted) return
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

function add<T>(counts: Map<T, number>, key: T): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function showProgress(run: Run, done: number, total: number, started: number, counts: Counts) {
  const perSecond = done / ((performance.now() - started) / 1000)
  const minutes = Math.ceil((total - done) / perSecond / 60)
  const words = `${count(done)} of ${count(total)} questions, ${perSecond.toFixed(0)} a second`
  run.update(`${words}, ${counts.differences} differences, about ${minutes} min left`)
}

await runScript(command, async (given, run) => {
  requireBuild()
  const fixture = await startQuestionsFixture(given.seed, run)
  const agent = new Agent({ keepAlive: true, maxSockets: given.clients })
  run.cleanup.add(() => Promise.resolve(agent.destroy()))
  const model = await learn(fixture, agent)
  const startedMs = performance.now()
  const counts = await askAll(fixture, model, agent, given, run)
  const seconds = (performance.now() - startedMs) / 1000
  const peakBytes = memoryOf(fixture.server.child, 'VmHWM')
  await fixture.server.stop()
  const names = new Set(fixture.sold.map(({ subscription }) => subscription))
  const charged = readCharged(fixture.folder)
  const chargedRows = sum(
    charged.filter(({ subscription }) => names.has(subscription)).map(({ rows }) => Number(rows)),
  )
  const answers = [...counts.statuses].sort(([left], [right]) => left - right)
  const failures = sum(answers.filter(([status]) => status >= 500).map(([, number]) => number))
  run.print(
    textTable(
      ['question', 'asked'],
      [...counts.questions].map(([kind, number]) => [kind, count(number)]),
    ),
  )
  run.print(
    factsText([
      ['seed', String(given.seed)],
      ['questions', `${count(given.questions)} in ${seconds.toFixed(0)} s`],
      ['answers', answers.map(([status, number]) => `${count(number)} × ${status}`).join(', ')],
      ['differences', String(counts.differences)],
      ['5xx', String(failures)],
      ['rows', `${count(counts.rows)} delivered, ${count(chargedRows)} charged`],
      ['peak memory', `${Math.round(peakBytes / 1e6)} MB`],
    ]),
  )
  for (const example of counts.examples) run.print(`${example}\n`)
  if (counts.differences > 0 || failures > 0) throw new Error('answers differ')
  if (counts.rows !== chargedRows) throw new Error('other rows were charged than delivered')
})
