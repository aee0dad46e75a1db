import t from 'tap'
import type { Test } from 'tap'
import { listConnections } from '../../../src/control/connections/connections.js'
import { endConnection } from '../../../src/control/connections/end-connection.js'
import { sql } from '../../../src/control/store/sql.js'
import type { ControlStore } from '../../../src/control/store/store.js'
import { cancelSubscription } from '../../../src/control/subscription-changes.js'
import {
  issueToken,
  listTokens,
  reissueToken,
  revokeToken,
} from '../../../src/control/tokens/tokens.js'
import { tidyShop } from '../../../src/sales/orders/tidy-shop.js'
import { subscribe } from '../../control/fixtures/store.js'
import { codeIdIn, startShop } from '../../portal/fixtures/shop-world.js'
import { postMcp } from '../../support/mcp/mcp-messages.js'
import {
  authorizePath,
  issuer,
  redeem,
  redirectUri,
  register,
  returnOf,
  secretsOf,
  sendForm,
} from '../../support/sign-in.js'
import { startThings } from '../../support/things.js'
import type { Answer } from '../../support/world.js'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const email = 'subscriber@example.org'
const listing = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })

/** A server that sends mail and has no shop, an agent, and a person without a token at hand. */
async function startMailed(t: Test) {
  const mailed = await startShop(t, { shop: '' })
  const { world, store } = mailed
  const clientId = await register(world)
  const path = authorizePath(clientId, { lang: 'en' })
  const ask = (to = email, at = path) => sendForm(world, at, { answer: 'mail', email: to })
  const type = (id: string, code: string, subscription = '', at = path) =>
    sendForm(world, at, { answer: 'code', id, code, subscription })
  /** Types a good code; the answer. */
  const pass = async (subscription = '') =>
    type(codeIdIn(await ask()), await mailed.code(), subscription)
  /** Connects by a code; the agent's access token. */
  const connect = async (subscription = '') => {
    const code = returnOf(await pass(subscription)).get('code') ?? ''
    return secretsOf(await redeem(world, clientId, code)).access
  }
  const statusWith = async (access: string) => (await postMcp(world, access, listing)).status
  const made = async () => (await listConnections(store)).length
  return { ...mailed, clientId, path, ask, type, pass, connect, statusWith, made }
}

/** Asserts that a code was refused: the page again, in the one text for all reasons. */
function isRefused(t: Test, { status, text, headers }: Answer, name: string): void {
  t.equal(status, 400, name)
  t.match(text, 'The code is wrong, was used, or is no longer accepted.', name)
  t.equal(headers['location'], undefined, name)
}

await t.test('a mailed code connects the agent, and the token stays in the letter', async (t) => {
  const { world, store, path, ask, type, code, clientId, statusWith } = await startMailed(t)
  const { subscriptionId, tokenId } = await world.subscribe(['things:pro'])
  t.match((await world.get(path)).text, 'No token at hand?')
  const asked = await ask('  Subscriber@Example.org ')
  t.equal(asked.status, 200)
  t.match(asked.text, 'A code was sent to Subscriber@Example.org')
  t.match(asked.text, '<strong>agent.example</strong>', 'the page still says who gets the access')
  t.notMatch(asked.text, await code())
  t.match(asked.headers, { 'referrer-policy': 'same-origin', 'cache-control': 'no-store' })
  t.notMatch(String(asked.headers['content-security-policy']), 'form-action')
  t.equal(asked.headers['set-cookie'], undefined)
  const good = await code()
  const connected = await type(codeIdIn(asked), good.replace(/^\d{4}/, '$& '))
  t.equal(connected.status, 303)
  t.match(Object.fromEntries(returnOf(connected)), { state: 'the state', iss: issuer })
  const answer = await redeem(world, clientId, returnOf(connected).get('code') ?? '')
  t.equal(await statusWith(secretsOf(answer).access), 200)
  t.match(await listConnections(store), [{ subscriptionId, tokenId, madeBy: 'mail' }])
  t.match(await store.all(sql`SELECT details FROM audit WHERE action = 'connection.made'`), [
    { details: /"made_by":"mail"/ },
  ])
  t.notMatch(world.log.join(''), good)
  t.notMatch(world.log.join(''), /das_code_\w{20}|subscriber@/i, 'not in the log')
})

