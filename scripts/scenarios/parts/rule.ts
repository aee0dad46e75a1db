import { Fault } from '../../harness/fault.js'

/** Rows that the database says were charged. */
export interface Charged {
  readonly subscription: string
  readonly dataset: string
  /** `YYYY-MM`, UTC. */
  readonly period: string
  readonly rows: number
}

/** What the clients saw of one subscription and dataset in one phase. */
export interface Seen {
  readonly subscription: string
  readonly dataset: string
  /** Rows that arrived for certain, of whole answers and broken ones. */
  readonly delivered: number
  /** Rows that may have been charged: those of whole answers, and the limit of a broken one. */
  readonly attempted: number
}

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

type Rule =
  | 'what was charged stays charged'
  | 'a charge goes to the present month'
  | 'charged ≤ quota'
  | 'delivered ≤ charged'
  | 'charged ≤ attempted'
  | 'delivered = charged where nothing crashed'

/** A counter-example: who, where, and the rows that contradict the rule. */
export interface Violation {
  readonly rule: Rule
  readonly subscription: string
  /** Null = all datasets together. */
  readonly dataset: string | null
  /** Null = all months together. */
  readonly period: string | null
  readonly rows: Readonly<Record<string, number>>
}

/**
 * The first thing in a phase that breaks the counter's rule, or null. It judges each phase by
 * itself, so that rows charged in vain by one crash hide nothing of the next; when every phase
 * keeps to delivered ≤ charged ≤ attempted, the whole run does.
 */
export function findViolation(phase: Phase): Violation | null {
  const [violation] = [lost(phase), misdated(phase), aboveCap(phase), unbalanced(phase)].flat()
  return violation ?? null
}

/** @throws Fault with the first thing that `findViolation` finds */
export function requireRule(phase: Phase): void {
  const violation = findViolation(phase)
  if (violation === null) return
  const { rule, subscription, dataset, period, rows } = violation
  const numbers = Object.entries(rows).map(([name, number]) => `${name} ${number}`)
  const where = `${subscription}, dataset ${dataset ?? '(all)'}, month ${period ?? '(all)'}`
  throw new Fault(`"${rule}" does not hold: ${where}: ${numbers.join(', ')}`)
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

function lost(phase: Phase): Violation[] {
  return growthOf(phase)
    .filter(({ rows }) => rows < 0)
    .map(({ rows, ...where }) => ({
      rule: 'what was charged stays charged',
      ...where,
      rows: { lost: -rows },
    }))
}

/** No month but the present one grows, and none that is older than the newest one charged. */
function misdated(phase: Phase): Violation[] {
  const newest = new Map<string, string>()
  for (const { subscription, period } of phase.before) {
    if (period > (newest.get(subscription) ?? '')) newest.set(subscription, period)
  }
  return growthOf(phase)
    .filter(({ rows }) => rows > 0)
    .filter(
      ({ subscription, period }) =>
        !phase.periods.includes(period) || period < (newest.get(subscription) ?? ''),
    )
    .map(({ rows, ...where }) => ({
      rule: 'a charge goes to the present month',
      ...where,
      rows: { charged: rows },
    }))
}

function aboveCap({ after, caps }: Phase): Violation[] {
  return caps.flatMap(({ subscription, dataset, rows: quota }) => {
    const covered = after
      .filter((charged) => charged.subscription === subscription)
      .filter((charged) => dataset === null || charged.dataset === dataset)
    return [...sumBy(covered, ({ period }) => period)]
      .filter(([, charged]) => charged > quota)
      .map(([period, charged]): Violation => {
        const rows = { charged, quota }
        return { rule: 'charged ≤ quota', subscription, dataset, period, rows }
      })
  })
}

/** Months count together: a client can't tell which one an answer at its turn was charged to. */
function unbalanced(phase: Phase): Violation[] {
  const charges = sumBy(growthOf(phase), placeOf)
  const seen = new Map(phase.seen.map((each) => [placeOf(each), each]))
  const unseen = growthOf(phase)
    .filter((charged) => !seen.has(placeOf(charged)))
    .map(({ subscription, dataset }) => ({ subscription, dataset, delivered: 0, attempted: 0 }))
  return [...seen.values(), ...unseen].flatMap((each) => {
    const { subscription, dataset, delivered, attempted } = each
    const charged = charges.get(placeOf(each)) ?? 0
    const rule = brokenRule(phase.isClean, delivered, charged, attempted)
    if (rule === null) return []
    return [{ rule, subscription, dataset, period: null, rows: { delivered, charged, attempted } }]
  })
}

function brokenRule(
  isClean: boolean,
  delivered: number,
  charged: number,
  attempted: number,
): Rule | null {
  if (delivered > charged) return 'delivered ≤ charged'
  if (charged > attempted) return 'charged ≤ attempted'
  if (isClean && delivered !== charged) return 'delivered = charged where nothing crashed'
  return null
}

function sumBy(list: readonly Charged[], keyOfEach: (charged: Charged) => string) {
  const sums = new Map<string, number>()
  for (const each of list) sums.set(keyOfEach(each), (sums.get(keyOfEach(each)) ?? 0) + each.rows)
  return sums
}

function placeOf({ subscription, dataset }: Pick<Charged, 'subscription' | 'dataset'>): string {
  return `${subscription} ${dataset}`
}

function keyOf(charged: Charged): string {
  return `${placeOf(charged)} ${charged.period}`
}
