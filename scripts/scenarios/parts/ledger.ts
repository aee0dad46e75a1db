import Database from 'better-sqlite3'
import pg from 'pg'
import { demand, Fault } from '../../harness/fault.js'
import { countsText } from '../../harness/report.js'
import { sum } from '../../harness/statistics.js'
import type { Answer } from './ask.js'

/** What an answer costs. */
export type Cost =
  /** A row each, which may be fewer than asked for. */
  | { readonly kind: 'each'; readonly most: number }
  /** An aggregate: all or nothing. */
  | { readonly kind: 'whole'; readonly groups: number; readonly rows: number }
  | { readonly kind: 'free' }

/** Who asks for what, and what its answer costs. */
export interface Asked {
  readonly subscription: string
  readonly dataset: string
  readonly cost: Cost
}

/** What the clients saw of one subscription and dataset. */
export interface Seen {
  readonly subscription: string
  readonly dataset: string
  /** Rows that arrived for certain, of whole answers and broken ones. */
  readonly delivered: number
  /** Rows that may have been charged: those of whole answers, and the limit of a broken one. */
  readonly attempted: number
}

/** What clients received, and what that may have cost; it grows with subscriptions and datasets. */
export class Ledger {
  readonly #seen = new Map<string, Seen>()
  readonly #ends: Record<string, number> = {}
  readonly #isProxied: boolean

  /** Behind a proxy, a request that failed may have been charged by a server that then went. */
  constructor({ isProxied = false } = {}) {
    this.#isProxied = isProxied
  }

  /** @throws Fault where an aggregate lacks groups */
  note({ subscription, dataset, cost }: Asked, answer: Answer): void {
    const end = endOf(answer)
    this.#ends[end] = this.ended(end) + 1
    const key = `${subscription} ${dataset}`
    const { delivered, attempted } = this.#seen.get(key) ?? { delivered: 0, attempted: 0 }
    const { least, most } = this.#bounds(answer, cost)
    const sums = { delivered: delivered + least, attempted: attempted + most }
    this.#seen.set(key, { subscription, dataset, ...sums })
  }

  seen(): readonly Seen[] {
    return [...this.#seen.values()]
  }

  /** Rows that arrived for certain. */
  get delivered(): number {
    return sum(this.seen().map(({ delivered }) => delivered))
  }

  /** Rows that may have been charged. */
  get attempted(): number {
    return sum(this.seen().map(({ attempted }) => attempted))
  }

  /** How many requests ended with a status, `broken off` or `no answer`. */
  ended(end: string): number {
    return this.#ends[end] ?? 0
  }

  /** All ends with their numbers. */
  get ends(): string {
    return countsText(this.#ends)
  }

  /** The rows that a request cost at least and at most, by what came of it. */
  #bounds(answer: Answer, cost: Cost): { least: number; most: number } {
    if (cost.kind === 'free') return { least: 0, most: 0 }
    const most = cost.kind === 'whole' ? cost.rows : cost.most
    switch (answer.kind) {
      case 'page': {
        const rows = rowsOf(answer.rows.length, answer.isExplained, cost)
        return { least: rows, most: rows }
      }
      case 'broken': {
        // Of an aggregate that was cut off, one group that arrived has cost as much as all.
        const arrived = cost.kind === 'each' || answer.arrived === 0 ? answer.arrived : cost.rows
        return { least: arrived, most }
      }
      case 'refused':
      case 'unsent':
        return { least: 0, most: this.#isProxied ? most : 0 }
    }
  }
}

/** Rows that the database says were charged. */
export interface Charged {
  readonly subscription: string
  readonly dataset: string
  /** `YYYY-MM`, UTC. */
  readonly period: string
  readonly rows: number
}

const chargedSql = 'SELECT subscription_id AS subscription, dataset, period, rows FROM usage'

/**
 * Reads control.db as a crash left it, its write-ahead log included, and leaves it so for the next
 * start: a connection that only reads checkpoints nothing.
 *
 * @throws Fault where SQLite finds damage
 */
export function readCharged(folder: string): readonly Charged[] {
  const path = `${folder}/state/control.db`
  const db = new Database(path, { readonly: true, fileMustExist: true })
  try {
    const integrity = db.pragma('integrity_check', { simple: true })
    const orphans = db.pragma('foreign_key_check')
    const isWell = integrity === 'ok' && Array.isArray(orphans) && orphans.length === 0
    demand(isWell, `damaged: ${String(integrity)}, ${JSON.stringify(orphans)}`)
    return db.prepare<[], Charged>(chargedSql).all()
  } catch (cause) {
    throw cause instanceof Database.SqliteError ? new Fault(`control.db: ${cause.message}`) : cause
  } finally {
    db.close()
  }
}

/** Reads what a PostgreSQL holds. */
export async function readChargedOf(url: string): Promise<readonly Charged[]> {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=das' })
  await client.connect()
  try {
    const { rows } = await client.query<Omit<Charged, 'rows'> & { rows: string }>(chargedSql)
    return rows.map((row) => ({ ...row, rows: Number(row.rows) }))
  } finally {
    await client.end()
  }
}

function endOf(answer: Answer): string {
  switch (answer.kind) {
    case 'page':
      return answer.isWhole ? '200' : 'export cut'
    case 'refused':
      return String(answer.status)
    case 'broken':
      return 'broken off'
    case 'unsent':
      return 'no answer'
  }
}

function rowsOf(items: number, isExplained: boolean, cost: Exclude<Cost, { kind: 'free' }>) {
  if (cost.kind === 'each') return items + (isExplained ? 1 : 0)
  demand(items === cost.groups, `${items} of ${cost.groups} groups`)
  return cost.rows
}
