import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ordersOfSubscription } from '../../../../src/control/orders.js'
import { listSubscriptions } from '../../../../src/control/subscriptions.js'
import { confirmOrder } from '../../../../src/sales/orders/confirm-order.js'
import type { Answer } from '../../../support/world.js'
import {
  codeIdIn,
  openShopText,
  partsOf,
  shopRegistry,
  startShop,
  tokenIn,
} from '../../../portal/fixtures/shop-world.js'
import { sql } from '../../../../src/control/store/sql.js'
import type { ShopWorld } from '../../../portal/fixtures/shop-world.js'

await t.test('a free plan: from the plan to rows, by e-mail and code', async (t) => {
  const shop = await startShop(t)
  const { world, send } = shop
  const home = await world.get('/?lang=en')
  t.match(
    home.text,
    '<a class="button" href="/order?lang=en&amp;plan=things%3Afree">Get a token</a>',
  )
  t.match(home.text, '<a class="button" href="/order?lang=en&amp;plan=things%3Apro">Order</a>')
  const form = await world.get('/order?lang=en&plan=things%3Afree')
  t.match(form.text, '<option value="things:free" selected>')
  t.notMatch(form.text, 'hidden')

  const fields = { plan: ['things:free', ''], months: '12', email: 'buyer@example.org' }
  const asked = await send('/order?lang=en', fields)
  t.equal(asked.status, 200)
  t.match(asked.text, 'A code was sent to buyer@example.org.')
  t.match(asked.text, '<strong>Free</strong>')
  const typed = { id: codeIdIn(asked), code: await shop.code() }
  const done = await send('/order/code?lang=en', typed)
  t.equal(done.status, 200)
  const token = tokenIn(done.text)
  t.equal(done.headers['cache-control'], 'no-store')
  t.equal(done.headers['etag'], undefined)
  t.equal(done.headers['set-cookie'], undefined)
  t.equal(done.headers['referrer-policy'], 'same-origin')

  const rows = await world.get('/v1/things?id=eq.2', token)
  t.same(rows.body.data, [{ id: 2, year: 2022 }])
  t.equal((await world.get('/v1/parts?id=eq.2', token)).status, 404)
  const [mailed] = await shop.letters('new-token')
  t.equal(mailed?.to, 'buyer@example.org')
  t.equal(tokenIn(mailed?.text ?? ''), token)

  const again = await send('/order/code?lang=en', typed)
  t.equal(again.status, 400)
  t.match(again.text, 'This code was used already, and what it was for is done')
  t.notMatch(again.text, 'das_live_')
  const wrong = await send('/order/code?lang=en', { ...typed, code: '1' })
  t.match(wrong.text, 'The code is wrong, was used, or is no longer accepted')
  t.equal((await shop.letters('new-token')).length, 1)
})

/** Orders these plans for an address, up to the page after the code. */
async function order(
  shop: ShopWorld,
  fields: Readonly<Record<string, string | readonly string[]>>,
  language = 'en',
): Promise<Answer> {
  const asked = await shop.send(`/order?lang=${language}`, fields)
  const typed = { id: codeIdIn(asked), code: await shop.code() }
  return shop.send(`/order/code?lang=${language}`, typed)
}

const paid = { plan: ['things:pro', 'parts:start'], months: '12', email: 'buyer@example.org' }

await t.test(
  'a paid order waits: number, amount and how to pay, on the page and by mail',
  async (t) => {
    const shop = await startShop(t)
    const { world, send } = shop
    const asked = await send('/order?lang=ru', paid)
    t.match(asked.text, 'Итого: <strong>40\u00a0000\u00a0₽</strong>')
    t.match(asked.text, 'Вещи: тариф pro')
    const typed = { id: codeIdIn(asked), code: await shop.code() }
    const done = await send('/order/code?lang=ru', typed)
    t.equal(done.status, 200)
    const [number = ''] = /ord_[0-9A-Za-z]{16}/.exec(done.text) ?? []
    t.match(done.text, `Оплатите 40000 ₽, заказ ${number}.`)
    t.notMatch(done.text, 'das_live_')

    const [received] = await shop.letters('order-received')
    t.match(received, { to: 'buyer@example.org', subject: `Ваш заказ ${number}: как оплатить` })
    t.match(received?.text, `Оплатите 40000 ₽, заказ ${number}.`)
    t.match(received?.text, '- Вещи (things), тариф pro')
    const [notice] = await shop.letters('new-order')
    t.match(notice, {
      to: 'owner@example.org',
      text: /buyer@example\.org заказывает новую подписку/,
    })
    t.match(notice?.text, `das order confirm ${number}`)

    const confirmed = await confirmOrder(partsOf(shop), number)
    t.equal(confirmed.expiresAt, Date.UTC(2027, 10, 15, 12))
    const [mailed] = await shop.letters('new-token')
    t.match(mailed?.text, `Заказ ${number} на 12 месяцев: 40\u00a0000 ₽, оплачен.`)
    const token = tokenIn(mailed?.text ?? '')
    t.equal((await world.get('/v1/things?id=eq.1', token)).status, 200)
    t.equal((await world.get('/v1/parts?id=eq.1', token)).status, 200)
    t.match(await ordersOfSubscription(shop.store, confirmed.subscriptionId), [
      {
        orderId: number,
        kind: 'new',
        state: 'confirmed',
        byOwner: false,
        months: 12,
        amountRub: 40_000,
        doneAt: world.clock.ms,
        effect: {
          grants: [
            { dataset: 'parts', plan: 'start' },
            { dataset: 'things', plan: 'pro' },
          ],
          globalRows: null,
          expiresAt: confirmed.expiresAt,
        },
      },
    ])
    await t.rejects(() => confirmOrder(partsOf(shop), number), { code: 'bad_request' })
    t.equal((await listSubscriptions(shop.store)).length, 1)
  },
)

