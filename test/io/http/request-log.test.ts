import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { listen, requestText, sendRaw } from '../../support/answers.js'
import { callRpc, callTool } from '../../support/mcp/mcp-messages.js'
import { demoToken, startThings } from '../../support/things.js'
import type { World } from '../../support/world.js'

type Line = Readonly<Record<string, unknown>>

/** The lines of the requests so far, once there are so many. */
async function linesOf({ log }: World, count: number): Promise<readonly Line[]> {
  const texts = () => log.filter((line) => line.includes('"msg":"request"'))
  while (texts().length < count) await sleep(5)
  return texts().map((line) => JSON.parse(line) as Line)
}

async function lastLine(world: World): Promise<Line> {
  return (await linesOf(world, 1)).at(-1) ?? {}
}

const keysOfData = [
  'address',
  'status',
  'outcome',
  'door',
  'tool',
  'dataset',
  'subscription',
  'tokenId',
  'rows',
  'charged',
  'queueMs',
  'engineMs',
  'totalMs',
  'version',
  'method',
  'url',
]

await t.test('the log line of a data request has subscriber, dataset and rows', async (t) => {
  const world = await startThings(t)
  const { token, tokenId, subscriptionId } = await world.subscribe(['things:pro'])
  const who = { subscription: subscriptionId, tokenId, address: '127.0.0.1' }
  const ok = { status: 200, outcome: 'ok', door: 'rest', dataset: 'things', ...who }
  const expected: readonly (readonly [string, Line])[] = [
    ['things?limit=3', { ...ok, tool: 'query', rows: 3, charged: 3 }],
    ['things?limit=3&format=parquet', { ...ok, tool: 'query', rows: 3, charged: 3 }],
    ['things/top?by=id&limit=2', { ...ok, tool: 'top', rows: 2, charged: 2 }],
    ['things/aggregate?group=year&measures=count', { ...ok, tool: 'aggregate', rows: 3 }],
    ['things/export', { ...ok, tool: 'export', rows: 15, charged: 15 }],
    ['things/schema', { ...ok, tool: 'schema', rows: 0, charged: 0 }],
    ['things?idd=eq.1', { ...ok, tool: 'query', status: 400, outcome: 'bad_request', rows: 0 }],
  ]
  for (const [path, wanted] of expected) {
    const answer = await world.get(`/v1/${path}`, token)
    const line = await lastLine(world)
    t.match(line, { ...wanted, requestId: answer.headers['x-request-id'] }, path)
    t.strictSame(
      keysOfData.filter((key) => !(key in line)),
      [],
      path,
    )
    t.match(line, { version: /^[0-9a-f]{16}$/, url: `/v1/${path.replace(/=[^&]*/g, '')}` })
    const charged = answer.headers['x-rows-charged']
    if (charged !== undefined) t.equal(String(line['charged']), charged, path)
  }
  const head = await world.get('/v1/things', token, { method: 'HEAD' })
  t.equal(head.status, 200)
  t.match(await lastLine(world), { method: 'HEAD', rows: 0, charged: 0, dataset: 'things' })
})

await t.test('the demo token, and requests for no data', async (t) => {
  const world = await startThings(t)
  const { token, subscriptionId } = await world.subscribe(['things:pro'])
  await world.get('/v1/things?limit=1', demoToken)
  const demo = await lastLine(world)
  t.match(demo, { subscription: 'demo', rows: 1, charged: 0 })
  t.notOk('tokenId' in demo, 'everybody has the demo token')
  const others: readonly (readonly [string, Line])[] = [
    ['/v1/', { door: 'rest', tool: 'list', subscription: subscriptionId }],
    ['/v1/account', { door: 'rest', tool: 'account' }],
    ['/', { door: 'portal' }],
    ['/account', { door: 'portal' }],
    ['/openapi.json', { door: 'docs' }],
    ['/docs', { door: 'docs' }],
    ['/healthz', { door: 'health' }],
    ['/nowhere', { door: 'none', status: 404, outcome: 'not_found' }],
    ['/%zz', { door: 'none', status: 400, outcome: 'bad_request' }],
    ['/v1/days', { door: 'rest', status: 404, outcome: 'not_found' }],
  ]
  for (const [url, wanted] of others) {
    await world.get(url, token)
    const line = await lastLine(world)
    t.match(line, { status: 200, outcome: 'ok', rows: 0, charged: 0, ...wanted }, url)
    t.notOk('dataset' in line, `${url}: no dataset that the caller can't read`)
  }
  await world.get('/v1/account', token, { method: 'DELETE' })
  t.match(await lastLine(world), { status: 405, outcome: 'method_not_allowed', tool: 'account' })
})