await t.test(
  'the letter names the agent and the receiver of the access, without a link',
  async (t) => {
    const { world, ask, letters, code } = await startMailed(t)
    const named = await register(world, {
      client_name: 'Claude <evil.example/gift> www.evil.example',
      redirect_uris: [redirectUri],
    })
    const english = authorizePath(named, { lang: 'en' })
    await ask('anyone@example.org', english)
    const [letter] = await letters('code')
    t.equal(letter?.to, 'anyone@example.org')
    t.equal(letter?.subject, 'Your code for data.example.org')
    t.equal(
      letter?.text,
      `Your code to connect an agent on data.example.org:

    ${await code()}

Type it into the page that asked for it, within 10 minutes. Do not pass it on.

The agent calls itself “Claude evil example gift www evil exampl”, which is not verified. The code gives access to agent.example.

If you did not start this yourself, ignore this e-mail: without the code nothing happens. Do not tell the code to anyone who asks for it.

This e-mail was sent automatically.
`,
    )
    t.notMatch(letter?.html, /<a|href/)
    await ask('anyone@example.org', authorizePath(named, { lang: 'ru' }))
    t.match(
      (await letters('code'))[0]?.text,
      'Ваш код, чтобы подключить агента на data.example.org:',
    )
    t.match((await letters('code'))[0]?.text, 'Доступ по этому коду получит agent.example.')
  },
)

// Guarantee: a letter tells the subscriber of each connection, and what to do about it.
await t.test('the letter about the connection says that a code made it', async (t) => {
  const { world, connect, letters } = await startMailed(t)
  await world.subscribe(['things:pro'])
  await connect()
  const [letter] = await letters('connection-made')
  t.equal(letter?.to, email)
  t.match(letter?.text, 'An agent was connected with a code that was mailed to you on 15 November')
  t.match(letter?.text, 'someone else can read your e-mail')
  t.notMatch(letter?.text, 'has your token')
})

// Guarantees: five tries, ten minutes, one use; every refusal has one text.
await t.test('a code is refused after five wrong tries, ten minutes, and its use', async (t) => {
  const { world, ask, type, code, made } = await startMailed(t)
  await world.subscribe(['things:pro'])
  const first = codeIdIn(await ask())
  const good = await code()
  for (const wrong of ['', 'x', '0000000', `${good}0`, '12345678']) {
    isRefused(t, await type(first, wrong), wrong)
  }
  isRefused(t, await type(first, good), 'the right one, after five wrong ones')
  const second = codeIdIn(await ask())
  const late = await code()
  world.clock.ms += 10 * minuteMs
  isRefused(t, await type(second, late), 'late')
  const third = codeIdIn(await ask())
  const last = await code()
  isRefused(t, await type('unknown', last), 'an unknown page')
  isRefused(t, await type(second, last), 'the page of another code')
  t.equal(await made(), 0)
  t.equal((await type(third, last)).status, 303)
  const again = await type(third, last)
  t.equal(again.status, 400, 'a second time')
  t.match(again.text, 'This code was used already')
  t.equal(await made(), 1)
})

// Guarantee: a code that a person typed for one agent connects no other.
await t.test('a code belongs to the agent, address and challenge that asked for it', async (t) => {
  const { world, ask, type, code, clientId, made, path } = await startMailed(t)
  await world.subscribe(['things:pro'])
  const elsewhere = 'https://evil.example/callback'
  const evil = await register(world, { client_name: 'Agent', redirect_uris: [elsewhere] })
  const same = await register(world, {
    client_name: 'Agent',
    redirect_uris: [redirectUri, elsewhere],
  })
  const other = await register(world, { client_name: 'Other', redirect_uris: [redirectUri] })
  const id = codeIdIn(await ask(email, authorizePath(same)))
  const good = await code()
  for (const [name, at] of [
    ['another agent', authorizePath(evil, { redirect_uri: elsewhere })],
    ['another agent at the same address', authorizePath(other)],
    ['another address', authorizePath(same, { redirect_uri: elsewhere })],
    ['another challenge', authorizePath(same, { code_challenge: 'a'.repeat(43) })],
    ['the page of another agent', path],
  ] as const) {
    isRefused(t, await type(id, good, '', `${at}&lang=en`), name)
  }
  t.equal(await made(), 0)
  t.equal((await type(id, good, '', authorizePath(same))).status, 303)
  t.not(same, clientId)
})

