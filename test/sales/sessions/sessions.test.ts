import t from 'tap'
import { sql } from '../../../src/control/store/sql.js'
import {
  cancelSubscription,
  changeSubscription,
} from '../../../src/control/subscription-changes.js'
import { tidyShop } from '../../../src/sales/orders/tidy-shop.js'
import { codeIdIn } from '../../portal/fixtures/shop-world.js'
import { postMcp } from '../../support/mcp/mcp-messages.js'
import { postForm } from '../../support/sign-in.js'
import { startThings } from '../../support/things.js'
import { cookieIn, email, startSessions } from './fixtures/signing-in.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

await t.test('an address and its code sign a browser in, without a script', async (t) => {
  const { world, send, code, open } = await startSessions(t)
  const { subscriptionId } = await world.subscribe(['things:pro'])
  const page = await world.get('/datasets/things?lang=en')
  const to = '/sign-in?lang=en&amp;next=%2Fdatasets%2Fthings%3Flang%3Den'
  t.match(page.text, `href="${to}"`, 'every page leads there')
  const form = await world.get(to.replace('&amp;', '&'))
  t.match(form.text, 'name="next" value="/datasets/things?lang=en"')
  const asked = await send('/sign-in?lang=en', { email, next: '/datasets/things?lang=en' })
  t.match(asked.text, `A code was sent to ${email}`)
  const wrong = await send('/sign-in/code?lang=en', { id: codeIdIn(asked), code: '1' })
  t.equal(wrong.status, 400)
  t.match(wrong.text, 'The code is wrong, was used, or is no longer accepted.')
  const done = await send('/sign-in/code', { id: codeIdIn(wrong), code: await code() })
  t.equal(done.status, 303)
  t.equal(done.headers['location'], '/datasets/things?lang=en')
  const back = await open('/datasets/things?lang=en', cookieIn(done))
  t.match(back.text, email)
  t.match(back.text, 'Sign out')
  t.match(back.text, `data-payer="${subscriptionId}"`)
  t.equal(back.headers['cache-control'], 'no-store')
  t.equal(back.headers['etag'], undefined)
  t.match(String(back.headers['vary']), 'Cookie')
  const headers = { cookie: cookieIn(done), accept: 'text/html' }
  t.match((await world.get('/nothing', undefined, { headers })).text, email, 'an error page too')
})

// Guarantee: the cookie is out of reach of scripts and of the network; other sites can't send it
// with a form; it is nowhere but in headers of HTTP.
await t.test('the cookie is sent to this host alone, and hidden from scripts', async (t) => {
  for (const [settings, start] of [
    [{}, /^das=das_session_\w{49}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/],
    [
      { publicUrl: 'https://data.example.org' },
      /^__Host-das=das_session_\w{49}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    ],
  ] as const) {
    const { world, send, code, open, store, post } = await startSessions(t, { settings })
    const { subscriptionId } = await world.subscribe(['things:pro'])
    const asked = await send('/sign-in', { email, next: '/' })
    const done = await send('/sign-in/code', { id: codeIdIn(asked), code: await code() })
    t.match(done.headers['set-cookie'], start)
    const cookie = cookieIn(done)
    const secret = cookie.split('=')[1] ?? ''
    const pages = ['/', '/account', '/datasets/things', '/sign-in', '/order', '/docs', '/guide']
    for (const path of pages) t.notMatch((await open(path, cookie)).text, secret, path)
    t.notMatch(done.text, secret)
    const [hash] = await store.all(sql`SELECT * FROM sessions`)
    t.notMatch(JSON.stringify(hash), secret, 'the store has its hash')
    const gone = await post('/sign-out', cookie)
    t.match(gone.headers['set-cookie'], /^(__Host-)?das=; Max-Age=0; Path=\/; HttpOnly/)
    t.notMatch(world.log.join(''), /das_session_|das_page_/, 'not in the log')
    t.notMatch(world.log.join(''), email)
    t.ok(subscriptionId)
  }
})

