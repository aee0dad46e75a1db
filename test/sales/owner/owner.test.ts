import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { listActions } from '../../../src/control/audit.js'
import { endOrder, showOrder } from '../../../src/control/orders.js'
import { sql } from '../../../src/control/store/sql.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { confirmOrder } from '../../../src/sales/orders/confirm-order.js'
import { declineOrder } from '../../../src/sales/orders/decline-order.js'
import { tidyShop } from '../../../src/sales/orders/tidy-shop.js'
import {
  codeIdIn,
  openShopText,
  partsOf,
  placePaid,
  shopRegistry,
} from '../../portal/fixtures/shop-world.js'
import { postMcp } from '../../support/mcp/mcp-messages.js'
import { machine } from '../../support/machine.js'
import type { Answer } from '../../support/world.js'
import { cookieIn, email, startSessions } from '../sessions/fixtures/signing-in.js'

const hourMs = 3_600_000
const owner = 'Olga@example.org'
const stranger = 'Oleg@example.org'
const ownersText = `portal:\n  owners: [olga@EXAMPLE.org, second@example.org]\n`

/** A shop with owners, and an owner's browser. */
async function startOwned(t: Test, options: Parameters<typeof startSessions>[1] = {}) {
  const shop = await startSessions(t, { shop: openShopText + ownersText, ...options })
  const { send, code, world } = shop
  const askCode = (to: string, cookie = '') =>
    send('/owner/sign-in?lang=en', { email: to, next: '/owner' }, withCookie(cookie))
  const typeCode = async (asked: Answer, cookie = '') => {
    const typed = { id: codeIdIn(asked), code: await code() }
    return await send('/owner/sign-in/code?lang=en', typed, withCookie(cookie))
  }
  const enter = async (to = owner, cookie = '') =>
    cookieIn(await typeCode(await askCode(to, cookie), cookie))
  const isIn = async (cookie: string) =>
    (await shop.open('/owner?lang=en', cookie)).text.includes('Revenue by month')
  const link = async () =>
    /owner\/order#(das_order_\w{49})\n/.exec((await shop.letters('new-order'))[0]?.text ?? '')?.[1]
  const decide = (secret: string, action: string) =>
    send('/owner/order?lang=en', { secret, action })
  const stateOf = async (orderId: string) => (await showOrder(shop.store, orderId)).state
  const byIn = async (orderId: string) =>
    (await listActions(shop.store, { subject: orderId })).flatMap(({ action, details }) =>
      /^order\.(confirmed|declined)$/.test(action) ? [[action, details['by']]] : [],
    )
  const reload = async (text: string) => {
    writeFileSync(join(world.folder, 'registry.yaml'), shopRegistry(openShopText + text))
    await world.app.reload()
    await world.app.reload()
  }
  return { ...shop, askCode, typeCode, enter, isIn, link, decide, stateOf, byIn, reload }
}

function withCookie(cookie: string) {
  return { headers: cookie === '' ? {} : { cookie } }
}

const paths = ['/owner', '/owner/order', '/owner/sign-in', '/owner/sign-out', '/owner/orders']

