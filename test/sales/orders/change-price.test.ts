import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { ordersOfSubscription, showOrder } from '../../../src/control/orders.js'
import type { Grant } from '../../../src/control/grants.js'
import { scheduleByOwner } from '../../../src/control/scheduled-changes.js'
import { changeSubscription } from '../../../src/control/subscription-changes.js'
import { createSubscription, showSubscription } from '../../../src/control/subscriptions.js'
import { splitChange } from '../../../src/cli/subscription/split-change.js'
import { parseRegistry, planOf } from '../../../src/registry/registry.js'
import { termsOfChange } from '../../../src/sales/orders/change-price.js'
import { confirmOrder } from '../../../src/sales/orders/confirm-order.js'
import { quoteNew } from '../../../src/sales/orders/new-order.js'
import { paperOf } from '../../../src/sales/orders/papers/paper.js'
import { placeOrder } from '../../../src/sales/orders/place-order.js'
import type { Shop } from '../../../src/sales/orders/shop.js'
import { orderChange, quoteChange } from '../../../src/sales/orders/subscription-orders.js'
import { tidyShop } from '../../../src/sales/orders/tidy-shop.js'
import { openAnyStore } from '../../control/fixtures/store.js'

/** The prices are those of the specification, section 8; `plus` costs the same as `start`. */
const registry = parseRegistry(
  `shop: {free: true, paid: true, contact: o@example.org, payment: "{order} {amount}"}
portal:
  legal: {name: Data Ltd, inn: "7707083893", address: Moscow, vat: 20}
datasets:
  f:
    title: Financials
    files: a
    listed: true
    plans:
      free: {rows_per_month: 1, history: all, price_rub: 0}
      tiny: {rows_per_month: 1, history: all, price_rub: 1}
      start: {rows_per_month: 1, history: all, price_rub: 990}
      plus: {rows_per_month: 2, history: all, price_rub: 990}
      pro: {rows_per_month: 1, history: all, price_rub: 3900}
      business: {rows_per_month: 1, history: all, price_rub: 9900}
  p:
    title: Procurement
    files: a
    listed: true
    plans:
      free: {rows_per_month: 1, history: all, price_rub: 0}
      start: {rows_per_month: 1, history: all, price_rub: 690}
      pro: {rows_per_month: 1, history: all, price_rub: 2900}
`,
  'registry.yaml',
)

/** Sold at noon of this day, UTC, for these months, with these plans. */
type Sold = readonly [day: string, months: number, plans: string]
/** What the buyer pays and has then: plans, the end, and the plans from that end on. */
type Got = readonly [rub: number, plans: string, end: string, atEnd?: string]

const year = '2027-01-15'
const month: Sold = [year, 1, 'f:start']
const lastDay = '2027-02-14T12:00'

/** `start` sold on 31 January for two months, and `pro` for those that are left at a time. */
function twoFromJanuary(at: string, left = 1) {
  const year = at.slice(0, 4)
  const sold: Sold = [`${year}-01-31`, 2, 'f:start']
  return [sold, at, 'f:pro', [2910 * left, 'f:pro', `${year}-03-31`] satisfies Got] as const
}