await t.test('nobody signs in over plain http of another machine, or without mail', async (t) => {
  const settings = { publicUrl: 'http://data.example.org' }
  const { world: plain } = await startSessions(t, { settings })
  for (const world of [plain, await startThings(t)]) {
    t.notMatch((await world.get('/?lang=en')).text, 'Sign in')
    t.match((await world.get('/sign-in?lang=en')).text, 'Signing in is not possible')
    const asked = await postForm(
      world,
      '/sign-in',
      { email, next: '/' },
      { headers: { 'sec-fetch-site': 'same-origin' } },
    )
    t.equal(asked.status, 404)
    t.equal(asked.headers['set-cookie'], undefined)
    t.notMatch(asked.text, 'name="code"')
  }
})

// Guarantee: whoever planted a cookie in a browser does not share the session that is made there.
await t.test(
  'each sign-in makes a new session, and ends the one that the browser had',
  async (t) => {
    const { signIn, isIn, world } = await startSessions(t)
    await world.subscribe(['things:pro'])
    const planted = `das=das_session_${'0'.repeat(49)}`
    const first = await signIn(email, planted)
    t.notOk(await isIn(planted))
    t.not(first, planted)
    const second = await signIn('attacker@example.org', first)
    t.not(second, first)
    t.notOk(await isIn(first))
    t.ok(await isIn(second))
  },
)

// Guarantee: a page of another site can't use the session: neither to change it nor to take its
// access.
await t.test('forms and calls with the cookie come from our own pages alone', async (t) => {
  const { world, signIn, post, askAccess, isIn, send } = await startSessions(t)
  const { subscriptionId } = await world.subscribe(['things:pro'])
  const cookie = await signIn()
  const foreign = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin: 'http://localhost' },
  ]
  for (const headers of foreign) {
    const paths = ['/sign-in', '/sign-in/code', '/sign-out', '/sign-out/everywhere']
    for (const path of [...paths, '/session/payer']) {
      t.equal((await post(path, cookie, {}, headers)).status, 403, path)
    }
    t.equal((await askAccess(cookie, subscriptionId, headers)).status, 403)
  }
  for (const [origin, status] of [
    ['https://evil.example', 403],
    ['null', 403],
    [undefined, 403],
    ['http://localhost', 200],
  ] as const) {
    const answer = await world.get('/session/access', undefined, {
      method: 'POST',
      body: JSON.stringify({ subscription: subscriptionId }),
      headers: { cookie, 'content-type': 'application/json', ...(origin && { origin }) },
    })
    t.equal(answer.status, status, String(origin))
  }
  t.ok(await isIn(cookie))
  t.equal((await send('/sign-out', {}, { headers: { cookie } })).status, 303)
})

// Guarantee: nobody learns whether an address has a subscription, except the reader of its mail.
await t.test('a known address and an unknown one get the same answers and work', async (t) => {
  const { world, send, store, code } = await startSessions(t)
  await world.subscribe(['things:pro'])
  const seen: unknown[] = []
  for (const to of [email, 'subscriben@example.org']) {
    const asked = await send('/sign-in?lang=en', { email: to, next: '/' })
    const typed = { id: codeIdIn(asked), code: await code() }
    const done = await send('/sign-in/code?lang=en', typed)
    const shape = ({ status, text, headers }: typeof asked) => ({
      status,
      text: text.replaceAll(to, 'ADDRESS').replaceAll(typed.id, 'ID'),
      headers: Object.entries(headers)
        .filter(([name]) => !['x-request-id', 'date'].includes(name))
        .map(([name, value]) => [name, String(value).replace(/das_session_\w+/, 'SECRET')]),
    })
    const [counts] = await store.all<Readonly<Record<string, number>>>(
      sql`SELECT (SELECT count(*) FROM letters) AS letters, (SELECT count(*) FROM sessions) AS open,
         (SELECT count(*) FROM email_codes) AS codes, (SELECT count(*) FROM audit) AS audit`,
    )
    seen.push([shape(asked), shape(done), counts])
  }
  const [known, unknown] = seen as [readonly unknown[], readonly unknown[]]
  t.same((unknown[0] as { text: string }).text.length, (known[0] as { text: string }).text.length)
  t.same(unknown.slice(0, 2), known.slice(0, 2))
  t.match(known[2], { letters: 1, open: 1, codes: 1 })
  t.match(unknown[2], { ...(known[2] as object), letters: 2, open: 2, codes: 2 })
})