// Guarantee: nobody learns that there is an owner's page where the registry names no owners.
await t.test(
  'without owners every path of the page is an unknown path, byte for byte',
  async (t) => {
    const { world, reload } = await startOwned(t, { shop: openShopText })
    const shapeOf = async (
      url: string,
      method: string,
      headers: Readonly<Record<string, string>>,
    ) => {
      const isReading = method === 'GET' || method === 'HEAD'
      const answer = await world.get(url, undefined, {
        method: method as 'GET',
        headers: { ...headers, ...(isReading ? {} : { 'sec-fetch-site': 'same-origin' }) },
        ...(isReading ? {} : { body: 'secret=x&action=confirm' }),
      })
      const kept = Object.entries(answer.headers).filter(
        ([name]) => !['x-request-id', 'date', 'content-length'].includes(name),
      )
      const path = encodeURIComponent(url)
      return { status: answer.status, text: answer.text.replaceAll(path, 'PATH'), kept }
    }
    const compare = async (isSame: boolean) => {
      for (const path of paths) {
        for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
          for (const accept of ['text/html', '*/*']) {
            for (const type of ['application/x-www-form-urlencoded', 'application/json']) {
              const headers = { accept, ...(method !== 'GET' && { 'content-type': type }) }
              if (method === 'HEAD' && type === 'application/json') continue
              const unknown = await shapeOf(path.replace('owner', 'ovner'), method, headers)
              const found = await shapeOf(path, method, headers)
              const name = [path, method, accept, type].join(' ')
              if (isSame) t.same(found, unknown, name)
              else t.not(JSON.stringify(found), JSON.stringify(unknown), name)
            }
          }
        }
      }
    }
    await compare(true)
    t.equal((await world.get('/owner')).status, 404)
    await reload(ownersText)
    t.equal((await world.get('/owner')).status, 200, 'as soon as the registry names one')
    t.equal((await world.get('/owner', undefined, { method: 'PUT' })).status, 405)
    t.equal((await world.get('/owner/none')).status, 404)
    await reload('')
    await compare(true)
  },
)

// Guarantee: the page opens for the reader of an owner's mail alone, for twelve hours.
await t.test('an owner signs in by a mailed code, and is out after 12 hours', async (t) => {
  const { world, enter, isIn, store, reload } = await startOwned(t)
  const cookie = await enter()
  t.ok(await isIn(cookie))
  t.notOk(await isIn(''))
  world.clock.ms += 12 * hourMs - 1
  t.ok(await isIn(cookie), 'also if it was not used')
  world.clock.ms += 1
  t.notOk(await isIn(cookie), 'also if it was used a moment ago')
  await tidyShop({ store, now: () => world.clock.ms })
  t.same(await store.all(sql`SELECT 1 FROM sessions`), [])
  const again = await enter()
  await reload('portal:\n  owners: [second@example.org]\n')
  t.notOk(await isIn(again), 'an address that the registry no longer names is out at once')
})

// Guarantee: no answer says whether an address is an owner's.
await t.test('an owner and a stranger get the same pages, and the same work is done', async (t) => {
  const { askCode, store, send, code } = await startOwned(t)
  const seen: unknown[] = []
  for (const to of [owner, stranger]) {
    const asked = await askCode(to)
    const typed = { id: codeIdIn(asked), code: '1' }
    const wrong = await send('/owner/sign-in/code?lang=en', typed)
    const right = { ...typed, code: await code() }
    const done = await send('/owner/sign-in/code?lang=en', right)
    const shape = ({ status, text, headers }: Answer) => ({
      status,
      text: text.replaceAll(to, 'ADDRESS').replaceAll(typed.id, 'ID'),
      headers: Object.entries(headers).filter(([name]) => !['x-request-id', 'date'].includes(name)),
    })
    const [counts] = await store.all<Readonly<Record<string, number>>>(
      sql`SELECT (SELECT count(*) FROM letters) AS letters,
         (SELECT count(*) FROM email_codes) AS codes, (SELECT count(*) FROM audit) AS audit`,
    )
    seen.push({ asked: shape(asked), wrong: shape(wrong), counts })
    if (to === owner) t.equal(done.status, 303)
    else {
      t.same(shape(done), shape(wrong), 'a right code of another address is a wrong one')
      t.equal(done.headers['set-cookie'], undefined)
      t.equal((await send('/owner/sign-in/code', right)).status, 400)
    }
  }
  const [known, unknown] = seen as { asked: unknown; wrong: unknown; counts: { audit: number } }[]
  t.same([unknown?.asked, unknown?.wrong], [known?.asked, known?.wrong])
  t.match(known?.counts, { letters: 1, codes: 1 })
  t.match(unknown?.counts, { letters: 2, codes: 2, audit: known?.counts.audit })
  for (let more = 0; more < 4; more += 1) t.equal((await askCode(owner)).status, 200)
  const over = await askCode(owner)
  t.equal(over.status, 429, 'five codes an hour, as elsewhere')
  t.match(over.text, 'Too many codes')
})

