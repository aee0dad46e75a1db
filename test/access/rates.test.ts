import { randomBytes } from 'node:crypto'
import t from 'tap'
import { MemoryWindows } from '../../src/access/memory-windows.js'
import { RateLimits, networkOf } from '../../src/access/rate-limits.js'
import type { Catalog } from '../../src/catalog.js'
import { reissueToken } from '../../src/control/tokens/tokens.js'
import { isError } from '../support/answers.js'
import { openControl } from '../support/control.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

function startRates(t: Parameters<typeof startWorld>[0], trustProxy = ''): Promise<World> {
  return startWorld(t, {
    files: { 'data/a.parquet': 'SELECT 1 AS id' },
    registry: `
demo: {token: das_demo_rates, rate_per_minute: 4}
datasets:
  one:
    title: One
    files: data/a.parquet
    demo: {id: [1]}
    plans:
      three: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 3}
      six: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 6}
      usual: {rows_per_month: 1000, history: all, price_rub: 0}
  two:
    title: Two
    files: data/a.parquet
    plans: {nine: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 9}}
`,
    storedOrder: { one: ['id'], two: ['id'] },
    settings: { trustProxy },
  })
}

/** How many requests are answered before the first 429; at most 200 are tried. */
async function allowed(ask: () => Promise<{ status: number }>): Promise<number> {
  for (let count = 0; count < 200; count++) if ((await ask()).status === 429) return count
  return 200
}

const demo = 'das_demo_rates'

// Guarantee: a subscription has one budget, however many tokens and paths it uses.
await t.test('requests are counted by subscription, over tokens, paths and methods', async (t) => {
  const world = await startRates(t)
  const control = openControl(t, world)
  const { token, subscriptionId } = await world.subscribe(['one:six'])
  const second = await reissueToken(control, subscriptionId, {
    graceMs: 1e6,
    now: () => world.clock.ms,
  })
  const other = (await world.subscribe(['one:six'])).token
  const asks = [
    () => world.get('/v1/one', token),
    () => world.get('/v1/', second.token),
    () => world.get('/v1/one/schema', token),
    () => world.post('/v1/one/query', second.token, {}),
    () => world.get('/v1/nothing', token),
    () => world.get('/v1/one?x=eq.1', second.token, { method: 'HEAD' }),
  ]
  for (const [index, ask] of asks.entries()) {
    const answer = await ask()
    t.equal(answer.headers['x-ratelimit-limit'], '6')
    t.equal(answer.headers['x-ratelimit-remaining'], String(5 - index))
    t.match(answer.headers['x-ratelimit-reset'], /^(?:60|5\d)$/)
  }
  for (const each of [token, second.token]) {
    isError(t, await world.get('/v1/account', each), 'rate_limit_exceeded', /Only 6 requests/)
  }
  t.equal((await world.get('/v1/one', other)).status, 200, "another's budget is another's")
  t.equal((await world.get('/healthz')).status, 200, 'health is not counted')
})

await t.test(
  'a token with several plans has the highest of their rates; the default is 120',
  async (t) => {
    const world = await startRates(t)
    const limitOf = async (grants: readonly string[]) =>
      (await world.get('/v1/', (await world.subscribe(grants)).token)).headers['x-ratelimit-limit']
    t.equal(await limitOf(['one:three']), '3')
    t.equal(await limitOf(['one:three', 'two:nine']), '9')
    t.equal(await limitOf(['one:usual']), '120')
  },
)

// Guarantee: who has no valid token can't try more than 120 a minute from one address.
await t.test(
  'requests without a valid token count by address, demo requests by their own limit',
  async (t) => {
    const world = await startRates(t)
    const ask = (remoteAddress: string, token?: string) => () =>
      world.get('/v1/one', token, { remoteAddress })
    t.equal(await allowed(ask('192.0.2.1')), 120)
    const refused = await ask('192.0.2.1', 'das_live_wrong')()
    isError(t, refused, 'rate_limit_exceeded', /Only 120/)
    t.equal(refused.headers['x-ratelimit-limit'], undefined, 'no account, no limits in headers')
    t.equal((await ask('192.0.2.2')()).status, 401)
    const { token } = await world.subscribe(['one:six'])
    t.equal((await ask('192.0.2.1', token)()).status, 200, 'a valid token is not held up by it')
    t.equal((await ask('192.0.2.1', demo)()).status, 200, 'nor is the demo')
    t.equal(await allowed(ask('192.0.2.1', demo)), 3)
    t.equal(await allowed(ask('192.0.2.3', demo)), 4)
    t.equal(await allowed(ask('::ffff:192.0.2.3', demo)), 0, 'an IPv4 address written as IPv6')
  },
)

