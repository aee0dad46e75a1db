import t from 'tap'
import type { Test } from 'tap'
import { grantTexts } from '../../src/control/grants.js'
import { showOrder } from '../../src/control/orders.js'
import { scheduledOrders } from '../../src/control/scheduled-changes.js'
import { cancelSubscription, extendSubscription } from '../../src/control/subscription-changes.js'
import { showSubscription } from '../../src/control/subscriptions.js'
import { sql } from '../../src/control/store/sql.js'
import { confirmOrder } from '../../src/sales/orders/confirm-order.js'
import { shopAccount } from '../../src/sales/orders/shop-account.js'
import { tidyShop } from '../../src/sales/orders/tidy-shop.js'
import { connectAgent } from '../portal/fixtures/connected.js'
import { partsOf, startShop } from '../portal/fixtures/shop-world.js'

type Fields = Readonly<Record<string, string | readonly string[]>>

/** The forms of a subscription's account, sent with its token. */
async function account(t: Test, grants = ['things:start'], options: { shop?: string } = {}) {
  const shop = await startShop(t, options)
  const sold = await shop.world.subscribe(grants, { months: 12 })
  const send = (act: string, fields: Fields, lang = 'en') =>
    shop.send(`/account?lang=${lang}`, { token: sold.token, act, ...fields })
  /** The price that a page asks for what is wanted, and what it says. */
  const quote = async (fields: Fields) => {
    const { text } = await send('quote', fields)
    const amount = /name="amount" value="(\d+)"/.exec(text)?.[1]
    return { amount, lead: /<p class="lead">(.*?)<\/p>/s.exec(text)?.[1]?.trim() }
  }
  const read = () => {
    const parts = { ...partsOf(shop), key: Buffer.alloc(32), sendLetters: () => {} }
    return shopAccount({ ...parts, isMailOn: true }, sold.subscriptionId)
  }
  /** Orders at a price; the order then, of two the one that waits. */
  const order = async (fields: Fields, amount: number) => {
    const before = new Set((await read()).orders.map(({ orderId }) => orderId))
    const answer = await send('order', { ...fields, amount: String(amount) })
    t.equal(answer.status, 200)
    const orders = (await read()).orders.filter(({ orderId }) => !before.has(orderId))
    const placed = orders.find(({ state }) => state === 'waiting') ?? orders[0]
    if (!placed) throw new Error('nothing was ordered')
    return placed
  }
  const end = async () => (await showSubscription(shop.store, sold.subscriptionId)).expiresAt
  return { shop, ...sold, send, quote, order, read, end }
}

const dayMs = 24 * 3_600_000
const yearLater = Date.UTC(2027, 10, 15, 12)

await t.test('a renewal begins where the old time ends; a year costs ten months', async (t) => {
  const { shop, send, quote, order, read, end } = await account(t)
  t.match(await read(), {
    offer: { contact: 'owner@example.org' },
    renewal: { months: null },
    canReissue: true,
    orders: [{ orderId: /^ord_/, kind: 'new', state: 'confirmed' }],
  })
  t.same(await quote({ months: '12' }), {
    amount: '9900',
    lead: 'Price: ₽9,900. The subscription then ends on November 15, 2028.',
  })
  for (const amount of ['9899', '', 'x', '-1']) {
    const cheaper = await send('order', { months: '12', amount }, 'ru')
    t.equal(cheaper.status, 400, amount)
    t.equal(cheaper.headers['content-language'], 'ru')
    t.match(cheaper.text, /role="alert">[^<]*Цена/)
  }
  t.equal((await shop.letters('order-received')).length, 0)

  const placed = await order({ months: '12' }, 9900)
  t.match(placed, {
    kind: 'renew',
    state: 'waiting',
    months: 12,
    amountRub: 9900,
    items: [{ dataset: 'things', plan: 'start' }],
    payUntil: Date.UTC(2026, 10, 29, 12),
  })
  const page = await send('', {}, 'ru')
  t.match(page.text, `Оплатите 9900 ₽, заказ ${placed.orderId}.`)
  const receipt = (await send('receipt', { order: placed.orderId }, 'ru')).text
  for (const text of ['Вещи: start', '12 месяцев', '29 ноября 2026 г.', 'Оплатите 9900 ₽']) {
    t.match(receipt.replaceAll('\u00a0', ' '), text)
  }
  t.equal(await end(), yearLater, 'nothing changes before it is paid')
  t.equal((await shop.letters('order-received')).length, 1)
  t.equal((await shop.letters('new-order')).length, 1)
  await confirmOrder(partsOf(shop), placed.orderId)
  t.equal(await end(), Date.UTC(2028, 10, 15, 12))
  const { orders } = await read()
  t.match(orders.length, 2)
  t.equal(orders.filter(({ orderId }) => orderId === placed.orderId).length, 1, 'each once')
  for (const { state } of orders) t.equal(state, 'confirmed')
  const paid = (await send('receipt', { order: placed.orderId })).text
  t.match(paid, 'done')
  t.notMatch(paid, 'How to pay')
})

