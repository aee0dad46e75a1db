import { Agent } from 'node:http'
import { join } from 'node:path'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import { demand, differenceOf } from '../harness/fault.js'
import {
  makeFixture,
  makeFolder,
  serve,
  subscribe,
  unlimited,
  writeRegistry,
} from '../harness/fixture.js'
import type { Reply } from '../harness/http.js'
import { whole } from '../harness/options.js'
import { randomOf } from '../harness/random.js'
import type { Random } from '../harness/random.js'
import { markdownTable } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { mannWhitneyP, median } from '../harness/statistics.js'
import { ask, datasetsWith, findDoors, names, select } from './difference/doors.js'
import { formWays, openStore, sellToKnown, shopOfKnown } from './difference/forms.js'
import type { Way } from './difference/forms.js'
import { networkOf, shopSettings } from './parts/visitors.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const options = {
  requests: whole('requests for each name at each door', 5000, 20, 1_000_000),
}

const about = `Asks the built server, in random turns over one kept connection, for what a client may
not know of: datasets that a token may not read, and at the forms of the shop and of the owner
addresses, companies, orders and links of letters. Beside each known one it asks for one that does not
exist, and as a control for another one. Fails where the texts or headers of two answers differ.
Prints for each way the median times and the p-values of the Mann-Whitney test against the first one:
the times are reported, not judged.`

/** The most of each subject before any is counted: the server's code is then compiled. */
const warmUpRounds = 300
/** Headers of which every answer has its own. */
const ownHeaders = /^(?:date|x-request-id|x-ratelimit-(?:remaining|reset)|connection|keep-alive)$/

/** Every way to ask a server that is started for it. */
async function startWays(run: Run): Promise<readonly Way[]> {
  const fixture = await makeFixture(await makeFolder(run, 'check-difference'))
  const datasets = datasetsWith(unlimited)
  using duckdb = await openDuckDb()
  for (const name of Object.keys(datasets)) {
    await writeParquet(duckdb, join(fixture.folder, 'data', `${name}.parquet`), select)
  }
  await writeRegistry(fixture.folder, datasets, shopOfKnown)
  const { token } = await subscribe(fixture, [`${names.granted}:all`])
  const other = await subscribe(fixture, [`${names.unlisted}:all`])
  const settings = await shopSettings(run.cleanup)
  const { base } = await serve(fixture, run.cleanup, { settings })
  const store = openStore(fixture)
  run.cleanup.add(() => store.close())
  await sellToKnown(store)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  run.cleanup.add(async () => agent.destroy())
  const target = { base, agent, token }
  const doors = await findDoors(target, { ...target, token: other.token })
  // Visitors have a limit by address.
  let requests = 0
  const ways = doors.map((door): Way => {
    // Visitors see what is listed: there is nothing to hide.
    const hidden = door.isPublic ? [] : ['ungranted']
    return {
      name: door.name,
      subjects: ['unknown', ...hidden, 'unlisted', 'unknownToo'],
      ask: async (subject) => {
        const dataset = names[subject as keyof typeof names]
        const message = door.messageFor(dataset)
        const headers = { ...message.headers, ...networkOf(requests++) }
        const from = { ...door, messageFor: () => ({ ...message, headers }) }
        return { reply: await ask(target, from, dataset), own: [dataset] }
      },
    }
  })
  return [...ways, ...(await formWays(store, target))]
}

/**
 * Asks for each subject once a round, each round in another order; the times in milliseconds.
 * @throws Fault where two answers of a round differ
 */
async function measure(
  { name, subjects, ask }: Way,
  rounds: number,
  random: Random,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map<string, number[]>(subjects.map((each) => [each, []]))
  for (let round = -Math.min(warmUpRounds, rounds); round < rounds; round++) {
    const left = [...subjects]
    let first: string | null = null
    while (left.length > 0) {
      const [subject] = left.splice(random.whole(0, left.length - 1), 1)
      if (subject === undefined) continue
      const { reply, own } = await ask(subject)
      demand(reply.status !== 429, `${name}: a limit was met, and nothing is compared`)
      const shape = shapeOf(reply, own)
      const different = differenceOf(shape, (first ??= shape))
      demand(different === null, `${name}: the answer about "${subject}" differs ${different}`)
      if (round >= 0) times.get(subject)?.push(reply.ms)
    }
  }
  return times
}

/** An answer without what only its own request has. */
function shapeOf({ status, headers, text }: Reply, own: readonly string[]): string {
  const kept = Object.entries(headers).filter(([name]) => !ownHeaders.test(name))
  const answer = JSON.stringify([status, kept, text])
  return own.reduce((shape, each) => (each === '' ? shape : shape.replaceAll(each, 'OWN')), answer)
}

/** Medians in microseconds, and how probable so large differences of the times are by chance. */
function cellsOf(times: ReadonlyMap<string, readonly number[]>): readonly string[] {
  const [first = [], ...others] = times.values()
  const medians = [...times.values()].map((ms) => (median(ms) * 1000).toFixed(0))
  return [...medians, ...others.map((other) => mannWhitneyP(first, other).toFixed(3))]
}

async function check({ requests, seed }: Given<typeof options>, run: Run) {
  const doors = await startWays(run)
  for (const group of Map.groupBy(doors, ({ subjects }) => subjects.join()).values()) {
    const subjects = group[0]?.subjects ?? []
    const rows: (readonly string[])[] = []
    for (const door of group) {
      run.update(door.name)
      const times = await measure(door, requests, randomOf(seed, doors.indexOf(door)))
      rows.push([door.name, ...cellsOf(times)])
    }
    const titles = ['door', ...subjects, ...subjects.slice(1).map((each) => `p ${each}`)]
    run.print(`${markdownTable(titles, rows)}\n`)
  }
  const facts: Facts = [['requests', `${requests} for each name at each door; medians in µs`]]
  return facts
}

/** `npm run check:difference`. */
export const difference = scenario({ name: 'difference', about, options, check })
