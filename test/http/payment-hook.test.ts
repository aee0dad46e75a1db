import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { listActions } from '../../src/control/audit.js'
import { showOrder } from '../../src/control/orders.js'
import { paymentsOf } from '../../src/control/payments.js'
import { listSubscriptions } from '../../src/control/subscriptions.js'
import { declineOrder } from '../../src/sales/orders/decline-order.js'
import { partsOf, placePaid, startShop } from '../portal/fixtures/shop-world.js'
import type { ShopWorld } from '../portal/fixtures/shop-world.js'
import { isError } from '../support/answers.js'

const secret = `whsec_${randomBytes(32).toString('base64')}`
const settings = { paymentSecret: secret }

/** Sends a report as a payment system does, signed by the reference implementation. */
function report(
  { world }: ShopWorld,
  payment: unknown,
  {
    id = 'msg_1',
    at = world.clock.ms,
    by = secret,
    headers = {},
  }: { id?: string; at?: number; by?: string; headers?: Record<string, string> } = {},
) {
  const body = JSON.stringify(payment)
  const signature = new Webhook(by).sign(id, new Date(at), body)
  return world.get('/hooks/payment', undefined, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at / 1000)),
      'webhook-signature': signature,
      ...headers,
    },
  })
}

const paidAt = '2026-11-15T12:00:00Z'

await t.test('a payment of the right amount confirms its order, once', async (t) => {
  const shop = await startShop(t, { settings })
  const order = await placePaid(shop)
  const payment = { order, amount_rub: 990, paid_at: paidAt }
  for (const id of ['msg_1', 'msg_1', 'msg_2']) {
    const { status, text } = await report(shop, payment, { id })
    t.equal(status, 204)
    t.equal(text, '')
  }
  t.equal((await showOrder(shop.store, order)).state, 'confirmed')
  t.equal((await listSubscriptions(shop.store)).length, 1)
  t.equal((await shop.letters('new-token')).length, 1)
  t.same(
    (await paymentsOf(shop.store, order)).map(({ paymentId, outcome }) => [paymentId, outcome]),
    [
      ['msg_1', 'confirmed'],
      ['msg_2', 'not waiting'],
    ],
    'a second payment is kept for the owner',
  )
  const actions = (await listActions(shop.store, { subject: order })).map(({ action }) => action)
  t.equal(actions.filter((action) => action === 'order.confirmed').length, 1)
})

// Guarantee: no report is lost without a word: a known id with other content is not taken for a
// repetition.
await t.test('a known id with another order, amount or time is 409 and logged', async (t) => {
  const shop = await startShop(t, { settings })
  const [order, other] = [await placePaid(shop), await placePaid(shop)]
  const payment = { order, amount_rub: 990, paid_at: paidAt }
  t.equal((await report(shop, payment)).status, 204)
  for (const changed of [
    { order: other },
    { amount_rub: 989 },
    { paid_at: '2026-11-15T12:00:01Z' },
    { order: other, amount_rub: 1 },
  ]) {
    isError(t, await report(shop, { ...payment, ...changed }), 'conflict', /webhook-id/)
  }
  t.equal((await report(shop, { ...payment, paid_at: '2026-11-15T15:00:00+03:00' })).status, 204)
  t.equal((await paymentsOf(shop.store, order)).length, 1)
  t.equal((await paymentsOf(shop.store, other)).length, 0)
  t.equal((await showOrder(shop.store, other)).state, 'waiting')
  t.match(shop.world.log.join(''), 'a known webhook-id came with other content')
})

await t.test('reports at the same time confirm their order once', async (t) => {
  const shop = await startShop(t, { settings })
  const order = await placePaid(shop)
  const payment = { order, amount_rub: 990, paid_at: paidAt }
  const ids = ['msg_1', 'msg_1', 'msg_2', 'msg_3', 'msg_2', 'msg_1', 'msg_4', 'msg_4']
  const answers = await Promise.all(ids.map((id) => report(shop, payment, { id })))
  t.same(new Set(answers.map(({ status }) => status)), new Set([204]))
  const outcomes = (await paymentsOf(shop.store, order)).map(({ outcome }) => outcome)
  t.same(outcomes.sort(), ['confirmed', 'not waiting', 'not waiting', 'not waiting'])
  t.equal((await listSubscriptions(shop.store)).length, 1)
  t.equal((await shop.letters('new-token')).length, 1)
})