await t.test(
  'a change that the owner enters during a confirmation has a separate receipt',
  async (t) => {
    const { shop, order, read, subscriptionId } = await account(t)
    const { orderId } = await order({ months: '1' }, 990)
    const parts = partsOf(shop)
    await confirmOrder(parts, orderId)
    // At the same millisecond, and of the same kind.
    await extendSubscription(shop.store, subscriptionId, {
      months: 1,
      priceRub: () => 500,
      now: parts.now,
    })
    const { orders } = await read()
    t.equal(new Set(orders.map((each) => each.orderId)).size, 3)
    t.equal(orders.find((each) => each.orderId === orderId)?.amountRub, 990)
    t.same(
      orders.map(({ amountRub }) => amountRub),
      [500, 990, 0],
      'newest first',
    )
  },
)

await t.test('a dearer plan costs the difference of begun months, and keeps the end', async (t) => {
  const { shop, send, quote, order, read, end, subscriptionId } = await account(t)
  t.match((await read()).choices, [
    {
      dataset: 'things',
      current: 'start',
      atEnd: 'start',
      plans: [{ name: 'free' }, { name: 'pro' }],
    },
    { dataset: 'parts', current: null, plans: [{ name: 'free' }, { name: 'start' }] },
  ])
  shop.world.clock.ms = Date.UTC(2027, 9, 1)
  const wanted = { plan: ['things:pro', ''] }
  // Until 15 November: two months have begun.
  t.same(await quote(wanted), {
    amount: '5820',
    lead: 'Price: ₽5,820. The end stays November 15, 2027.',
  })
  t.equal((await send('order', { ...wanted, amount: '5819' })).status, 400)
  const placed = await order(wanted, 5820)
  t.match(placed, { kind: 'change', state: 'waiting', months: null, takesEffectAt: null })
  const [letter] = await shop.letters('order-received')
  t.match(letter?.text, 'Time: the end of the subscription stays')
  // The quote holds for 14 days, whatever is left then.
  shop.world.clock.ms += 13 * dayMs
  await confirmOrder(partsOf(shop), placed.orderId)
  const { grants } = await showSubscription(shop.store, subscriptionId)
  t.same(grants, [{ dataset: 'things', plan: 'pro' }])
  t.equal(await end(), yearLater)
})

await t.test('shortly before the end a dearer plan begins a month of its own', async (t) => {
  const { shop, quote, order, read, end, subscriptionId } = await account(t)
  shop.world.clock.ms = yearLater - 60_000
  const wanted = { plan: 'things:pro' }
  // 3,900 less one unused day of 30: 990 / 30.
  t.match(await quote(wanted), {
    amount: '3867',
    lead: 'ends a month after the confirmation: confirmed today, on December 15, 2027.',
  })
  const placed = await order(wanted, 3867)
  t.match(placed, { state: 'waiting', months: 1 })
  t.match(await showSubscription(shop.store, subscriptionId), { grants: [{ plan: 'start' }] })
  const [letter] = await shop.letters('order-received')
  t.match(letter?.text, 'ends one month after the confirmation')
  // Paid after the end: the quote holds, and the month is whole.
  shop.world.clock.ms = yearLater + 10 * dayMs
  await tidyShop({ store: shop.store, now: () => shop.world.clock.ms })
  await confirmOrder(partsOf(shop), placed.orderId)
  t.equal(await end(), Date.UTC(2027, 11, 25, 12))
  t.match(await showSubscription(shop.store, subscriptionId), { grants: [{ plan: 'pro' }] })
  t.match((await read()).orders, [{ orderId: placed.orderId, state: 'confirmed' }, {}])
})

