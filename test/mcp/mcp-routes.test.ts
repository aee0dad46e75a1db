import t from 'tap'
import type { Test } from 'tap'
import { holdsNoSecret, isError } from '../support/answers.js'
import {
  callModern,
  callRpc,
  callTool,
  modernRevision,
  postMcp,
} from '../support/mcp/mcp-messages.js'
import { withoutSignIn } from '../support/mcp/mcp-scenario.js'
import type { McpAnswer } from '../support/mcp/mcp-messages.js'
import { demoToken, startThings } from '../support/things.js'
import type { World } from '../support/world.js'

/** An error of the protocol, in one JSON body. */
function isRpcError(
  t: Test,
  answer: McpAnswer,
  status: number,
  code: number,
  message: RegExp = /./,
  name = String(code),
): void {
  t.equal(answer.status, status, name)
  t.match(answer.headers['content-type'], /^application\/json/, name)
  t.match(answer.rpcError, { code, message }, `${name}: ${answer.text.slice(0, 200)}`)
  holdsNoSecret(t, answer.text, name)
}

/** What a client of the older revisions sends to see which tools there are. */
const listing = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })

await t.test('only POST is served, on /mcp and /mcp/, without a redirect', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const url of ['/mcp', '/mcp/']) {
    t.equal((await postMcp(world, token, listing, { url })).status, 200, url)
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] as const) {
      for (const bearer of [token, undefined]) {
        const answer = await world.get(url, bearer, { method })
        t.equal(answer.status, 405, `${method} ${url}`)
        t.equal(answer.headers['allow'], 'POST', `${method} ${url}`)
        t.equal(answer.headers['location'], undefined)
        t.equal(answer.headers['www-authenticate'], undefined, 'before the token')
        t.equal(answer.text, '', 'clients take a body for a message')
      }
    }
  }
  t.equal((await callRpc(world, token, 'ping', {}, { url: '/MCP' })).status, 404)
})

// Guarantee: no web page reaches the door by way of a browser on the same machine.
await t.test('a foreign Host or Origin is 403, before method, size and token', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const foreign: readonly Readonly<Record<string, string>>[] = [
    { host: 'evil.example' },
    { host: 'localhost.evil.example:80' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { host: 'localhost', origin: 'http://localhost.evil.example' },
  ]
  for (const headers of foreign) {
    const name = JSON.stringify(headers)
    for (const bearer of [token, undefined, 'das_live_wrong']) {
      const answer = await postMcp(world, bearer, listing, { headers })
      isError(t, answer, 'forbidden', /./, name)
      t.equal(answer.headers['x-ratelimit-limit'], undefined, name)
    }
    const large = await postMcp(world, token, 'x'.repeat(2_000_000), { headers })
    isError(t, large, 'forbidden', /./, name)
  }
  for (const headers of [{ origin: 'http://localhost:6274' }, { host: '127.0.0.1:8080' }]) {
    t.equal((await postMcp(world, token, listing, { headers })).status, 200)
  }
  const rest = await world.get('/v1/', token, { headers: { host: 'evil.example' } })
  t.equal(rest.status, 200, 'the rest of the service has no such rule')
})

await t.test('host names that the owner allows are served', async (t) => {
  const world = await startThings(t, {
    allowedHosts: 'one.example',
    publicUrl: 'https://two.example/data',
  })
  const { token } = await world.subscribe(['things:pro'])
  for (const [host, status] of [
    ['one.example', 200],
    ['two.example:443', 200],
    ['three.example', 403],
  ] as const) {
    t.equal((await postMcp(world, token, listing, { headers: { host } })).status, status, host)
  }
})