await t.test(
  'a code for a token connects no agent, and a code for an agent issues no token',
  async (t) => {
    const { world, store, send, ask, type, code } = await startMailed(t)
    const { subscriptionId } = await world.subscribe(['things:pro'])
    const lost = codeIdIn(await send('/lost-token', { email }))
    isRefused(t, await type(lost, await code()), 'a code for a lost token')
    const id = codeIdIn(await ask())
    const reissue = { id, code: await code(), subscription: subscriptionId }
    t.equal((await send('/lost-token/reissue', reissue)).status, 400)
    t.equal((await listTokens(store, subscriptionId)).length, 1)
  },
)

// Guarantee: only the reader of its mail learns whether an address has a subscription.
await t.test('a known address and an unknown one get the same answers and work', async (t) => {
  const { world, store, ask: send, type, code } = await startMailed(t)
  await world.subscribe(['things:pro'])
  const counts = async () =>
    (
      await store.all(
        sql`SELECT (SELECT count(*) FROM letters) AS letters, (SELECT count(*) FROM audit) AS audit,
         (SELECT count(*) FROM email_codes) AS codes,
         (SELECT count(*) FROM connections) AS connections`,
      )
    )[0] as Readonly<Record<string, number>>
  const ask = async (to: string) => {
    const before = await counts()
    const { status, headers, text } = await send(to)
    const after = await counts()
    const wrong = await type(codeIdIn({ text }), 'no code')
    const own = (page: string) =>
      page.replaceAll(to, '…').replaceAll(/name="id" value="\w+"/g, 'name="id"')
    const kept = Object.entries(headers).filter(
      ([name]) => !['date', 'x-request-id', 'content-length'].includes(name),
    )
    const written = Object.keys(after).map((name) => (after[name] ?? 0) - (before[name] ?? 0))
    return { status, kept, text: own(text), wrong: own(wrong.text), written }
  }
  const known = await ask(email)
  const unknown = await ask('stranger@example.org')
  t.equal(known.status, 200)
  t.same(unknown, known)
  t.same(known.written, [1, 0, 1, 0])

  const id = codeIdIn(await send('stranger@example.org'))
  const answer = await type(id, await code())
  t.equal(answer.headers['location'], undefined)
  t.match(answer.text, 'This address has no live subscription')
})

await t.test('of several subscriptions the person chooses one of their own', async (t) => {
  const { world, store, ask, type, code, made } = await startMailed(t)
  const one = await world.subscribe(['things:pro'])
  const two = await world.subscribe(['parts:start'])
  const ended = await world.subscribe(['things:free'])
  await cancelSubscription(store, ended.subscriptionId, () => world.clock.ms)
  const foreign = await subscribe(store, {
    email: 'other@example.org',
    grants: [{ dataset: 'things', plan: 'pro' }],
    now: () => world.clock.ms,
  })
  const id = codeIdIn(await ask())
  const good = await code()
  const choice = await type(id, good)
  t.equal(choice.status, 200)
  t.match(choice.text, one.subscriptionId)
  t.match(choice.text, two.subscriptionId)
  t.notMatch(choice.text, ended.subscriptionId)
  t.notMatch(choice.text, foreign.subscriptionId)
  t.match(choice.text, '<strong>agent.example</strong>')
  for (const wrong of [foreign.subscriptionId, ended.subscriptionId, 'sub_x']) {
    t.equal((await type(id, good, wrong)).headers['location'], undefined, wrong)
  }
  t.equal(await made(), 0)
  t.equal((await type(id, good, two.subscriptionId)).status, 303)
  t.match(await listConnections(store), [
    { subscriptionId: two.subscriptionId, tokenId: two.tokenId },
  ])
  const late = codeIdIn(await ask('other@example.org'))
  const stolen = await type(late, await code(), one.subscriptionId)
  t.notMatch(stolen.text, one.subscriptionId)
  t.equal(await made(), 1)
})