// Guarantee: the cookie is out of reach of scripts, of the network and of other sites; each
// sign-in makes a new one; it is in no page and in no log, and no address is.
await t.test('the cookie of an owner is for this host alone, and in headers alone', async (t) => {
  for (const [settings, start] of [
    [{}, /^das-owner=das_owner_\w{49}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/],
    [
      { publicUrl: 'https://data.example.org' },
      /^__Host-das-owner=das_owner_\w{49}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    ],
  ] as const) {
    const { world, askCode, typeCode, open, isIn, post, store } = await startOwned(t, { settings })
    const done = await typeCode(await askCode(owner))
    t.match(done.headers['set-cookie'], start)
    t.equal(done.headers['location'], '/owner')
    const cookie = cookieIn(done)
    const secret = cookie.split('=')[1] ?? ''
    const page = await open('/owner', cookie)
    t.equal(page.headers['cache-control'], 'no-store')
    t.match(page.headers['content-security-policy'], /^default-src 'none'; script-src 'self';/)
    t.notMatch(page.text, secret)
    t.notMatch(JSON.stringify(await store.all(sql`SELECT * FROM sessions`)), secret)
    const next = await typeCode(await askCode(owner, cookie), cookie)
    t.same([await isIn(cookie), await isIn(cookieIn(next))], [false, true], 'none is kept')
    const out = await post('/owner/sign-out', cookieIn(next))
    t.match(out.headers['set-cookie'], /^(__Host-)?das-owner=; Max-Age=0; Path=\/; HttpOnly/)
    t.notOk(await isIn(cookieIn(next)))
    t.notMatch(world.log.join(''), /das_owner_|olga@|oleg@/i)
  }
})

// Guarantee: a session opens its own pages alone, and no machine's address.
await t.test("a subscriber's session opens no owner's page, nor the other way round", async (t) => {
  const settings = { corsOrigins: 'https://app.example' }
  const shop = await startOwned(t, { settings })
  const { world, enter, signIn, isIn, post, askAccess, stateOf } = shop
  const { subscriptionId } = await world.subscribe(['things:pro'])
  const orderId = await placePaid(shop)
  const theirs = await signIn(email)
  const asOwner = theirs.replace('das=', 'das-owner=')
  for (const cookie of [theirs, asOwner, asOwner.replace('_session_', '_owner_')]) {
    t.notOk(await isIn(cookie))
    const answer = await post('/owner/orders', cookie, { order: orderId, action: 'confirm' })
    t.equal(answer.status, 303)
  }
  t.equal(await stateOf(orderId), 'waiting')
  for (const [ask, type] of [
    ['/sign-in', '/owner/sign-in/code'],
    ['/owner/sign-in', '/sign-in/code'],
  ] as const) {
    const asked = await shop.send(ask, { email: owner, next: '/' })
    const typed = { id: codeIdIn(asked), code: await shop.code() }
    t.equal((await shop.send(type, typed)).status, 400, 'a code is for its own page')
  }
  const cookie = await enter()
  const asPerson = cookie.replace('das-owner=', 'das=')
  for (const each of [cookie, asPerson]) {
    t.equal(await shop.isIn(each), each === cookie)
    t.notMatch((await shop.open('/account?lang=en', each)).text, 'Sign out')
    t.equal((await askAccess(each, subscriptionId)).status, 401)
  }
  const secret = cookie.split('=')[1] ?? ''
  t.equal((await world.get('/v1/things?id=eq.1', secret)).status, 401)
  t.equal((await world.get(`/v1/things?id=${secret}`)).status, 400, 'nor in a URL')
  const listing = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
  t.equal((await postMcp(world, secret, listing)).status, 401)
  for (const url of ['/v1/things?id=eq.1', '/v1/', '/v1/account', '/owner']) {
    const headers = { origin: 'https://app.example', cookie }
    const answer = await world.get(url, undefined, { headers })
    const without = await world.get(url, undefined, { headers: { origin: headers.origin } })
    if (url !== '/owner') t.equal(answer.text, without.text, url)
    t.notOk(answer.headers['access-control-allow-origin'], url)
  }
})