await t.test('MCP: the line has the outcome of the tool, which HTTP calls 200', async (t) => {
  const world = await startThings(t)
  const { token, tokenId } = await world.subscribe(['things:tiny'])
  const call = async (tool: string, args: object, wanted: Line) => {
    const { answer } = await callTool(world, token, tool, { ...args })
    t.equal(answer.status, 200)
    const told = { door: 'mcp', status: 200, tool, tokenId, method: 'POST', url: '/mcp' }
    t.match(await lastLine(world), { ...told, ...wanted }, JSON.stringify(args))
  }
  const resource = 'things'
  await call('list_resources', {}, { outcome: 'ok' })
  await call('describe_resource', { resource }, { outcome: 'ok', dataset: resource, rows: 0 })
  await call('query', { resource, limit: 2 }, { outcome: 'ok', dataset: resource, charged: 2 })
  await call('query', { resource: 'days' }, { outcome: 'not_found', dataset: undefined })
  await call('query', { resource, select: ['no'] }, { outcome: 'bad_request', dataset: resource })
  const year = { column: 'year', op: 'eq', value: 2024 }
  const empty = { resource, filters: [{ column: 'id', op: 'eq', value: 'zz' }, year] }
  await call('query', empty, { outcome: 'ok', rows: 0, charged: 1 })
  await call('query', { resource, limit: 4 }, { outcome: 'ok', rows: 4, charged: 4 })
  await call('query', { resource }, { outcome: 'row_quota_exceeded', rows: 0, charged: 0 })
  const rpc = async (method: string, params: object, wanted: Line) => {
    await callRpc(world, token, method, params)
    t.match(await lastLine(world), { door: 'mcp', tool: method, tokenId, ...wanted }, method)
  }
  await rpc('tools/list', {}, { outcome: 'ok' })
  await rpc('resources/read', { uri: 'dataset://things' }, { outcome: 'ok', dataset: 'things' })
  await rpc('resources/read', { uri: 'dataset://days' }, { outcome: 'not_found' })
  await rpc('prompts/get', { name: 'none' }, { outcome: 'protocol_error' })
  await rpc('what/ever', {}, { tool: 'other', outcome: 'protocol_error' })
  await rpc('tools/call', { name: 'drop' }, { tool: 'other', outcome: 'protocol_error' })
  await callRpc(world, 'wrong', 'tools/list')
  t.match(await lastLine(world), { door: 'mcp', status: 401, outcome: 'unauthorized' })
})

await t.test('a refusal for want of a token has the address of the client', async (t) => {
  const world = await startThings(t, { trustProxy: '127.0.0.1' })
  const headers = { 'x-forwarded-for': '203.0.113.7' }
  for (const url of ['/v1/things', '/v1/', '/mcp']) {
    const method = url === '/mcp' ? 'POST' : 'GET'
    await world.get(url, 'das_live_wrong', { method, headers })
    t.match(await lastLine(world), { status: 401, address: '203.0.113.7', outcome: 'unauthorized' })
  }
})

await t.test('bytes are what the connection carried; broken requests have a line', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const port = await listen(world)
  const headers = { Authorization: `Bearer ${token}` }
  const paths = ['/v1/things', '/v1/things/export', '/v1/things?format=csv', '/v1/none']
  for (const [index, path] of paths.entries()) {
    const received = await bytesOf(port, requestText(`GET ${path}`, headers))
    const lines = await linesOf(world, index + 1)
    t.equal(lines.at(-1)?.['bytes'], received, path)
  }
  await sendRaw(port, 'nonsense\r\n\r\n')
  const broken = (await linesOf(world, paths.length + 1)).at(-1)
  t.match(broken, { status: 400, outcome: 'bad_request', door: 'none', address: '127.0.0.1' })
  t.match(broken, { reason: 'HPE_INVALID_METHOD' })
})

function bytesOf(port: number, request: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port })
    let bytes = 0
    socket.on('data', (chunk) => (bytes += chunk.length))
    socket.on('error', reject)
    socket.on('close', () => resolve(bytes))
    socket.write(request)
  })
}

// Guarantee: no line of the log holds a token or a part of one, wherever the client put it.
await t.test('a token never occurs in the log', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const short = token.slice(0, 30)
  const headers = { 'x-request-id': token, 'x-forwarded-for': token, referer: token }
  for (const secret of [token, short]) {
    const urls = [`/v1/${secret}`, `/v1/things?token=${secret}`, `/${secret}`, `/mcp/${secret}`]
    for (const url of urls) await world.get(url, token, { headers })
    await callRpc(world, token, 'tools/call', { name: secret })
    await callTool(world, token, 'query', { resource: secret })
    await callRpc(world, token, secret)
    await callRpc(world, token, 'resources/read', { uri: `dataset://${secret}` })
  }
  const lines = await linesOf(world, 16)
  t.equal(lines.length, 16)
  for (const line of world.log) t.notMatch(line, token.slice(9, 20))
})

await t.test('Server-Timing is on answers about a dataset, and only there', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const form = /^queue;dur=[\d.]+, engine;dur=[\d.]+, total;dur=[\d.]+$/
  for (const path of [
    'things',
    'things/export',
    'things/aggregate?measures=count',
    'things?no=1',
  ]) {
    t.match((await world.get(`/v1/${path}`, token)).headers['server-timing'], form, path)
  }
  const { answer } = await callTool(world, token, 'query', { resource: 'things' })
  t.match(answer.headers['server-timing'], form)
  for (const url of ['/v1/none', '/v1/days', '/v1/', '/healthz', '/']) {
    t.notOk('server-timing' in (await world.get(url, token)).headers, url)
  }
  t.notOk('server-timing' in (await world.get('/v1/things', 'wrong')).headers)
})
