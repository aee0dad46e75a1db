import { join } from 'node:path'
import { age } from '../../test/support/damage.js'
import { das, makeFolder, subscribe, writeRegistry } from '../harness/fixture.js'
import { optionalText, whole } from '../harness/options.js'
import { system } from '../harness/process.js'
import { textTable } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { sum } from '../harness/statistics.js'
import { aroundFaults } from './faults/around.js'
import { faketime, machineFaults } from './faults/machine.js'
import { wait } from './faults/site.js'
import type { FaultCase, FaultsFixture, Need, Site } from './faults/site.js'
import { storedFaults } from './faults/stored.js'
import { msUntilWell, startWatchers, tables } from './faults/watchers.js'
import type { Watched } from './faults/watchers.js'
import { Ledger, readCharged } from './parts/ledger.js'
import { startServing } from './parts/serving.js'
import { entryOf, makeTables } from './parts/tables.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const all: readonly FaultCase[] = [...machineFaults, ...storedFaults, ...aroundFaults]

const options = {
  cycles: whole('times that each fault strikes', 1, 1, 10_000),
  only: optionalText('faults whose names contain this', 'WORD'),
}

const about = `Breaks what the built server stands on while clients look up rows, walk and export, and checks
  1  every row that arrives is right; every walk and export that ends brings each row once, in order
  2  every row that arrived is charged
  3  when the fault is over, all datasets are served again
It runs on Linux. Faults of disks and power need root, because they mount small file systems; the
clock needs Debian's package faketime. What is missing is said, and its faults are left out.
The exit code is 1 after any loss.
Faults:
${all.map(({ name, about }) => `  ${name}: ${about}`).join('\n')}`

const beforeMs = 400
/** What tells of no event is looked for again after up to 200 times as long as the look took. */
const wellMsMax = 600_000
/** Rows of a page of an export. */
const limitMax = 1000

/** One fault, over all its cycles. */
interface Finding extends Watched {
  overCharge: number
  wellMs: number
  notes: readonly string[]
}

/** Makes data, forms and subscriptions once; each fault gets a copy of the folder. */
async function makeFaultsFixture(run: Run): Promise<FaultsFixture> {
  const [plain] = tables
  const fixture = await makeTables(run, 'faults', [plain])
  const { folder } = fixture
  // A whole second, which rot leaves as it was.
  for (const year of plain.years) age(join(folder, 'data', plain.name, `${year}.parquet`))
  const entry = { ...entryOf(plain), limit: { default: 100, max: limitMax } }
  const packed = { ...entry, key: ['id', 'year'], columns: { label: { search: true } } }
  await writeRegistry(folder, { plain: entry, packed })
  await das(fixture, ['dataset', 'pack', 'packed'])
  const plans = tables.map(({ name }) => `${name}:all`)
  const watcher = await subscribe(fixture, plans, ['--months', '12'])
  const other = await subscribe(fixture, plans, ['--months', '12'])
  return { ...fixture, watcher, other, database: join(folder, 'state', 'control.db') }
}

