import { Agent } from 'node:http'
import { join } from 'node:path'
import { removeCodes } from '../../src/control/mailed-codes/email-codes.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { createSubscription } from '../../src/control/subscriptions.js'
import { machine } from '../../test/support/machine.js'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import {
  makeFixture,
  makeFolder,
  serve,
  subscribe,
  unlimited,
  writeRegistry,
} from '../harness/fixture.js'
import type { Fixture } from '../harness/fixture.js'
import { sendWell } from '../harness/http.js'
import type { Target } from '../harness/http.js'
import { optionalText, whole } from '../harness/options.js'
import { randomOf } from '../harness/random.js'
import type { Random } from '../harness/random.js'
import { markdownTable } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { mannWhitneyP, median } from '../harness/statistics.js'
import { ask, datasetsWith, findDoors, names, select } from './difference/doors.js'
import { formMessage, shopSettings } from './parts/visitors.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const options = {
  door: optionalText('only doors whose name contains this', 'NAME'),
  requests: whole('requests for each name at each door', 5000, 20, 1_000_000),
}

const about = `Asks the built server for datasets that a token may not read, in random turns over one
kept connection: one that does not exist, one that is ungranted, one that is also unlisted, and as a
control another one that does not exist. Then asks for a lost token with addresses that have a
subscription or none. Prints for each door the median times and the p-values of the Mann-Whitney test
against the first one. The times are reported, not judged: test/io/http/leak.test.ts and
test/sales/orders/routes/lost-token.test.ts check that the answers are equal.`

const compared = ['ungranted', 'unlisted', 'unknownToo'] as const
/** Addresses of one length, so that it tells nothing. Who has a subscription is called known. */
const addresses = { unknown: 'stray', known: 'buyer', unknownToo: 'other' } as const
/** Addresses of each kind: within the limit of codes for one address and for all visitors. */
const addressCount = 100
const lostToken = 'lost token'
/** Of each subject, before any is counted: the server's code is then compiled. */
const warmUpRounds = 300

/** A server, and those that ask it. */
interface Targets {
  readonly fixture: Fixture
  readonly own: Target
  readonly other: Target
}

async function startTargets(run: Run): Promise<Targets> {
  const fixture = await makeFixture(await makeFolder(run, 'check-difference'))
  const datasets = datasetsWith(unlimited)
  using duckdb = await openDuckDb()
  for (const name of Object.keys(datasets)) {
    await writeParquet(duckdb, join(fixture.folder, 'data', `${name}.parquet`), select)
  }
  await writeRegistry(fixture.folder, datasets)
  const { token } = await subscribe(fixture, [`${names.granted}:all`])
  const other = await subscribe(fixture, [`${names.unlisted}:all`])
  await sellToKnown(fixture)
  const settings = await shopSettings(run.cleanup)
  const { base } = await serve(fixture, run.cleanup, { settings })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  run.cleanup.add(async () => agent.destroy())
  const target = { base, agent, token }
  return { fixture, own: target, other: { ...target, token: other.token } }
}

/** Sells a subscription to every known address. */
async function sellToKnown(fixture: Fixture): Promise<void> {
  const store = openStore(fixture)
  for (let at = 0; at < addressCount; at++) {
    await createSubscription(store, {
      email: emailOf('known', at),
      grants: [{ dataset: names.granted, plan: 'all' }],
      months: 12,
      globalRows: null,
      priceRub: 0,
      language: 'en',
      now: () => Date.now(),
    })
  }
  await store.close()
}

function emailOf(kind: keyof typeof addresses, at: number): string {
  return `${addresses[kind]}-${String(at).padStart(3, '0')}@example.org`
}

function openStore({ folder }: Fixture): SqliteStore {
  return SqliteStore.open(join(folder, 'state', 'control.db'), machine)
}

/** Asks for each subject once a round, each round in another order; the times in milliseconds. */
async function measure<Subject extends string>(
  subjects: readonly Subject[],
  { rounds, random }: { readonly rounds: number; readonly random: Random },
  askFor: (subject: Subject, round: number) => Promise<number>,
): Promise<ReadonlyMap<Subject, readonly number[]>> {
  const times = new Map<Subject, number[]>(subjects.map((each) => [each, []]))
  for (let round = -warmUpRounds; round < rounds; round++) {
    const left = [...subjects]
    while (left.length > 0) {
      const [subject] = left.splice(random.whole(0, left.length - 1), 1)
      if (subject === undefined) continue
      const ms = await askFor(subject, round + warmUpRounds)
      if (round >= 0) times.get(subject)?.push(ms)
    }
  }
  return times
}

/**
 * Times of asking for a code with known and unknown addresses. Each request comes from a network of
 * its own, and the codes are removed, as after an hour, before an address meets its limit.
 */
async function measureLostToken({ fixture, own }: Targets, how: Parameters<typeof measure>[1]) {
  const store = openStore(fixture)
  const kinds = ['unknown', 'known', 'unknownToo'] as const
  let requests = 0
  const times = await measure(kinds, how, async (kind, round) => {
    if (requests % (addressCount * kinds.length) === 0) {
      await store.write((tx) => removeCodes(tx, { until: Date.now(), ahead: Infinity }))
    }
    const fields = { email: emailOf(kind, round % addressCount) }
    const message = formMessage('/lost-token?lang=en', fields, requests++)
    return (await sendWell({ ...own, token: '' }, message)).ms
  })
  await store.close()
  return times
}

/** Medians in microseconds, and how probable so large differences of the times are by chance. */
function cellsOf(times: ReadonlyMap<string, readonly number[]>): readonly string[] {
  const [first = [], ...others] = times.values()
  const medians = [...times.values()].map((ms) => (median(ms) * 1000).toFixed(0))
  return [...medians, ...others.map((other) => mannWhitneyP(first, other).toFixed(3))]
}

async function check({ door: wanted, requests, seed }: Given<typeof options>, run: Run) {
  const targets = await startTargets(run)
  const { own, other } = targets
  const isWanted = (name: string) => wanted === null || name.includes(wanted)
  const doors = [...(await findDoors(own, other)).entries()]
  for (const isPublic of [false, true]) {
    // Visitors see what is listed: there is nothing to hide.
    const subjects = ['unknown', ...compared.filter((each) => !isPublic || each !== 'ungranted')]
    const rows: (readonly string[])[] = []
    for (const [at, door] of doors.filter(([, each]) => each.isPublic === isPublic)) {
      if (!isWanted(door.name)) continue
      run.update(door.name)
      const how = { rounds: requests, random: randomOf(seed, at) }
      const times = await measure(subjects as (keyof typeof names)[], how, async (subject) => {
        return (await ask(own, door, names[subject])).ms
      })
      rows.push([door.name, ...cellsOf(times)])
    }
    const titles = ['door', ...subjects, ...subjects.slice(1).map((each) => `p ${each}`)]
    if (rows.length > 0) run.print(`${markdownTable(titles, rows)}\n`)
  }
  if (isWanted(lostToken)) {
    run.update(lostToken)
    const how = { rounds: requests, random: randomOf(seed, doors.length) }
    const titles = ['door', 'unknown', 'known', 'unknownToo', 'p known', 'p unknownToo']
    const row = [lostToken, ...cellsOf(await measureLostToken(targets, how))]
    run.print(`${markdownTable(titles, [row])}\n`)
  }
  const facts: Facts = [['requests', `${requests} for each name at each door; medians in µs`]]
  return facts
}

/** `npm run check:difference`. */
export const difference = scenario({ name: 'difference', about, options, check })
