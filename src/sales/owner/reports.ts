import { errorStatus } from '../../errors.js'
import type { ErrorCode } from '../../errors.js'
import { orderDaysSince, paidByDay } from '../../control/order-counts.js'
import { dayMs, refusalsSince } from '../../control/refusals.js'
import type { ControlStore } from '../../control/store/store.js'
import { subscriptionsEnding, subscriptionsOfMonth } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { usageOfMonth } from '../../control/usage-report.js'
import { periodOf } from '../../control/usage.js'
import { planOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'

/** What reports are made from. */
export interface ReportParts {
  readonly store: ControlStore
  /** For the limits of plans; null when it can't be read. */
  readonly registry: () => Registry | null
  /** Ms since the epoch. */
  readonly now: () => number
}

const expiringDays = 30
const refusalDays = 30
/** Unpaid orders are removed after 90 days: earlier weeks would change. */
const weeks = 12
const weekDays = 7

/** Money of one month, UTC. */
export interface RevenueLine {
  /** `YYYY-MM` */
  readonly month: string
  /** Paid orders, of the portal and the owner. */
  readonly orders: number
  readonly amountRub: number
}

/** What was sold in each month with a sale, newest first; by the day of the confirmation. */
export async function revenueReport({ store }: ReportParts): Promise<readonly RevenueLine[]> {
  const months = Map.groupBy(await paidByDay(store), ({ day }) => periodOf(day * dayMs))
  return [...months]
    .map(([month, days]) => ({
      month,
      orders: days.reduce((sum, { orders }) => sum + orders, 0),
      amountRub: days.reduce((sum, { amountRub }) => sum + amountRub, 0),
    }))
    .reverse()
}

/** The live subscriptions that end within 30 days, the next one first. */
export function expiringReport({ store, now }: ReportParts): Promise<readonly Subscription[]> {
  return subscriptionsEnding(store, { now: now(), by: now() + expiringDays * dayMs })
}

/** Rows that a subscription used this month, of a dataset or over all. */
export interface UsageShare {
  readonly subscriptionId: string
  readonly email: string
  /** Null over all datasets, where the subscription has a cap of its own. */
  readonly dataset: string | null
  /** Null over all datasets, and for a dataset that was withdrawn. */
  readonly plan: string | null
  readonly rows: number
  /** Rows a month; null where the registry no longer has the plan. */
  readonly limit: number | null
  /** Of the limit, from 0 to 1. */
  readonly share: number | null
}

/** A line for each dataset of each subscription this month, UTC; the largest share first. */
export async function usageReport({
  store,
  registry,
  now,
}: ReportParts): Promise<readonly UsageShare[]> {
  const period = periodOf(now())
  const used = Map.groupBy(await usageOfMonth(store, period), (each) => each.subscriptionId)
  const subscriptions = await subscriptionsOfMonth(store, { now: now(), period })
  const lines = subscriptions.flatMap((each) =>
    usageLines(registry(), each, used.get(each.subscriptionId) ?? []),
  )
  return lines.sort((left, right) => (right.share ?? -1) - (left.share ?? -1))
}

function usageLines(
  registry: Registry | null,
  { subscriptionId, email, grants, globalRows }: Subscription,
  used: readonly { readonly dataset: string; readonly rows: number }[],
): readonly UsageShare[] {
  const plans = new Map(grants.map(({ dataset, plan }) => [dataset, plan]))
  const rowsOf = new Map(used.map(({ dataset, rows }) => [dataset, rows]))
  const line = (dataset: string | null, plan: string | null, rows: number, limit: number | null) =>
    ({
      ...{ subscriptionId, email, dataset, plan, rows, limit },
      share: limit === null ? null : rows / limit,
    }) satisfies UsageShare
  const total = used.reduce((sum, { rows }) => sum + rows, 0)
  return [
    ...[...new Set([...plans.keys(), ...rowsOf.keys()])].map((dataset) => {
      const plan = plans.get(dataset) ?? null
      const found = plan === null ? undefined : planOf(registry, { dataset, plan })
      return line(dataset, plan, rowsOf.get(dataset) ?? 0, found?.rowsPerMonth ?? null)
    }),
    ...(globalRows === null ? [] : [line(null, null, total, globalRows)]),
  ]
}

/** Requests that were refused with an error code. */
export interface RefusalLine {
  readonly error: string
  readonly status: number | null
  readonly requests: number
}

/** The refused requests of the last 30 days, UTC, today among them; the most frequent first. */
export async function refusalsReport({ store, now }: ReportParts): Promise<readonly RefusalLine[]> {
  const counts = await refusalsSince(store, dayOf(now()) - refusalDays + 1)
  return counts.map(({ code: error, requests }) => {
    return { error, status: errorStatus[error as ErrorCode] ?? null, requests }
  })
}

/** Orders of the portal with a price, in one week. */
export interface OrdersLine {
  /** Its Monday, UTC, in ms since the epoch. */
  readonly week: number
  readonly placed: number
  readonly paid: number
  readonly declined: number
}

/** The last 12 weeks, this one first; also those without an order. */
export async function ordersReport({ store, now }: ReportParts): Promise<readonly OrdersLine[]> {
  const current = mondayOf(dayOf(now()))
  const mondays = Array.from({ length: weeks }, (_, at) => current - at * weekDays)
  const days = await orderDaysSince(store, mondays.at(-1) ?? current)
  return mondays.map((monday) => {
    const isIn = (day: number | null) => day !== null && mondayOf(day) === monday
    const count = (isCounted: (each: (typeof days)[number]) => boolean) =>
      days.filter(isCounted).reduce((sum, { orders }) => sum + orders, 0)
    return {
      week: monday * dayMs,
      placed: count(({ orderedDay }) => isIn(orderedDay)),
      paid: count(({ state, doneDay }) => state === 'confirmed' && isIn(doneDay)),
      declined: count(({ state, doneDay }) => state === 'declined' && isIn(doneDay)),
    }
  })
}

function dayOf(ms: number): number {
  return Math.floor(ms / dayMs)
}

/** Day 0, 1 January 1970, was a Thursday. */
function mondayOf(day: number): number {
  return day - ((day + 3) % weekDays)
}
