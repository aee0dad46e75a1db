import type { Grant } from './grants.js'
import { inOrder } from './in-order.js'
import { ordersOfSubscription } from './orders.js'
import type { Order } from './orders.js'
import { sql, sqlList } from './store/sql.js'
import type { ControlStore } from './store/store.js'
import { listSubscriptions, showSubscription } from './subscriptions.js'
import type { Subscription } from './subscriptions.js'
import { periodEnd, periodOf } from './usage.js'

/** The usage of one dataset by one subscription in one month. */
export interface UsageLine {
  /** `YYYY-MM`, UTC. */
  readonly period: string
  readonly subscriptionId: string
  readonly email: string
  readonly dataset: string
  /** The plan at the end of the month or subscription; null for a dataset removed by then. */
  readonly plan: string | null
  readonly rows: number
}

interface UsageRow {
  readonly period: string
  readonly dataset: string
  readonly rows: number
}

/**
 * A line for every month, subscription and dataset that was granted or used in that month. Sorted
 * by month, then by the subscription's age, then by dataset name.
 *
 * @throws not_found for an unknown `subscriptionId`.
 */
export async function usageReport(
  store: ControlStore,
  periods: readonly string[],
  subscriptionId?: string,
): Promise<readonly UsageLine[]> {
  const subscriptions =
    subscriptionId === undefined
      ? await listSubscriptions(store)
      : [await showSubscription(store, subscriptionId)]
  const lines = (
    await inOrder(subscriptions, async (subscription) => {
      const orders = await ordersOfSubscription(store, subscription.subscriptionId)
      const used = await usedRows(store, subscription.subscriptionId)
      return periods.flatMap((period) =>
        monthLines(grantsOfMonth(orders, subscription.cancelledAt, period), used, period).map(
          (line) => ({
            period,
            subscriptionId: subscription.subscriptionId,
            email: subscription.email,
            ...line,
          }),
        ),
      )
    })
  ).flat()
  const months = new Map(periods.map((period, at) => [period, at]))
  return lines.sort(
    (left, right) => (months.get(left.period) ?? 0) - (months.get(right.period) ?? 0),
  )
}

/** All months from one to another, both included. */
export function periodsBetween(from: string, to: string): readonly string[] {
  const periods: string[] = []
  for (let period = from; period <= to; period = periodOf(periodEnd(period))) periods.push(period)
  return periods
}

/** The last grants of a month; none in a month in which the subscription was not live. */
function grantsOfMonth(
  orders: readonly Order[],
  cancelledAt: number | null,
  period: string,
): readonly Grant[] {
  const start = Date.parse(`${period}-01T00:00:00Z`)
  const end = periodEnd(period)
  const effects = orders
    .flatMap(({ effect, doneAt }) => (effect && doneAt !== null ? [{ ...effect, doneAt }] : []))
    .sort((left, right) => left.entry - right.entry)
  const living = effects.filter(({ doneAt, expiresAt }, at) => {
    const over = effects[at + 1]?.doneAt ?? cancelledAt ?? Infinity
    return doneAt < end && Math.min(expiresAt, over) > start
  })
  return living.at(-1)?.grants ?? []
}

function monthLines(
  grants: readonly Grant[],
  used: readonly UsageRow[],
  period: string,
): readonly Pick<UsageLine, 'dataset' | 'plan' | 'rows'>[] {
  const plans = new Map(grants.map(({ dataset, plan }) => [dataset, plan]))
  const rows = new Map(
    used.filter((row) => row.period === period).map((row) => [row.dataset, row.rows]),
  )
  return [...new Set([...plans.keys(), ...rows.keys()])].sort().map((dataset) => ({
    dataset,
    plan: plans.get(dataset) ?? null,
    rows: rows.get(dataset) ?? 0,
  }))
}

function usedRows(store: ControlStore, subscriptionId: string): Promise<readonly UsageRow[]> {
  return store.all<UsageRow>(
    sql`SELECT period, dataset, rows FROM usage WHERE subscription_id = ${subscriptionId}`,
  )
}

/** What these subscriptions used in a month. */
export async function usageOfMonth(
  store: ControlStore,
  period: string,
  subscriptions: readonly Pick<Subscription, 'subscriptionId'>[],
): Promise<readonly { subscriptionId: string; dataset: string; rows: number }[]> {
  if (subscriptions.length === 0) return []
  const ids = sqlList(subscriptions.map(({ subscriptionId }) => subscriptionId))
  return await store.all(
    sql`SELECT subscription_id AS "subscriptionId", dataset, rows FROM usage
     WHERE subscription_id IN (${ids}) AND period = ${period}
     ORDER BY subscription_id, dataset`,
  )
}