// Guarantee: the codes of the shop and of the sign-in share their limits.
await t.test('an address gets five codes an hour, of all pages together', async (t) => {
  const { send, ask } = await startMailed(t)
  for (let each = 0; each < 3; each += 1) t.equal((await ask()).status, 200)
  for (let each = 0; each < 2; each += 1) {
    t.equal((await send('/lost-token', { email })).status, 200)
  }
  const limited = await ask()
  t.equal(limited.status, 429)
  t.match(limited.headers['retry-after'], '3600')
  t.match(limited.text, 'Too many codes were asked for.')
  t.equal((await send('/lost-token', { email })).status, 429)
})

await t.test('a network asks for twenty codes an hour, of all pages together', async (t) => {
  const { send, ask, letters } = await startMailed(t)
  for (let each = 0; each < 19; each += 1) t.equal((await ask(`a${each}@b.example`)).status, 200)
  t.equal((await send('/lost-token', { email })).status, 200)
  t.equal((await ask()).status, 429)
  t.equal((await letters('code')).length, 20)
  const wrong = await ask('no address')
  t.equal(wrong.status, 400)
  t.match(wrong.text, 'Give one plain e-mail address')
})

await t.test('connections by code count toward those of an hour', async (t) => {
  const { world, path, pass, made } = await startMailed(t)
  const { token } = await world.subscribe(['things:pro'])
  for (let each = 0; each < 60; each += 1) {
    await sendForm(world, path, { token, answer: 'connect' })
  }
  const limited = await pass()
  t.equal(limited.status, 429)
  t.match(limited.headers['retry-after'], /^\d+$/)
  t.equal(await made(), 60)
})

// Guarantee: no other site can send the form, and a wrong request gets a page.
await t.test('a form of another site, or for a wrong request, mails no code', async (t) => {
  const { world, path, clientId, letters } = await startMailed(t)
  const fields = { answer: 'mail', email }
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'null' }, {}] as const) {
    t.equal((await sendForm(world, path, fields, { ...headers })).status, 403)
  }
  const foreign = authorizePath(clientId, { redirect_uri: 'https://evil.example/' })
  t.equal((await sendForm(world, foreign, fields)).status, 400)
  t.same(await letters('code'), [])
})

await t.test('a server without mail shows only the token form and mails no code', async (t) => {
  const world = await startThings(t)
  const path = authorizePath(await register(world), { lang: 'en' })
  await world.subscribe(['things:pro'])
  const page = await world.get(path)
  t.match(page.text, 'Subscription token')
  t.notMatch(page.text, /No token at hand|type="email"/)
  for (const fields of [
    { answer: 'mail', email },
    { answer: 'code', id: 'x', code: '12345678' },
  ]) {
    const answer = await sendForm(world, path, fields)
    t.equal(answer.status, 400)
    t.match(answer.text, 'This token is unknown')
  }
})

await t.test('all data of a visitor is removed after an hour', async (t) => {
  const { world, store, ask } = await startMailed(t)
  await ask('stranger@example.org')
  t.equal((await store.all(sql`SELECT 1 FROM email_codes`)).length, 1)
  world.clock.ms += hourMs
  await tidyShop({ store, now: () => world.clock.ms })
  t.same(await store.all(sql`SELECT 1 FROM email_codes UNION SELECT 1 FROM letters`), [])
  t.notMatch(JSON.stringify(await store.all(sql`SELECT * FROM audit`)), 'stranger@')
})