await t.test('the months of a link are the chosen ones, also those of no button', async (t) => {
  const { world } = await startShop(t)
  for (const [months, total] of [
    ['12', '₽9,900'],
    ['7', '₽6,930'],
    ['-1', null],
    ['1.5', null],
    ['x', null],
  ] as const) {
    const { text } = await world.get(`/order?lang=en&plan=things:start&months=${months}`)
    const chosen = /<option value="([^"]+)" selected\s*>\d+ months</.exec(text)?.[1] ?? null
    t.equal(chosen, total === null ? null : months)
    t.equal(/Total: <strong>([^<]+)/.exec(text)?.[1] ?? null, total)
  }
})

await t.test('a choice that is not on offer is refused, in the words of the page', async (t) => {
  const shop = await startShop(t)
  const email = 'buyer@example.org'
  const cases = [
    [{ plan: '', email }, 'Choose at least one plan', 'Выберите хотя бы один тариф'],
    [{ plan: 'hidden:free', email }, 'Choose at least one plan', 'Выберите хотя бы один тариф'],
    [{ plan: 'things:none', email }, 'Choose at least one plan', 'Выберите хотя бы один тариф'],
    [
      { plan: ['things:free', 'things:pro'], email },
      'Choose at least one plan',
      'Выберите хотя бы один тариф',
    ],
    [{ plan: 'things:free', email: 'nobody' }, 'Give one plain e-mail', 'Укажите один адрес'],
    [{ plan: 'things:pro', months: '0', email }, 'Choose 1 to 120', 'Выберите от 1 до 120'],
    [{ plan: 'things:pro', months: 'x', email }, 'Choose 1 to 120', 'Выберите от 1 до 120'],
  ] as const
  for (const [fields, english, russian] of cases) {
    for (const [language, words] of [
      ['en', english],
      ['ru', russian],
    ] as const) {
      const { status, text } = await shop.send(`/order?lang=${language}`, fields)
      t.equal(status, 400)
      t.match(text, `role="alert">${words}`)
    }
  }
  t.equal((await shop.letters('code')).length, 0)
})

// Guarantee: an address has one free subscription to a dataset at a time.
await t.test(
  'a second free subscription to a dataset is refused for all spellings of the address',
  async (t) => {
    const shop = await startShop(t)
    t.equal((await order(shop, { plan: 'things:free', email: 'buyer@example.org' })).status, 200)
    const second = await order(shop, { plan: 'things:free', email: 'Buyer@Example.org' })
    t.equal(second.status, 400)
    t.match(second.text, 'This address has a free subscription to this dataset already.')
    t.equal((await order(shop, { plan: 'parts:free', email: 'buyer@example.org' })).status, 200)
    t.equal((await order(shop, { plan: 'things:free', email: 'other@example.org' })).status, 200)
    const mixed = { plan: ['things:free', 'parts:start'], months: '1', email: 'third@example.org' }
    t.equal((await order(shop, mixed)).status, 200)
    t.equal((await order(shop, { plan: 'things:free', email: 'third@example.org' })).status, 400)
    t.equal((await listSubscriptions(shop.store)).length, 3)
  },
)

// Guarantee: no page of another site can send the form in a visitor's name.
await t.test('a form of another site is refused', async (t) => {
  const shop = await startShop(t)
  const fields = { plan: 'things:free', email: 'buyer@example.org' }
  const plain = { 'content-type': 'application/x-www-form-urlencoded' }
  const cases: readonly (readonly [Readonly<Record<string, string>>, number])[] = [
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://localhost:80' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{}, 403],
    [{ origin: 'http://localhost:80' }, 200],
  ]
  for (const [headers, status] of cases) {
    const body = new URLSearchParams(fields).toString()
    const url = '/order'
    const sent = await shop.world.get(url, undefined, {
      method: 'POST',
      body,
      headers: { ...plain, ...headers },
    })
    t.equal(sent.status, status, JSON.stringify(headers))
    t.equal(sent.headers['access-control-allow-origin'], undefined)
  }
  t.equal((await shop.letters('code')).length, 2)
  const json = await shop.world.get('/v1/things/query', 'das_demo_shop', {
    method: 'POST',
    body: 'a=b',
    headers: plain,
  })
  t.equal(json.status, 415, 'other paths take no form')
})

