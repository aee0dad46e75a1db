import t from 'tap'
import { addMonths } from '../../../src/control/subscriptions.js'
import { changePriceRub } from '../../../src/sales/orders/change-price.js'

const now = Date.UTC(2026, 10, 15, 12)
const upgrade = { before: 990, after: 3900 }
const dayMs = 86_400_000

function priceFor(expiresAt: number, { before, after } = upgrade): number {
  const prices = { before: new Map([['things', before]]), after: new Map([['things', after]]) }
  return changePriceRub({ ...prices, now, expiresAt })
}

await t.test('an upgrade costs the difference for the time that is left', (t) => {
  const months = (count: number) => priceFor(addMonths(now, count))
  t.equal(months(1), 2910)
  t.equal(months(3), 8730)
  t.equal(months(10), 29_100)
  t.equal(months(11), 29_100, 'ten months at most are paid of a year')
  t.equal(months(12), 29_100)
  t.equal(months(13), 32_010)
  t.equal(months(24), 58_200)
  t.equal(months(120), 291_000)
  t.end()
})

await t.test('a part of a month counts by its share, rounded down to the rouble', (t) => {
  t.equal(priceFor(addMonths(now, 1) + 31 * dayMs * 0.5), 2910 + 1455, 'half of the next 31')
  t.equal(priceFor(addMonths(now, 2) - 1), 2 * 2910 - 1)
  t.end()
})

// All rows of a month can be read in its last hour.
await t.test('an upgrade costs at least the difference of one month', (t) => {
  for (const leftMs of [1, 3_600_000, 15 * dayMs, 29 * dayMs]) {
    t.equal(priceFor(now + leftMs), 2910, `${leftMs} ms`)
  }
  t.equal(priceFor(addMonths(now, 1) - 1), 2910)
  t.equal(priceFor(now), 0)
  t.equal(priceFor(now - 1), 0, 'nothing is left')
  t.end()
})

await t.test(
  'plans that are not more expensive are free, and a longer time never costs less',
  (t) => {
    t.equal(priceFor(addMonths(now, 5), { before: 3900, after: 990 }), 0)
    t.equal(priceFor(addMonths(now, 5), { before: 990, after: 990 }), 0)
    let last = 0
    for (let days = 0; days <= 900; days += 1) {
      const price = priceFor(now + days * dayMs)
      if (price < last) t.fail(`day ${days} costs ${price}, the day before ${last}`)
      last = price
    }
    t.equal(priceFor(addMonths(now, 120), { before: 0, after: 10_000_000 }), 1_000_000_000)
    t.end()
  },
)

// Each dataset has a quota of its own: a price that went to and fro would read all of them for one.
await t.test('a cheaper plan does not pay for a more expensive one of another dataset', (t) => {
  const before = new Map([
    ['things', 3900],
    ['parts', 0],
  ])
  const after = new Map([
    ['things', 0],
    ['parts', 3900],
    ['tools', 100],
  ])
  const expiresAt = addMonths(now, 1)
  t.equal(changePriceRub({ before, after, now, expiresAt }), 4000)
  t.equal(changePriceRub({ before, after: new Map([['parts', 0]]), now, expiresAt }), 0)
  t.end()
})
