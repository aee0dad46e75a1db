import { clientFaults } from './check-faults/faults/clients.js'
import { clockFaults, hasFaketime } from './check-faults/faults/clock.js'
import { damageFaults } from './check-faults/faults/damage.js'
import { diskFaults } from './check-faults/faults/disks.js'
import { mailFaults } from './check-faults/faults/mail.js'
import { memoryFaults } from './check-faults/faults/memory.js'
import { powerFaults } from './check-faults/faults/power.js'
import { processFaults } from './check-faults/faults/processes.js'
import { copyFixture, makeFaultsFixture } from './check-faults/faults-fixture.js'
import type { FaultsFixture } from './check-faults/faults-fixture.js'
import { Site } from './check-faults/site.js'
import type { FaultCase, Need } from './check-faults/site.js'
import { msUntilWell, startWatchers } from './check-faults/watchers.js'
import type { Seen } from './check-faults/watchers.js'
import { readChargedRows } from './check-charges/charged-rows.js'
import { makeFolder, requireBuild, serve } from './harness/fixture.js'
import { optionalText, seed, whole } from './harness/options.js'
import { system } from './harness/process.js'
import { textTable } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { sum } from './harness/statistics.js'

const faults: readonly FaultCase[] = [
  ...processFaults,
  ...diskFaults,
  ...damageFaults,
  ...clientFaults,
  ...memoryFaults,
  ...clockFaults,
  ...mailFaults,
  ...powerFaults,
]

const options = {
  cycles: whole('times that each fault strikes', 1, 1, 10_000),
  only: optionalText('faults whose names contain this', 'WORD'),
  seed: seed("repeats the clients' questions"),
}

const command = {
  name: 'check-faults',
  usage: 'npm run check:faults --',
  about: `Breaks what the built server stands on while clients look up rows, walk and export, and checks
  1  every row that arrives is right; every walk and export that ends brings each row once, in order
  2  every row that arrived is charged
  3  when the fault is over, all datasets are served again
It runs on Linux. Faults of disks and power need root, because they mount small file systems; the
clock needs Debian's package faketime. What is missing is said, and its faults are left out.
The exit code is 1 after any loss.
Faults:
${faults.map(({ name, about }) => `  ${name}: ${about}`).join('\n')}`,
  options,
}

const beforeMs = 400
/** What tells of no event is looked for again after up to 200 times as long as the look took. */
const wellMsMax = 600_000

/** One fault, over all its cycles. */
interface Finding {
  readonly seen: Seen
  /** Rows that arrived and were not charged. */
  unpaid: number
  overCharge: number
  wellMs: number
  notes: readonly string[]
}

async function strikeOnce(
  fault: FaultCase,
  made: FaultsFixture,
  clientSeed: number,
  finding: Finding,
  run: Run,
): Promise<void> {
  const folder = await makeFolder(run, 'fault')
  await fault.mount?.(folder, run)
  const fixture = await copyFixture(made, folder)
  const options = (await fault.start?.(folder, run)) ?? {}
  const site = new Site(fixture, await serve(fixture, run.cleanup, options), options, run)
  const { token, subscription } = fixture.watcher
  await msUntilWell(() => site.server.base, token, wellMsMax)
  const deliveredBefore = finding.seen.delivered
  const loggedRows = () => loggedCharges(site.server.output(), subscription)
  const [storedBefore, loggedBefore] = [chargedRows(fixture, subscription), loggedRows()]
  const watchers = startWatchers(site.server.base, token, clientSeed, finding.seen)
  site.watchedBy(watchers)
  try {
    await site.wait(beforeMs)
    await fault.strike(site)
    // Its own few rows are paid by the other subscription.
    const wellMs = await msUntilWell(() => site.server.base, fixture.other.token, wellMsMax)
    finding.wellMs = Math.max(finding.wellMs, wellMs)
    await site.wait(beforeMs)
  } finally {
    await watchers.stop()
    await site.server.stop()
  }
  const stored = chargedRows(fixture, subscription) - storedBefore
  // The backup may hold a charge whose answer was refused, so that no line of the log has it.
  const charged = fault.restores ? Math.max(stored, loggedRows() - loggedBefore) : stored
  if (fault.restores) site.note(`${charged - stored} rows were charged after the backup was made`)
  const over = charged - (finding.seen.delivered - deliveredBefore)
  finding.unpaid += Math.max(0, -over)
  finding.overCharge = Math.max(finding.overCharge, over)
  finding.notes = site.notes
}

/** @throws Error when the database is damaged */
function chargedRows({ database }: FaultsFixture, subscription: string): number {
  const { charged, damage } = readChargedRows(database)
  if (damage !== null) throw new Error(`control.db: ${damage}`)
  const own = charged.filter((each) => each.subscription === subscription)
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
  try {
    await system('mount', '-t', 'tmpfs', 'none', folder)
    await system('umount', folder)
    return true
  } catch {
    return false
  }
}

function rowOf({ name }: FaultCase, cycles: number, finding: Finding): readonly string[] {
  const { seen, unpaid, overCharge, wellMs } = finding
  const ends = Object.entries(seen.ends).sort()
  return [
    name,
    String(cycles),
    ends.map(([end, number]) => `${number} × ${end}`).join(', '),
    String(seen.whole),
    String(seen.lost.length + unpaid),
    String(overCharge),
    `${(wellMs / 1000).toFixed(1)} s`,
  ]
}

const titles = ['fault', 'cycles', 'clients saw', 'walks', 'rows lost', 'over-charge', 'well after']

await runScript(command, async (given, run) => {
  requireBuild()
  const { only } = given
  const named = faults.filter(({ name }) => only === null || name.includes(only))
  const has: Record<Need, boolean> = { mount: await canMount(run), faketime: await hasFaketime() }
  const chosen = named.filter(({ needs }) => needs === undefined || has[needs])
  for (const { name, needs } of named) {
    if (needs && !has[needs]) run.log(`${name}: left out, needs ${needs}`)
  }
  const made = await makeFaultsFixture(run)
  const rows: (readonly string[])[] = []
  const losses: string[] = []
  for (const fault of chosen) {
    const seen: Seen = { ends: {}, delivered: 0, whole: 0, lost: [] }
    const finding: Finding = { seen, unpaid: 0, overCharge: 0, wellMs: 0, notes: [] }
    try {
      for (let cycle = 0; cycle < given.cycles; cycle++) {
        run.update(`${fault.name}, ${cycle + 1} of ${given.cycles}`)
        await strikeOnce(fault, made, given.seed + cycle, finding, run)
      }
    } catch (cause) {
      losses.push(`${fault.name}: ${cause instanceof Error ? cause.message : String(cause)}`)
    }
    rows.push(rowOf(fault, given.cycles, finding))
    losses.push(...seen.lost.map((words) => `${fault.name}: ${words}`))
    if (finding.unpaid > 0) losses.push(`${fault.name}: ${finding.unpaid} rows were not charged`)
    for (const note of finding.notes) run.log(`${fault.name}: ${note}`)
  }
  run.print(textTable(titles, rows))
  for (const loss of losses) run.print(`${loss}\n`)
  if (losses.length > 0) throw new Error('something was lost')
})
