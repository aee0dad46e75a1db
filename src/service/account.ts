import { grantedDatasets } from '../access/access.js'
import { rowBudget, usageNow } from '../access/allowance.js'
import type { RowBudget } from '../access/allowance.js'
import type { Principal } from '../access/principal.js'
import type { RateStatus } from '../access/rate-limits.js'
import type { Catalog } from '../catalog.js'
import { readsOf } from '../control/admission-reads.js'
import type { ControlStore } from '../control/store/store.js'
import { periodsBetween, usageReport } from '../control/usage-report.js'
import { periodEnd, periodOf } from '../control/usage.js'
import { isoTime } from '../text.js'

/** A token's rights and usage (contract 4, `GET /v1/account`). Null = unlimited or none. */
export interface AccountDescription {
  readonly subscription: string
  readonly expires_at: string | null
  readonly rate_limit: {
    readonly per_minute: number
    readonly remaining: number
    /** Seconds. */
    readonly reset: number
  }
  readonly global: (RowBudget & { readonly resets_at: string }) | null
  readonly datasets: AccountDataset[]
  /** The rows of the last twelve months; the current month is last. */
  readonly months: AccountMonth[]
}

interface AccountDataset {
  readonly name: string
  readonly plan: string
  readonly history: number | 'all'
  readonly rows: RowBudget | { readonly limit: null; readonly used: null; readonly remaining: null }
  readonly resets_at: string | null
}

interface AccountMonth {
  /** `YYYY-MM`, UTC. */
  readonly month: string
  readonly dataset: string
  readonly rows: number
}

const monthsShown = 12
const uncounted = { limit: null, used: null, remaining: null } as const

/** The account of a principal now; times are ISO 8601 in UTC. */
export async function describeAccount(
  control: ControlStore,
  principal: Principal,
  catalog: Catalog,
  rate: RateStatus | undefined,
  now: number,
): Promise<AccountDescription> {
  const usage = await usageNow(readsOf(control), principal, now)
  const resetsAt = isoTime(periodEnd(usage?.period ?? periodOf(now)))
  const globalRows = principal.kind === 'demo' ? null : principal.globalRows
  return {
    subscription: principal.id,
    expires_at: principal.kind === 'demo' ? null : isoTime(principal.expiresAt),
    rate_limit: {
      per_minute: rate?.limit ?? 0,
      remaining: rate?.remaining ?? 0,
      reset: rate?.resetSeconds ?? 0,
    },
    global:
      globalRows === null
        ? null
        : { ...rowBudget(globalRows, usage?.total ?? 0), resets_at: resetsAt },
    datasets: grantedDatasets(principal, catalog).map(({ dataset, plan }) => ({
      name: dataset.name,
      plan: plan?.name ?? 'demo',
      history: plan?.history ?? 'all',
      rows: plan ? rowBudget(plan.rowsPerMonth, usage?.datasets.get(dataset.name) ?? 0) : uncounted,
      resets_at: plan ? resetsAt : null,
    })),
    months: usage ? await monthsUntil(usage.period, control, principal.id) : [],
  }
}

async function monthsUntil(
  last: string,
  control: ControlStore,
  id: string,
): Promise<AccountMonth[]> {
  const from = new Date(periodEnd(last))
  from.setUTCMonth(from.getUTCMonth() - monthsShown)
  const periods = periodsBetween(periodOf(from.getTime()), last)
  return (await usageReport(control, periods, id)).map(({ period, dataset, rows }) => ({
    month: period,
    dataset,
    rows,
  }))
}
