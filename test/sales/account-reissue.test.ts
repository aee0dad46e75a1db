import t from 'tap'
import { listTokens } from '../../src/control/tokens/tokens.js'
import { codeIdIn, startShop, tokenIn } from '../portal/fixtures/shop-world.js'
import type { ShopWorld } from '../portal/fixtures/shop-world.js'
import { startThings } from '../support/things.js'

const day = 24 * 3_600_000

const ask = (shop: ShopWorld, token: string, lang = 'en') =>
  shop.send(`/account?lang=${lang}`, { token, act: 'code' })
const type = (shop: ShopWorld, token: string, typed: Readonly<Record<string, string>>) =>
  shop.send('/account?lang=en', { token, act: 'reissue', ...typed })
/** The token that a page shows to be copied. */
const shownToken = (page: string) => tokenIn(/<code>das_live_\w+<\/code>/.exec(page)?.[0] ?? '')

await t.test('a mailed code gives a new token; the old one works for a day', async (t) => {
  const shop = await startShop(t)
  const { world } = shop
  const sold = await world.subscribe(['things:pro'])
  const asked = await ask(shop, sold.token)
  t.equal(asked.status, 200)
  t.notMatch(asked.text, '@', 'nothing of the address')
  const [letter] = await shop.letters('code')
  t.equal(letter?.to, 'subscriber@example.org')
  const typed = { id: codeIdIn(asked), code: await shop.code() }
  const issued = await type(shop, sold.token, typed)
  t.equal(issued.status, 200)
  t.equal(issued.headers['cache-control'], 'no-store')
  const token = shownToken(issued.text)
  t.match(issued.text, 'The old one works until November 16, 2026.')
  t.notMatch(issued.text, sold.token, 'the page goes on with the new one')
  t.equal(tokenIn((await shop.letters('reissued-token'))[0]?.text ?? ''), token)
  t.equal((await world.get('/v1/things?id=eq.1', token)).status, 200)
  t.equal((await type(shop, sold.token, typed)).status, 400, 'a code is used once')
  world.clock.ms += day
  t.equal((await world.get('/v1/things?id=eq.1', sold.token)).status, 401)
  t.equal((await world.get('/v1/things?id=eq.1', token)).status, 200)
  for (const secret of [token, sold.token, typed.code]) t.notMatch(world.log.join(''), secret)
})

await t.test('the old token ends immediately when the subscriber chooses that', async (t) => {
  const shop = await startShop(t)
  const { token } = await shop.world.subscribe(['things:pro'])
  const id = codeIdIn(await ask(shop, token))
  const issued = await type(shop, token, { id, code: await shop.code(), earlier: 'end' })
  t.match(issued.text, 'The old one no longer works.')
  t.equal((await shop.world.get('/v1/account', token)).status, 401)
  t.equal((await shop.world.get('/v1/account', shownToken(issued.text))).status, 200)
})

// Guarantee: a token alone is not enough to replace it, and a code works only for the subscription
// and the purpose that it was asked for.
await t.test('only the code of this subscription, in time, gives a token', async (t) => {
  const shop = await startShop(t)
  const { world } = shop
  const own = await world.subscribe(['things:pro'])
  const other = await world.subscribe(['things:pro'])
  const askOwn = async () => ({
    id: codeIdIn(await ask(shop, own.token)),
    code: await shop.code(),
    earlier: 'end',
  })
  const refused = async (token: string, typed: Readonly<Record<string, string>>, why: string) => {
    const { status, text } = await type(shop, token, typed)
    t.equal(status, 400, why)
    t.match(text, 'The code is wrong, was used, or is no longer accepted.', why)
    t.match(text, 'name="code"', 'it can be typed again')
    t.equal(shownToken(text), 'no token')
  }
  const typed = await askOwn()
  await refused(other.token, typed, 'the code of another subscription of the same address')
  await refused(own.token, { ...typed, id: 'unknown' }, 'an unknown id')
  const elsewhere = await shop.send('/lost-token/code', { id: typed.id, code: typed.code })
  t.equal(elsewhere.status, 400, 'a page for lost tokens does not take it')
  const wrong = typed.code === '00000000' ? '00000001' : '00000000'
  for (let tries = 1; tries <= 5; tries += 1) {
    await refused(own.token, { ...typed, code: wrong }, 'wrong')
  }
  await refused(own.token, typed, 'the right one after five wrong ones')
  const late = await askOwn()
  world.clock.ms += 10 * 60_000
  await refused(own.token, late, 'ten minutes later')
  t.equal((await listTokens(shop.store, own.subscriptionId)).length, 1)
  t.equal((await listTokens(shop.store, other.subscriptionId)).length, 1)
})

await t.test('codes are limited, with a message in the language of the page', async (t) => {
  const shop = await startShop(t)
  const { token } = await shop.world.subscribe(['things:pro'])
  for (let codes = 1; codes <= 5; codes += 1) {
    t.equal((await ask(shop, token)).status, 200)
  }
  const { status, headers, text } = await ask(shop, token, 'ru')
  t.equal(status, 429)
  t.equal(headers['content-language'], 'ru')
  t.equal(headers['retry-after'], '3600')
  t.match(text, /role="alert">[^<]*код/i)
})

await t.test("without a mail server a token can't be reissued", async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const send = (fields: Readonly<Record<string, string>>) =>
    world.get('/account?lang=en', undefined, {
      method: 'POST',
      body: new URLSearchParams({ token, ...fields }).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
      },
    })
  const page = await send({})
  t.equal(page.status, 200)
  t.notMatch(page.text, 'value="code"')
  t.equal((await send({ act: 'code' })).status, 404)
})
