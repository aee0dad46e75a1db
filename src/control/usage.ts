import { recordAction } from './audit.js'
import { sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'

/** Rows that are charged before they are sent. */
export interface Charge {
  readonly subscriptionId: string
  readonly dataset: string
  /** The month by the caller's clock, see `periodOf`. */
  readonly period: string
  /** Zero or more. */
  readonly rows: number
  /** Grants all of the rows or none. Left out = as many as the caps allow. */
  readonly allOrNone?: boolean
  /** Rows a month of this dataset; null = no cap. */
  readonly datasetRowsMax: number | null
  /** Rows a month over all datasets; null = no cap. */
  readonly globalRowsMax: number | null
}

export interface ChargeResult {
  /** Rows that are charged and may be sent, at most those requested. */
  readonly granted: number
  /** The month that was charged. */
  readonly period: string
  /** Rows used in that month, this charge included. */
  readonly datasetUsed: number
  readonly globalUsed: number
}

/** Takes the usage of each subscription that a batch charged, as its commit left it. */
export type OnCharged = (charged: ReadonlyMap<string, ChargedUsage>) => void

/** The usage after a batch, as `readUsage` returns it for the month that was asked for. */
interface ChargedUsage {
  readonly asked: string
  readonly usage: Usage
}

/** Rows used in one month. */
export interface Usage {
  readonly period: string
  readonly datasets: ReadonlyMap<string, number>
  /** Over all datasets. */
  readonly total: number
}

/**
 * Charges a batch in one IMMEDIATE transaction; returns the results in the same order. Each charge
 * gets what both caps leave. The sum of granted rows never exceeds a cap, however many processes
 * charge; a cap below the usage grants 0.
 *
 * @throws service_unavailable when the charge can't be stored; then nothing is charged.
 */
export async function chargeAll(
  store: ControlStore,
  charges: readonly Charge[],
  onCharged?: OnCharged,
): Promise<ChargeResult[]> {
  const { results, charged } = await store.write(async (tx) => {
    const counters = new Counters(tx)
    const results: ChargeResult[] = []
    for (const charge of charges) results.push(await counters.charge(charge))
    await counters.save()
    return { results, charged: counters.charged }
  })
  onCharged?.(charged)
  return results
}

/** The usage that the charges of one transaction read and change, where possible once. */
class Counters {
  readonly #tx: ControlStore
  /** By subscription, with the charges so far, and the month that was asked for. */
  readonly #read = new Map<string, ChargedUsage>()
  /** Not yet in the transaction. */
  readonly #added = new Map<string, LaterUsage>()

  constructor(tx: ControlStore) {
    this.#tx = tx
  }

  get charged(): ReadonlyMap<string, ChargedUsage> {
    return this.#read
  }

  async charge(charge: Charge): Promise<ChargeResult> {
    const { subscriptionId, dataset, period: asked } = charge
    const usage = await this.#usageOf(subscriptionId, asked)
    const result = resultOf(usage, charge)
    const { granted: rows, period, datasetUsed, globalUsed: total } = result
    const datasets = new Map(usage.datasets).set(dataset, datasetUsed)
    this.#read.set(subscriptionId, { asked, usage: { period, datasets, total } })
    if (rows === 0) return result
    const counter = `${subscriptionId} ${period} ${dataset}`
    const before = this.#added.get(counter)?.rows ?? 0
    this.#added.set(counter, { subscriptionId, period, dataset, rows: before + rows })
    return result
  }

  async save(): Promise<void> {
    for (const usage of this.#added.values()) await addUsage(this.#tx, usage)
    this.#added.clear()
  }

  async #usageOf(subscriptionId: string, period: string): Promise<Usage> {
    const read = this.#read.get(subscriptionId)
    if (read?.asked === period) return read.usage
    // What was charged in this transaction may decide which month is the newest.
    await this.save()
    return readUsage(this.#tx, subscriptionId, period)
  }
}

/**
 * The usage of a subscription in `period`, or in the newest month with a charge if that is later: a
 * clock that steps back does not reset a quota.
 */
export async function readUsage(
  store: ControlStore,
  subscriptionId: string,
  period: string,
): Promise<Usage> {
  const rows = await store.all<{ period: string; dataset: string; rows: number }>(
    sql`SELECT period, dataset, rows FROM usage
     WHERE subscription_id = ${subscriptionId} AND period = coalesce(
       (SELECT max(period) FROM usage
        WHERE subscription_id = ${subscriptionId} AND period > ${period}), ${period})`,
  )
  return {
    period: rows[0]?.period ?? period,
    datasets: new Map(rows.map((row) => [row.dataset, row.rows])),
    total: rows.reduce((total, row) => total + row.rows, 0),
  }
}

/** The month of an instant (ms since the epoch), UTC, as `YYYY-MM`. Later months sort later. */
export function periodOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'YYYY-MM'.length)
}