// Guarantee: a link to the sign-in never leads to another site.
await t.test('only own paths are returned to', async (t) => {
  const { send, code, world } = await startSessions(t)
  const targets = [
    ['/datasets/things?lang=en#rows?limit=2', '/datasets/things?lang=en#rows?limit=2'],
    ['//evil.example', '/account'],
    ['/\\evil.example', '/account'],
    ['/\t/evil.example', '/account'],
    ['/\n/evil.example', '/account'],
    ['/.//evil.example', '/account'],
    ['/x/..//evil.example', '/account'],
    ['https://evil.example', '/account'],
    ['javascript:alert(1)', '/account'],
    ['evil.example', '/account'],
    ['/sign-in?next=/', '/account'],
    [`/${'a'.repeat(3000)}`, '/account'],
    ['', '/account'],
  ] as const
  for (const [index, [next, expected]] of targets.entries()) {
    const asked = await send('/sign-in', { email: `someone${index}@example.org`, next })
    const done = await send('/sign-in/code', { id: codeIdIn(asked), code: await code() })
    t.equal(done.headers['location'], expected, next)
    const form = await world.get(`/sign-in?next=${encodeURIComponent(next)}`)
    t.match(form.text, `name="next" value="${expected}"`)
    world.clock.ms += 600_000
  }
})

// Guarantee: who signs out is out: what was copied of the browser is worth nothing.
await t.test('signing out ends the session and its secrets; everywhere ends all', async (t) => {
  const { world, signIn, isIn, post, askAccess } = await startSessions(t)
  const { subscriptionId } = await world.subscribe(['things:pro'])
  const [here, there, theirs] = [await signIn(), await signIn(), await signIn('other@example.org')]
  const read = async (access: string) => (await world.get('/v1/things?id=eq.1', access)).status
  const secrets: string[] = []
  for (const cookie of [here, there]) {
    const { body } = await askAccess(cookie, subscriptionId)
    secrets.push(String(body['access']))
  }
  const [first = '', second = ''] = secrets
  t.same([await read(first), await read(second)], [200, 200])
  t.equal((await post('/sign-out', here)).headers['location'], '/')
  t.same([await isIn(here), await isIn(there)], [false, true])
  t.same([await read(first), await read(second)], [401, 200])
  t.equal((await askAccess(here, subscriptionId)).status, 401)
  const again = await signIn()
  await post('/sign-out/everywhere', again)
  t.same([await isIn(again), await isIn(there), await isIn(theirs)], [false, false, true])
  t.equal(await read(second), 401)
})

// Guarantee: a subscription that goes to another address is out of reach of the one before.
await t.test('another address of a subscription ends the sessions of the one before', async (t) => {
  const { world, signIn, isIn, askAccess, store } = await startSessions(t)
  const { subscriptionId } = await world.subscribe(['things:pro'])
  const [cookie, theirs] = [await signIn('Subscriber@Example.org'), await signIn('new@example.org')]
  const access = String((await askAccess(cookie, subscriptionId)).body['access'])
  const now = () => world.clock.ms
  const same = { grants: [], withdrawn: [], now }
  await changeSubscription(store, subscriptionId, { ...same, language: 'ru' })
  t.ok(await isIn(cookie))
  await changeSubscription(store, subscriptionId, { ...same, email: 'new@example.org' })
  t.notOk(await isIn(cookie))
  t.equal((await world.get('/v1/things?id=eq.1', access)).status, 401)
  t.ok(await isIn(theirs))
  t.equal((await askAccess(theirs, subscriptionId)).status, 200)
})

