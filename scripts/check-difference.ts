import { Agent } from 'node:http'
import { join } from 'node:path'
import { ask, findDoors } from './check-difference/doors.js'
import type { Door } from './check-difference/doors.js'
import { measureLostToken, sellToKnown } from './check-difference/lost-token.js'
import { datasetsWith, names, select } from './check-difference/names.js'
import { measureRounds } from './check-difference/rounds.js'
import { openDuckDb, writeParquet } from './harness/duckdb.js'
import {
  bareEnvironment,
  makeFixture,
  makeFolder,
  requireBuild,
  serve,
  subscribe,
  unlimited,
  writeRegistry,
} from './harness/fixture.js'
import type { Fixture } from './harness/fixture.js'
import type { Target } from './harness/http.js'
import { startMailSink } from './harness/mail-sink.js'
import { optionalText, seed, whole } from './harness/options.js'
import { randomOf } from './harness/random.js'
import { factsText, markdownTable } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { mannWhitneyP, median } from './harness/statistics.js'

const command = {
  name: 'check-difference',
  usage: 'npm run check:difference --',
  about: `Asks the built server for datasets that a token may not read, in random turns over one
kept connection: one that does not exist, one that is ungranted, one that is also unlisted, and as a
control another one that does not exist. Then asks for a lost token with addresses that have a
subscription or none. Prints for each door the median times and the p-values of the Mann-Whitney test
against the first one. The times are reported, not judged: test/io/http/leak.test.ts and
test/sales/order-pages/lost-token.test.ts check that the answers are equal.`,
  options: {
    door: optionalText('only doors whose name contains this', 'NAME'),
    requests: whole('requests for each name at each door', 5000, 20, 1_000_000),
    seed: seed("repeats a run's turns"),
  },
}

const compared = ['ungranted', 'unlisted', 'unknownToo'] as const
const subjects = ['unknown', ...compared] as const
type Subject = (typeof subjects)[number]
type Times = ReadonlyMap<Subject, readonly number[]>

const lostToken = 'lost token'

interface Targets {
  readonly fixture: Fixture
  readonly own: Target
  readonly other: Target
}

async function startTargets(run: Run): Promise<Targets> {
  const fixture = await makeFixture(await makeFolder(run, 'check-difference'))
  const datasets = datasetsWith(unlimited)
  {
    using duckdb = await openDuckDb()
    for (const name of Object.keys(datasets)) {
      await writeParquet(duckdb, join(fixture.folder, 'data', `${name}.parquet`), select)
    }
  }
  await writeRegistry(fixture.folder, datasets)
  const { token } = await subscribe(fixture, [`${names.granted}:all`])
  const other = await subscribe(fixture, [`${names.unlisted}:all`])
  await sellToKnown(fixture, { dataset: names.granted, plan: 'all' })
  const env = {
    ...bareEnvironment(),
    DAS_SMTP_URL: await startMailSink(run.cleanup),
    DAS_MAIL_FROM: 'data@example.org',
    DAS_TRUST_PROXY: '127.0.0.1',
  }
  const { base } = await serve(fixture, run.cleanup, { env })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  run.cleanup.add(async () => agent.destroy())
  const target = { base, agent, token }
  return { fixture, own: target, other: { ...target, token: other.token } }
}

function rowOf({ name, isPublic }: Door, times: Times): readonly string[] {
  const isKnown = (subject: Subject) => isPublic && subject === 'ungranted'
  const cell = (subject: Subject, text: string) => (isKnown(subject) ? '–' : text)
  const medians = subjects.map((each) => cell(each, medianText(times, each)))
  const values = compared.map((each) => cell(each, chanceText(times, 'unknown', each)))
  return [name, ...medians, ...values]
}

/** In microseconds. */
function medianText<Name>(times: ReadonlyMap<Name, readonly number[]>, name: Name): string {
  return (median(times.get(name) ?? []) * 1000).toFixed(0)
}

/** How probable so large a difference of the times is by chance. */
function chanceText<Name>(
  times: ReadonlyMap<Name, readonly number[]>,
  first: Name,
  second: Name,
): string {
  return mannWhitneyP(times.get(first) ?? [], times.get(second) ?? []).toFixed(3)
}

const titles = [
  'Door',
  ...['unknown, µs', 'ungranted', 'unlisted', 'control'],
  ...['p ungranted', 'p unlisted', 'p control'],
]

const lostTokenTitles = ['Door', 'unknown, µs', 'known', 'control', 'p known', 'p control']

await runScript(command, async ({ door: wanted, requests, seed }, run) => {
  requireBuild()
  const { fixture, own, other } = await startTargets(run)
  const isWanted = (name: string) => wanted === null || name.includes(wanted)
  const doors = [...(await findDoors(own, other)).entries()]
  const rows: (readonly string[])[] = []
  for (const [at, door] of doors.filter(([, { name }]) => isWanted(name))) {
    run.update(door.name)
    const askFor = async (subject: Subject) => (await ask(own, door, names[subject])).ms
    const options = { rounds: requests, random: randomOf(seed, at) }
    rows.push(rowOf(door, await measureRounds(subjects, askFor, options)))
  }
  if (rows.length > 0) run.print(`${markdownTable(titles, rows)}\n`)
  if (isWanted(lostToken)) {
    run.update(lostToken)
    const options = { rounds: requests, random: randomOf(seed, doors.length) }
    const times = await measureLostToken(fixture, own, options)
    const medians = [...times.keys()].map((kind) => medianText(times, kind))
    const values = (['known', 'unknownToo'] as const).map((kind) =>
      chanceText(times, 'unknown', kind),
    )
    run.print(`${markdownTable(lostTokenTitles, [[lostToken, ...medians, ...values]])}\n`)
  }
  run.print(
    factsText([
      ['seed', String(seed)],
      ['requests', `${requests} for each name at each door`],
    ]),
  )
})