// By hand: pro costs 2,910 more than start, business 8,910 more; procurement's pro 2,210 more.
const table: readonly (readonly [
  what: string,
  sold: Sold,
  at: string,
  wanted: string,
  got: Got,
])[] = [
  ['a month to the millisecond', month, `${year}T12:00`, 'f:pro', [2910, 'f:pro', '2027-02-15']],
  [
    'a millisecond less moves the end by it',
    month,
    `${year}T12:00:00.001`,
    'f:pro',
    [2910, 'f:pro', '2027-02-15T12:00:00.001'],
  ],
  // A month of one that ends on the 31st is 28 February to 31 March.
  ['a month that began on the last day of a short one', ...twoFromJanuary('2027-02-28T12:00')],
  ['and hours later', ...twoFromJanuary('2027-02-28T23:59')],
  ['a millisecond before', ...twoFromJanuary('2027-02-28T11:59:59.999', 2)],
  ['of a leap year', ...twoFromJanuary('2028-02-29T12:00')],
  ['a day of 28: 2910 + 990 × 27 / 28', month, lastDay, 'f:pro', [3864, 'f:pro', '2027-03-14']],
  [
    'a minute: the day has begun',
    month,
    '2027-02-15T11:59',
    'f:pro',
    [3864, 'f:pro', '2027-03-15T11:59'],
  ],
  [
    'half a month: 2910 + 990 / 2',
    ['2027-04-01', 1, 'f:start'],
    '2027-04-16T12:00',
    'f:pro',
    [3405, 'f:pro', '2027-05-16'],
  ],
  [
    'a millisecond more than a month is two',
    [year, 2, 'f:start'],
    '2027-02-15T11:59:59.999',
    'f:pro',
    [5820, 'f:pro', '2027-03-15'],
  ],
  ['two months', [year, 2, 'f:start'], `${year}T12:00`, 'f:pro', [5820, 'f:pro', '2027-03-15']],
  ['three months', [year, 3, 'f:start'], `${year}T12:00`, 'f:pro', [8730, 'f:pro', '2027-04-15']],
  ['ten months', [year, 10, 'f:start'], `${year}T12:00`, 'f:pro', [29_100, 'f:pro', '2027-11-15']],
  [
    'eleven: ten count',
    [year, 11, 'f:start'],
    `${year}T12:00`,
    'f:pro',
    [29_100, 'f:pro', '2027-12-15'],
  ],
  [
    'twelve: ten count',
    [year, 12, 'f:start'],
    `${year}T12:00`,
    'f:pro',
    [29_100, 'f:pro', '2028-01-15'],
  ],
  [
    'eleven and a day are twelve',
    [year, 12, 'f:start'],
    lastDay,
    'f:pro',
    [29_100, 'f:pro', '2028-01-15'],
  ],
  [
    'thirteen: eleven count',
    [year, 13, 'f:start'],
    `${year}T12:00`,
    'f:pro',
    [32_010, 'f:pro', '2028-02-15'],
  ],
  [
    'twenty-three: ten and ten',
    [year, 23, 'f:start'],
    `${year}T12:00`,
    'f:pro',
    [58_200, 'f:pro', '2028-12-15'],
  ],
  ['twenty-four', [year, 24, 'f:start'], `${year}T12:00`, 'f:pro', [58_200, 'f:pro', '2029-01-15']],
  ['thirty-six', [year, 36, 'f:start'], `${year}T12:00`, 'f:pro', [87_300, 'f:pro', '2030-01-15']],
  [
    'a hundred and twenty',
    [year, 120, 'f:start'],
    `${year}T12:00`,
    'f:pro',
    [291_000, 'f:pro', '2037-01-15'],
  ],
  ['free to paid', [year, 1, 'f:free'], `${year}T12:00`, 'f:start', [990, 'f:start', '2027-02-15']],
  [
    'free to paid, a year',
    [year, 12, 'f:free'],
    `${year}T12:00`,
    'f:pro',
    [39_000, 'f:pro', '2028-01-15'],
  ],
  ['free to paid, a day', [year, 1, 'f:free'], lastDay, 'f:start', [990, 'f:start', '2027-03-14']],
  [
    'from one rouble, a day: 989 + 27 / 28',
    [year, 1, 'f:tiny'],
    lastDay,
    'f:start',
    [989, 'f:start', '2027-03-14'],
  ],
  [
    'to business, half a year',
    [year, 6, 'f:start'],
    `${year}T12:00`,
    'f:business',
    [53_460, 'f:business', '2027-07-15'],
  ],
  [
    'a dataset more',
    [year, 3, 'f:start'],
    `${year}T12:00`,
    'p:start',
    [2070, 'f:start p:start', '2027-04-15'],
  ],
  [
    'a dataset more, a day: 690 + 954',
    month,
    lastDay,
    'p:start',
    [1644, 'f:start p:start', '2027-03-14'],
  ],
  [
    'a free dataset more moves nothing',
    month,
    lastDay,
    'p:free',
    [0, 'f:start p:free', '2027-02-15'],
  ],
  ['another plan of the same price', month, lastDay, 'f:plus', [0, 'f:plus', '2027-02-15']],
  [
    'two dearer plans',
    [year, 2, 'f:start p:start'],
    `${year}T12:00`,
    'f:pro p:pro',
    [10_240, 'f:pro p:pro', '2027-03-15'],
  ],
  [
    'a cheaper plan waits',
    [year, 6, 'f:pro'],
    `${year}T12:00`,
    'f:start',
    [0, 'f:pro', '2027-07-15', 'f:start'],
  ],
  ['a free plan waits', month, lastDay, 'f:free', [0, 'f:start', '2027-02-15', 'f:free']],
  [
    'one dearer, one cheaper',
    [year, 3, 'f:pro p:start'],
    `${year}T12:00`,
    'f:start p:pro',
    [6630, 'f:pro p:pro', '2027-04-15', 'f:start p:pro'],
  ],
  [
    'the same, a day: 2210 + 4590 × 27 / 28',
    [year, 1, 'f:pro p:start'],
    lastDay,
    'f:start p:pro',
    [6636, 'f:pro p:pro', '2027-03-14', 'f:start p:pro'],
  ],
  [
    'a month to a shorter one',
    ['2027-01-31', 1, 'f:start'],
    '2027-01-31T12:00',
    'f:pro',
    [2910, 'f:pro', '2027-02-28'],
  ],
  [
    '30 January to the end of February',
    ['2026-12-31', 2, 'f:start'],
    '2027-01-30T12:00',
    'f:pro',
    [2910, 'f:pro', '2027-02-28'],
  ],
  [
    '29 February to the end of March',
    ['2028-01-31', 2, 'f:start'],
    '2028-02-29T12:00',
    'f:pro',
    [2910, 'f:pro', '2028-03-31'],
  ],
  [
    'a removed dataset stays until the end',
    [year, 3, 'f:start p:pro'],
    `${year}T12:00`,
    '-p',
    [0, 'f:start p:pro', '2027-04-15', 'f:start'],
  ],
  [
    'a removed free dataset goes at once',
    [year, 3, 'f:start p:free'],
    `${year}T12:00`,
    '-p',
    [0, 'f:start', '2027-04-15'],
  ],
  [
    'one removed, one dearer',
    [year, 1, 'f:start p:pro'],
    `${year}T12:00`,
    'f:pro -p',
    [2910, 'f:pro p:pro', '2027-02-15', 'f:pro'],
  ],
  [
    'the same, a day: 2910 + 3890 × 27 / 28',
    [year, 1, 'f:start p:pro'],
    lastDay,
    'f:pro -p',
    [6661, 'f:pro p:pro', '2027-03-14', 'f:pro'],
  ],
]