await t.test("a subscription without a live token can't be connected", async (t) => {
  const { world, store, pass, made } = await startMailed(t)
  const { subscriptionId, tokenId } = await world.subscribe(['things:pro'])
  const now = () => world.clock.ms
  await revokeToken(store, tokenId, now)
  t.match((await pass()).text, 'no live subscription with a live token')
  t.equal(await made(), 0)
  const fresh = await issueToken(store, subscriptionId, { now })
  const ending = (await issueToken(store, subscriptionId, { now })).tokenId
  const expiresAt = world.clock.ms + dayMs
  await store.run(sql`UPDATE tokens SET expires_at = ${expiresAt} WHERE id = ${ending}`)
  t.equal((await pass()).status, 303)
  t.match(
    await listConnections(store),
    [{ tokenId: fresh.tokenId }],
    'rather a token without an end',
  )
})

interface Ended {
  readonly store: ControlStore
  readonly subscriptionId: string
  readonly older: string
  readonly newest: string
  readonly now: () => number
}

const grace = 2 * minuteMs
const endings: readonly {
  readonly name: string
  readonly end: (ended: Ended) => Promise<void>
  readonly laterMs?: number
  readonly isOver: boolean
}[] = [
  {
    name: 'the newest token is revoked',
    end: ({ store, newest, now }) => revokeToken(store, newest, now),
    isOver: true,
  },
  {
    name: 'an older token is revoked',
    end: ({ store, older, now }) => revokeToken(store, older, now),
    isOver: false,
  },
  {
    name: 'the token is reissued, and its grace lasts',
    end: async ({ store, subscriptionId, now }) => {
      await reissueToken(store, subscriptionId, { graceMs: grace, now })
    },
    isOver: false,
  },
  {
    name: 'the token is reissued, and its grace is over',
    end: async ({ store, subscriptionId, now }) => {
      await reissueToken(store, subscriptionId, { graceMs: grace, now })
    },
    laterMs: grace,
    isOver: true,
  },
  {
    name: 'the token is reissued with its connections',
    end: async ({ store, subscriptionId, now }) => {
      await reissueToken(store, subscriptionId, { graceMs: grace, now, keepsConnections: true })
    },
    laterMs: grace,
    isOver: false,
  },
  {
    name: 'das connection revoke',
    end: async ({ store, now }) => {
      const [connection] = await listConnections(store)
      await endConnection(store, connection?.connectionId ?? '', { reason: 'revoked', now: now() })
    },
    isOver: true,
  },
  {
    name: 'the subscription is cancelled',
    end: async ({ store, subscriptionId, now }) => {
      await cancelSubscription(store, subscriptionId, now)
    },
    isOver: true,
  },
  {
    name: 'the subscription expires',
    end: async ({ store, subscriptionId, now }) => {
      await store.run(
        sql`UPDATE subscriptions SET expires_at = ${now()} WHERE id = ${subscriptionId}`,
      )
    },
    isOver: true,
  },
]

// Guarantee: a connection made by mail is no back door: it ends with the newest token.
for (const { name, end, isOver, laterMs = 0 } of endings) {
  await t.test(`${name}: the connection ${isOver ? 'ends' : 'goes on'}`, async (t) => {
    const { world, store, connect, statusWith } = await startMailed(t)
    const { subscriptionId, tokenId: older } = await world.subscribe(['things:pro'])
    world.clock.ms += minuteMs
    const now = () => world.clock.ms
    const { tokenId: newest } = await issueToken(store, subscriptionId, { now })
    const access = await connect()
    t.match(await listConnections(store), [{ tokenId: newest }])
    t.equal(await statusWith(access), 200)
    await end({ store, subscriptionId, older, newest, now })
    world.clock.ms += laterMs
    t.equal(await statusWith(access), isOver ? 401 : 200)
  })
}

await t.test('the account page ends a connection made by mail', async (t) => {
  const { world, store, send, connect, statusWith } = await startMailed(t)
  const { token } = await world.subscribe(['things:pro'])
  const access = await connect()
  const [connection] = await listConnections(store)
  const fields = { token, act: 'end', connection: connection?.connectionId ?? '' }
  t.equal((await send('/account', fields)).status, 200)
  t.equal(await statusWith(access), 401)
})
