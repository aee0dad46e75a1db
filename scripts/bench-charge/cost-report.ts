import { factsText, linesText } from '../harness/report.js'
import { median, quantile } from '../harness/statistics.js'
import type { ChargeTimes } from './both-charges.js'
import type { DiskTimes } from './disk.js'
import type { Round } from './load-round.js'

/** What a run measured, and under which load. */
interface Findings {
  readonly cores: number
  readonly clients: number
  readonly requestsPerRound: number
  /** Neighbouring rounds of both servers. */
  readonly pairs: readonly { readonly charged: Round; readonly free: Round }[]
  /** Charges in one transaction, on average. */
  readonly batchSize: number
  readonly disk: DiskTimes
  /** Charges alone, where PostgreSQL is compared with SQLite. */
  readonly charge: ChargeTimes | null
}

/** What a run found; times in milliseconds. */
export interface Report extends Omit<Findings, 'pairs'> {
  readonly node: string
  /** Rounds of each server. */
  readonly rounds: number
  readonly charged: Side
  readonly free: Side
  /** What charging adds to a request: the difference of each pair of neighbouring rounds. */
  readonly costMs: Spread
}

/** One server: elapsed time divided by requests, and what a client waits. */
interface Side {
  readonly wallMs: Spread
  readonly p50Ms: number
  readonly p99Ms: number
}

interface Spread {
  readonly median: number
  readonly quarter: number
  readonly threeQuarters: number
  readonly min: number
  readonly max: number
}

/** Sums up the rounds of a run. */
export function reportOf({ pairs, ...facts }: Findings): Report {
  return {
    node: process.version,
    ...facts,
    rounds: pairs.length,
    charged: sideOf(pairs.map(({ charged }) => charged)),
    free: sideOf(pairs.map(({ free }) => free)),
    costMs: spreadOf(pairs.map(({ charged, free }) => charged.wallMs - free.wallMs)),
  }
}

function sideOf(rounds: readonly Round[]): Side {
  const latencies = rounds.flatMap(({ latenciesMs }) => latenciesMs)
  return {
    wallMs: spreadOf(rounds.map(({ wallMs }) => wallMs)),
    p50Ms: median(latencies),
    p99Ms: quantile(latencies, 0.99),
  }
}

function spreadOf(values: readonly number[]): Spread {
  return {
    median: median(values),
    quarter: quantile(values, 0.25),
    threeQuarters: quantile(values, 0.75),
    min: Math.min(...values),
    max: Math.max(...values),
  }
}

/** The report for people; times in milliseconds. */
export function reportText(report: Report): string {
  const { clients, rounds, requestsPerRound, charged, free, costMs, disk, charge } = report
  const [one, other] = charge ? ['with PostgreSQL', 'with SQLite'] : ['with charging', 'without']
  const ms = (value: number) => value.toFixed(3)
  const spread = ({ median, quarter, threeQuarters, min, max }: Spread) =>
    `${ms(median)}  (quartiles ${ms(quarter)} to ${ms(threeQuarters)}, all ${ms(min)} to ${ms(max)})`
  const wait = ({ p50Ms, p99Ms }: Side) => `p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}`
  const about = [
    `${clients} clients, ${rounds} rounds of ${requestsPerRound} requests for each server, ` +
      `Node ${report.node}; times in ms`,
    `The clients share ${report.cores} cores with the servers: absolute times are too high.`,
    '',
  ]
  return (
    linesText(about) +
    factsText([
      [`a request, ${one}`, spread(charged.wallMs)],
      [`a request, ${other}`, spread(free.wallMs)],
      [charge ? 'PostgreSQL costs' : 'charging costs', spread(costMs)],
      [`a client waits, ${one}`, wait(charged)],
      [`a client waits, ${other}`, wait(free)],
      ...chargeFacts(charge, clients),
      ['charges in a transaction', report.batchSize.toFixed(2)],
      ['disk: 4 KiB and fsync', ms(disk.fsyncMs)],
      ['disk: one durable charge', ms(disk.transactionMs)],
      [`disk: ${clients} durable charges`, ms(disk.batchMs)],
    ])
  )
}

function chargeFacts(charge: ChargeTimes | null, clients: number): [string, string][] {
  if (!charge) return []
  const { single, batch } = charge
  const both = ({ postgresMs, sqliteMs, moreMs }: ChargeTimes['single']) =>
    `PostgreSQL ${postgresMs.toFixed(3)}, SQLite ${sqliteMs.toFixed(3)}, ` +
    `median difference ${moreMs.toFixed(3)}`
  return [
    ['one durable charge', both(single)],
    [`${clients} durable charges`, both(batch)],
  ]
}
