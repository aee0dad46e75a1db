import t from 'tap'
import { listActions } from '../../src/control/audit.js'
import { openControl } from '../support/control.js'
import { startThings } from '../support/things.js'
import { connectAgent } from '../portal/fixtures/connected.js'

const world = await startThings(t)
const store = openControl(t, world)
const own = await world.subscribe(['things:pro'])
const other = await world.subscribe(['things:pro'])
const now = world.clock.ms
const path = '/account/connections'
const end = (id: string, token?: string) => world.get(`${path}/${id}`, token, { method: 'DELETE' })

await t.test('a token sees the agents of its subscription, and ends them', async (t) => {
  t.same((await world.get(path, own.token)).body.data, [])
  const site = await connectAgent(store, own, { now })
  const local = { app: 'Editor\u202e', redirectUri: 'http://127.0.0.1:1234/callback', now: now + 1 }
  await connectAgent(store, own, local)
  await connectAgent(store, own, { app: 'Cursor', redirectUri: 'cursor://callback', now: now + 2 })
  const { status, headers, body } = await world.get(path, own.token)
  t.equal(status, 200)
  t.equal(headers['cache-control'], 'no-store')
  t.same(
    body.data.map(({ app, target, state }) => [app, target, state]),
    [
      ['Cursor', { kind: 'app', scheme: 'cursor' }, 'live'],
      ['Editor', { kind: 'computer' }, 'live'],
      ['Claude', { kind: 'site', host: 'claude.ai' }, 'live'],
    ],
  )
  t.same(body.data[2], {
    connection: site.connectionId,
    app: 'Claude',
    target: { kind: 'site', host: 'claude.ai' },
    connected_at: '2026-11-15T12:00:00Z',
    last_used_at: null,
    state: 'live',
  })
  t.notMatch(JSON.stringify(body), /das_|tok_/)
  const ended = await end(site.connectionId, own.token)
  t.equal(ended.status, 204)
  t.equal(ended.text, '')
  t.equal((await end(site.connectionId, own.token)).status, 204, 'ending it again changes nothing')
  t.equal((await world.get(path, own.token)).body.data[2]?.['state'], 'revoked')
  const ends = (await listActions(store, {})).filter(({ action }) => action === 'connection.ended')
  t.equal(ends.length, 1)
})

// Guarantee: only the holder of a subscription's own token sees its connections and ends them; a
// connection of another subscription looks like an unknown one.
await t.test('only the subscriber sees and ends a connection', async (t) => {
  const { connectionId, access } = await connectAgent(store, own, { now })
  t.same((await world.get(path, other.token)).body.data, [])
  const foreign = await end(connectionId, other.token)
  const unknown = await end('con_0000000000000000', other.token)
  t.equal(foreign.status, 404)
  t.equal(foreign.text, unknown.text)
  for (const [token, status] of [
    [undefined, 401],
    ['das_demo_things', 404],
    [access, 401],
  ] as const) {
    for (const refused of [await world.get(path, token), await end(connectionId, token)]) {
      t.equal(refused.status, status)
      t.notMatch(refused.text, /con_|Claude/)
    }
  }
  t.equal((await world.get(path, own.token)).body.data[0]?.['state'], 'live')
})

await t.test('the old address of the page answers, in the same language', async (t) => {
  const moved = await world.get('/usage?lang=ru')
  t.equal(moved.status, 308)
  t.equal(moved.headers['location'], '/account?lang=ru')
  t.equal((await world.get('/account?lang=ru')).status, 200)
})