await t.test('a body that is not a single JSON message is refused', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const body of ['[]', `[${listing}]`, `[${listing},${listing}]`]) {
    isError(t, await postMcp(world, token, body), 'bad_request', /one message/, body)
  }
  for (const body of ['{"jsonrpc"', '', 'hello', '{"a":1}}']) {
    isRpcError(t, await postMcp(world, token, body), 400, -32700, /parse error/i, body)
  }
  for (const body of ['5', 'null', '"text"', '{}', '{"jsonrpc":"1.0","id":1,"method":"ping"}']) {
    isRpcError(t, await postMcp(world, token, body), 400, -32600, /./, body)
  }
  const invalid = Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xff), Buffer.from('"}')])
  isError(t, await postMcp(world, token, invalid), 'bad_request', /not UTF-8/)
  const json = { 'content-type': 'application/json; charset=utf-8' }
  t.equal((await postMcp(world, token, listing, { headers: json })).status, 200)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json-rpc']) {
    const answer = await postMcp(world, token, listing, { headers: { 'content-type': type } })
    isError(t, answer, 'unsupported_media_type', /application\/json/, type)
  }
  const zipped = await postMcp(world, token, listing, { headers: { 'content-encoding': 'gzip' } })
  isError(t, zipped, 'unsupported_media_type', /uncompressed/)
})

await t.test('a body over 1 MiB is 413, before the token', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const padded = (bytes: number) => listing + ' '.repeat(bytes - listing.length)
  t.equal((await postMcp(world, token, padded(1024 ** 2))).status, 200)
  for (const bearer of [token, undefined]) {
    for (const bytes of [1024 ** 2 + 1, 10_000_000]) {
      isError(t, await postMcp(world, bearer, padded(bytes)), 'payload_too_large', /1 MiB/)
    }
  }
})

// Guarantee: without a valid token nothing is told, but where an agent can sign in.
await t.test('a missing, wrong or ended token is 401, for every method of both eras', async (t) => {
  const world = await startThings(t)
  const ended = (await world.subscribe(['things:pro'])).token
  const { token } = await world.subscribe(['things:pro'], { months: 12 })
  world.clock.ms = Date.UTC(2027, 0, 20)
  const wrong = token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a')
  const methods = ['initialize', 'tools/list', 'tools/call', 'ping', 'nothing/of/the/kind']
  for (const bearer of [undefined, '', ended, wrong, 'das_demo_wrong', `${token} x`]) {
    for (const method of methods) {
      const params = { name: 'list_resources', arguments: {} }
      for (const call of [callRpc, callModern]) {
        const answer = await call(world, bearer, method, params)
        isError(t, answer, 'unauthorized', /Authorization: Bearer <token>/, method)
        const expected =
          'Bearer realm="datasets", error="invalid_token", scope="datasets:read", ' +
          'resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp"'
        t.equal(answer.headers['www-authenticate'], expected)
        t.equal(answer.headers['x-ratelimit-limit'], undefined)
      }
    }
  }
  t.equal((await callRpc(world, token, 'ping')).status, 200)
  const scheme = { authorization: `bearer ${token}` }
  t.equal((await callRpc(world, undefined, 'ping', {}, { headers: scheme })).status, 200)
})

// Guarantee: where agents can't sign in, no client is led to ask for OAuth.
await t.test('without a sign-in the OAuth paths answer 404 in JSON', async (t) => {
  const world = await startThings(t, withoutSignIn)
  const refused = await callRpc(world, undefined, 'ping')
  t.equal(refused.headers['www-authenticate'], 'Bearer realm="datasets", error="invalid_token"')
  const paths = [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/mcp',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/openid-configuration',
    '/.well-known/openid-configuration/mcp',
    '/mcp/.well-known/openid-configuration',
    '/mcp/.well-known/oauth-authorization-server',
    '/register',
  ]
  for (const url of paths) {
    for (const method of ['GET', 'POST', 'OPTIONS'] as const) {
      const answer = await world.get(url, undefined, { method })
      isError(t, answer, 'not_found', /static API tokens, not OAuth/, `${method} ${url}`)
      t.equal(answer.headers['www-authenticate'], undefined)
    }
  }
  const registering = await world.post('/register', '', { redirect_uris: ['http://localhost'] })
  isError(t, registering, 'not_found', /not OAuth/)
})

