import t from 'tap'
import type { Test } from 'tap'
import { grantTexts } from '../../src/control/grants.js'
import { showOrder } from '../../src/control/orders.js'
import { scheduledOrders } from '../../src/control/scheduled-changes.js'
import { cancelSubscription, extendSubscription } from '../../src/control/subscription-changes.js'
import { showSubscription } from '../../src/control/subscriptions.js'
import { sql } from '../../src/control/store/sql.js'
import { confirmOrder } from '../../src/sales/orders/confirm-order.js'
import { tidyShop } from '../../src/sales/orders/tidy-shop.js'
import { connectAgent } from '../portal/fixtures/connected.js'
import { partsOf, startShop } from '../portal/fixtures/shop-world.js'

interface OrderBody {
  readonly [key: string]: unknown
  readonly number: string
  readonly state: string
}

async function account(t: Test, grants = ['things:start'], options: { shop?: string } = {}) {
  const shop = await startShop(t, options)
  const sold = await shop.world.subscribe(grants, { months: 12 })
  const post = (path: string, body: unknown, token = sold.token) =>
    shop.world.post(`/account/${path}`, token, body)
  const read = async () => (await shop.world.get('/account/orders?lang=en', sold.token)).body
  const end = async () => (await showSubscription(shop.store, sold.subscriptionId)).expiresAt
  return { shop, ...sold, post, read, end }
}

const dayMs = 24 * 3_600_000
const yearLater = Date.UTC(2027, 10, 15, 12)

await t.test('a renewal begins where the old time ends; a year costs ten months', async (t) => {
  const { shop, post, read, end } = await account(t)
  t.match(await read(), {
    contact: 'owner@example.org',
    renewal: { months: null },
    can_reissue: true,
    orders: [{ number: /^ord_/, kind: 'new', state: 'confirmed', payment: null }],
  })
  const wanted = { kind: 'renew', months: 12 }
  const quote = await post('quotes', wanted)
  t.same(quote.body, {
    amount_rub: 9900,
    expires_at: '2028-11-15T12:00:00Z',
    moves_term: false,
    later: [],
  })
  const cheaper = await post('orders?lang=ru', { ...wanted, amount_rub: 9899 })
  t.equal(cheaper.status, 400)
  t.equal(cheaper.headers['content-language'], 'ru')
  t.match(cheaper.body.detail, 'Цена')
  t.equal(
    (await read())['orders'] instanceof Array && (await shop.letters('order-received')).length,
    0,
  )

  const placed = await post('orders?lang=ru', { ...wanted, amount_rub: 9900 })
  t.equal(placed.status, 200)
  const order = placed.body as unknown as OrderBody
  t.match(order, {
    kind: 'renew',
    state: 'waiting',
    months: 12,
    amount_rub: 9900,
    items: [{ dataset: 'things', plan: 'start', title: 'Вещи', plan_title: 'start' }],
    payment: `Оплатите 9900 ₽, заказ ${order.number}.`,
    pay_until: '2026-11-29T12:00:00Z',
  })
  t.equal(await end(), yearLater, 'nothing changes before it is paid')
  t.equal((await shop.letters('order-received')).length, 1)
  t.equal((await shop.letters('new-order')).length, 1)
  await confirmOrder(partsOf(shop), order.number)
  t.equal(await end(), Date.UTC(2028, 10, 15, 12))
  const orders = (await read())['orders'] as readonly OrderBody[]
  t.match(orders.length, 2)
  t.equal(orders.filter(({ number }) => number === order.number).length, 1, 'each once')
  for (const { state } of orders) t.equal(state, 'confirmed')
})

await t.test(
  'a change that the owner enters during a confirmation has a separate receipt',
  async (t) => {
    const { shop, post, read, subscriptionId } = await account(t)
    const placed = await post('orders', { kind: 'renew', months: 1, amount_rub: 990 })
    const { number } = placed.body as unknown as OrderBody
    const parts = partsOf(shop)
    await confirmOrder(parts, number)
    // At the same millisecond, and of the same kind.
    await extendSubscription(shop.store, subscriptionId, {
      months: 1,
      priceRub: () => 500,
      now: parts.now,
    })
    const orders = (await read())['orders'] as readonly OrderBody[]
    t.equal(new Set(orders.map((each) => each.number)).size, 3)
    t.equal(orders.find((each) => each.number === number)?.['amount_rub'], 990)
    t.same(
      orders.map((each) => each['amount_rub']),
      [500, 990, 0],
      'newest first',
    )
  },
)

