import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { listActions } from '../../src/control/audit.js'
import { listLetters } from '../../src/control/letters.js'
import { endOrder, insertOrder, showOrder } from '../../src/control/orders.js'
import { insertPayment } from '../../src/control/payments.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { listSubscriptions } from '../../src/control/subscriptions.js'
import { buildCliFixture } from './fixtures/cli-fixture.js'
import { orderYear } from './fixtures/orders.js'
import { machine } from '../support/machine.js'

/** The command line over two orders that wait. */
async function cliWithOrders(t: Test) {
  const cli = await buildCliFixture(t)
  const store = SqliteStore.open(join(cli.folder, 'var', 'control.db'), machine)
  t.teardown(() => store.close())
  return {
    cli,
    store,
    first: await orderYear(cli, 'a@b.example'),
    second: await orderYear(cli, 'c@d.example'),
  }
}

await t.test('list shows waiting orders, and payments that confirmed no order', async (t) => {
  const { cli, store, first } = await cliWithOrders(t)
  await insertPayment(store, {
    paymentId: 'msg_1',
    orderId: first,
    amountRub: 38_999,
    paidAt: cli.clock.ms,
    receivedAt: cli.clock.ms,
    outcome: 'wrong amount',
  })
  const { code, stdout } = await cli.das(['order', 'list'])
  t.equal(code, 0)
  t.match(stdout, new RegExp(`${first}\t.*\ta@b\\.example\t.*\t38999 \\(wrong amount\\)\t`))
  t.match(stdout, 'c@d.example')
  const shown = await cli.das(['order', 'show', first])
  t.match(shown.stdout, `Order ${first} of a@b.example: new, waiting`)
  t.match(shown.stdout, /msg_1\t.*\twrong amount/)
  t.match(JSON.parse((await cli.das(['order', 'show', first, '--json'])).stdout), {
    order: first,
    kind: 'new',
    state: 'waiting',
    items: [{ dataset: 'financials', plan: 'pro' }],
    months: 12,
    amount_rub: 39_000,
    payments: [{ payment: 'msg_1', amount_rub: 38_999, outcome: 'wrong amount' }],
  })
})

await t.test('confirm starts the subscription once, and prints no token', async (t) => {
  const { cli, store, first } = await cliWithOrders(t)
  const { code, stdout } = await cli.das(['order', 'confirm', first])
  t.equal(code, 0)
  t.match(stdout, /is confirmed: sub_\w{16}, expires 2027-11-15\./)
  t.notMatch(stdout, 'das_live_')
  t.match(await cli.das(['order', 'confirm', first]), { code: 2, stderr: /is confirmed\.\n$/ })
  t.match(await cli.das(['order', 'decline', first]), { code: 2, stderr: /is confirmed\.\n$/ })
  t.equal((await listSubscriptions(store)).length, 1)
  const letters = (await listLetters(store, ['waiting'])).filter(({ kind }) => kind === 'new-token')
  t.equal(letters.length, 1)
  const [entry] = (await listActions(store, { subject: first })).filter(
    ({ action }) => action === 'order.confirmed',
  )
  t.not(entry?.actor, 'server')
})

await t.test('an order that a newer one replaced is neither confirmed nor declined', async (t) => {
  const { cli, store, first } = await cliWithOrders(t)
  await cli.das(['order', 'confirm', first])
  const { subscriptionId } = await showOrder(store, first)
  const now = cli.clock.ms
  const { orderId } = await insertOrder(store, {
    ...{ kind: 'change', email: 'a@b.example', language: 'en', subscriptionId },
    ...{ items: [], months: null, amountRub: 0, basedOn: null, buyer: null },
    ...{ orderedAt: now, payUntil: now + 1, takesEffectAt: now + 1 },
  })
  await endOrder(store, orderId, { state: 'expired', now })
  for (const verb of ['confirm', 'decline']) {
    t.match(await cli.das(['order', verb, orderId]), { code: 2, stderr: /is expired\.\n$/ })
  }
  t.equal((await showOrder(store, orderId)).state, 'expired')
  t.same(await listActions(store, { subject: orderId }), [])
})

await t.test('an expired order is confirmed by hand, a declined one never', async (t) => {
  const { cli, store, first, second } = await cliWithOrders(t)
  await endOrder(store, first, { state: 'expired', now: cli.clock.ms })
  t.equal((await cli.das(['order', 'confirm', first, '--json'])).code, 0)
  t.equal((await cli.das(['order', 'decline', second])).code, 0)
  t.match(await cli.das(['order', 'confirm', second]), { code: 2, stderr: /is declined\.\n$/ })
  t.match(await cli.das(['order', 'list']), { code: 0, stdout: 'No order waits.\n' })
  const all = await cli.das(['order', 'list', '--all'])
  for (const state of ['confirmed', 'declined']) t.match(all.stdout, `\t${state}\t`)
  t.match(await cli.das(['order', 'show', 'ord_none']), { code: 1, stderr: /There is no order/ })
  const kinds = (await listLetters(store, ['waiting'])).map(({ kind }) => kind)
  t.ok(kinds.includes('order-declined'))
})
