import type { Grant } from '../../control/grants.js'
import { grantsAtEnd, paidDatasets } from '../../control/scheduled-changes.js'
import type { ControlStore } from '../../control/store/store.js'
import { changedGrants } from '../../control/subscription-changes.js'
import type { SubscriptionChange } from '../../control/subscription-changes.js'
import type { Subscription } from '../../control/subscriptions.js'
import { badRequest } from '../../errors.js'
import type { Registry } from '../../registry/registry.js'
import { termsOfChange } from '../../sales/orders/change-price.js'
import { plansOfGrants } from './plan-options.js'

type PricedChange = Omit<SubscriptionChange, 'now'>

/**
 * A change by the rule of the portal: what takes effect at once, with its price, and what does at
 * the end of the term. @throws bad_request where `--now` alone can do it
 */
export async function splitChange(
  store: ControlStore,
  registry: Registry,
  before: Subscription,
  wanted: PricedChange,
  now: number,
): Promise<{ readonly change: PricedChange; readonly later: readonly Grant[] }> {
  const { grants, withdrawn } = wanted
  if (grants.length + withdrawn.length === 0) return { change: wanted, later: [] }
  changedGrants({ grants: await grantsAtEnd(store, before) }, wanted)
  const prices = (all: readonly Grant[]) =>
    new Map(plansOfGrants(registry, all).map(({ dataset, plan }) => [dataset, plan.priceRub]))
  const terms = termsOfChange({
    before: prices(before.grants),
    after: prices(changedGrants(before, wanted)),
    now,
    expiresAt: before.expiresAt,
    anchorDay: before.anchorDay,
  })
  const isLater = (dataset: string) => terms.later.has(dataset)
  const named = [...grants, ...withdrawn.map((dataset) => ({ dataset, plan: '' }))]
  const paid = await paidDatasets(store, before)
  if (named.some(({ dataset }) => paid.includes(dataset))) {
    throw badRequest('The months after a scheduled change of this plan are paid. Use --now.')
  }
  return {
    change: {
      ...wanted,
      grants: grants.filter(({ dataset }) => !isLater(dataset)),
      withdrawn: withdrawn.filter((dataset) => !isLater(dataset)),
      priceRub: terms.amountRub,
      months: terms.months ?? undefined,
    },
    later: named.filter(({ dataset }) => isLater(dataset)),
  }
}
