import type { AdmissionReads } from '../control/admission-reads.js'
import { periodEnd, periodOf } from '../control/usage.js'
import type { Charge, Usage } from '../control/usage.js'
import { ServiceError } from '../errors.js'
import type { Access } from './access.js'
import type { Charges } from './charge-queue.js'
import type { Principal, Subscriber } from './principal.js'

/** Rows of this month under one cap. */
export interface RowBudget {
  readonly limit: number
  readonly used: number
  readonly remaining: number
}

/** The rows left for one dataset, under its own cap or the overall cap, whichever ends first. */
export interface QuotaStatus extends RowBudget {
  readonly scope: 'resource' | 'global'
  /** Seconds until the month ends, UTC. */
  readonly resetSeconds: number
  /** The first day of the next month, `YYYY-MM-DD`. */
  readonly resetsOn: string
}

/** A budget is never negative: a cap lowered below the usage leaves 0 rows. */
export function rowBudget(limit: number, used: number): RowBudget {
  return { limit, used, remaining: Math.max(0, limit - used) }
}

/** The rows used in the current month; null if nothing is counted (the demo token). */
export async function usageNow(
  reads: Pick<AdmissionReads, 'usage'>,
  principal: Principal,
  now: number,
): Promise<Usage | null> {
  return principal.kind === 'demo' ? null : await reads.usage(principal.id, periodOf(now))
}

/**
 * The quota after the usage; undefined if nothing is counted (the demo token). Without an access,
 * the quota over all datasets, if any.
 */
export function quotaStatus(
  principal: Principal,
  access: Access | null,
  usage: Usage | null,
  now: number,
): QuotaStatus | undefined {
  if (principal.kind === 'demo' || !usage) return undefined
  const datasetUsed = access ? (usage.datasets.get(access.dataset.name) ?? 0) : 0
  return nearestEnd(principal, access, { ...usage, datasetUsed, globalUsed: usage.total }, now)
}

interface Used {
  readonly period: string
  readonly datasetUsed: number
  readonly globalUsed: number
}

function nearestEnd(
  principal: Subscriber,
  access: Access | null,
  used: Used,
  now: number,
): QuotaStatus | undefined {
  const endMs = periodEnd(used.period)
  const reset = {
    resetSeconds: Math.max(1, Math.ceil((endMs - now) / 1000)),
    resetsOn: new Date(endMs).toISOString().slice(0, 10),
  }
  const plan = access?.plan
  const resource = plan ? rowBudget(plan.rowsPerMonth, used.datasetUsed) : undefined
  const global =
    principal.globalRows === null ? undefined : rowBudget(principal.globalRows, used.globalUsed)
  if (global && (!resource || global.remaining < resource.remaining)) {
    return { ...global, scope: 'global', ...reset }
  }
  return resource && { ...resource, scope: 'resource', ...reset }
}

/** @throws row_quota_exceeded if no rows are left, even if the query would return none */
export function requireQuota(quota: QuotaStatus | undefined): void {
  if (!quota || quota.remaining > 0) return
  const what = quota.scope === 'global' ? 'over all datasets' : 'for this dataset'
  throw new ServiceError(
    'row_quota_exceeded',
    `This month's ${quota.limit} rows ${what} are used. They reset on ${quota.resetsOn} (UTC); ` +
      'until then every request for rows is refused.',
    { retryAfterSeconds: quota.resetSeconds },
  )
}

export interface Paid {
  /** Rows that may be sent; at most the number requested. */
  readonly rows: number
  readonly quota: QuotaStatus | undefined
}

/** How rows are charged. */
export interface ChargeOptions {
  readonly now: number
  /** Aborts when the caller no longer waits for the rows. */
  readonly signal: AbortSignal
  /** A page that would exceed a cap is neither charged nor cut: a file can't be cut. */
  readonly allOrNone: boolean
}

/**
 * Charges rows durably before they are sent. A page that would exceed a cap is cut to the rows
 * left, or to none if another request took the last rows meanwhile.
 * @throws service_unavailable if the charge can't be made durable: the caller must send no rows
 */
export async function chargeRows(
  charges: Charges,
  principal: Principal,
  access: Access,
  rows: number,
  { now, signal, allOrNone }: ChargeOptions,
): Promise<Paid> {
  if (principal.kind === 'demo' || !access.plan) return { rows, quota: undefined }
  const charge: Charge = {
    subscriptionId: principal.id,
    dataset: access.dataset.name,
    period: periodOf(now),
    rows,
    allOrNone,
    datasetRowsMax: access.plan.rowsPerMonth,
    globalRowsMax: principal.globalRows,
  }
  const result = await charges.charge(charge, signal)
  return { rows: result.granted, quota: nearestEnd(principal, access, result, now) }
}
