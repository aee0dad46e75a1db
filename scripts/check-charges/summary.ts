import { count, factsText } from '../harness/report.js'
import type { Finding, PhaseFault } from './phase.js'

/** The figures of a run so far. */
export interface Summary {
  readonly seed: number
  readonly cycles: number
  /** Starts of the server, the two clean phases included. */
  readonly starts: number
  readonly requests: number
  readonly refused: number
  /** Requests that a kill cut off. */
  readonly broken: number
  readonly rows_delivered: number
  readonly rows_charged: number
  readonly rows_attempted: number
  /** Of the worst cycle: rows charged and not delivered, and the answers that were cut off. */
  readonly largest_overcharge: { readonly rows: number; readonly pages: number }
  readonly cycles_with_overcharge: number
  /** How often the database was found intact. */
  readonly integrity_checks: number
  readonly wall_seconds: number
}

/** What is broken, and where. */
export interface CounterExample {
  readonly seed: number
  /** 0 = the clean phase before the cycles, the last number the one after them. */
  readonly cycle: number
  readonly signal: string
  readonly after_ms: number
  readonly fault: PhaseFault
}

/** The summary before the first phase. */
export function emptySummary(seed: number): Summary {
  return {
    seed,
    cycles: 0,
    starts: 0,
    requests: 0,
    refused: 0,
    broken: 0,
    rows_delivered: 0,
    rows_charged: 0,
    rows_attempted: 0,
    largest_overcharge: { rows: 0, pages: 0 },
    cycles_with_overcharge: 0,
    integrity_checks: 0,
    wall_seconds: 0,
  }
}

/** The summary with one more phase, which ended so many seconds after the run's start. */
export function addFinding(
  soFar: Summary,
  { counts, delivered, charged, attempted, fault }: Finding,
  isCycle: boolean,
  wallSeconds: number,
): Summary {
  const overcharge = { rows: charged - delivered, pages: counts.broken }
  const { largest_overcharge: largest } = soFar
  return {
    ...soFar,
    cycles: soFar.cycles + (isCycle ? 1 : 0),
    starts: soFar.starts + 1,
    requests: soFar.requests + counts.whole + counts.refused + counts.broken,
    refused: soFar.refused + counts.refused,
    broken: soFar.broken + counts.broken,
    rows_delivered: soFar.rows_delivered + delivered,
    rows_charged: soFar.rows_charged + charged,
    rows_attempted: soFar.rows_attempted + attempted,
    largest_overcharge: overcharge.rows > largest.rows ? overcharge : largest,
    cycles_with_overcharge: soFar.cycles_with_overcharge + (overcharge.rows > 0 ? 1 : 0),
    integrity_checks: soFar.integrity_checks + (fault?.kind === 'database' ? 0 : 1),
    wall_seconds: Math.round(wallSeconds * 10) / 10,
  }
}

/** The summary for people. */
export function summaryText(summary: Summary): string {
  const { requests, refused, broken, largest_overcharge: largest } = summary
  return factsText([
    ['cycles', `${summary.cycles}, each ended by kill -9`],
    ['server starts', count(summary.starts)],
    ['requests', `${count(requests)}, ${count(refused)} refused, ${count(broken)} cut off`],
    ['rows delivered', count(summary.rows_delivered)],
    ['rows charged', count(summary.rows_charged)],
    ['rows attempted', count(summary.rows_attempted)],
    ['cycles with overcharge', count(summary.cycles_with_overcharge)],
    ['largest overcharge', `${count(largest.rows)} rows, ${count(largest.pages)} pages cut off`],
    ['database intact', `${count(summary.integrity_checks)} times`],
    ['wall time', `${summary.wall_seconds.toFixed(0)} s`],
    ['seed', String(summary.seed)],
  ])
}

/** The counter-example, with all that reproduces it. */
export function counterExampleText(example: CounterExample): string {
  const { seed, cycle, signal, after_ms: afterMs, fault } = example
  const where = `cycle ${cycle} (${signal} after ${afterMs} ms), seed ${seed}`
  if (fault.kind === 'database') return `The database is damaged in ${where}: ${fault.damage}\n`
  const { rule, subscription, dataset, period, rows } = fault.violation
  const numbers = Object.entries(rows).map(([name, number]) => `${name} ${number}`)
  return (
    `"${rule}" does not hold in ${where}:\n` +
    `  subscription ${subscription}, dataset ${dataset ?? '(all)'}, month ${period ?? '(all)'}\n` +
    `  rows in this cycle or month: ${numbers.join(', ')}\n`
  )
}
