import t from 'tap'
import { listTokens } from '../../src/control/tokens/tokens.js'
import { startThings } from '../support/things.js'
import { startShop, tokenIn } from '../portal/fixtures/shop-world.js'

const day = 24 * 3_600_000

await t.test('a mailed code gives a new token; the old one works for a day', async (t) => {
  const shop = await startShop(t)
  const { world } = shop
  const sold = await world.subscribe(['things:pro'])
  const post = (path: string, body: unknown) => world.post(`/account/${path}`, sold.token, body)
  const asked = await post('token/code', {})
  t.equal(asked.status, 200)
  t.same(Object.keys(asked.body), ['code_id'], 'nothing of the address')
  const [letter] = await shop.letters('code')
  t.equal(letter?.to, 'subscriber@example.org')
  const typed = { code_id: asked.body['code_id'], code: await shop.code(), end_earlier: false }
  const issued = await post('token', typed)
  t.equal(issued.status, 200)
  t.equal(issued.headers['cache-control'], 'no-store')
  const token = String(issued.body['token'])
  t.equal(tokenIn(token), token)
  t.equal(issued.body['earlier_valid_until'], '2026-11-16T12:00:00Z')
  t.equal(tokenIn((await shop.letters('reissued-token'))[0]?.text ?? ''), token)
  t.equal((await world.get('/v1/things?id=eq.1', token)).status, 200)
  t.equal((await post('token', typed)).status, 400, 'a code is used once')
  world.clock.ms += day
  t.equal((await world.get('/v1/things?id=eq.1', sold.token)).status, 401)
  t.equal((await world.get('/v1/things?id=eq.1', token)).status, 200)
  t.notMatch(world.log.join(''), token)
  t.notMatch(world.log.join(''), typed.code)
})

await t.test('the old token ends immediately when the subscriber chooses that', async (t) => {
  const shop = await startShop(t)
  const { token } = await shop.world.subscribe(['things:pro'])
  const asked = await shop.world.post('/account/token/code', token, {})
  const typed = { code_id: asked.body['code_id'], code: await shop.code(), end_earlier: true }
  const issued = await shop.world.post('/account/token', token, typed)
  t.equal(issued.body['earlier_valid_until'], null)
  t.equal((await shop.world.get('/v1/account', token)).status, 401)
  t.equal((await shop.world.get('/v1/account', String(issued.body['token']))).status, 200)
})

// Guarantee: a token alone is not enough to replace it, and a code works only for the subscription
// and the purpose that it was asked for.
await t.test('only the code of this subscription, in time, gives a token', async (t) => {
  const shop = await startShop(t)
  const { world } = shop
  const own = await world.subscribe(['things:pro'])
  const other = await world.subscribe(['things:pro'])
  const ask = async (token: string) => {
    const { body } = await world.post('/account/token/code', token, {})
    return { code_id: String(body['code_id']), code: await shop.code(), end_earlier: true }
  }
  const refused = async (token: string, typed: object, why: string) => {
    const { status, body, text } = await world.post('/account/token?lang=en', token, typed)
    t.equal(status, 400, why)
    t.match(body.detail, 'The code is wrong, was used, or is no longer accepted.', why)
    t.notMatch(text, 'das_live_')
  }
  const typed = await ask(own.token)
  await refused(other.token, typed, 'the code of another subscription of the same address')
  await refused(own.token, { ...typed, code_id: 'unknown' }, 'an unknown id')
  const elsewhere = await shop.send('/lost-token/code', { id: typed.code_id, code: typed.code })
  t.equal(elsewhere.status, 400, 'a page for lost tokens does not take it')
  const wrong = typed.code === '00000000' ? '00000001' : '00000000'
  for (let tries = 1; tries <= 5; tries += 1) {
    await refused(own.token, { ...typed, code: wrong }, 'wrong')
  }
  await refused(own.token, typed, 'the right one after five wrong ones')
  const late = await ask(own.token)
  world.clock.ms += 10 * 60_000
  await refused(own.token, late, 'ten minutes later')
  t.equal((await listTokens(shop.store, own.subscriptionId)).length, 1)
  t.equal((await listTokens(shop.store, other.subscriptionId)).length, 1)
})

await t.test('codes are limited, with a message in the language of the page', async (t) => {
  const shop = await startShop(t)
  const { token } = await shop.world.subscribe(['things:pro'])
  for (let codes = 1; codes <= 5; codes += 1) {
    t.equal((await shop.world.post('/account/token/code', token, {})).status, 200)
  }
  const { status, headers, body } = await shop.world.post('/account/token/code?lang=ru', token, {})
  t.equal(status, 429)
  t.equal(headers['content-language'], 'ru')
  t.equal(headers['retry-after'], '3600')
  t.match(body.detail, /код/i)
})

await t.test("without a mail server a token can't be reissued", async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  t.match((await world.get('/account/orders', token)).body, { can_reissue: false })
  t.equal((await world.post('/account/token/code', token, {})).status, 404)
})
