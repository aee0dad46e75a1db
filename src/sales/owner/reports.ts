import { dayMs } from '../../clock.js'
import { orderDaysSince, paidByDay } from '../../control/order-counts.js'
import { refusalsSince } from '../../control/refusals.js'
import type { ControlStore } from '../../control/store/store.js'
import { grantTexts } from '../../control/grants.js'
import { subscriptionsEnding, subscriptionsOfMonth } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { usageOfMonth } from '../../control/usage-report.js'
import { periodOf } from '../../control/usage.js'
import { errorStatus } from '../../errors.js'
import type { ErrorCode } from '../../errors.js'
import { planOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { isoTime } from '../../text.js'

/** What reports are made from. */
interface ReportParts {
  readonly store: ControlStore
  /** For the limits of plans; null when it can't be read. */
  readonly registry: () => Registry | null
  /** Ms since the epoch. */
  readonly now: () => number
}

/** A line of a report: column → value; times are ISO 8601 in UTC, amounts whole roubles. */
export type ReportLine<Column extends string> = Readonly<Record<Column, string | number | null>>

/** A report: its columns are the keys in JSON, and its lines are complete. */
interface Report<Column extends string> {
  readonly columns: readonly Column[]
  readonly read: (parts: ReportParts) => Promise<readonly ReportLine<Column>[]>
}

const expiringDays = 30
const refusalDays = 30
/** Unpaid orders are removed after 90 days: earlier weeks would change. */
const weeks = 12
const weekDays = 7

/** What was sold, by portal and owner, in each month of its confirmation, UTC; newest first. */
const revenue = report(['month', 'orders', 'amount_rub'], async ({ store }) => {
  const months = Map.groupBy(await paidByDay(store), ({ day }) => periodOf(day * dayMs))
  return [...months].reverse().map(([month, days]) => ({
    month,
    orders: sumOf(days.map(({ orders }) => orders)),
    amount_rub: sumOf(days.map(({ amountRub }) => amountRub)),
  }))
})

/** The live subscriptions that end within 30 days, the next one first. */
const expiring = report(
  ['subscription', 'email', 'expires_at', 'grants'],
  async ({ store, now }) => {
    const ending = await subscriptionsEnding(store, {
      now: now(),
      by: now() + expiringDays * dayMs,
    })
    return ending.map(({ subscriptionId: subscription, email, expiresAt, grants }) => ({
      ...{ subscription, email, expires_at: isoTime(expiresAt) },
      grants: grantTexts(grants).join(' '),
    }))
  },
)

/**
 * Rows of this month, UTC, for each subscription and dataset, the largest share of the limit first.
 * `dataset` is null over all, where the subscription has a cap of its own; `limit` is null where
 * the registry no longer has the plan.
 */
const usage = report(
  ['subscription', 'email', 'dataset', 'plan', 'rows', 'limit', 'share'],
  async ({ store, registry, now }) => {
    const month = { now: now(), period: periodOf(now()) }
    const lines: ReturnType<typeof usageLines>[number][] = []
    for await (const page of subscriptionsOfMonth(store, month)) {
      const rows = await usageOfMonth(store, month.period, page)
      const used = Map.groupBy(rows, (each) => each.subscriptionId)
      const linesOf = (each: Subscription) =>
        usageLines(registry(), each, used.get(each.subscriptionId) ?? [])
      lines.push(...page.flatMap(linesOf))
    }
    return lines.sort((left, right) => (right.share ?? -1) - (left.share ?? -1))
  },
)

function usageLines(
  registry: Registry | null,
  { subscriptionId: subscription, email, grants, globalRows }: Subscription,
  used: readonly { readonly dataset: string; readonly rows: number }[],
) {
  const plans = new Map(grants.map(({ dataset, plan }) => [dataset, plan]))
  const rowsOf = new Map(used.map(({ dataset, rows }) => [dataset, rows]))
  const line = (dataset: string | null, rows: number, limit: number | null) => ({
    ...{ subscription, email, dataset, plan: plans.get(dataset ?? '') ?? null, rows, limit },
    share: limit === null ? null : rows / limit,
  })
  const lines = [...new Set([...plans.keys(), ...rowsOf.keys()])].map((dataset) => {
    const found = planOf(registry, { dataset, plan: plans.get(dataset) ?? '' })
    return line(dataset, rowsOf.get(dataset) ?? 0, found?.rowsPerMonth ?? null)
  })
  return globalRows === null
    ? lines
    : [...lines, line(null, sumOf([...rowsOf.values()]), globalRows)]
}

/** The refused requests of the last 30 days, UTC, today among them; the most frequent first. */
const refusals = report(['error', 'status', 'requests'], async ({ store, now }) => {
  const counts = await refusalsSince(store, dayOf(now()) - refusalDays + 1)
  return counts.map(({ code: error, requests }) => {
    return { error, status: errorStatus[error as ErrorCode] ?? null, requests }
  })
})

/** Orders of the portal with a price, in the last 12 weeks by their Mondays, this one first. */
const orders = report(['week', 'placed', 'paid', 'declined'], async ({ store, now }) => {
  const current = mondayOf(dayOf(now()))
  const mondays = Array.from({ length: weeks }, (_, at) => current - at * weekDays)
  const days = await orderDaysSince(store, mondays.at(-1) ?? current)
  return mondays.map((monday) => {
    const isIn = (day: number | null) => day !== null && mondayOf(day) === monday
    const count = (isCounted: (each: (typeof days)[number]) => boolean) =>
      sumOf(days.filter(isCounted).map((each) => each.orders))
    return {
      week: isoTime(monday * dayMs).slice(0, 'YYYY-MM-DD'.length),
      placed: count(({ orderedDay }) => isIn(orderedDay)),
      paid: count(({ state, doneDay }) => state === 'confirmed' && isIn(doneDay)),
      declined: count(({ state, doneDay }) => state === 'declined' && isIn(doneDay)),
    }
  })
})

/** What the owner's page and `das report` show, in the order of the page. */
export const reports = { revenue, orders, expiring, usage, refusals } as const

export type ReportName = keyof typeof reports
export type ReportColumn = (typeof reports)[ReportName]['columns'][number]

/** The lines of a report. */
export function readReport(
  name: ReportName,
  parts: ReportParts,
): Promise<readonly Partial<ReportLine<ReportColumn>>[]> {
  return reports[name].read(parts)
}

function report<Column extends string>(
  columns: readonly Column[],
  read: Report<Column>['read'],
): Report<Column> {
  return { columns, read }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}

function dayOf(ms: number): number {
  return Math.floor(ms / dayMs)
}

/** Day 0, 1 January 1970, was a Thursday. */
function mondayOf(day: number): number {
  return day - ((day + 3) % weekDays)
}
