import t from 'tap'
import { listTokens } from '../../../../src/control/tokens/tokens.js'
import { sql } from '../../../../src/control/store/sql.js'
import { authorizePath, register } from '../../../support/sign-in.js'
import { startThings } from '../../../support/things.js'
import { codeIdIn, startShop, tokenIn } from '../../../portal/fixtures/shop-world.js'

await t.test('a lost token is replaced by the reader of the address, and mailed', async (t) => {
  const shop = await startShop(t)
  const { world, send } = shop
  const sold = await world.subscribe(['things:pro'])
  const other = await world.subscribe(['parts:start'])
  t.equal((await world.get('/lost-token')).status, 200)
  const asked = await send('/lost-token?lang=en', { email: 'Subscriber@example.org' })
  const typed = { id: codeIdIn(asked), code: await shop.code() }
  const choice = await send('/lost-token/code?lang=en', typed)
  t.match(choice.text, sold.subscriptionId)
  t.match(choice.text, other.subscriptionId)
  t.equal(choice.headers['cache-control'], 'no-store')
  const fields = { ...typed, subscription: sold.subscriptionId }
  const done = await send('/lost-token/reissue?lang=en', fields)
  const token = tokenIn(done.text)
  t.equal((await world.get('/v1/things?id=eq.1', token)).status, 200)
  t.equal((await world.get('/v1/things?id=eq.1', sold.token)).status, 200, 'for a day')
  t.equal(tokenIn((await shop.letters('reissued-token'))[0]?.text ?? ''), token)
  const again = await send('/lost-token/reissue?lang=en', fields)
  t.equal(again.status, 400)
  t.equal((await listTokens(shop.store, sold.subscriptionId)).length, 2)
  world.clock.ms += 24 * 3_600_000
  t.equal((await world.get('/v1/things?id=eq.1', sold.token)).status, 401)
  t.equal((await world.get('/v1/things?id=eq.1', token)).status, 200)
})

await t.test('pages that ask for a token link to it, in both languages', async (t) => {
  const { world } = await startShop(t)
  const withoutMail = await startThings(t)
  for (const [lang, text] of [
    ['en', 'Lost token'],
    ['ru', 'Потерян токен'],
  ] as const) {
    const link = new RegExp(`<a href="/lost-token\\?lang=${lang}"[^>]*>${text}</a>`)
    for (const pathFor of [
      () => `/account?lang=${lang}`,
      (clientId: string) => authorizePath(clientId, { lang }),
    ]) {
      const page = await world.get(pathFor(await register(world)))
      t.equal(page.status, 200)
      t.match(page.text, link)
      const without = await withoutMail.get(pathFor(await register(withoutMail)))
      t.equal(without.status, 200)
      t.notMatch(without.text, 'lost-token', 'a server without mail mails no code')
    }
  }
})

await t.test('the earlier tokens end immediately when the subscriber chooses that', async (t) => {
  const shop = await startShop(t)
  const sold = await shop.world.subscribe(['things:pro'])
  const asked = await shop.send('/lost-token', { email: 'subscriber@example.org' })
  const done = await shop.send('/lost-token/reissue', {
    id: codeIdIn(asked),
    code: await shop.code(),
    subscription: sold.subscriptionId,
    earlier: 'end',
  })
  t.equal(done.status, 200)
  t.equal((await shop.world.get('/v1/things?id=eq.1', sold.token)).status, 401)
})

// Guarantee: nobody learns whether an address has a subscription, except the reader of its mail.
await t.test('a known address and an unknown one get the same answers and work', async (t) => {
  const shop = await startShop(t)
  await shop.world.subscribe(['things:pro'])
  const counts = async () =>
    (
      await shop.store.all(
        sql`SELECT (SELECT count(*) FROM letters) AS letters, (SELECT count(*) FROM audit) AS audit,
         (SELECT count(*) FROM email_codes) AS codes`,
      )
    )[0] as Readonly<Record<string, number>>
  const ask = async (email: string) => {
    const before = await counts()
    const { status, headers, text } = await shop.send('/lost-token?lang=en', { email })
    const after = await counts()
    const wrong = await shop.send('/lost-token/code?lang=en', {
      id: codeIdIn({ text }),
      code: 'no code',
    })
    const own = (page: string) =>
      page.replaceAll(email, '…').replaceAll(/name="id" value="\w+"/g, 'name="id"')
    const kept = Object.entries(headers).filter(
      ([name]) => !['date', 'x-request-id', 'content-length'].includes(name),
    )
    const written = Object.keys(after).map((name) => (after[name] ?? 0) - (before[name] ?? 0))
    return { status, kept, text: own(text), wrong: own(wrong.text), written }
  }
  const known = await ask('subscriber@example.org')
  const unknown = await ask('stranger@example.org')
  t.equal(known.status, 200)
  t.same(unknown, known)
  t.same(known.written, [1, 0, 1])

  const asked = await shop.send('/lost-token?lang=en', { email: 'stranger@example.org' })
  const typed = { id: codeIdIn(asked), code: await shop.code() }
  t.match((await shop.send('/lost-token/code?lang=en', typed)).text, 'no live subscription')
})

// Guarantee: a code gives a token of its own address's subscriptions, and of no other.
await t.test('a subscription of another address, or an ended one, is not reissued', async (t) => {
  const shop = await startShop(t)
  const sold = await shop.world.subscribe(['things:pro'])
  const asked = await shop.send('/lost-token', { email: 'stranger@example.org' })
  const typed = { id: codeIdIn(asked), code: await shop.code() }
  const fields = { ...typed, subscription: sold.subscriptionId }
  const refused = await shop.send('/lost-token/reissue?lang=en', fields)
  t.equal(refused.status, 404)
  t.notMatch(refused.text, 'das_live_')
  const order = await shop.send('/order/code', typed)
  t.equal(order.status, 400, 'a code for a token places no order')
  t.equal((await listTokens(shop.store, sold.subscriptionId)).length, 1)
  shop.world.clock.ms += 40 * 24 * 3_600_000
  const late = await shop.send('/lost-token', { email: 'subscriber@example.org' })
  const ended = await shop.send('/lost-token/reissue', {
    id: codeIdIn(late),
    code: await shop.code(),
    subscription: sold.subscriptionId,
  })
  t.equal(ended.status, 404)
})

// PostgreSQL has no text with U+0000.
await t.test('an id of a code with any character is unknown, never a fault', async (t) => {
  const { world, send } = await startShop(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const id of ['a\0b', '\0', 'a\ud800', "' OR 1=1", 'x'.repeat(150)]) {
    for (const url of ['/order/code', '/lost-token/code', '/lost-token/reissue']) {
      t.equal((await send(url, { id, code: '12345678' })).status, 400, url)
    }
    const typed = { act: 'reissue', id, code: '12345678' }
    t.equal((await send('/account', { token, ...typed })).status, 400)
    const path = authorizePath(await register(world))
    t.equal((await send(path, { id, code: '12345678', answer: 'code' })).status, 400)
  }
})