await t.test('a dearer plan costs the difference of begun months, and keeps the end', async (t) => {
  const { shop, post, read, end, subscriptionId } = await account(t)
  const [things, parts] = (await read())['choices'] as readonly OrderBody[]
  t.match(things, {
    dataset: 'things',
    current: 'start',
    at_end: 'start',
    plans: [{ name: 'free' }, { name: 'pro' }],
  })
  t.match(parts, { dataset: 'parts', current: null, plans: [{ name: 'free' }, { name: 'start' }] })
  shop.world.clock.ms = Date.UTC(2027, 9, 1)
  const wanted = { kind: 'change', plans: [{ dataset: 'things', plan: 'pro' }] }
  // Until 15 November: two months have begun.
  t.same((await post('quotes', wanted)).body, {
    amount_rub: 5820,
    expires_at: '2027-11-15T12:00:00Z',
    moves_term: false,
    later: [],
  })
  t.equal((await post('orders', { ...wanted, amount_rub: 5819 })).status, 400)
  const placed = await post('orders', { ...wanted, amount_rub: 5820 })
  const order = placed.body as unknown as OrderBody
  t.match(order, { kind: 'change', state: 'waiting', months: null, takes_effect_at: null })
  const [letter] = await shop.letters('order-received')
  t.match(letter?.text, 'Time: the end of the subscription stays')
  // The quote holds for 14 days, whatever is left then.
  shop.world.clock.ms += 13 * dayMs
  await confirmOrder(partsOf(shop), order.number)
  const { grants } = await showSubscription(shop.store, subscriptionId)
  t.same(grants, [{ dataset: 'things', plan: 'pro' }])
  t.equal(await end(), yearLater)
})

await t.test('shortly before the end a dearer plan begins a month of its own', async (t) => {
  const { shop, post, read, end, subscriptionId } = await account(t)
  shop.world.clock.ms = yearLater - 60_000
  const wanted = { kind: 'change', plans: [{ dataset: 'things', plan: 'pro' }] }
  // 3,900 less one unused day of 30: 990 / 30.
  t.match((await post('quotes', wanted)).body, {
    amount_rub: 3867,
    expires_at: '2027-12-15T11:59:00Z',
    moves_term: true,
  })
  const placed = await post('orders', { ...wanted, amount_rub: 3867 })
  const order = placed.body as unknown as OrderBody
  t.match(order, { state: 'waiting', months: 1 })
  t.match(await showSubscription(shop.store, subscriptionId), { grants: [{ plan: 'start' }] })
  const [letter] = await shop.letters('order-received')
  t.match(letter?.text, 'ends one month after the confirmation')
  // Paid after the end: the quote holds, and the month is whole.
  shop.world.clock.ms = yearLater + 10 * dayMs
  await tidyShop({ store: shop.store, now: () => shop.world.clock.ms })
  await confirmOrder(partsOf(shop), order.number)
  t.equal(await end(), Date.UTC(2027, 11, 25, 12))
  t.match(await showSubscription(shop.store, subscriptionId), { grants: [{ plan: 'pro' }] })
  t.match((await read())['orders'], [{ number: order.number, state: 'confirmed' }, {}])
})

await t.test('two plans of one dataset are refused without an order', async (t) => {
  const { shop, post } = await account(t)
  for (const plans of [
    ['free', 'pro'],
    ['pro', 'free'],
  ]) {
    const wanted = { kind: 'change', plans: plans.map((plan) => ({ dataset: 'things', plan })) }
    t.match(await post('quotes', wanted), { status: 400, body: { detail: /one plan for each/ } })
    t.match(await post('orders', { ...wanted, amount_rub: 99_999 }), { status: 400 })
  }
  t.same(await shop.store.all(sql`SELECT 1 FROM orders WHERE by_owner = 0`), [])
})

await t.test('a newer order takes the place of one that waits', async (t) => {
  const { post, read } = await account(t)
  await post('orders', { kind: 'renew', months: 1, amount_rub: 990 })
  await post('orders', { kind: 'renew', months: 3, amount_rub: 2970 })
  const orders = (await read())['orders'] as readonly OrderBody[]
  t.same(orders.map(({ state }) => state).sort(), ['confirmed', 'expired', 'waiting'])
})