// Guarantee: no page of another site can decide in an owner's name.
await t.test('every form of the page comes from our own pages alone', async (t) => {
  const shop = await startOwned(t)
  const orderId = await placePaid(shop)
  const secret = (await shop.link()) ?? ''
  const cookie = await shop.enter()
  const fields = { order: orderId, secret, action: 'confirm', email: owner, id: 'x', code: '1' }
  const foreign = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin: 'http://localhost' },
  ]
  const forms = [
    '/owner/sign-in',
    '/owner/sign-in/code',
    ...paths.filter((each) => each !== '/owner'),
  ]
  for (const path of forms) {
    for (const headers of foreign) {
      t.equal((await shop.post(path, cookie, fields, headers)).status, 403, path)
    }
    for (const origin of ['https://evil.example', 'null', undefined]) {
      const answer = await shop.world.get(path, undefined, {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: {
          cookie,
          'content-type': 'application/x-www-form-urlencoded',
          ...(origin && { origin }),
        },
      })
      t.equal(answer.status, 403, `${path} ${String(origin)}`)
    }
  }
  t.equal(await shop.stateOf(orderId), 'waiting')
  t.ok(await shop.isIn(cookie))
})

await t.test('an owner confirms and declines orders on the page', async (t) => {
  const shop = await startOwned(t)
  const [paid, unpaid] = [await placePaid(shop), await placePaid(shop)]
  const cookie = await shop.enter()
  const page = await shop.open('/owner?lang=en', cookie)
  for (const orderId of [paid, unpaid]) t.match(page.text, `name="order" value="${orderId}"`)
  t.match((await shop.open('/owner?lang=ru', cookie)).text, 'Выручка по месяцам')
  const decide = (order: string, action: string) =>
    shop.post('/owner/orders', cookie, { order, action })
  const done = await decide(paid, 'confirm')
  t.same([done.status, done.headers['location']], [303, '/owner'])
  t.equal((await decide(unpaid, 'decline')).status, 303)
  const again = await decide(unpaid, 'confirm')
  t.equal(again.status, 409, 'finally')
  t.match(again.text, 'This order is declined: November 15, 2026, 12:00 UTC.')
  t.match(again.text, `It was decided by ${owner}.`)
  const twice = await shop.post('/owner/orders?lang=ru', cookie, { order: paid, action: 'confirm' })
  t.equal(twice.status, 409)
  t.match(twice.text, `Решение: ${owner}.`)
  t.equal((await decide(paid, 'keep')).status, 400)
  for (const odd of ['ord_0123456789abcdef', '\0', "';--", '']) {
    t.equal((await decide(odd, 'confirm')).status, 404)
  }
  t.same([await shop.stateOf(paid), await shop.stateOf(unpaid)], ['confirmed', 'declined'])
  t.same(await shop.byIn(paid), [['order.confirmed', owner]])
  t.same(await shop.byIn(unpaid), [['order.declined', owner]])
  const told = await shop.letters('order-done')
  t.match(told, [
    { subject: `Order ${unpaid} was declined`, to: ['olga@EXAMPLE.org', 'second@example.org'] },
    { subject: `Order ${paid} was confirmed`, text: 'buyer@example.org for 990 RUB was confirmed' },
  ])
  t.match((await shop.letters('new-token')).length, 1)
  t.match((await shop.open('/owner?lang=en', cookie)).text, 'No order waits.')
})