const at = (text: string) => Date.parse(`${text.includes('T') ? text : `${text}T12:00`}Z`)
const grantsIn = (text: string): Grant[] =>
  text.split(' ').flatMap((each) => {
    const [dataset = '', plan = ''] = each.split(':')
    return dataset.startsWith('-') ? [] : [{ dataset, plan }]
  })
const removedIn = (text: string) =>
  text.split(' ').flatMap((each) => (each.startsWith('-') ? [each.slice(1)] : []))
const shown = (grants: readonly Grant[]) =>
  grants.map(({ dataset, plan }) => `${dataset}:${plan}`).join(' ')
const pricesOf = (grants: readonly Grant[]) =>
  new Map(grants.map((grant) => [grant.dataset, planOf(registry, grant)?.priceRub ?? NaN]))

const store = openAnyStore(t)
const clock = { ms: 0 }
const shop: Shop = {
  store,
  registry: () => registry,
  key: randomBytes(32),
  mailKey: randomBytes(32),
  now: () => clock.ms,
  isMailOn: true,
  sendLetters: () => undefined,
}

/** Sells at the time of the clock. */
async function sell([day, months, plans]: Sold, email: string): Promise<string> {
  clock.ms = at(day)
  const sale = { email, grants: grantsIn(plans), months, globalRows: null, priceRub: 0 }
  const now = () => clock.ms
  return (await createSubscription(store, { ...sale, language: 'en', now })).subscriptionId
}

/** As `das subscription change` does, which alone removes datasets. */
async function changeByOwner(id: string, wanted: string): Promise<number> {
  const before = await showSubscription(store, id)
  const change = { grants: grantsIn(wanted), withdrawn: removedIn(wanted) }
  const split = await splitChange(store, registry, before, change, clock.ms)
  const after = await changeSubscription(store, id, { ...split.change, now: () => clock.ms })
  if (split.later.length > 0) await scheduleByOwner(store, after, split.later, clock.ms)
  return split.change.priceRub ?? 0
}

async function changeByBuyer(t: Test, id: string, wanted: string): Promise<number> {
  const { amountRub } = await quoteChange(shop, id, grantsIn(wanted))
  const placed = await orderChange(shop, id, grantsIn(wanted), amountRub)
  if (placed.kind === 'waiting') {
    const { orderId, basedOn } = placed.order
    t.equal(placed.order.amountRub, amountRub)
    t.ok(basedOn)
    t.match(paperOf(registry, await showOrder(store, orderId)), { kind: 'invoice' })
    await confirmOrder(shop, orderId)
    const receipt = paperOf(registry, await showOrder(store, orderId))
    t.match(receipt, { kind: 'receipt', lines: [[/^Change of plans/, roubles(amountRub)]] })
  }
  return amountRub
}

