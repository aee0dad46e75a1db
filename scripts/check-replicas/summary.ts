import { count, factsText } from '../harness/report.js'

/** The figures of a run. */
export interface Summary {
  readonly seed: number
  readonly replicas: number
  readonly clients: number
  readonly kills: number
  readonly requests: number
  /** Walks that ended, each with all of its rows. */
  readonly walks: number
  /** Requests that failed outside of the outage, whatever broke them; the second try healed each. */
  readonly healed: number
  /** Of these and of the outage's, those whose rows had begun to arrive. */
  readonly cut_off: number
  /** How often nginx passed a request to one more server. */
  readonly passed_again: number
  readonly outage_seconds: number
  /** Requests refused while PostgreSQL was away or came back. */
  readonly refused: number
  /** From PostgreSQL's first answer until the server served again, of each server. */
  readonly recovery_ms: readonly number[]
  readonly rows_delivered: number
  readonly rows_charged: number
  /** What may have been charged in vain: by the failures, and by kills and clients. */
  readonly rows_lost_max: { readonly by_failures: number; readonly by_kills: number }
  readonly wall_seconds: number
}

/** The summary for people. */
export function summaryText(summary: Summary): string {
  const { healed, cut_off: cutOff, rows_lost_max: most, recovery_ms: recovery } = summary
  const seconds = recovery.map((ms) => (ms / 1000).toFixed(1)).join(', ')
  const lost = summary.rows_charged - summary.rows_delivered
  const bounds = `${count(most.by_failures)} by failures, ${count(most.by_kills)} by kills`
  return factsText([
    ['servers', `${summary.replicas}, and ${summary.clients} clients through nginx`],
    ['kills', `${summary.kills} by kill -9, each server started again`],
    ['requests', `${count(summary.requests)}, ${count(summary.walks)} walks, all complete`],
    [
      'failed once',
      `${count(healed)} healed by one retry; nginx passed on ${count(summary.passed_again)}`,
    ],
    ['cut off', `${count(cutOff)} answers in the middle`],
    [
      'without PostgreSQL',
      `${summary.outage_seconds} s, ${count(summary.refused)} refused, no row`,
    ],
    ['served again after', `${seconds} s, without a restart`],
    ['rows delivered', count(summary.rows_delivered)],
    ['rows charged', count(summary.rows_charged)],
    ['charged in vain', `${count(lost)} rows (at most ${bounds})`],
    ['wall time', `${summary.wall_seconds.toFixed(0)} s`],
    ['seed', String(summary.seed)],
  ])
}
