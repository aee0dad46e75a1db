import { quoted } from '../text.js'
import { RegistryError, plansOf } from './registry.js'
import type { Registry } from './registry.js'

/** A dataset and plan that live subscriptions use. */
export interface SoldPlan {
  readonly dataset: string
  readonly plan: string
}

/**
 * Requires of the next registry every plan in use that the one before has.
 * @throws RegistryError naming what live subscriptions would lose
 */
export function requireSoldPlans(
  sold: readonly SoldPlan[],
  before: Registry,
  next: Registry,
): void {
  const lost = new Map<string, number>()
  for (const { dataset, plan } of sold) {
    const known = before.datasets.get(dataset)
    if (!known || !plansOf(known).has(plan)) continue
    const entry = next.datasets.get(dataset)
    const what = !entry
      ? `dataset ${quoted(dataset)}`
      : `plan ${quoted(plan)} of dataset ${quoted(dataset)}`
    if (!entry || !plansOf(entry).has(plan)) lost.set(what, (lost.get(what) ?? 0) + 1)
  }
  if (lost.size === 0) return
  const lines = [...lost].map(([what, count]) => {
    const users = count === 1 ? '1 live subscription uses' : `${count} live subscriptions use`
    return `${what} is gone, which ${users}; put it back, or: das dataset reload --force`
  })
  throw new RegistryError(lines)
}
