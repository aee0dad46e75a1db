import t from 'tap'
import { isError } from '../support/answers.js'
import { startThings } from '../support/things.js'
import type { Answer, World } from '../support/world.js'

const page = '/v1/things?year=eq.2024&limit=2'
const mine = 'https://app.example.org'
const local = 'http://localhost:3000'
const corsOrigins = `${mine},${local}`

function preflight(world: World, origin: string, url = page): Promise<Answer> {
  return world.get(url, undefined, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    },
  })
}

function corsHeaders({ headers }: Answer): readonly string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'))
}

await t.test('without the setting no page of another origin can read anything', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const answer = await world.get(page, token, { headers: { origin: mine } })
  t.equal(answer.status, 200)
  t.same(corsHeaders(answer), [])
  t.notMatch(answer.headers['vary'], 'Origin')
  const refused = await preflight(world, mine)
  isError(t, refused, 'method_not_allowed')
  t.equal(refused.headers['allow'], 'GET, HEAD')
  t.same(corsHeaders(refused), [])
})

await t.test('a page of an origin that is set may ask, and read answers and errors', async (t) => {
  const world = await startThings(t, { corsOrigins })
  const { token } = await world.subscribe(['things:slow'])
  for (const origin of [mine, local]) {
    const asked = await preflight(world, origin)
    t.equal(asked.status, 204)
    t.equal(asked.text, '')
    t.equal(asked.headers['access-control-allow-origin'], origin)
    t.equal(asked.headers['access-control-allow-methods'], 'GET, HEAD, POST, PUT, DELETE')
    t.equal(
      asked.headers['access-control-allow-headers'],
      'Authorization, Content-Type, If-None-Match, Last-Event-ID, MCP-Protocol-Version, ' +
        'Mcp-Method, Mcp-Name, Mcp-Session-Id',
    )
    t.equal(asked.headers['access-control-max-age'], '3600')
    t.match(asked.headers['vary'], 'Origin')
  }
  const headers = { origin: mine }
  const answer = await world.get(page, token, { headers })
  t.equal(answer.headers['x-ratelimit-remaining'], '4', 'a preflight costs nothing of the rate')
  t.equal(answer.headers['vary'], 'Authorization, Accept, Accept-Encoding, Origin')
  const exposed = String(answer.headers['access-control-expose-headers']).toLowerCase().split(', ')
  const own = Object.keys(answer.headers).filter((name) => /^(x-(?!content)|etag|link)/.test(name))
  t.same(
    own.filter((name) => !exposed.includes(name)),
    [],
  )
  const known = { ...headers, 'if-none-match': String(answer.headers['etag']) }
  const others = [
    answer,
    await world.get(page, token, { headers: known }),
    await world.get(page, undefined, { headers }),
    await world.get('/v1/things?nothing=eq.1', token, { headers }),
    await world.get('/nowhere', token, { headers }),
  ]
  t.same(
    others.map(({ status }) => status),
    [200, 304, 401, 400, 404],
  )
  for (const { status, headers: given } of others) {
    t.equal(given['access-control-allow-origin'], mine, String(status))
    t.equal(given['access-control-allow-credentials'], undefined, 'no cookies')
  }
})

await t.test('such a page may also change watch lists and webhooks', async (t) => {
  const world = await startThings(t, { corsOrigins })
  const { token } = await world.subscribe(['things:pro'])
  const headers = { origin: mine, 'content-type': 'application/json' }
  const list = JSON.stringify({ dataset: 'things', column: 'id', values: ['a1'] })
  for (const [method, body] of [['PUT', list], ['DELETE']] as const) {
    const asked = await world.get('/v1/watch/mine', undefined, {
      method: 'OPTIONS',
      headers: { origin: mine, 'access-control-request-method': method },
    })
    t.match([asked.status, asked.headers['access-control-allow-methods']], [204, method])
    const changed = await world.get('/v1/watch/mine', token, {
      ...{ method, headers },
      ...(body !== undefined && { body }),
    })
    t.equal(changed.headers['access-control-allow-origin'], mine)
    t.equal(changed.status, method === 'PUT' ? 200 : 204)
  }
})

// Guarantee: an origin that is not in the list, letter for letter, gets no permission.
await t.test('an origin that resembles an allowed one is refused', async (t) => {
  const world = await startThings(t, { corsOrigins })
  const { token } = await world.subscribe(['things:pro'])
  const origins = [
    'https://evil.example',
    `${mine}.evil.example`,
    `${mine}:8443`,
    'http://app.example.org',
    'https://APP.example.org',
    'http://localhost',
    `${mine}, ${local}`,
    'null',
    '*',
    '',
  ]
  for (const origin of origins) {
    const answer = await world.get(page, token, { headers: { origin } })
    t.equal(answer.status, 200)
    t.same(corsHeaders(answer), [], origin)
    t.match(answer.headers['vary'], 'Origin', 'a cache keeps it from the others')
    const asked = await preflight(world, origin)
    isError(t, asked, 'method_not_allowed', /./, origin)
    t.same(corsHeaders(asked), [], origin)
  }
  const bare = await world.get(page, token, { method: 'OPTIONS' })
  isError(t, bare, 'method_not_allowed')
  isError(t, await preflight(world, mine.replace('app', 'x'), '/nowhere'), 'not_found')
})

await t.test('* allows every origin without naming it', async (t) => {
  const world = await startThings(t, { corsOrigins: '*' })
  const { token } = await world.subscribe(['things:pro'])
  const asked = await preflight(world, 'https://any.example')
  t.equal(asked.status, 204)
  t.equal(asked.headers['access-control-allow-origin'], '*')
  const answer = await world.get(page, token, { headers: { origin: 'https://any.example' } })
  t.equal(answer.headers['access-control-allow-origin'], '*')
  t.equal(answer.headers['access-control-allow-credentials'], undefined)
})

// Guarantee: /mcp answers pages of its own host names only, whatever CORS allows.
await t.test('the rule of /mcp goes first', async (t) => {
  for (const setting of [corsOrigins, '*']) {
    const world = await startThings(t, { corsOrigins: setting })
    const { token } = await world.subscribe(['things:pro'])
    isError(t, await preflight(world, mine, '/mcp/'), 'forbidden')
    const call = await world.get('/mcp/', token, {
      method: 'POST',
      headers: { origin: mine, 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    })
    isError(t, call, 'forbidden')
    t.same(corsHeaders(call), [])
  }
})
