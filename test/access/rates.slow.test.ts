import t from 'tap'
import { RateLimits, networkOf } from '../../src/access/rate-limits.js'
import { reissueToken } from '../../src/control/tokens.js'
import type { Catalog } from '../../src/catalog/catalog.js'
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
  const { token, subscriptionId } = world.subscribe(['one:six'])
  const second = reissueToken(control, subscriptionId, { graceMs: 1e6, now: () => world.clock.ms })
  const other = world.subscribe(['one:six']).token
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
    isError(t, await world.get('/v1/account', each), 'rate_limit_exceeded', /At most 6 requests/)
  }
  t.equal((await world.get('/v1/one', other)).status, 200, "another's budget is another's")
  t.equal((await world.get('/healthz')).status, 200, 'health is not counted')
})

await t.test(
  'a token with several plans has the highest of their rates; the default is 120',
  async (t) => {
    const world = await startRates(t)
    const limitOf = async (grants: readonly string[]) =>
      (await world.get('/v1/', world.subscribe(grants).token)).headers['x-ratelimit-limit']
    t.equal(await limitOf(['one:three']), '3')
    t.equal(await limitOf(['one:three', 'two:nine']), '9')
    t.equal(await limitOf(['one:usual']), '120')
  },
)

// Guarantee: who has no valid token can't try more than 120 a minute from one address.
await t.test(
  'requests without a valid token are counted by address, the demo by its own',
  async (t) => {
    const world = await startRates(t)
    const ask = (remoteAddress: string, token?: string) => () =>
      world.get('/v1/one', token, { remoteAddress })
    t.equal(await allowed(ask('192.0.2.1')), 120)
    const refused = await ask('192.0.2.1', 'das_live_wrong')()
    isError(t, refused, 'rate_limit_exceeded', /At most 120/)
    t.equal(refused.headers['x-ratelimit-limit'], undefined, 'no account, no limits in headers')
    t.equal((await ask('192.0.2.2')()).status, 401)
    const { token } = world.subscribe(['one:six'])
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

// Guarantee: nobody but the named proxies can say which address a request came from.
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
  await t.test('behind one, the nearest address that is no proxy counts', async (t) => {
    const world = await startRates(t, '10.0.0.0/8')
    t.equal(await forwarded(world, '10.1.2.3', '198.51.100.1'), 4)
    t.equal(await forwarded(world, '10.1.2.3', '198.51.100.2'), 4)
    t.equal(await forwarded(world, '10.9.9.9', '198.51.100.2'), 0, 'the same client, another proxy')
    t.equal(await forwarded(world, '10.1.2.3', '203.0.113.9, 198.51.100.2'), 0, 'a made-up hop')
    t.equal(await forwarded(world, '192.0.2.1', '198.51.100.3'), 4)
    t.equal(await forwarded(world, '192.0.2.1', '198.51.100.4'), 0, 'not a proxy of ours')
    t.equal(await forwarded(world, '10.1.2.3', "junk'; --"), 4, 'junk is somebody too')
  })
})

// Only what the class reads; a whole catalog would say no more.
const catalog = { datasets: new Map(), demo: { token: demo, ratePerMinute: 4 } } as Catalog

await t.test('a window is a minute long and begins with its first request', async (t) => {
  let nowMs = 5000.123_456_789
  const limits = new RateLimits(() => nowMs)
  const take = () => limits.take({ kind: 'demo', id: 'demo' }, '192.0.2.1', catalog, 1)
  t.same(take(), { limit: 4, remaining: 3, resetSeconds: 60, exceeded: false })
  nowMs = 64_001.9
  take()
  take()
  t.same(take(), { limit: 4, remaining: 0, resetSeconds: 1, exceeded: false })
  t.same(take(), { limit: 4, remaining: 0, resetSeconds: 1, exceeded: true })
  nowMs = 64_999.9
  t.match(take(), { exceeded: true, resetSeconds: 1 }, 'the last millisecond')
  nowMs = 65_000.1
  t.same(take(), { limit: 4, remaining: 3, resetSeconds: 60, exceeded: false })
})

// Guarantee: no number of clients fills the memory.
await t.test(
  'windows that ended are forgotten, and addresses share a bounded number',
  async (t) => {
    let nowMs = 0
    const limits = new RateLimits(() => nowMs)
    for (let index = 0; index < 100_000; index++) {
      limits.take(
        undefined,
        `2001:db8:${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}::`,
        catalog,
        1,
      )
    }
    t.ok(limits.size > 45_000 && limits.size <= 65_536, String(limits.size))
    nowMs += 60_000
    limits.take(undefined, '192.0.2.1', catalog, 0)
    t.equal(limits.size, 1)
  },
)
