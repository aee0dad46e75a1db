import { count, factsText } from '../harness/report.js'
import { sum } from '../harness/statistics.js'
import type { Finding, PhaseFault } from './phase.js'

/** The figures of a run. */
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

/** What the summary takes from a phase. */
export interface PhaseFigures extends Omit<Finding, 'after'> {
  /** False for the clean phases. */
  readonly isCycle: boolean
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

/** Sums up the phases of a run, which took so many seconds. */
export function summaryOf(seed: number, phases: readonly PhaseFigures[], seconds: number): Summary {
  const total = (figure: (phase: PhaseFigures) => number) => sum(phases.map(figure))
  const overcharges = phases
    .map(({ charged, delivered, counts }) => ({ rows: charged - delivered, pages: counts.broken }))
    .filter(({ rows }) => rows > 0)
  const [largest = { rows: 0, pages: 0 }] = overcharges.toSorted((a, b) => b.rows - a.rows)
  return {
    seed,
    cycles: phases.filter(({ isCycle }) => isCycle).length,
    starts: phases.length,
    requests: total(({ counts }) => counts.whole + counts.refused + counts.broken),
    refused: total(({ counts }) => counts.refused),
    broken: total(({ counts }) => counts.broken),
    rows_delivered: total(({ delivered }) => delivered),
    rows_charged: total(({ charged }) => charged),
    rows_attempted: total(({ attempted }) => attempted),
    largest_overcharge: largest,
    cycles_with_overcharge: overcharges.length,
    integrity_checks: phases.filter(({ fault }) => fault?.kind !== 'database').length,
    wall_seconds: Math.round(seconds * 10) / 10,
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