await t.test(
  'a payment of a wrong amount, or a late one, is stored and confirms no order',
  async (t) => {
    const shop = await startShop(t, { settings })
    const wrong = await placePaid(shop)
    t.equal((await report(shop, { order: wrong, amount_rub: 989, paid_at: paidAt })).status, 204)
    t.match(await paymentsOf(shop.store, wrong), [{ amountRub: 989, outcome: 'wrong amount' }])
    t.equal((await showOrder(shop.store, wrong)).state, 'waiting')
    const declined = await placePaid(shop)
    await declineOrder(partsOf(shop), declined)
    const late = { order: declined, amount_rub: 990, paid_at: paidAt }
    t.equal((await report(shop, late, { id: 'msg_2' })).status, 204)
    t.match(await paymentsOf(shop.store, declined), [{ outcome: 'not waiting' }])
    t.equal((await listSubscriptions(shop.store)).length, 0)
    t.match(shop.world.log.join(''), 'a payment confirmed no order')
  },
)

// Guarantee: only the holder of the secret confirms an order, and a recorded report is useless
// after five minutes. The answer does not say what was wrong, nor whether the order exists.
await t.test(
  'a report that is unsigned, forged, altered or old is refused with one text',
  async (t) => {
    const shop = await startShop(t, { settings })
    const payment = { order: await placePaid(shop), amount_rub: 990, paid_at: paidAt }
    const now = shop.world.clock.ms
    const other = `whsec_${randomBytes(32).toString('base64')}`
    const forged = [
      await report(shop, payment, { by: other }),
      await report(shop, payment, { at: now - 301_000 }),
      await report(shop, payment, { at: now + 301_000 }),
      await report(shop, payment, { headers: { 'webhook-id': 'msg_2' } }),
      await report(shop, payment, { headers: { 'webhook-timestamp': String(now / 1000 + 1) } }),
      await report(shop, payment, { headers: { 'webhook-timestamp': 'NaN' } }),
      await report(shop, payment, { headers: { 'webhook-signature': '' } }),
      await report(shop, payment, { headers: { 'webhook-signature': 'v1,AAAA' } }),
      await report(shop, payment, { headers: { 'webhook-signature': `v1a,${secret}` } }),
      await report(shop, { ...payment, order: 'ord_0000000000000000' }, { by: other }),
    ]
    for (const answer of forged) {
      isError(
        t,
        answer,
        'forbidden',
        /^The signature is missing or wrong, or over five minutes old/,
      )
      t.equal(answer.text, forged[0]?.text)
    }
    t.equal((await showOrder(shop.store, payment.order)).state, 'waiting')
    t.notMatch(shop.world.log.join(''), secret.slice(6))
  },
)

await t.test('a rolled secret: one right signature of several is enough', async (t) => {
  const shop = await startShop(t, { settings })
  const payment = { order: await placePaid(shop), amount_rub: 990, paid_at: paidAt }
  const at = new Date(shop.world.clock.ms)
  const signature = new Webhook(secret).sign('msg_1', at, JSON.stringify(payment))
  const headers = { 'webhook-signature': `v1,AAAA v1a,xx ${signature}` }
  t.equal((await report(shop, payment, { headers })).status, 204)
  t.equal((await showOrder(shop.store, payment.order)).state, 'confirmed')
})

await t.test('a signed report with unusable content is refused', async (t) => {
  const shop = await startShop(t, { settings })
  const order = await placePaid(shop)
  const bodies = [
    { order, amount_rub: 990 },
    { order, amount_rub: '990', paid_at: paidAt },
    { order, amount_rub: 990.5, paid_at: paidAt },
    { order, amount_rub: -1, paid_at: paidAt },
    { order: 'x', amount_rub: 990, paid_at: paidAt },
    { order, amount_rub: 990, paid_at: 'today' },
    [],
  ]
  for (const body of bodies) {
    isError(t, await report(shop, body), 'bad_request', /^The body must be/)
  }
  const unknown = { order: 'ord_0000000000000000', amount_rub: 990, paid_at: paidAt }
  isError(t, await report(shop, unknown), 'not_found')
  t.equal((await showOrder(shop.store, order)).state, 'waiting')
})

await t.test('without a secret the path is 404', async (t) => {
  const shop = await startShop(t)
  const payment = { order: await placePaid(shop), amount_rub: 990, paid_at: paidAt }
  isError(t, await report(shop, payment), 'not_found')
})
