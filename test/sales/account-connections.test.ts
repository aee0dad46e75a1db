import t from 'tap'
import { listActions } from '../../src/control/audit.js'
import { connectAgent } from '../portal/fixtures/connected.js'
import { startShop } from '../portal/fixtures/shop-world.js'

const shop = await startShop(t)
const { world, store } = shop
const own = await world.subscribe(['things:pro'])
const other = await world.subscribe(['things:pro'])
const now = world.clock.ms
const open = (token: string) => shop.send('/account?lang=en', { token })
const end = (connection: string, token: string) =>
  shop.send('/account?lang=en', { token, act: 'end', connection })
/** The agents of a page: app, who gets the access, state. */
const agentsOn = (page: string) =>
  [...page.matchAll(/<tr>\s*<th scope="row">([^<]*)<\/th>\s*<td>([^<]*)<\/td>.*?<\/tr>/gs)].flatMap(
    ([row, app, target]) => {
      const [state] = /(?<=<td>)(?:connected|ended)(?=<\/td>)/.exec(row) ?? []
      return state === undefined ? [] : [[app, target, state]]
    },
  )

await t.test('a token sees the agents of its subscription, and ends them', async (t) => {
  t.match((await open(own.token)).text, 'No agent has signed in.')
  const site = await connectAgent(store, own, { now })
  const local = { app: 'Editor\u202e', redirectUri: 'http://127.0.0.1:1234/callback', now: now + 1 }
  await connectAgent(store, own, local)
  await connectAgent(store, own, { app: 'Cursor', redirectUri: 'cursor://callback', now: now + 2 })
  const { status, headers, text } = await open(own.token)
  t.equal(status, 200)
  t.equal(headers['cache-control'], 'no-store')
  t.same(agentsOn(text), [
    ['Cursor', 'cursor://', 'connected'],
    ['Editor', 'an app on your computer', 'connected'],
    ['Claude', 'claude.ai', 'connected'],
  ])
  t.notMatch(text.replaceAll(own.token, ''), /das_(?!demo)|tok_/)
  const ended = await end(site.connectionId, own.token)
  t.equal(ended.status, 200)
  t.same(agentsOn(ended.text).at(-1), ['Claude', 'claude.ai', 'ended'])
  t.notMatch(ended.text, site.connectionId, 'it can not be ended again')
  t.equal((await end(site.connectionId, own.token)).status, 200, 'ending it again changes nothing')
  const ends = (await listActions(store, {})).filter(({ action }) => action === 'connection.ended')
  t.equal(ends.length, 1)
})

// Guarantee: only the holder of a subscription's own token sees its connections and ends them; a
// connection of another subscription looks like an unknown one.
await t.test('only the subscriber sees and ends a connection', async (t) => {
  const { connectionId, access } = await connectAgent(store, own, { now })
  t.same(agentsOn((await open(other.token)).text), [])
  const foreign = await end(connectionId, other.token)
  const unknown = await end('con_0000000000000000', other.token)
  t.equal(foreign.status, 404)
  t.equal(foreign.text, unknown.text)
  for (const [token, status] of [
    ['', 401],
    ['das_demo_shop', 404],
    [access, 401],
  ] as const) {
    const refused = await end(connectionId, token)
    t.equal(refused.status, status)
    for (const { text } of [refused, await open(token)]) t.notMatch(text, /con_|Claude/)
  }
  t.same(agentsOn((await open(own.token)).text)[0]?.[2], 'connected')
})

await t.test('the old address of the page answers, in the same language', async (t) => {
  const moved = await world.get('/usage?lang=ru')
  t.equal(moved.status, 308)
  t.equal(moved.headers['location'], '/account?lang=ru')
  t.equal((await world.get('/account?lang=ru')).status, 200)
})