/** The first instant of the month after `period`, UTC, in ms since the epoch. */
export function periodEnd(period: string): number {
  // Date.UTC counts months from 0, so this month's number is the next month's index.
  return Date.UTC(Number(period.slice(0, 'YYYY'.length)), Number(period.slice('YYYY-'.length)))
}

/** Rows that were counted in a month that has not begun. */
export interface LaterUsage {
  readonly subscriptionId: string
  readonly period: string
  readonly dataset: string
  readonly rows: number
}

/** The newest month with any usage, or null. Reads the whole table. */
export async function newestPeriod(store: ControlStore): Promise<string | null> {
  const [row] = await store.all<{ newest: string | null }>(
    sql`SELECT max(period) AS newest FROM usage`,
  )
  return row?.newest ?? null
}

/** The months after `period` with any usage, in order. */
export async function laterPeriods(
  store: ControlStore,
  period: string,
): Promise<readonly string[]> {
  return (
    await store.all<{ period: string }>(
      sql`SELECT DISTINCT period FROM usage WHERE period > ${period} ORDER BY period`,
    )
  ).map((row) => row.period)
}

/**
 * Moves the usage of months after `period` to `period`: the repair after a clock that ran ahead.
 * Returns the moved usage.
 */
export function moveLaterUsage(
  store: ControlStore,
  period: string,
  now: number,
): Promise<readonly LaterUsage[]> {
  return store.write(async (tx) => {
    // Waits for the charges of other servers, and they wait for the end of the repair.
    await tx.run(
      sql`UPDATE subscriptions SET anchor_day = anchor_day
       WHERE id IN (SELECT subscription_id FROM usage WHERE period > ${period})`,
    )
    const later = await tx.all<LaterUsage>(
      sql`DELETE FROM usage WHERE period > ${period}
       RETURNING subscription_id AS "subscriptionId", period, dataset, rows`,
    )
    later.sort((left, right) => (sortKey(left) < sortKey(right) ? -1 : 1))
    for (const usage of later) {
      await addUsage(tx, { ...usage, period })
      const { subscriptionId: subject, dataset, period: from, rows } = usage
      const details = { dataset, rows, from, to: period }
      await recordAction(tx, { action: 'usage.repaired', subject, details, now })
    }
    return later
  })
}

/** Databases return deleted rows in an order of their own. */
function sortKey({ subscriptionId, period, dataset }: LaterUsage): string {
  return `${subscriptionId} ${period} ${dataset}`
}

/** What a charge would be granted now; it records nothing. */
export async function chargeResult(store: ControlStore, charge: Charge): Promise<ChargeResult> {
  return resultOf(await readUsage(store, charge.subscriptionId, charge.period), charge)
}

function resultOf({ period, datasets, total }: Usage, charge: Charge): ChargeResult {
  const used = datasets.get(charge.dataset) ?? 0
  const left = Math.min(
    (charge.datasetRowsMax ?? Infinity) - used,
    (charge.globalRowsMax ?? Infinity) - total,
  )
  const affordable = Math.max(0, Math.min(charge.rows, left))
  const granted = charge.allOrNone && affordable < charge.rows ? 0 : affordable
  return { granted, period, datasetUsed: used + granted, globalUsed: total + granted }
}

async function addUsage(
  store: ControlStore,
  { subscriptionId, period, dataset, rows }: LaterUsage,
): Promise<void> {
  await store.run(
    sql`INSERT INTO usage (subscription_id, period, dataset, rows)
     VALUES (${subscriptionId}, ${period}, ${dataset}, ${rows})
     ON CONFLICT (subscription_id, period, dataset)
     DO UPDATE SET rows = usage.rows + excluded.rows`,
  )
}
