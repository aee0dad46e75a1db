import { grantedDatasets } from '../access/access.js'
import { rowBudget, usageNow } from '../access/allowance.js'
import type { Principal } from '../access/principal.js'
import type { RateStatus } from '../access/rate-limits.js'
import type { Catalog } from '../catalog.js'
import { readsOf } from '../control/admission-reads.js'
import type { ControlStore } from '../control/store/store.js'
import { periodsBetween, usageReport } from '../control/usage-report.js'
import { periodEnd, periodOf } from '../control/usage.js'
import { isoTime } from '../text.js'
import type { AccountDescription } from './answer-schemas.js'

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
): Promise<AccountDescription['months']> {
  const from = new Date(periodEnd(last))
  from.setUTCMonth(from.getUTCMonth() - monthsShown)
  const periods = periodsBetween(periodOf(from.getTime()), last)
  return (await usageReport(control, periods, id)).map(({ period, dataset, rows }) => ({
    month: period,
    dataset,
    rows,
  }))
}
