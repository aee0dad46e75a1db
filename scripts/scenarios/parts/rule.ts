import { periodOf } from '../../../src/control/usage.js'
import { demand, Fault } from '../../harness/fault.js'
import type { Charged, Seen } from './ledger.js'

/** Rows a month at most, of one dataset or (null) of all together. */
export interface Cap {
  readonly subscription: string
  readonly dataset: string | null
  readonly rows: number
}

/** One run of the server, from its start to its end, however it ended. */
export interface Phase {
  /** Nothing crashed, and every answer arrived whole. */
  readonly isClean: boolean
  /** The months that it began and ended in. */
  readonly periods: readonly string[]
  readonly seen: readonly Seen[]
  /** All that the database held before and after it. */
  readonly before: readonly Charged[]
  readonly after: readonly Charged[]
  readonly caps: readonly Cap[]
}

type Numbers = Readonly<Record<string, number>>
type Place = Pick<Charged, 'subscription' | 'dataset'>

/**
 * Judges a phase by itself, so that rows charged in vain by one crash hide nothing of the next; when
 * every phase keeps to delivered ≤ charged ≤ attempted, the whole run does.
 *
 * @throws Fault with the rule, who, where, and the rows that contradict it
 */
export function requireRule(phase: Phase): void {
  requireKept(phase)
  requireDated(phase)
  requireWithinCaps(phase)
  requireBalanced(phase)
}

/**
 * Judges a whole run over a database that held no charge before: what was delivered since then.
 * @throws Fault where a rule does not hold, or no row was delivered
 */
export function requireRun(
  { startedMs, isClean }: { readonly startedMs: number; readonly isClean: boolean },
  seen: readonly Seen[],
  after: readonly Charged[],
): void {
  const isAsked = seen.some(({ delivered }) => delivered > 0)
  demand(isAsked, 'no row was delivered: nothing was checked')
  const periods = [periodOf(startedMs), periodOf(Date.now())]
  requireRule({ isClean, periods, seen, before: [], after, caps: [] })
}

/** The rows charged in this phase; fewer than none where some that were charged are gone. */
export function growthOf({ before, after }: Phase): readonly Charged[] {
  const earlier = new Map(before.map((charged) => [keyOf(charged), charged.rows]))
  const grown = after.map((charged) => {
    const rows = charged.rows - (earlier.get(keyOf(charged)) ?? 0)
    earlier.delete(keyOf(charged))
    return { ...charged, rows }
  })
  const gone = before.filter((charged) => earlier.has(keyOf(charged)))
  return [...grown, ...gone.map((charged) => ({ ...charged, rows: -charged.rows }))]
}

function broken(rule: string, place: Partial<Charged> | Cap, numbers: Numbers): Fault {
  const { subscription, dataset, period = null } = { period: null, ...place }
  const rows = Object.entries(numbers).map(([name, number]) => `${name} ${number}`)
  const where = `${subscription}, dataset ${dataset ?? '(all)'}, month ${period ?? '(all)'}`
  return new Fault(`"${rule}" does not hold: ${where}: ${rows.join(', ')}`)
}

function requireKept(phase: Phase): void {
  const lost = growthOf(phase).find(({ rows }) => rows < 0)
  if (lost) throw broken('what was charged stays charged', lost, { lost: -lost.rows })
}

/** No month but the present one grows, and none that is older than the newest one charged. */
function requireDated(phase: Phase): void {
  const newest = new Map<string, string>()
  for (const { subscription, period } of phase.before) {
    if (period > (newest.get(subscription) ?? '')) newest.set(subscription, period)
  }
  const misdated = growthOf(phase).find(
    ({ subscription, period, rows }) =>
      rows > 0 && (!phase.periods.includes(period) || period < (newest.get(subscription) ?? '')),
  )
  if (!misdated) return
  throw broken('a charge goes to the present month', misdated, { charged: misdated.rows })
}

function requireWithinCaps({ after, caps }: Phase): void {
  for (const cap of caps) {
    const { subscription, dataset, rows: quota } = cap
    const covered = after
      .filter((charged) => charged.subscription === subscription)
      .filter((charged) => dataset === null || charged.dataset === dataset)
    for (const [period, charged] of sumBy(covered, (each) => each.period)) {
      if (charged > quota) throw broken('charged ≤ quota', { ...cap, period }, { charged, quota })
    }
  }
}

/** Months count together: a client can't tell which one an answer at its turn was charged to. */
function requireBalanced(phase: Phase): void {
  const growth = growthOf(phase)
  const charges = sumBy(growth, placeOf)
  const seen = new Map(phase.seen.map((each) => [placeOf(each), each]))
  for (const each of growth) {
    if (!seen.has(placeOf(each))) seen.set(placeOf(each), { ...each, delivered: 0, attempted: 0 })
  }
  for (const { subscription, dataset, delivered, attempted } of seen.values()) {
    const place = { subscription, dataset }
    const charged = charges.get(placeOf(place)) ?? 0
    const numbers = { delivered, charged, attempted }
    if (delivered > charged) throw broken('delivered ≤ charged', place, numbers)
    if (charged > attempted) throw broken('charged ≤ attempted', place, numbers)
    if (phase.isClean && delivered !== charged) {
      throw broken('delivered = charged where nothing crashed', place, numbers)
    }
  }
}

function sumBy(list: readonly Charged[], keyOfEach: (charged: Charged) => string) {
  const sums = new Map<string, number>()
  for (const each of list) sums.set(keyOfEach(each), (sums.get(keyOfEach(each)) ?? 0) + each.rows)
  return sums
}

function placeOf({ subscription, dataset }: Place): string {
  return `${subscription} ${dataset}`
}

function keyOf(charged: Charged): string {
  return `${placeOf(charged)} ${charged.period}`
}