await t.test('what a client accepts does not matter: the answer is one JSON body', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const kinds = ['application/json', 'text/event-stream', '*/*', 'text/html', '', 'nonsense']
  for (const accept of kinds) {
    for (const call of [callRpc, callModern]) {
      const params = { name: 'list_resources', arguments: {} }
      const answer = await call(world, token, 'tools/call', params, { headers: { accept } })
      t.equal(answer.status, 200, accept)
      t.match(answer.headers['content-type'], /^application\/json/, accept)
      t.match(answer.result?.['structuredContent'], { resources: [{ name: 'things' }] }, accept)
    }
  }
  const gzip = { 'accept-encoding': 'gzip, br' }
  const plain = await callRpc(world, token, 'tools/list', {}, { headers: gzip })
  t.equal(plain.headers['content-encoding'], undefined)
  t.match(plain.headers, { 'cache-control': 'no-store' })
  t.equal(plain.headers['mcp-session-id'], undefined, 'there is no session')
})

await t.test("the protocol's own refusals have its codes, in both eras", async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const unknown = 'nothing/of/the/kind'
  isRpcError(t, await callRpc(world, token, unknown), 200, -32601)
  isRpcError(t, await callModern(world, token, unknown), 404, -32601)
  for (const call of [callRpc, callModern]) {
    for (const name of ['nope', 'constructor', 'Query', '']) {
      const answer = await call(world, token, 'tools/call', { name, arguments: {} })
      const said = /no tool .*Tools: list_resources, describe_resource, query/
      isRpcError(t, answer, 200, -32602, said, name)
    }
    for (const uri of [
      'dataset://nothing',
      'dataset://days',
      'https://example.org/x',
      'dataset://',
    ]) {
      const answer = await call(world, token, 'resources/read', { uri })
      isRpcError(t, answer, 200, -32602, /not found/, uri)
      t.same(answer.rpcError?.data, { uri }, 'which tells it from other wrong parameters')
    }
    const long = await callRpc(world, token, 'resources/read', { uri: 'x'.repeat(100_000) })
    t.ok(long.text.length < 1200, `${long.text.length} characters`)
    const longName = await callRpc(world, token, 'tools/call', { name: 'x'.repeat(100_000) })
    t.ok(longName.text.length < 1200, `${longName.text.length} characters`)
    const prompt = await call(world, token, 'prompts/get', { name: 'nope' })
    isRpcError(t, prompt, 200, -32602, /check_counterparty/)
    const wrong = { name: 'check_counterparty', arguments: { inn: 'x' } }
    isRpcError(t, await call(world, token, 'prompts/get', wrong), 200, -32602, /10 digits/)
    const sold = await call(world, token, 'resources/read', { uri: 'dataset://things' })
    t.match(JSON.stringify(sold.result?.['contents']), /"uri":"dataset:\/\/things"/)
  }
  const told = await postMcp(world, token, '{"jsonrpc":"2.0","method":"notifications/initialized"}')
  t.match(told, { status: 202, text: '' })
})

await t.test('the headers of the stateless revision must be there and agree', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const list = { name: 'list_resources', arguments: {} }
  const call = (headers: Readonly<Record<string, string>>) =>
    callModern(world, token, 'tools/call', list, { headers })
  t.equal((await call({})).status, 200)
  const disagreeing: readonly Readonly<Record<string, string>>[] = [
    { 'mcp-method': 'tools/list' },
    { 'mcp-name': 'query' },
    { 'mcp-protocol-version': '2025-06-18' },
  ]
  for (const headers of disagreeing) {
    isRpcError(t, await call(headers), 400, -32020, /./, JSON.stringify(headers))
  }
  const params = {
    ...list,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': modernRevision,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  }
  const all = {
    'mcp-protocol-version': modernRevision,
    'mcp-method': 'tools/call',
    'mcp-name': 'list_resources',
  }
  t.equal((await callRpc(world, token, 'tools/call', params, { headers: all })).status, 200)
  for (const missing of Object.keys(all)) {
    const headers = Object.fromEntries(Object.entries(all).filter(([name]) => name !== missing))
    const answer = await callRpc(world, token, 'tools/call', params, { headers })
    isRpcError(t, answer, 400, -32020, /./, `without ${missing}`)
  }
  const future = await callModern(world, token, 'tools/list', {}, { revision: '2099-01-01' })
  isRpcError(t, future, 400, -32022)
  t.match(future.rpcError?.data, { supported: [modernRevision] })
})