await t.test('an order that was decided elsewhere says by whom', async (t) => {
  const shop = await startOwned(t)
  const cookie = await shop.enter()
  const decide = (order: string) =>
    shop.post('/owner/orders?lang=en', cookie, { order, action: 'confirm' })
  const partsOfActor = (actor: string) => {
    const path = join(shop.world.folder, 'var', 'control.db')
    const store = SqliteStore.open(path, { ...machine, actor })
    t.teardown(async () => {
      await store.close()
    })
    return { ...partsOf(shop), store }
  }
  const paid = await placePaid(shop)
  await confirmOrder(partsOfActor('server'), paid)
  t.match((await decide(paid)).text, 'The payment system reported its payment.')
  const byCommand = await placePaid(shop)
  await declineOrder(partsOfActor('olga'), byCommand)
  t.match((await decide(byCommand)).text, 'It was decided on the command line by olga.')
  const late = await placePaid(shop)
  const link = (await shop.link()) ?? ''
  await endOrder(shop.store, late, { state: 'expired', now: shop.world.clock.ms })
  const expired = await shop.decide(link, 'confirm')
  t.equal(expired.status, 410)
  t.match(expired.text, 'This order is expired: November 15, 2026, 12:00 UTC.')
  t.notMatch(expired.text, 'It was decided')
})

await t.test(
  'of owners who decide at the same time one does it, and the others read so',
  async (t) => {
    const shop = await startOwned(t)
    const cookies = [await shop.enter(), await shop.enter('second@example.org')]
    const orderId = await placePaid(shop)
    const secret = (await shop.link()) ?? ''
    const answers = await Promise.all([
      ...cookies.map((cookie) =>
        shop.post('/owner/orders?lang=en', cookie, { order: orderId, action: 'confirm' }),
      ),
      shop.decide(secret, 'decline'),
      shop.decide(secret, 'confirm'),
    ])
    const done = answers.filter(({ status }) => status === 303 || status === 200)
    t.equal(done.length, 1)
    for (const { status, text } of answers) {
      if (status === 303 || status === 200) continue
      t.ok([409, 410].includes(status), String(status))
      t.match(text, /This order is (done|declined): November 15, 2026, 12:00 UTC\./)
      t.match(text, 'It was decided')
    }
    t.equal((await shop.byIn(orderId)).length, 1)
    t.equal((await shop.letters('order-done')).length, 1)
  },
)

// Guarantee: the link of a letter decides one order, once, and is in no log and no store.
await t.test('the link of a letter shows its order, and confirms it once', async (t) => {
  const shop = await startOwned(t)
  const { world, decide, store, stateOf } = shop
  const orderId = await placePaid(shop)
  const [letter] = await shop.letters('new-order')
  t.same(letter?.to, ['olga@EXAMPLE.org', 'second@example.org'])
  const secret = (await shop.link()) ?? ''
  t.match(letter?.text, `    https://data.example.org/owner/order#${secret}\n`)
  t.notMatch(letter?.subject, secret)
  for (const lang of ['en', 'ru']) {
    const opened = await world.get(`/owner/order?lang=${lang}`)
    t.equal(opened.status, 200)
    t.match(opened.text, `href="/owner?lang=${lang}"`, 'without a script one signs in')
  }
  t.equal((await world.get(`/owner/order?secret=${secret}&action=confirm`)).status, 400)
  const shown = await decide(secret, 'show')
  t.match(shown.text, orderId)
  t.match(shown.text, '990')
  t.match(shown.text, 'buyer@example.org')
  t.equal(shown.headers['cache-control'], 'no-store')
  t.equal((await decide(secret, 'keep')).status, 400)
  t.equal(await stateOf(orderId), 'waiting', 'nothing has changed yet')
  const stored = JSON.stringify(await store.all(sql`SELECT * FROM order_links`))
  t.notMatch(stored, secret)
  const done = await decide(secret, 'confirm')
  t.equal(done.status, 200)
  t.match(done.text, 'The order is confirmed.')
  t.equal(await stateOf(orderId), 'confirmed')
  t.same(await shop.byIn(orderId), [['order.confirmed', 'link']])
  t.match((await shop.letters('order-done')).length, 1)
  for (const action of ['show', 'confirm', 'decline']) {
    const { status, text } = await decide(secret, action)
    t.equal(status, 410, action)
    t.match(text, 'This order is done: November 15, 2026, 12:00 UTC.')
    t.match(text, 'It was decided with the link in a letter.')
    t.notMatch(text, /buyer@|<button type="submit" class="primary"/)
  }
  const gone: string[] = []
  const unknown = `das_order_${'0'.repeat(49)}`
  for (const each of [secret.slice(0, -1), unknown, await shop.enter(), '', '\0']) {
    for (const action of ['show', 'confirm', 'decline']) {
      const answer = await decide(each, action)
      t.equal(answer.status, 410, `${each} ${action}`)
      gone.push(answer.text)
    }
  }
  t.equal(new Set(gone).size, 1, 'unknown and malformed are told alike')
  t.notMatch(world.log.join(''), /das_order_|olga@|buyer@/i)
})