await t.test('two plans of one dataset are refused without an order', async (t) => {
  const { shop, send } = await account(t)
  for (const plan of [
    ['things:free', 'things:pro'],
    ['things:pro', 'things:free'],
  ]) {
    t.match(await send('quote', { plan }), { status: 400, text: /one plan for each/ })
    t.equal((await send('order', { plan, amount: '99999' })).status, 400)
  }
  t.same(await shop.store.all(sql`SELECT 1 FROM orders WHERE by_owner = 0`), [])
})

await t.test('a newer order takes the place of one that waits', async (t) => {
  const { order, read } = await account(t)
  await order({ months: '1' }, 990)
  await order({ months: '3' }, 2970)
  const { orders } = await read()
  t.same(orders.map(({ state }) => state).sort(), ['confirmed', 'expired', 'waiting'])
})

await t.test('a second press of the same order is no second order', async (t) => {
  const { shop, send, order, read } = await account(t)
  const { orderId } = await order({ months: '1' }, 990)
  const waiting = async () =>
    (await read()).orders.filter(({ state }) => state === 'waiting').map((each) => each.orderId)
  t.equal((await send('order', { months: '1', amount: '990' })).status, 200)
  t.same(await waiting(), [orderId])
  t.equal((await shop.letters('order-received')).length, 1, 'nor a second invoice')
  shop.world.clock.ms += 10 * 60_000
  await order({ months: '1' }, 990)
  t.notMatch(await waiting(), [orderId], 'later it is an order with a time of its own')
  const change = { plan: ['things:pro', 'parts:start'] }
  const changed = await order(change, 30_100)
  await send('order', { ...change, amount: '30100' })
  t.same(await waiting(), [changed.orderId])
  t.equal((await send('order', { plan: 'things:pro', amount: '29100' })).status, 200)
  t.not((await waiting())[0], changed.orderId, 'other plans are another order')
})

await t.test('what can not be ordered is refused, in the language of the page', async (t) => {
  const { send, read, end } = await account(t)
  const cases: readonly (readonly [Fields, string])[] = [
    [{ months: '0' }, 'от 1 до 120'],
    [{ months: '120' }, 'от 1 до 120'],
    [{ months: 'many' }, 'от 1 до 120'],
    [{ months: '1.5' }, 'от 1 до 120'],
    [{}, 'уже'],
    [{ plan: 'things:start' }, 'уже'],
    [{ plan: 'hidden:free' }, 'тариф'],
    [{ plan: 'unknown:free' }, 'тариф'],
    [{ plan: 'things:unknown' }, 'тариф'],
    [{ plan: 'things' }, 'тариф'],
  ]
  for (const [wanted, words] of cases) {
    for (const act of ['quote', 'order']) {
      const answer = await send(act, { ...wanted, amount: '1000000' }, 'ru')
      t.equal(answer.status, 400, JSON.stringify(wanted))
      t.match(/role="alert">[^<]*/.exec(answer.text)?.[0], words)
    }
  }
  t.equal((await send('receipt', { order: 'ord_0123456789abcdef' })).status, 404)
  t.equal((await read()).orders.length, 1)
  t.equal(await end(), yearLater)
})

