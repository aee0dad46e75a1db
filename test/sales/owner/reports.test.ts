import { join } from 'node:path'
import t from 'tap'
import { sql } from '../../../src/control/store/sql.js'
import { createSubscription } from '../../../src/control/subscriptions.js'
import type { Sale } from '../../../src/control/subscriptions.js'
import { confirmOrder } from '../../../src/sales/orders/confirm-order.js'
import { declineOrder } from '../../../src/sales/orders/decline-order.js'
import { placeOrder } from '../../../src/sales/orders/place-order.js'
import { cliOver } from '../../cli/fixtures/cli-fixture.js'
import { codeIdIn, openShopText, partsOf } from '../../portal/fixtures/shop-world.js'
import { cookieIn, startSessions } from '../sessions/fixtures/signing-in.js'
import { controlSetting } from '../../support/database.js'
import type { ShopWorld } from '../../portal/fixtures/shop-world.js'

const shop = `${openShopText}portal: {owners: [olga@example.org]}\n`
const at = (text: string) => Date.parse(`${text}:00Z`)

/** Places an order of the portal at a time. */
async function place(world: ShopWorld, time: string, plan = 'start', amountRub = 990) {
  const placed = await placeOrder(
    { ...partsOf(world), now: () => at(time) },
    {
      ...{ kind: 'new', subscriptionId: null, basedOn: null, buyer: null, language: 'en' },
      ...{ email: 'buyer@example.org', items: [{ dataset: 'things', plan }], months: 1, amountRub },
    },
  )
  return placed.kind === 'waiting' ? placed.order.orderId : ''
}

/** Sells a subscription as the owner does. */
const sell = (world: ShopWorld, time: string, sale: Partial<Sale>) =>
  createSubscription(world.store, {
    ...{ grants: [{ dataset: 'things', plan: 'start' }], globalRows: null, language: 'en' },
    ...{ email: 'buyer@example.org', months: 1, priceRub: 0, now: () => at(time) },
    ...sale,
  })

/** The command line over the records of a world. */
function commandsOf({ world }: ShopWorld) {
  const { das } = cliOver(world.folder, world.clock)
  const { controlUrl } = controlSetting(join(world.folder, 'var'))
  const environment = controlUrl === undefined ? {} : { DAS_CONTROL_URL: controlUrl }
  return (argv: readonly string[]) => das(argv, { environment })
}

/** Signs the owner in; the header `Cookie` of the browser. */
async function enter({ send, code }: ShopWorld): Promise<string> {
  const asked = await send('/owner/sign-in', { email: 'olga@example.org', next: '/owner' })
  return cookieIn(await send('/owner/sign-in/code', { id: codeIdIn(asked), code: await code() }))
}

/** The cells of a table of the page, by its heading. */
function cellsUnder(page: string, heading: string): readonly (readonly string[])[] {
  const [, after = ''] = page.split(`<h2>${heading}</h2>`, 2)
  const [table = ''] = after.split('<h2>', 1)
  const [, ...rows] = table.split('<tr>')
  return rows
    .map((row) =>
      [...row.matchAll(/<(?:td|th)[^>]*>([^<]*)</g)].map(([, cell = '']) => cell.trim()),
    )
    .slice(1)
}