await t.test('a link declines its order too, and ends with any decision', async (t) => {
  const shop = await startOwned(t)
  const declined = await placePaid(shop)
  t.match((await shop.decide((await shop.link()) ?? '', 'decline')).text, 'is declined')
  t.equal(await shop.stateOf(declined), 'declined')
  const other = await placePaid(shop)
  const secret = (await shop.link()) ?? ''
  await confirmOrder(partsOf(shop), other)
  t.equal((await shop.decide(secret, 'decline')).status, 410)
  t.equal(await shop.stateOf(other), 'confirmed')
})

// Guarantee: a link is worth nothing for another amount, after 14 days, or for another order.
await t.test('a link of another amount, or one that is over, decides nothing', async (t) => {
  const shop = await startOwned(t)
  const { world, store, stateOf } = shop
  const orderId = await placePaid(shop)
  const secret = (await shop.link()) ?? ''
  const setAmount = (rub: number) =>
    store.run(sql`UPDATE orders SET amount_rub = ${rub} WHERE id = ${orderId}`)
  await setAmount(1)
  for (const action of ['show', 'confirm', 'decline']) {
    t.equal((await shop.decide(secret, action)).status, 410)
  }
  await setAmount(990)
  t.equal((await shop.decide(secret, 'show')).status, 200)
  world.clock.ms += 14 * 24 * hourMs - 1
  t.equal((await shop.decide(secret, 'show')).status, 200)
  world.clock.ms += 1
  t.equal((await shop.decide(secret, 'confirm')).status, 410)
  t.equal(await stateOf(orderId), 'waiting')
  await tidyShop({ store, now: () => world.clock.ms })
  t.same(await store.all(sql`SELECT 1 FROM order_links`), [])
})

await t.test('an order that can not take effect keeps its link', async (t) => {
  const shop = await startOwned(t)
  const orderId = await placePaid(shop)
  const secret = (await shop.link()) ?? ''
  const gone = shopRegistry(openShopText + ownersText).replace(/ +start: .*990}\n/, '')
  writeFileSync(join(shop.world.folder, 'registry.yaml'), gone)
  await shop.world.app.reload()
  await shop.world.app.reload()
  const refused = await shop.decide(secret, 'confirm')
  t.equal(refused.status, 400)
  t.match(refused.text, /needs the plan &quot;things:start&quot;, which the registry no longer has/)
  const cookie = await shop.enter()
  const fields = { order: orderId, action: 'confirm' }
  const onPage = await shop.post('/owner/orders?lang=en', cookie, fields)
  t.equal(onPage.status, 400)
  for (const { text } of [refused, onPage]) {
    t.match(text, 'This order can’t be confirmed as it is.')
    t.notMatch(text, 'Go back')
  }
  t.equal(await shop.stateOf(orderId), 'waiting')
  t.equal((await shop.decide(secret, 'decline')).status, 200)
})

await t.test('without owners the letter goes to the contact, and has no link', async (t) => {
  const shop = await startOwned(t, { shop: openShopText })
  await placePaid(shop)
  const [letter] = await shop.letters('new-order')
  t.match(letter, { to: 'owner@example.org', text: /das order confirm ord_/ })
  t.notMatch(letter?.text, '/owner')
  t.same(await shop.store.all(sql`SELECT 1 FROM order_links`), [])
})