await t.test('free plans are renewed for a year, at once, in the last month', async (t) => {
  const { shop, send, quote, order, read, end } = await account(t, ['things:free'])
  const { clock } = shop.world
  const early = async () => {
    t.equal((await read()).renewal, 'early')
    for (const act of ['quote', 'order']) {
      const { status, text } = await send(act, { months: '1', amount: '0' })
      t.equal(status, 400)
      t.match(text, 'renewed in the last month')
    }
    t.equal((await read()).orders.length, 1, 'nothing was ordered')
  }
  await early()
  clock.ms = Date.UTC(2027, 9, 15, 12) - 1
  await early()
  clock.ms += 1
  t.same((await read()).renewal, { months: 12 })
  t.match(await quote({ months: '1' }), { amount: '0', lead: 'Price: Free.' })
  t.match(await order({ months: '1' }, 0), { kind: 'renew', state: 'confirmed' })
  t.equal(await end(), Date.UTC(2028, 10, 15, 12))
  t.equal((await read()).renewal, 'early', 'once')
  const again = await send('order', { months: '12', amount: '0' })
  t.equal(again.status, 200, 'a second press shows the renewal')
  t.notMatch(again.text, 'role="alert"')
  t.equal((await read()).orders.length, 2, 'and makes none')
  t.equal(await end(), Date.UTC(2028, 10, 15, 12))
  t.equal((await send('quote', { months: '12' })).status, 400, 'which is not offered again')
  clock.ms += 10 * 60_000
  t.equal((await send('order', { months: '12', amount: '0' })).status, 400, 'later it is early')
  clock.ms = Date.UTC(2028, 11, 1, 12)
  t.same((await read()).renewal, { months: 12 }, 'one that is over begins again')
})

await t.test('the account of a closed shop shows the address of the owner', async (t) => {
  const { send } = await account(t, ['things:start'], { shop: 'shop: {contact: o@example.org}' })
  const { text } = await send('', {})
  t.match(text, 'href="mailto:o@example.org"')
  t.notMatch(text, 'value="quote"')
  t.match(text, 'value="code"', 'its token can be replaced')
  t.equal((await send('quote', { months: '1' })).status, 404)
  t.equal((await send('order', { months: '1', amount: '990' })).status, 404)
})

// Guarantee: only a subscription's own token reads and orders, and only for that subscription.
await t.test("other tokens can't see or place orders", async (t) => {
  const { shop, read, subscriptionId, tokenId, end } = await account(t)
  const now = shop.world.clock.ms
  const { access } = await connectAgent(shop.store, { subscriptionId, tokenId }, { now })
  const [{ orderId = '' } = {}] = (await read()).orders
  for (const [token, status] of [
    ['', 401],
    ['das_demo_shop', 404],
    [access, 401],
  ] as const) {
    for (const fields of [
      { act: 'quote', months: '1' },
      { act: 'order', months: '1', amount: '990' },
      { act: 'receipt', order: orderId },
      { act: 'code' },
      { act: 'reissue', id: '', code: '' },
    ]) {
      const answer = await shop.send('/account', { token, ...fields })
      t.equal(answer.status, status, fields.act)
      t.notMatch(answer.text, /sub_|ord_|das_live/)
    }
  }
  t.equal(await end(), yearLater)
  const other = await shop.world.subscribe(['parts:start'])
  const theirs = await shop.send('/account', { token: other.token, act: 'receipt', order: orderId })
  t.equal(theirs.status, 404)
  t.notMatch(theirs.text, subscriptionId)
  t.notMatch(theirs.text, orderId)
})