await t.test('no client gets a stream that stays open', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const wanted = {
    notifications: {
      toolsListChanged: true,
      resourcesListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['dataset://things'],
    },
  }
  isRpcError(t, await callRpc(world, token, 'subscriptions/listen', wanted), 200, -32601)
  isRpcError(t, await callRpc(world, token, 'resources/subscribe', {}), 200, -32601)
  isRpcError(t, await callModern(world, token, 'subscriptions/listen', wanted), 404, -32601)
  isRpcError(t, await callModern(world, token, 'subscriptions/listen', {}), 404, -32601)
})

await t.test('only calls of tools and reads of resources take a request of the rate', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:slow'])
  const left = (answer: McpAnswer) => answer.headers['x-ratelimit-remaining']
  for (let round = 0; round < 10; round++) {
    for (const method of ['tools/list', 'resources/list', 'prompts/list', 'ping', 'nothing']) {
      const answer = await callRpc(world, token, method)
      t.equal(left(answer), '5', method)
    }
    t.equal(left(await callModern(world, token, 'server/discover')), '5')
    t.equal(left(await postMcp(world, token, '{"jsonrpc":')), '5')
  }
  const calls = [
    () => callRpc(world, token, 'tools/call', { name: 'list_resources', arguments: {} }),
    () => callModern(world, token, 'tools/call', { name: 'list_resources', arguments: {} }),
    () => callRpc(world, token, 'resources/read', { uri: 'dataset://things' }),
    () => callRpc(world, token, 'tools/call', { name: 'nope', arguments: {} }),
    () => callRpc(world, token, 'tools/call', { name: 'query', arguments: { resource: 'x' } }),
  ]
  for (const [index, call] of calls.entries()) t.equal(left(await call()), String(4 - index))
  for (const call of calls) {
    const answer = await call()
    isError(
      t,
      answer,
      'rate_limit_exceeded',
      /^Only 5 requests a minute are allowed\. Wait \d+ s\.$/,
    )
    t.match(answer.headers['retry-after'], /^([1-9]|[1-5]\d|60)$/)
    t.equal(answer.headers['retry-after'], answer.headers['x-ratelimit-reset'])
  }
  t.equal((await callRpc(world, token, 'tools/list')).status, 200, 'what is free stays free')
  isError(
    t,
    await world.get('/v1/', token),
    'rate_limit_exceeded',
    /./,
    'one budget for both doors',
  )
})

/** All that a client sees, but the id and date of the answer and the count of requests left. */
function visible({ status, headers, text }: McpAnswer): unknown {
  const { 'x-request-id': id, date, 'x-ratelimit-remaining': left, ...rest } = headers
  const has = { id: typeof id, date: typeof date, left: typeof left }
  return { status, text, headers: { ...rest, 'x-ratelimit-reset': '', has } }
}

// Guarantee: nobody can tell a dataset without a grant from one that does not exist.
await t.test('unknown and ungranted datasets are one answer, to the byte', async (t) => {
  const world = await startThings(t)
  const one = (await world.subscribe(['things:pro'])).token
  const capped = (await world.subscribe(['things:pro'], { globalRows: 5 })).token
  const asks = (resource: string): readonly (readonly [name: string, args: object])[] => [
    ['describe_resource', { resource }],
    ['query', { resource }],
    ['query', { resource, filters: [{ column: 'id', op: 'eq', value: 1 }] }],
    ['query', { resource, cursor: 'AAAA', limit: 0 }],
    ['query', { resource, filters: [{ column: 'x', op: 'y' }], select: [] }],
  ]
  const answersOf = async (world: World, token: string, resource: string) => {
    const answers = []
    for (const [name, args] of asks(resource)) {
      for (const call of [callRpc, callModern]) {
        answers.push(await call(world, token, 'tools/call', { name, arguments: args }))
      }
    }
    return answers
  }
  for (const token of [one, capped, demoToken]) {
    const hidden = await answersOf(world, token, 'days')
    for (const { text } of hidden) t.match(text, /not_found: There is no dataset of this name/)
    for (const name of ['dayz', 'nothing', '__proto__', 'constructor', 'DAYS', '']) {
      t.same((await answersOf(world, token, name)).map(visible), hidden.map(visible), name)
    }
    const { text } = await callTool(world, token, 'list_resources', {})
    t.notMatch(text, /days/i)
    const resources = await callRpc(world, token, 'resources/list')
    t.notMatch(resources.text, /days/i)
  }
})