await t.test('an IPv6 /64 is one address', async (t) => {
  const world = await startRates(t)
  const ask = (remoteAddress: string) => () => world.get('/v1/one', demo, { remoteAddress })
  t.equal(await allowed(ask('2001:db8:1:2::1')), 4)
  t.equal(await allowed(ask('2001:db8:1:2:ffff:ffff:ffff:ffff')), 0)
  t.equal(await allowed(ask('2001:DB8:0001:0002:0:0:0:9')), 0)
  t.equal(await allowed(ask('2001:db8:1:3::1')), 4)
  const networks: Readonly<Record<string, string>> = {
    '::': '0:0:0:0',
    '::1': '0:0:0:0',
    '1::': '1:0:0:0',
    '1:2::3:4:5:6:7': '1:2:0:3',
    'fe80::1%eth0': 'fe80:0:0:0',
    '2001:0DB8::': '2001:db8:0:0',
    '64:ff9b::192.0.2.1': '64:ff9b:0:0',
    '192.0.2.1': '192.0.2.1',
    '': '',
    unknown: 'unknown',
  }
  for (const [address, network] of Object.entries(networks)) t.equal(networkOf(address), network)
})

// Guarantee: only the named proxies can say which address a request came from.
await t.test('X-Forwarded-For is believed of trusted proxies alone', async (t) => {
  const forwarded = (world: World, remoteAddress: string, header: string) =>
    allowed(() =>
      world.get('/v1/one', demo, { remoteAddress, headers: { 'x-forwarded-for': header } }),
    )
  await t.test('without a proxy it is not', async (t) => {
    const world = await startRates(t)
    t.equal(await forwarded(world, '192.0.2.1', '198.51.100.1'), 4)
    t.equal(await forwarded(world, '192.0.2.1', '198.51.100.2'), 0)
  })
  await t.test('behind a proxy, the nearest address that is not a proxy counts', async (t) => {
    const world = await startRates(t, '10.0.0.0/8')
    t.equal(await forwarded(world, '10.1.2.3', '198.51.100.1'), 4)
    t.equal(await forwarded(world, '10.1.2.3', '198.51.100.2'), 4)
    t.equal(await forwarded(world, '10.9.9.9', '198.51.100.2'), 0, 'the same client, another proxy')
    t.equal(await forwarded(world, '10.1.2.3', '203.0.113.9, 198.51.100.2'), 0, 'a made-up hop')
    t.equal(await forwarded(world, '192.0.2.1', '198.51.100.3'), 4)
    t.equal(await forwarded(world, '192.0.2.1', '198.51.100.4'), 0, 'not a proxy of ours')
    t.equal(await forwarded(world, '10.1.2.3', "junk'; --"), 4, 'junk has a budget too')
  })
})

// Only what the class reads; a whole catalog would say no more.
const catalog = {
  datasets: new Map(),
  demo: { token: demo, ratePerMinute: 4 },
  prompts: [],
  title: '',
} as Catalog

await t.test('a window is a minute long and begins with its first request', async (t) => {
  let nowMs = 5000.123_456_789
  const windows = new MemoryWindows(() => nowMs)
  const limits = new RateLimits(windows, windows, randomBytes(16))
  const take = () => limits.take({ kind: 'demo', id: 'demo' }, '192.0.2.1', catalog, 1)
  t.match(await take(), { limit: 4, remaining: 3, resetSeconds: 60, exceeded: false })
  nowMs = 64_001.9
  await take()
  await take()
  t.match(await take(), { limit: 4, remaining: 0, resetSeconds: 1, exceeded: false })
  t.match(await take(), { limit: 4, remaining: 0, resetSeconds: 1, exceeded: true })
  nowMs = 64_999.9
  t.match(await take(), { exceeded: true, resetSeconds: 1 }, 'the last millisecond')
  nowMs = 65_000.1
  t.match(await take(), { limit: 4, remaining: 3, resetSeconds: 60, exceeded: false })
})

await t.test('servers that share windows count the free requests of addresses alone', async (t) => {
  const [shared, own] = [new MemoryWindows(() => 0), new MemoryWindows(() => 0)]
  const limits = new RateLimits(shared, own, randomBytes(16))
  limits.takeVisit('192.0.2.1')
  t.match(await limits.takeFree({ kind: 'demo', id: 'demo' }, '192.0.2.1'), { requests: 2 })
  t.equal(shared.size, 0)
  const agent = { kind: 'demo', id: 'demo', connectionId: 'con_1' } as const
  t.match(await limits.takeFree(agent, '192.0.2.1'), { requests: 1 })
  t.equal(shared.size, 1)
})