await t.test('a cheaper plan takes effect at the end, and is what a renewal costs', async (t) => {
  const { shop, send, quote, order, read, end, token, subscriptionId } = await account(t, [
    'things:pro',
  ])
  const plansNow = async () => (await showSubscription(shop.store, subscriptionId)).grants
  const down = { plan: 'things:start' }
  t.same(await quote(down), {
    amount: '0',
    lead: 'Price: Free. The end stays November 15, 2027. From its end on: Things: start.',
  })
  t.match(await order(down, 0), { state: 'confirmed', takesEffectAt: yearLater })
  t.same(await plansNow(), [{ dataset: 'things', plan: 'pro' }])
  const [letter] = await shop.letters('order-confirmed')
  t.match(letter?.subject, 'Your order for Things takes effect later')
  t.match(letter?.text, /Until 15 November 2027[^]*plan pro[^]*from 15 November 2027[^]*plan start/)
  t.match((await read()).choices, [{ current: 'pro', atEnd: 'start' }, {}])
  const page = (await send('', {})).text
  t.match(page, 'pro until the end of the paid time, then start')
  t.match(page, 'takes effect on November 15, 2027')

  // A renewal before the end begins with the cheaper plan; until then nothing changes.
  t.match(await quote({ months: '12' }), { amount: '9900' })
  const renewal = await order({ months: '12' }, 9900)
  await confirmOrder(partsOf(shop), renewal.orderId)
  t.equal(await end(), Date.UTC(2028, 10, 15, 12))
  t.same(await plansNow(), [{ dataset: 'things', plan: 'pro' }])
  const tidy = () => tidyShop({ store: shop.store, now: () => shop.world.clock.ms })
  t.match(await send('quote', { plan: 'things:pro' }), { status: 400, text: /are paid/ })
  t.match((await read()).choices, [{ dataset: 'parts' }], 'its months are paid')
  // An order that waits over the change stays valid: its price knew of it.
  shop.world.clock.ms = yearLater - 2 * dayMs
  const waiting = await order({ plan: 'parts:start' }, 1100)
  t.match(waiting, { state: 'waiting', amountRub: 1100 }, 'thirteen months, eleven count')
  await tidy()
  t.same(await plansNow(), [{ dataset: 'things', plan: 'pro' }])
  shop.world.clock.ms = yearLater
  await tidy()
  t.same(await plansNow(), [{ dataset: 'things', plan: 'start' }])
  t.equal((await shop.world.get('/v1/things?id=eq.2', token)).status, 200)
  await confirmOrder(partsOf(shop), waiting.orderId)
  t.equal((await plansNow()).length, 2)
  t.equal(await end(), Date.UTC(2028, 10, 15, 12))
})

await t.test('what is scheduled can be taken back, and a newer order replaces it', async (t) => {
  const { shop, send, order, read, subscriptionId } = await account(t, ['things:pro'])
  const states = async () =>
    (await read()).orders.map(({ state, takesEffectAt }) =>
      takesEffectAt === null ? state : 'scheduled',
    )
  await order({ plan: 'things:start' }, 0)
  const again = await send('order', { plan: 'things:start', amount: '0' })
  t.equal(again.status, 400, 'it is ordered already')
  await order({ plan: 'things:free' }, 0)
  t.same((await states()).sort(), ['confirmed', 'expired', 'scheduled'])
  t.match(await order({ plan: 'things:pro' }, 0), { state: 'confirmed', takesEffectAt: null })
  t.same((await states()).sort(), ['confirmed', 'confirmed', 'expired', 'expired'])
  shop.world.clock.ms = yearLater
  await tidyShop({ store: shop.store, now: () => shop.world.clock.ms })
  t.match(await showSubscription(shop.store, subscriptionId), { grants: [{ plan: 'pro' }] })
  t.same(await shop.letters('order-confirmed'), [], 'no letter about what no longer happens')
})

await t.test('what is scheduled moves with the term, and ends with a cancellation', async (t) => {
  const { shop, order, end, subscriptionId } = await account(t, ['things:pro'])
  shop.world.clock.ms = yearLater - 5 * dayMs
  // Both at once: parts are added for a month of all plans, things get cheaper at the end.
  // 100 + 3,900 × 25 of 30 days.
  const placed = await order({ plan: ['things:start', 'parts:start'] }, 3350)
  t.match(placed, { state: 'waiting', amountRub: 3350, items: [{ dataset: 'parts' }] })
  shop.world.clock.ms = yearLater + dayMs
  const tidy = () => tidyShop({ store: shop.store, now: () => shop.world.clock.ms })
  await tidy()
  await confirmOrder(partsOf(shop), placed.orderId)
  const plans = async () => grantTexts((await showSubscription(shop.store, subscriptionId)).grants)
  t.same(await plans(), ['parts:start', 'things:pro'], 'a month of all that was paid')
  t.equal(await end(), Date.UTC(2027, 11, 16, 12))
  const [scheduled] = await scheduledOrders(shop.store, subscriptionId)
  t.equal(scheduled?.takesEffectAt, await end())
  await cancelSubscription(shop.store, subscriptionId, () => shop.world.clock.ms)
  shop.world.clock.ms = Date.UTC(2028, 0, 1)
  await tidy()
  t.same(await plans(), ['parts:start', 'things:pro'])
  t.match(await showOrder(shop.store, scheduled?.orderId ?? ''), { state: 'expired' })
})