// Guarantee: the secret of a page is worth no more than the session, the subscription and an hour.
await t.test('a secret reads with the grants, quota and rate of the subscription', async (t) => {
  const { world, signIn, askAccess, store, post } = await startSessions(t)
  const sold = await world.subscribe(['things:pro'])
  const cookie = await signIn()
  const made = await askAccess(cookie, sold.subscriptionId)
  t.equal(made.status, 200)
  t.match(made.body, { access: /^das_page_\w{49}$/, expires_at: '2026-11-15T13:00:00Z' })
  t.same(Object.keys(made.body).sort(), ['access', 'expires_at'])
  t.equal(made.headers['cache-control'], 'no-store')
  const access = String(made.body['access'])
  const page = await world.get('/v1/things?id=in.1,2,3', access)
  t.equal(page.body.data.length, 3)
  const byToken = await world.get('/v1/things?id=in.4', sold.token)
  t.equal(byToken.headers['x-quota-rows-remaining'], '499996', 'one quota')
  const left = (answer: typeof page) => Number(answer.headers['x-ratelimit-remaining'])
  t.equal(left(byToken), left(page) - 1, 'one rate')
  t.equal((await world.get('/v1/parts', access)).status, 404)
  const listing = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
  t.equal((await postMcp(world, access, listing)).status, 401, 'not at MCP')
  t.equal((await world.get(`/v1/things?token=${access}`)).status, 400, 'nor in a URL')
  const secret = cookie.split('=')[1] ?? ''
  t.equal((await world.get('/v1/things?id=eq.1', secret)).status, 401, 'the cookie is no token')
  world.clock.ms += hourMs
  t.equal((await world.get('/v1/things?id=eq.1', access)).status, 401, 'an hour is over')
  const other = String((await askAccess(cookie, sold.subscriptionId)).body['access'])
  await cancelSubscription(store, sold.subscriptionId, () => world.clock.ms)
  t.equal((await world.get('/v1/things?id=eq.1', other)).status, 401)
  t.equal((await askAccess(cookie, sold.subscriptionId)).status, 404)
  t.equal((await post('/session/payer', cookie, { subscription: 'sub_x' })).status, 303)
})

await t.test(
  'only live subscriptions of the address are given, foreign and unknown alike',
  async (t) => {
    const { world, signIn, askAccess } = await startSessions(t)
    const { subscriptionId } = await world.subscribe(['things:pro'])
    const stranger = await signIn('other@example.org')
    const [foreign, unknown] = [
      await askAccess(stranger, subscriptionId),
      await askAccess(stranger, 'sub_0123456789abcdef'),
    ]
    t.equal(foreign.status, 404)
    t.equal(foreign.text, unknown.text)
    t.equal((await askAccess('', subscriptionId)).status, 401)
  },
)

// Guarantee: the cookie opens nothing but pages and `/session/access`, for no other origin.
await t.test('REST, MCP and the sign-in of agents ignore the cookie, without CORS', async (t) => {
  const settings = { corsOrigins: 'https://app.example' }
  const { world, signIn } = await startSessions(t, { settings })
  await world.subscribe(['things:pro'])
  const cookie = await signIn()
  const ask = (url: string, headers: Readonly<Record<string, string>>, method = 'GET') =>
    world.get(url, undefined, {
      method: method as 'GET',
      headers: { origin: 'https://app.example', ...headers },
      ...(method === 'POST' && { body: 'grant_type=x' }),
    })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const [url, headers, method] of [
    ['/v1/things?id=eq.1', {}, 'GET'],
    ['/v1/', {}, 'GET'],
    ['/v1/account', {}, 'GET'],
    ['/mcp', { 'content-type': 'application/json' }, 'POST'],
    ['/openapi.json', {}, 'GET'],
    ['/token', form, 'POST'],
    ['/.well-known/oauth-authorization-server', {}, 'GET'],
    ['/', {}, 'GET'],
  ] as const) {
    const without = await ask(url, headers, method)
    t.equal(without.headers['access-control-allow-origin'] !== undefined, url !== '/mcp', url)
    const answer = await ask(url, { ...headers, cookie }, method)
    t.equal(answer.status, without.status, url)
    if (url !== '/') t.equal(answer.text.replace(/"[\w-]{36}"/, ''), without.text, url)
    const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))
    t.same(cors, [], url)
  }
  t.notMatch((await world.get('/openapi.json')).text, /cookie|session/i)
})

