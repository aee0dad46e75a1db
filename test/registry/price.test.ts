import t from 'tap'
import { priceRub } from '../../src/registry/price.js'

/** The plan table of the specification, section 8. */
const monthly = { free: 0, start: 990, pro: 3900, business: 9900 } as const

await t.test('a year costs as much as 10 months, and further months are paid singly', (t) => {
  const table = {
    free: { 1: 0, 12: 0, 13: 0, 24: 0 },
    start: { 1: 990, 12: 9900, 13: 10_890, 24: 19_800 },
    pro: { 1: 3900, 12: 39_000, 13: 42_900, 24: 78_000 },
    business: { 1: 9900, 12: 99_000, 13: 108_900, 24: 198_000 },
  }
  for (const [plan, prices] of Object.entries(table)) {
    const price = monthly[plan as keyof typeof monthly]
    for (const [months, expected] of Object.entries(prices)) {
      t.equal(
        priceRub([{ priceRub: price }], Number(months)),
        expected,
        `${plan}, ${months} months`,
      )
    }
  }
  t.equal(priceRub([{ priceRub: 990 }], 11), 10_890, '11 months have no discount')
  t.equal(priceRub([{ priceRub: 990 }], 120), 99_000)
  t.end()
})

await t.test('several datasets in one subscription cost the sum of their plans', (t) => {
  const plans = [{ priceRub: 990 }, { priceRub: 2900 }, { priceRub: 0 }]
  t.equal(priceRub(plans, 1), 3890)
  t.equal(priceRub(plans, 12), 38_900)
  t.equal(priceRub(plans, 13), 42_790)
  t.equal(priceRub(plans, 24), 77_800)
  t.equal(priceRub([], 12), 0)
  t.end()
})