// The world stands on Sunday, 15 November 2026, noon UTC; its week began on 9 November.
await t.test('each report counts a small world, alike on the page and in JSON', async (t) => {
  const world = await startSessions(t, { shop })
  const { store } = world
  const parts = (time: string) => ({ ...partsOf(world), now: () => at(time) })
  // Revenue: 990 + 5,000 in October, 990 in November; a free sale and a declined order are none.
  await sell(world, '2026-10-01T00:00', { months: 2, priceRub: 5000 })
  const early = await place(world, '2026-10-31T23:59')
  await confirmOrder(parts('2026-10-31T23:59'), early)
  // Of the week of 2 November one is paid on its last minute, one declined a minute later.
  const [first, second] = [
    await place(world, '2026-11-02T00:00'),
    await place(world, '2026-11-08T12:00'),
  ]
  const paid = await confirmOrder(parts('2026-11-08T23:59'), first)
  await declineOrder(parts('2026-11-09T00:00'), second)
  await place(world, '2026-11-10T12:00')
  await place(world, '2026-11-10T12:00', 'free', 0)
  // 12 weeks back is 24 August: this one was placed a minute before, and ended then.
  const old = await place(world, '2026-08-23T23:59')
  await declineOrder(parts('2026-08-24T00:00'), old)
  // Expiring: until 15 December, noon; 1 December and 8 December do, the last instant does.
  const [last] = [
    await sell(world, '2026-11-15T12:00', { email: 'last@example.org' }),
    await sell(world, '2026-11-15T12:01', { email: 'later@example.org' }),
  ]
  const reader = await world.world.subscribe(['things:pro', 'parts:start'], {
    months: 3,
    globalRows: 1000,
  })
  const { get } = world.world
  t.equal((await get('/v1/things?id=in.1,2,3', reader.token)).body.data.length, 3)
  t.equal((await get('/v1/parts?limit=25', reader.token)).body.data.length, 25)
  await world.world.app.prepare()
  await get('/v1/things?none=eq.1', reader.token)
  await get('/v1/things?id=eq.1')
  await get('/v1/things?id=eq.2')
  await get('/wp-login.php')
  await world.world.clock.advance(60_000)
  const isCounted = sql`SELECT 1 FROM refusals WHERE code = 'unauthorized' AND requests = 2`
  while ((await store.all(isCounted)).length === 0) await world.world.clock.advance(1000)
  world.world.clock.ms = at('2026-11-15T12:00')

  const das = commandsOf(world)
  const report = async (name: string) =>
    JSON.parse((await das(['report', name, '--json'])).stdout) as Readonly<
      Record<string, unknown>
    >[]
  const cookie = await enter(world)
  const page = (await world.open('/owner?lang=en', cookie)).text
  const same = async (name: string, heading: string, expected: readonly object[]) => {
    t.same(await report(name), expected, name)
    const csv = (await das(['report', name, '--csv'])).stdout.trim().split('\n')
    t.equal(csv.length, expected.length + 1)
    t.equal(csv[0], Object.keys(expected[0] ?? {}).join())
    const cells = cellsUnder(page, heading).map((row) =>
      row.map((cell) => cell.replaceAll(/[,₽%\u00a0 ]/g, '')),
    )
    const numbers = (values: readonly unknown[]) => values.map(Number).filter((each) => each >= 1)
    const shown = cells.map((row) => numbers(row))
    t.same(
      shown,
      expected.map((line) => numbers(Object.values(line).map((each) => each))),
      `${name} on the page`,
    )
  }
  await same('revenue', 'Revenue by month', [
    { month: '2026-11', orders: 1, amount_rub: 990 },
    { month: '2026-10', orders: 2, amount_rub: 5990 },
  ])
  const empty = { placed: 0, paid: 0, declined: 0 }
  await same('orders', 'Orders by week', [
    { week: '2026-11-09', placed: 1, paid: 0, declined: 1 },
    { week: '2026-11-02', placed: 2, paid: 1, declined: 0 },
    { week: '2026-10-26', placed: 1, paid: 1, declined: 0 },
    ...['2026-10-19', '2026-10-12', '2026-10-05', '2026-09-28', '2026-09-21', '2026-09-14'].map(
      (week) => ({ week, ...empty }),
    ),
    { week: '2026-09-07', ...empty },
    { week: '2026-08-31', ...empty },
    { week: '2026-08-24', ...empty, declined: 1 },
  ])
  const ending = await report('expiring')
  t.match(ending, [
    { expires_at: '2026-11-30T23:59:00Z', email: 'buyer@example.org', grants: 'things:start' },
    { expires_at: '2026-12-01T00:00:00Z' },
    { subscription: paid.subscriptionId, expires_at: '2026-12-08T23:59:00Z' },
    { expires_at: '2026-12-10T12:00:00Z', grants: 'things:free' },
    { subscription: last.subscriptionId, expires_at: '2026-12-15T12:00:00Z' },
  ])
  t.same(
    cellsUnder(page, 'Subscriptions that end within 30 days').map(([id]) => id),
    ending.map((line) => line['subscription']),
  )
  t.match(page, 'Things: plan start', 'people read titles')
  const used = await report('usage')
  const of = { subscription: reader.subscriptionId, email: 'subscriber@example.org' }
  t.same(used.slice(0, 3), [
    { ...of, dataset: 'parts', plan: 'start', rows: 25, limit: 100, share: 0.25 },
    { ...of, dataset: null, plan: null, rows: 28, limit: 1000, share: 0.028 },
    { ...of, dataset: 'things', plan: 'pro', rows: 3, limit: 500_000, share: 3 / 500_000 },
  ])
  t.same(cellsUnder(page, 'Rows used this month').slice(0, 3), [
    [reader.subscriptionId, of.email, 'Parts', 'start', '25', '100', '25%'],
    [reader.subscriptionId, of.email, 'all datasets together', '', '28', '1,000', '2.8%'],
    [reader.subscriptionId, of.email, 'Things', 'pro', '3', '500,000', '0%'],
  ])
  t.equal(used.length, 3 + 6, 'and a line for each live subscription without use')
  await same('refusals', 'Refused requests of the last 30 days', [
    { error: 'unauthorized', status: 401, requests: 2 },
    { error: 'bad_request', status: 400, requests: 1 },
  ])
  t.match(cellsUnder(page, 'Revenue by month'), [['Nov 2026'], ['Oct 2026']])
  const [[refused]] = cellsUnder(page, 'Refused requests of the last 30 days') as [[string]]
  t.match(refused, /^This token is unknown, .* · unauthorized$/, 'what it says, and its code')
  t.match(cellsUnder(page, 'Datasets'), [['Hidden'], ['Parts'], ['Things', 'served', '99']])
})

await t.test('reports of a new server are empty', async (t) => {
  const started = await startSessions(t, { shop })
  const das = commandsOf(started)
  t.match(await das(['report', 'revenue']), { code: 0, stdout: 'Nothing yet.\n' })
  t.match(await das(['report', 'revenue', '--json']), { code: 0, stdout: '[]\n' })
  t.match(await das(['report', 'orders']), { code: 0, stdout: /^WEEK\tPLACED\tPAID\tDECLINED\n/ })
})

await t.test(
  'the page says how many lines it leaves out, and which command has them',
  async (t) => {
    const world = await startSessions(t, { shop })
    const emails = Array.from({ length: 103 }, (_, at) => `reader${at}@example.org`)
    for (const email of emails) await sell(world, '2026-11-15T12:00', { email })
    const cookie = await enter(world)
    const page = (await world.open('/owner?lang=en', cookie)).text
    t.equal(cellsUnder(page, 'Rows used this month').length, 100)
    t.match(page, '3 more are not shown here. The whole list: <code>das report usage</code>')
    t.equal(JSON.parse((await commandsOf(world)(['report', 'usage', '--json'])).stdout).length, 103)
  },
)