const roubles = (rub: number) => `${new Intl.NumberFormat('en').format(rub)}.00\u00a0₽`

let buyers = 0
for (const [what, sold, time, wanted, [rub, plans, end, atEnd = plans]] of table) {
  const email = `buyer${(buyers += 1)}@example.org`
  await t.test(`${what}: ${sold[2]}, ${wanted} at ${time}`, async (t) => {
    const id = await sell(sold, email)
    const before = await showSubscription(store, id)
    const isTheirs = removedIn(wanted).length === 0
    clock.ms = at(time)
    const named = new Map(before.grants.map(({ dataset, plan }) => [dataset, plan]))
    for (const dataset of removedIn(wanted)) named.delete(dataset)
    for (const { dataset, plan } of grantsIn(wanted)) named.set(dataset, plan)
    const after = [...named].map(([dataset, plan]) => ({ dataset, plan }))
    const prices = { before: pricesOf(before.grants), after: pricesOf(after) }
    const { expiresAt, anchorDay } = before
    const terms = termsOfChange({ ...prices, now: clock.ms, expiresAt, anchorDay })
    t.equal(terms.amountRub, rub, 'the price')
    const change = isTheirs ? changeByBuyer(t, id, wanted) : changeByOwner(id, wanted)
    t.equal(await change, rub)
    const changed = await showSubscription(store, id)
    t.equal(shown(changed.grants), plans)
    t.equal(changed.expiresAt, at(end))
    const paid = (await ordersOfSubscription(store, id)).filter((each) => each.amountRub > 0)
    t.same(
      paid.map(({ kind, amountRub, receipt }) => [kind, amountRub, receipt !== null]),
      rub === 0 ? [] : [['change', rub, true]],
      'one paid order with a receipt',
    )
    clock.ms = changed.expiresAt - 1
    await tidyShop(shop)
    t.equal(shown((await showSubscription(store, id)).grants), plans, 'not before the end')
    clock.ms += 1
    await tidyShop(shop)
    const ended = await showSubscription(store, id)
    t.equal(shown(ended.grants), atEnd, 'at the end')
    t.equal(ended.expiresAt, changed.expiresAt, 'a change at the end gives no time')
  })
}

await t.test('a subscription that is over changes at once, and is paid by its renewal', (t) => {
  const [before, after] = [new Map([['f', 3900]]), new Map([['f', 990]])]
  for (const [one, other] of [
    [before, after],
    [after, before],
  ] as const) {
    const terms = termsOfChange({ before: one, after: other, now: 5, expiresAt: 5, anchorDay: 1 })
    t.same(terms, { later: new Set(), amountRub: 0, months: null })
  }
  t.end()
})

await t.test(
  'a longer time never costs less, and no time less than a month of the difference',
  (t) => {
    const prices = { before: new Map([['f', 990]]), after: new Map([['f', 3900]]) }
    const now = at(year)
    let last = 0
    for (let days = 28; days <= 900; days += 1) {
      const expiresAt = now + days * 86_400_000
      const anchorDay = new Date(expiresAt).getUTCDate()
      const terms = termsOfChange({ ...prices, now, expiresAt, anchorDay })
      if (days > 31 && terms.amountRub < last) t.fail(`day ${days} costs less than the day before`)
      if (terms.amountRub < 2910) t.fail(`day ${days} costs ${terms.amountRub}`)
      last = terms.amountRub
    }
    t.end()
  },
)

await t.test(
  'a free plan that waits for the end of a term is the one of its address',
  async (t) => {
    const id = await sell([year, 2, 'f:start'], 'free@example.org')
    await changeByBuyer(t, id, 'f:free')
    clock.ms += 3 * 24 * 3_600_000
    const quote = quoteNew(shop, { items: grantsIn('f:free'), months: 1, buyer: null })
    const facts = { kind: 'new', subscriptionId: null, basedOn: null, language: 'en' } as const
    const second = placeOrder(shop, { ...facts, ...quote, email: 'Free@example.org' })
    await t.rejects(second, { message: /^This address has a free subscription to this dataset/ })
  },
)
