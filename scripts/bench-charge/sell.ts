import type { ControlStore } from '../../src/control/store/store.js'
import { createSubscription } from '../../src/control/subscriptions.js'

/** The dataset and the plan that the benchmark reads. */
export const grant = { dataset: 'financials', plan: 'bench' } as const

/** Sells a subscription to the benchmark's plan. */
export function sellBenchPlan(control: ControlStore) {
  return createSubscription(control, {
    email: 'bench@example.org',
    grants: [grant],
    months: 1,
    globalRows: null,
    priceRub: 0,
    language: 'en',
    now: Date.now,
  })
}
