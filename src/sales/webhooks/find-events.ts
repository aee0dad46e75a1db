import type { Catalog } from '../../catalog.js'
import { dayMs } from '../../clock.js'
import { endingSubscriptions, watchedUsage } from '../../control/hooks/events.js'
import type { HookEvent, WatchedUsage } from '../../control/hooks/events.js'
import { inOrder } from '../../control/in-order.js'
import type { ControlStore } from '../../control/store/store.js'
import { periodOf } from '../../control/usage.js'
import { remindAheadMs } from '../letters/letter-sender.js'

/** A month that has just ended is still looked at: servers stop, and receivers are slow. */
const lastLookMs = dayMs

/**
 * The events that the control store shows now, also those that are recorded already: quotas that
 * are used, by the charges of all servers, and subscriptions that end within seven days.
 */
export async function findEvents(
  store: ControlStore,
  catalog: Catalog,
  now: number,
): Promise<readonly HookEvent[]> {
  const ending = await endingSubscriptions(store, { now, aheadMs: remindAheadMs })
  const periods = new Set([periodOf(now - lastLookMs), periodOf(now)])
  const usage = (await inOrder([...periods], (period) => watchedUsage(store, period))).flat()
  const ofDatasets = usage.flatMap((each) => {
    const plan = catalog.datasets.get(each.dataset)?.plans.get(each.plan ?? '')
    return quotaEvents(each, plan?.rowsPerMonth ?? null)
  })
  const ofAll = overall(usage).flatMap((each) => quotaEvents(each, each.globalRows))
  return [...ending, ...ofDatasets, ...ofAll]
}

/** The usage over all datasets: its dataset has no name. */
function overall(usage: readonly WatchedUsage[]): readonly WatchedUsage[] {
  const sums = new Map<string, WatchedUsage>()
  for (const each of usage) {
    const key = `${each.subscriptionId} ${each.period}`
    const used = each.used + (sums.get(key)?.used ?? 0)
    sums.set(key, { ...each, dataset: '', used })
  }
  return [...sums.values()]
}

function quotaEvents(
  { subscriptionId, period, dataset, used }: WatchedUsage,
  limit: number | null,
): readonly HookEvent[] {
  if (limit === null) return []
  const data = { dataset: dataset === '' ? null : dataset, used, limit }
  const event = { subscriptionId, dataset, occasion: period, data }
  return [
    ...(used * 5 >= limit * 4 ? [{ type: 'quota.80', ...event } as const] : []),
    ...(used >= limit ? [{ type: 'quota.used', ...event } as const] : []),
  ]
}
