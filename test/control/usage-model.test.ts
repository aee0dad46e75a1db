import fc from 'fast-check'
import t from 'tap'
import { chargeAll, readUsage } from '../../src/control/usage.js'
import type { Charge, ChargeResult } from '../../src/control/usage.js'
import { openStore, storePath, subscribe } from './fixtures/store.js'
import { runs } from '../support/runs.js'

// Guarantee: what is granted never passes a cap, and nothing is refused that a cap still leaves.

type Request = Omit<Charge, 'subscriptionId'>

const cap = fc.option(fc.integer({ min: 0, max: 60 }))
const request: fc.Arbitrary<Request> = fc.record({
  dataset: fc.constantFrom('a', 'b', 'c'),
  period: fc.constantFrom('2026-11', '2026-12', '2027-01'),
  rows: fc.integer({ min: 0, max: 30 }),
  allOrNone: fc.boolean(),
  datasetRowsMax: cap,
  globalRowsMax: cap,
})

/** The rule in plain JavaScript: one number per month and dataset, and the newest month. */
class Model {
  #newest = ''
  readonly #used = new Map<string, Map<string, number>>()

  charge(request: Request): ChargeResult {
    const period = request.period > this.#newest ? request.period : this.#newest
    const used = this.#used.get(period) ?? new Map<string, number>()
    const before = used.get(request.dataset) ?? 0
    const total = [...used.values()].reduce((sum, rows) => sum + rows, 0)
    let granted = 0
    while (
      granted < request.rows &&
      (request.datasetRowsMax === null || before + granted < request.datasetRowsMax) &&
      (request.globalRowsMax === null || total + granted < request.globalRowsMax)
    ) {
      granted += 1
    }
    if (request.allOrNone && granted < request.rows) granted = 0
    if (granted > 0) {
      this.#newest = period
      this.#used.set(period, used.set(request.dataset, before + granted))
    }
    return { granted, period, datasetUsed: before + granted, globalUsed: total + granted }
  }
}

await t.test(
  'any charges in any batches over two connections give what the rule says',
  async (t) => {
    const path = storePath(t)
    const stores = [openStore(t, path), openStore(t, path)] as const
    const batch = fc.record({
      store: fc.constantFrom(...stores),
      requests: fc.array(request, { maxLength: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { maxLength: 8 }), async (batches) => {
        const { subscriptionId } = await subscribe(stores[0])
        const model = new Model()
        for (const { store, requests } of batches) {
          const charges = requests.map((one) => ({ ...one, subscriptionId }))
          const results = await chargeAll(store, charges)
          const expected = requests.map((one) => model.charge(one))
          if (JSON.stringify(results) !== JSON.stringify(expected)) return false
        }
        return true
      }),
      { numRuns: runs(130) },
    )
  },
)

await t.test(
  'under steady caps every month ends at the cap or at what was asked, exactly',
  async (t) => {
    const path = storePath(t)
    const stores = [openStore(t, path), openStore(t, path)] as const
    const asked = fc.record({
      store: fc.constantFrom(...stores),
      rows: fc.integer({ min: 1, max: 40 }),
    })
    const capRows = fc.integer({ min: 0, max: 200 })
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { maxLength: 20 }), capRows, async (all, datasetRowsMax) => {
        const { subscriptionId } = await subscribe(stores[0])
        const period = '2026-06'
        const granted: ChargeResult[] = []
        for (const { store, rows } of all) {
          const caps = { datasetRowsMax, globalRowsMax: null }
          const charge = { subscriptionId, dataset: 'a', period, rows, ...caps }
          granted.push(...(await chargeAll(store, [charge])))
        }
        const sum = granted.reduce((total, result) => total + result.granted, 0)
        const wanted = all.reduce((total, { rows }) => total + rows, 0)
        return (
          sum === Math.min(wanted, datasetRowsMax) &&
          (await readUsage(stores[1], subscriptionId, period)).total === sum
        )
      }),
      { numRuns: runs(50) },
    )
  },
)
