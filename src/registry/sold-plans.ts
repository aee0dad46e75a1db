import { quoted } from '../text.js'
import { RegistryError, planOf } from './registry.js'
import type { Registry } from './registry.js'

/** A dataset and plan in use by a live subscription. */
export interface SoldPlan {
  readonly dataset: string
  readonly plan: string
}

/**
 * Requires that the next registry keeps every plan of the one before that live subscriptions use,
 * or every plan that they use if there is none before.
 * @throws RegistryError with each removed dataset or plan
 */
export function requireSoldPlans(
  sold: readonly SoldPlan[],
  before: Registry | null,
  next: Registry,
): void {
  const lost = new Map<string, number>()
  for (const { dataset, plan } of sold) {
    if (before && !planOf(before, { dataset, plan })) continue
    if (planOf(next, { dataset, plan })) continue
    const place = next.locate(['datasets', dataset, 'plans'])
    const name = next.datasets.has(dataset) ? `plan ${quoted(plan)} of dataset` : 'dataset'
    const removed = `${place}: ${name} ${quoted(dataset)}`
    lost.set(removed, (lost.get(removed) ?? 0) + 1)
  }
  if (lost.size === 0) return
  const lines = [...lost].map(([removed, count]) => {
    const users = count === 1 ? '1 live subscription uses' : `${count} live subscriptions use`
    return `${removed} was removed, but ${users} it; put it back, or run das dataset reload --force`
  })
  throw new RegistryError(lines)
}