const message = (method: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name: 'list_resources' } })

/** Asks `count` times; the statuses that came, each once. */
async function statuses(ask: () => Promise<{ status: number }>, count: number): Promise<number[]> {
  const seen = new Set<number>()
  for (let index = 0; index < count; index++) seen.add((await ask()).status)
  return [...seen]
}

// Guarantee: what costs nothing is bounded too, and takes nothing of what a client pays for.
await t.test('the free messages of a subscription are 600 a minute, over its tokens', async (t) => {
  const world = await startRates(t)
  const { token } = await world.subscribe(['one:six'])
  const free = () => world.post('/mcp', token, message('tools/list'))
  t.same(await statuses(free, 600), [200])
  const refused = await free()
  isError(t, refused, 'rate_limit_exceeded', /^Only 600 free requests a minute are allowed\./)
  t.match(refused.headers['retry-after'], /^(?:60|[1-5]?\d)$/)
  t.equal(refused.headers['x-ratelimit-remaining'], '6', 'the others are all left')
  t.equal((await world.post('/mcp', token, message('tools/call'))).status, 200)
  t.equal((await world.get('/v1/one', token)).status, 200)
  const other = (await world.subscribe(['one:six'])).token
  t.equal((await world.post('/mcp', other, message('tools/list'))).status, 200)
})

await t.test('with the rate used up the free messages are answered', async (t) => {
  const world = await startRates(t)
  const { token } = await world.subscribe(['one:three'])
  t.same(await statuses(() => world.get('/v1/', token), 5), [200, 429])
  t.equal((await world.post('/mcp', token, message('tools/call'))).status, 429)
  t.equal((await world.post('/mcp', token, message('tools/list'))).status, 200)
})

// Guarantee: a client that goes on after its refusals does not get its messages read.
await t.test('over both budgets a message is refused by its headers', async (t) => {
  const world = await startRates(t)
  const { token } = await world.subscribe(['one:three'])
  const call = () => world.post('/mcp', token, message('tools/call'))
  t.same(await statuses(call, 603), [200, 429])
  for (const body of [message('tools/list'), 'not read']) {
    const answer = await world.post('/mcp', token, body)
    isError(t, answer, 'rate_limit_exceeded', /Only 3 requests a minute/)
  }
})

await t.test('pages and documents are counted by address; health is not', async (t) => {
  const world = await startRates(t, '127.0.0.0/8')
  const from = (url: string, address: string, headers = {}) =>
    world.get(url, undefined, { headers: { 'x-forwarded-for': address, ...headers } })
  const paths = ['/', '/docs', '/openapi.json', '/datasets/one', '/docs/one']
  let asked = 0
  t.same(
    await statuses(() => from(paths[asked++ % paths.length] ?? '', '192.0.2.7'), 600),
    [200, 404],
  )
  for (const path of paths) {
    isError(t, await from(path, '192.0.2.7'), 'rate_limit_exceeded', /600 free requests/)
  }
  isError(t, await from('/nothing', '192.0.2.7'), 'not_found')
  const missing = await from('/nothing', '192.0.2.7', { accept: 'text/html' })
  t.equal(missing.status, 429)
  t.match(missing.headers['content-type'], 'text/html')
  const demoList = { method: 'POST', body: message('tools/list') } as const
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.7' }
  t.equal((await world.get('/mcp', demo, { ...demoList, headers })).status, 429, 'the demo, too')
  t.equal((await from('/', '192.0.2.8')).status, 200, "another's address")
  t.same(await statuses(() => from('/healthz', '192.0.2.7'), 50), [200])
  t.equal((await from('/readyz', '192.0.2.7')).status, 200)
})

// Guarantee: no number of clients fills the memory.
await t.test(
  'windows that ended are forgotten, and addresses share a bounded number',
  async (t) => {
    let nowMs = 0
    const windows = new MemoryWindows(() => nowMs)
    const limits = new RateLimits(windows, windows, randomBytes(16))
    for (let index = 0; index < 100_000; index++) {
      await limits.take(
        undefined,
        `2001:db8:${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}::`,
        catalog,
        1,
      )
    }
    t.ok(windows.size > 45_000 && windows.size <= 65_536, String(windows.size))
    nowMs += 60_000
    await limits.take(undefined, '192.0.2.1', catalog, 0)
    t.equal(windows.size, 1)
  },
)
