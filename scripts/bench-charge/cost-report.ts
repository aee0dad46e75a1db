import type { DiskTimes } from './disk.js'
import type { Round } from './load-round.js'
import { median, quantile } from '../harness/statistics.js'
import type { Counts } from './start-servers.js'

/** All that a run found; times in milliseconds. */
export interface Report {
  readonly node: string
  readonly cores: number
  readonly clients: number
  readonly requestsPerRound: number
  /** Rounds of each server. */
  readonly rounds: number
  readonly charged: Side
  readonly free: Side
  /** What charging adds to a request: of each pair of neighbouring rounds, the difference. */
  readonly costMs: Spread
  /** Charges in one transaction, on average. */
  readonly batchSize: number
  readonly disk: DiskTimes
}

/** One server: elapsed time by requests, and what a client waits. */
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

interface Findings {
  readonly cores: number
  readonly clients: number
  readonly requestsPerRound: number
  /** Neighbouring rounds of both servers. */
  readonly pairs: readonly { readonly charged: Round; readonly free: Round }[]
  readonly counts: Counts
  readonly disk: DiskTimes
}

/** Sums up the rounds of a run. */
export function reportOf({ pairs, counts, disk, ...facts }: Findings): Report {
  return {
    node: process.version,
    ...facts,
    rounds: pairs.length,
    charged: sideOf(pairs.map(({ charged }) => charged)),
    free: sideOf(pairs.map(({ free }) => free)),
    costMs: spreadOf(pairs.map(({ charged, free }) => charged.wallMs - free.wallMs)),
    batchSize: counts.charges / counts.writes,
    disk,
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

/** The report for people. */
export function tableOf(report: Report): string {
  const { charged, free, costMs, disk } = report
  const spread = ({ median, quarter, threeQuarters, min, max }: Spread) =>
    `${ms(median)}  (quartiles ${ms(quarter)} to ${ms(threeQuarters)}, all ${ms(min)} to ${ms(max)})`
  return [
    `${report.clients} clients, ${report.rounds} rounds of ${report.requestsPerRound} requests ` +
      `each server, Node ${report.node}`,
    `The clients share ${report.cores} cores with the servers: absolute times are too high.`,
    '',
    'a request, elapsed time by requests, ms',
    `  with charging        ${spread(charged.wallMs)}`,
    `  without              ${spread(free.wallMs)}`,
    `  charging costs       ${spread(costMs)}`,
    'what a client waits, ms',
    `  with charging        p50 ${ms(charged.p50Ms)}, p99 ${ms(charged.p99Ms)}`,
    `  without              p50 ${ms(free.p50Ms)}, p99 ${ms(free.p99Ms)}`,
    `charges a transaction  ${report.batchSize.toFixed(2)}`,
    'this disk, medians, ms',
    `  4 KiB and fsync      ${ms(disk.fsyncMs)}`,
    `  one charge, durable  ${ms(disk.transactionMs)}`,
    `  ${String(report.clients).padStart(2)} charges, durable  ${ms(disk.batchMs)}`,
    '',
  ].join('\n')
}

function ms(value: number): string {
  return value.toFixed(3)
}