// Guarantee: where the public address is set, no other name of the server makes a form its own.
await t.test('with a public address only its pages send forms', async (t) => {
  const settings = { publicUrl: 'https://data.example.org', trustProxy: '127.0.0.1' }
  const shop = await startShop(t, { settings })
  const own = 'https://data.example.org'
  const cases: readonly (readonly [Readonly<Record<string, string>>, number])[] = [
    [{ origin: own, host: 'das.internal:8080' }, 200],
    [{ origin: own, host: 'data.example.org' }, 200],
    [{ 'sec-fetch-site': 'same-origin', host: '127.0.0.1:8080' }, 200],
    [{ origin: 'http://evil.example', host: 'evil.example' }, 403],
    [{ origin: 'http://127.0.0.1:8080', host: '127.0.0.1:8080' }, 403],
    [{ origin: 'http://data.example.org', host: 'data.example.org' }, 403],
    [{ origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }, 403],
    [{ origin: `${own}.evil.example`, host: 'data.example.org' }, 403],
  ]
  for (const [headers, status] of cases) {
    const sent = await shop.world.get('/order', undefined, {
      method: 'POST',
      body: 'plan=things%3Afree&email=buyer%40example.org',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })
    t.equal(sent.status, status, JSON.stringify(headers))
  }
  t.equal((await shop.letters('code')).length, 3)
})

// Guarantee: a code is accepted once, for ten minutes, on its own page, and after at most four
// wrong tries.
await t.test(
  'only the right code, on the page that asked for it and in time, places an order',
  async (t) => {
    const shop = await startShop(t)
    const fields = { plan: 'things:free', email: 'buyer@example.org' }
    const first = await shop.send('/order?lang=en', fields)
    const firstCode = await shop.code()
    const second = await shop.send('/order?lang=en', fields)
    const refused = async (id: string, code: string, name: string) => {
      const { status, text } = await shop.send('/order/code?lang=en', { id, code })
      t.equal(status, 400, name)
      t.match(text, 'The code is wrong, was used, or is no longer accepted.', name)
      t.notMatch(text, 'das_live_', name)
    }
    await refused(codeIdIn(second), firstCode, "another page's code")
    await refused('nothing', firstCode, 'an unknown page')
    const wrong = firstCode === '00000000' ? '00000001' : '00000000'
    for (let tries = 1; tries <= 5; tries += 1) await refused(codeIdIn(first), wrong, 'wrong')
    await refused(codeIdIn(first), firstCode, 'the right one after five wrong ones')

    const third = await shop.send('/order?lang=en', fields)
    const thirdCode = await shop.code()
    shop.world.clock.ms += 10 * 60_000
    await refused(codeIdIn(third), thirdCode, 'ten minutes later')
    t.equal((await shop.letters('code')).length, 0, 'letters with codes that are over are not sent')
    const fourth = await shop.send('/order?lang=en', fields)
    const spaced = (await shop.code()).replace(/^(....)/, ' $1 ')
    const done = await shop.send('/order/code', { id: codeIdIn(fourth), code: spaced })
    t.equal(done.status, 200, 'spaces do not matter')
    t.equal((await listSubscriptions(shop.store)).length, 1)
    const stored = await shop.store.all<{ hash: Buffer }>(
      sql`SELECT hash, subject, email FROM email_codes`,
    )
    t.notMatch(JSON.stringify(stored), thirdCode)
    t.notMatch(shop.world.log.join(''), thirdCode)
  },
)

await t.test('a closed shop shows the address of the owner, if there is one', async (t) => {
  const closed = await startShop(t, { shop: 'shop: {contact: owner@example.org}' })
  const home = await closed.world.get('/?lang=en')
  t.match(home.text, '<a href="mailto:owner@example.org">owner@example.org</a>')
  t.notMatch(home.text, '/order')
  t.match((await closed.world.get('/order?lang=en')).text, 'Nothing can be ordered on this site.')
  const fields = { plan: 'things:free', email: 'buyer@example.org' }
  t.equal((await closed.send('/order', fields)).status, 400)
  const silent = await startShop(t, { shop: '' })
  t.notMatch((await silent.world.get('/?lang=en')).text, /How to get it|\/order/)
})

await t.test('plans with a price are not sold where only free ones are', async (t) => {
  const shop = await startShop(t, { shop: 'shop: {free: true}' })
  const { text } = await shop.world.get('/?lang=en')
  t.match(text, 'plan=things%3Afree')
  t.notMatch(text, 'plan=things%3Apro')
  t.equal((await shop.send('/order', { ...paid, plan: 'things:pro' })).status, 400)
})

await t.test('a price that changed after it was shown is not charged', async (t) => {
  const shop = await startShop(t)
  const asked = await shop.send('/order?lang=en', { ...paid, plan: 'things:start' })
  const typed = { id: codeIdIn(asked), code: await shop.code() }
  const dearer = shopRegistry(openShopText).replace('price_rub: 990', 'price_rub: 1990')
  writeFileSync(join(shop.world.folder, 'registry.yaml'), dearer)
  await shop.world.app.reload()
  const { status, text } = await shop.send('/order/code?lang=en', typed)
  t.equal(status, 400)
  t.match(text, 'A price has changed since.')
})