/** Strikes once over a copy in a folder, which may be a mounted file system. */
async function strikeOnce(
  fault: FaultCase,
  made: FaultsFixture,
  clientSeed: number,
  finding: Finding,
  run: Run,
): Promise<void> {
  const folder = await makeFolder(run, 'fault')
  await fault.mount?.(folder, run)
  // With its hard links: stored versions share their bytes with the dropped files.
  await system('cp', '-a', `${made.folder}/.`, folder)
  const fixture = { ...made, folder, database: join(folder, 'state', 'control.db') }
  const options = (await fault.start?.(folder, run)) ?? {}
  const serving = await startServing(fixture, run.cleanup, options)
  const site: Site = { ...serving, fixture, run, options, notes: [] }
  const { watcher, other } = fixture
  await msUntilWell(serving.base, watcher.token, wellMsMax)
  const { ledger } = finding
  const deliveredBefore = ledger.delivered
  const logged = () => loggedCharges(site.server().output(), watcher.subscription)
  const [storedBefore, loggedBefore] = [chargedTo(fixture), logged()]
  const watchers = startWatchers(serving.base, watcher, clientSeed, finding)
  try {
    await wait(site, beforeMs)
    await fault.strike(site)
    // Its own few rows are paid by the other subscription.
    const wellMs = await msUntilWell(serving.base, other.token, wellMsMax)
    finding.wellMs = Math.max(finding.wellMs, wellMs)
    await wait(site, beforeMs)
  } finally {
    await watchers.stop().finally(() => site.server().stop())
  }
  const stored = chargedTo(fixture) - storedBefore
  // The backup may hold a charge whose answer was refused, so that no line of the log has it.
  const charged = fault.restores ? Math.max(stored, logged() - loggedBefore) : stored
  if (fault.restores) {
    site.notes.push(`${charged - stored} rows were charged after the backup was made`)
  }
  const over = charged - (ledger.delivered - deliveredBefore)
  finding.overCharge = Math.max(finding.overCharge, over)
  finding.notes = site.notes
  if (over < 0) throw new Error(`${-over} rows were not charged`)
}

function chargedTo({ folder, watcher }: FaultsFixture): number {
  const own = readCharged(folder).filter((each) => each.subscription === watcher.subscription)
  return sum(own.map(({ rows }) => Number(rows)))
}

/** The rows that the log of a server says were charged. */
function loggedCharges(log: string, subscription: string): number {
  const own = log.split('\n').filter((line) => line.includes(`"subscription":"${subscription}"`))
  return sum(own.map((line) => Number(/"charged":(\d+)/.exec(line)?.[1] ?? 0)))
}

/** Whether file systems can be mounted, which needs root and more than most containers have. */
async function canMount(run: Run): Promise<boolean> {
  const folder = await makeFolder(run, 'mount')
  const mounted = system('mount', '-t', 'tmpfs', 'none', folder)
  return isDone(mounted.then(() => system('umount', folder)))
}

function isDone(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

const titles = ['fault', 'cycles', 'clients saw', 'walks', 'over-charge', 'well after']

async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const { cycles, only, seed } = given
  const named = all.filter(({ name }) => only === null || name.includes(only))
  const hasFaketime = await isDone(faketime())
  const has: Record<Need, boolean> = { mount: await canMount(run), faketime: hasFaketime }
  const chosen = named.filter(({ needs }) => needs === undefined || has[needs])
  for (const { name, needs } of named) {
    if (needs && !has[needs]) run.log(`${name}: left out, needs ${needs}`)
  }
  const made = await makeFaultsFixture(run)
  const rows: (readonly string[])[] = []
  const losses: string[] = []
  for (const fault of chosen) {
    const finding: Finding = {
      ...{ ledger: new Ledger(), whole: 0, overCharge: 0, wellMs: 0, notes: [] },
    }
    try {
      for (let cycle = 0; cycle < cycles; cycle++) {
        run.update(`${fault.name}, ${cycle + 1} of ${cycles}`)
        await strikeOnce(fault, made, seed + cycle, finding, run)
      }
    } catch (cause) {
      losses.push(`${fault.name}: ${cause instanceof Error ? cause.message : String(cause)}\n`)
    }
    const { ledger, whole: walks, overCharge, wellMs, notes } = finding
    const figures = [walks, overCharge, `${(wellMs / 1000).toFixed(1)} s`].map(String)
    rows.push([fault.name, String(cycles), ledger.ends, ...figures])
    for (const note of notes) run.log(`${fault.name}: ${note}`)
  }
  run.print(textTable(titles, rows) + losses.join(''))
  if (losses.length > 0) throw new Error('something was lost')
  return [['holds', `0 rows lost in ${chosen.length} kinds of faults`]]
}

/** `npm run check:faults`. */
export const faults = scenario({ name: 'faults', about, options, check })
