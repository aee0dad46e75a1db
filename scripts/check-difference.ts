import { Agent } from 'node:http'
import { join } from 'node:path'
import { ask, findDoors } from './check-difference/doors.js'
import type { Door } from './check-difference/doors.js'
import { datasetsWith, names, select } from './check-difference/names.js'
import { openDuckDb, writeParquet } from './harness/duckdb.js'
import {
  makeFixture,
  makeFolder,
  requireBuild,
  serve,
  subscribe,
  unlimited,
  writeRegistry,
} from './harness/fixture.js'
import type { Target } from './harness/http.js'
import { seed, whole } from './harness/options.js'
import { randomOf } from './harness/random.js'
import type { Random } from './harness/random.js'
import { factsText, markdownTable } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { mannWhitneyP, median } from './harness/statistics.js'

const command = {
  name: 'check-difference',
  usage: 'npm run check:difference --',
  about: `Asks the built server for datasets that a token may not read, in random turns over one
kept connection: one that does not exist, one that is ungranted, one that is also unlisted, and as a
control another one that does not exist. Prints for each door the median times and the p-values of
the Mann-Whitney test against the first one. The times are reported, not judged:
test/io/http/leak.test.ts checks that the answers are equal.`,
  options: {
    requests: whole('requests for each name at each door', 5000, 20, 1_000_000),
    seed: seed("repeats a run's turns"),
  },
}

/** Of each name, before any is counted: the server's code is then compiled. */
const warmUpRounds = 300

const compared = ['ungranted', 'unlisted', 'unknownToo'] as const
const subjects = ['unknown', ...compared] as const
type Subject = (typeof subjects)[number]
type Times = Readonly<Record<Subject, number[]>>

async function startTargets(run: Run): Promise<readonly [own: Target, other: Target]> {
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
  const { base } = await serve(fixture, run.cleanup)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  run.cleanup.add(async () => agent.destroy())
  const target = { base, agent, token }
  return [target, { ...target, token: other.token }]
}

/** Times of requests for each name, in milliseconds; each round has them in another order. */
async function measure(target: Target, door: Door, rounds: number, random: Random): Promise<Times> {
  const times: Times = { unknown: [], ungranted: [], unlisted: [], unknownToo: [] }
  for (let round = -warmUpRounds; round < rounds; round++) {
    const left: Subject[] = [...subjects]
    while (left.length > 0) {
      const subject = random.oneOf(left)
      left.splice(left.indexOf(subject), 1)
      const { ms } = await ask(target, door, names[subject])
      if (round >= 0) times[subject].push(ms)
    }
  }
  return times
}

function rowOf({ name, isPublic }: Door, times: Times): readonly string[] {
  const isKnown = (subject: Subject) => isPublic && subject === 'ungranted'
  const cell = (subject: Subject, text: string) => (isKnown(subject) ? '–' : text)
  const medians = subjects.map((each) => cell(each, (median(times[each]) * 1000).toFixed(0)))
  const values = compared.map((each) =>
    cell(each, mannWhitneyP(times.unknown, times[each]).toFixed(3)),
  )
  return [name, ...medians, ...values]
}

const titles = [
  'Door',
  ...['unknown, µs', 'ungranted', 'unlisted', 'control'],
  ...['p ungranted', 'p unlisted', 'p control'],
]

await runScript(command, async ({ requests, seed }, run) => {
  requireBuild()
  const [own, other] = await startTargets(run)
  const rows: (readonly string[])[] = []
  for (const [at, door] of (await findDoors(own, other)).entries()) {
    run.update(door.name)
    rows.push(rowOf(door, await measure(own, door, requests, randomOf(seed, at))))
  }
  run.print(markdownTable(titles, rows))
  run.print(
    factsText([
      ['seed', String(seed)],
      ['requests', `${requests} for each name at each door`],
    ]),
  )
})