await t.test('what can not be ordered is refused, in the language of the page', async (t) => {
  const { post, end } = await account(t)
  const cases = [
    [{ kind: 'renew', months: 0 }, 'от 1 до 120'],
    [{ kind: 'renew', months: 120 }, 'от 1 до 120'],
    [{ kind: 'change', plans: [] }, 'уже'],
    [{ kind: 'change', plans: [{ dataset: 'things', plan: 'start' }] }, 'уже'],
    [{ kind: 'change', plans: [{ dataset: 'hidden', plan: 'free' }] }, 'тариф'],
    [{ kind: 'change', plans: [{ dataset: 'unknown', plan: 'free' }] }, 'тариф'],
    [{ kind: 'change', plans: [{ dataset: 'things', plan: 'unknown' }] }, 'тариф'],
  ] as const
  for (const [wanted, words] of cases) {
    for (const path of ['quotes?lang=ru', 'orders?lang=ru']) {
      const body = path.startsWith('orders') ? { ...wanted, amount_rub: 1_000_000 } : wanted
      const answer = await post(path, body)
      t.equal(answer.status, 400, JSON.stringify(wanted))
      t.match(answer.body.detail, words)
      t.same(Object.keys(answer.body), ['error', 'detail'])
    }
  }
  for (const body of ['', '{', {}, { kind: 'renew' }, { kind: 'renew', months: '1' }, []]) {
    t.equal((await post('orders', body)).status, 400, JSON.stringify(body))
  }
  t.equal(await end(), yearLater)
})

await t.test('free plans are renewed for a year immediately', async (t) => {
  const { post, read, end } = await account(t, ['things:free'])
  t.same((await read())['renewal'], { months: 12 })
  const wanted = { kind: 'renew', months: 1 }
  t.match((await post('quotes', wanted)).body, { amount_rub: 0 })
  t.match((await post('orders', { ...wanted, amount_rub: 0 })).body, { state: 'confirmed' })
  t.equal(await end(), Date.UTC(2028, 10, 15, 12))
})

await t.test('the account of a closed shop shows the address of the owner', async (t) => {
  const { post, read } = await account(t, ['things:start'], {
    shop: 'shop: {contact: o@example.org}',
  })
  t.match(await read(), { renewal: null, choices: [], contact: 'o@example.org', can_reissue: true })
  const wanted = { kind: 'renew', months: 1 }
  t.equal((await post('quotes', wanted)).status, 404)
  t.equal((await post('orders', { ...wanted, amount_rub: 990 })).status, 404)
})

// Guarantee: only a subscription's own token reads and orders, and only for that subscription.
await t.test("other tokens can't see or place orders", async (t) => {
  const { shop, subscriptionId, tokenId, end } = await account(t)
  const now = shop.world.clock.ms
  const { access } = await connectAgent(shop.store, { subscriptionId, tokenId }, { now })
  const wanted = { kind: 'renew', months: 1 }
  for (const [token, status] of [
    ['', 401],
    ['das_demo_shop', 404],
    [access, 401],
  ] as const) {
    const answers = [
      await shop.world.get('/account/orders', token),
      await shop.world.post('/account/quotes', token, wanted),
      await shop.world.post('/account/orders', token, { ...wanted, amount_rub: 990 }),
      await shop.world.post('/account/token/code', token, {}),
      await shop.world.post('/account/token', token, { code_id: '', code: '', end_earlier: false }),
    ]
    for (const { status: got, text } of answers) {
      t.equal(got, status)
      t.notMatch(text, /sub_|ord_|das_live/)
    }
  }
  t.equal(await end(), yearLater)
  const other = await shop.world.subscribe(['parts:start'])
  const { text } = await shop.world.get('/account/orders', other.token)
  t.notMatch(text, subscriptionId)
})