await t.test('a session ends 30 days after its last use, and is removed', async (t) => {
  const { world, signIn, isIn, store } = await startSessions(t, {})
  await world.subscribe(['things:pro'], { months: 12 })
  const [used, idle] = [await signIn(), await signIn()]
  world.clock.ms += 20 * dayMs
  t.ok(await isIn(used))
  // The use is written beside the answer.
  const isWritten = sql`SELECT 1 FROM sessions WHERE last_used_at >= ${world.clock.ms}`
  while ((await store.all(isWritten)).length === 0) await isIn(used)
  world.clock.ms += 20 * dayMs
  t.same([await isIn(used), await isIn(idle)], [true, false])
  await tidyShop({ store, now: () => world.clock.ms })
  t.equal((await store.all(sql`SELECT 1 FROM sessions`)).length, 1)
  t.equal((await store.all(sql`SELECT 1 FROM session_secrets`)).length, 0)
})

await t.test('of several subscriptions the person chooses once which one pays', async (t) => {
  const { world, signIn, open, post } = await startSessions(t)
  const [one, two] = [await world.subscribe(['things:pro']), await world.subscribe(['parts:start'])]
  const cookie = await signIn()
  const asked = await open('/account?lang=en', cookie)
  t.match(asked.text, 'Which subscription pays')
  t.notMatch(asked.text, 'data-payer')
  const fields = { subscription: two.subscriptionId, next: '/account?lang=en' }
  const chosen = await post('/session/payer', cookie, fields)
  t.equal(chosen.headers['location'], '/account?lang=en')
  t.match((await open('/', cookie)).text, `data-payer="${two.subscriptionId}"`)
  await post('/session/payer', cookie, { subscription: 'sub_foreign', next: '//evil.example' })
  t.match((await open('/', cookie)).text, `data-payer="${two.subscriptionId}"`)
  await post('/session/payer', cookie, { ...fields, subscription: one.subscriptionId })
  t.match((await open('/', cookie)).text, `data-payer="${one.subscriptionId}"`)
})

await t.test('the log names the session that read, and no token', async (t) => {
  const { world, signIn, askAccess } = await startSessions(t)
  const { subscriptionId } = await world.subscribe(['things:pro'])
  const access = String((await askAccess(await signIn(), subscriptionId)).body['access'])
  await world.get('/v1/things?id=eq.1', access)
  const line = world.log.findLast((each) => each.includes('/v1/things')) ?? '{}'
  t.match(JSON.parse(line), { subscription: subscriptionId, sessionId: /^ses_/, rows: 1 })
  t.notMatch(line, 'tokenId')
})

await t.test('letters and the page after an order lead to the data in a browser', async (t) => {
  const { world, send, code, letters } = await startSessions(t)
  const order = { plan: 'things:free', months: '1', email }
  const asked = await send('/order?lang=en', order)
  const placed = await send('/order/code?lang=en', { id: codeIdIn(asked), code: await code() })
  t.match(placed.text, 'href="/sign-in?lang=en&amp;next=%2F"')
  t.match((await letters('new-token'))[0]?.text, 'https://data.example.org/sign-in?next=/')
  t.equal((await world.get('/sign-in?next=/')).status, 200)
})

// Guarantee: addresses of machines ignore the cookie, also on the pages with which they refuse.
await t.test('a refusal of the OpenAPI document or of OAuth names nobody', async (t) => {
  const { world, signIn } = await startSessions(t)
  const cookie = await signIn()
  const headers = { cookie, accept: 'text/html' }
  t.match((await world.get('/none', undefined, { headers })).text, email, 'other pages do')
  for (const path of ['/openapi.json?x=1', '/token', '/register', '/revoke', '/authorize?x=1']) {
    const { text, headers: sent } = await world.get(path, undefined, { headers })
    t.notMatch(text, email, path)
    t.notOk(sent['access-control-allow-origin'], path)
  }
})