await t.test('a cheaper plan takes effect at the end, and is what a renewal costs', async (t) => {
  const { shop, post, read, end, token, subscriptionId } = await account(t, ['things:pro'])
  const plansNow = async () => (await showSubscription(shop.store, subscriptionId)).grants
  const down = { kind: 'change', plans: [{ dataset: 'things', plan: 'start' }] }
  t.same((await post('quotes?lang=en', down)).body, {
    amount_rub: 0,
    expires_at: '2027-11-15T12:00:00Z',
    moves_term: false,
    later: [{ dataset: 'things', plan: 'start', title: 'Things', plan_title: 'start' }],
  })
  t.match((await post('orders', { ...down, amount_rub: 0 })).body, {
    state: 'confirmed',
    takes_effect_at: '2027-11-15T12:00:00Z',
  })
  t.same(await plansNow(), [{ dataset: 'things', plan: 'pro' }])
  const [letter] = await shop.letters('order-confirmed')
  t.match(letter?.subject, 'Your order for Things takes effect later')
  t.match(letter?.text, /Until 15 November 2027[^]*plan pro[^]*from 15 November 2027[^]*plan start/)
  t.match((await read())['choices'], [{ current: 'pro', at_end: 'start' }, {}])

  // A renewal before the end begins with the cheaper plan; until then nothing changes.
  const renewal = { kind: 'renew', months: 12 }
  t.match((await post('quotes', renewal)).body, { amount_rub: 9900 })
  const placed = await post('orders', { ...renewal, amount_rub: 9900 })
  await confirmOrder(partsOf(shop), (placed.body as unknown as OrderBody).number)
  t.equal(await end(), Date.UTC(2028, 10, 15, 12))
  t.same(await plansNow(), [{ dataset: 'things', plan: 'pro' }])
  const tidy = () => tidyShop({ store: shop.store, now: () => shop.world.clock.ms })
  const back = { kind: 'change', plans: [{ dataset: 'things', plan: 'pro' }] }
  t.match(await post('quotes?lang=en', back), { status: 400, body: { detail: /are paid/ } })
  t.match((await read())['choices'], [{ dataset: 'parts' }], 'its months are paid')
  // An order that waits over the change stays valid: its price knew of it.
  shop.world.clock.ms = yearLater - 2 * dayMs
  const more = { kind: 'change', plans: [{ dataset: 'parts', plan: 'start' }] }
  const waiting = await post('orders', { ...more, amount_rub: 1100 })
  t.match(waiting.body, { state: 'waiting', amount_rub: 1100 }, 'thirteen months, eleven count')
  await tidy()
  t.same(await plansNow(), [{ dataset: 'things', plan: 'pro' }])
  shop.world.clock.ms = yearLater
  await tidy()
  t.same(await plansNow(), [{ dataset: 'things', plan: 'start' }])
  t.equal((await shop.world.get('/v1/things?id=eq.2', token)).status, 200)
  await confirmOrder(partsOf(shop), (waiting.body as unknown as OrderBody).number)
  t.equal((await plansNow()).length, 2)
  t.equal(await end(), Date.UTC(2028, 10, 15, 12))
})

await t.test('what is scheduled can be taken back, and a newer order replaces it', async (t) => {
  const { shop, post, read, subscriptionId } = await account(t, ['things:pro'])
  const order = (plan: string) =>
    post('orders', { kind: 'change', plans: [{ dataset: 'things', plan }], amount_rub: 0 })
  const states = async () =>
    ((await read())['orders'] as readonly OrderBody[]).map(({ state, takes_effect_at: on }) =>
      on === null ? state : 'scheduled',
    )
  await order('start')
  t.equal((await order('start')).status, 400, 'it is ordered already')
  await order('free')
  t.same((await states()).sort(), ['confirmed', 'expired', 'scheduled'])
  t.match((await order('pro')).body, { state: 'confirmed', takes_effect_at: null })
  t.same((await states()).sort(), ['confirmed', 'confirmed', 'expired', 'expired'])
  shop.world.clock.ms = yearLater
  await tidyShop({ store: shop.store, now: () => shop.world.clock.ms })
  t.match(await showSubscription(shop.store, subscriptionId), { grants: [{ plan: 'pro' }] })
  t.same(await shop.letters('order-confirmed'), [], 'no letter about what no longer happens')
})

await t.test('what is scheduled moves with the term, and ends with a cancellation', async (t) => {
  const { shop, post, end, subscriptionId } = await account(t, ['things:pro'])
  shop.world.clock.ms = yearLater - 5 * dayMs
  // Both at once: parts are added for a month of all plans, things get cheaper at the end.
  const both = [
    { dataset: 'things', plan: 'start' },
    { dataset: 'parts', plan: 'start' },
  ]
  // 100 + 3,900 × 25 of 30 days.
  const placed = await post('orders', { kind: 'change', plans: both, amount_rub: 3350 })
  const { number } = placed.body as unknown as OrderBody
  t.match(placed.body, { state: 'waiting', amount_rub: 3350, items: [{ dataset: 'parts' }] })
  shop.world.clock.ms = yearLater + dayMs
  const tidy = () => tidyShop({ store: shop.store, now: () => shop.world.clock.ms })
  await tidy()
  await confirmOrder(partsOf(shop), number)
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
