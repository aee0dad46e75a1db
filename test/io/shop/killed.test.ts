import { once } from 'node:events'
import t from 'tap'
import { listActions } from '../../../src/control/audit.js'
import { ordersOfSubscription, showOrder } from '../../../src/control/orders.js'
import { listLetters } from '../../../src/control/letters.js'
import { listSubscriptions } from '../../../src/control/subscriptions.js'
import { openSecret } from '../../../src/sales/letters/seal.js'
import { parseRegistry } from '../../../src/registry/registry.js'
import { placeOrder } from '../../../src/sales/orders/place-order.js'
import { startProcesses } from '../../control/fixtures/processes.js'
import { openStore, storePath } from '../../control/fixtures/store.js'
import { openShopText, shopRegistry } from '../../portal/fixtures/shop-world.js'

// Guarantee: kill -9 at any moment between payment and letter loses nothing, and of several
// processes that confirm the same orders at once each order is confirmed by one.

const rounds = 6
/** Rounds go on until one was cut short: on a slow machine processes may be done before they die. */
const roundsMax = 40
const ordersOfRound = 30

await t.test('a confirmation survives kill -9 whole, or not at all', async (t) => {
  const path = storePath(t)
  const store = openStore(t, path)
  const text = shopRegistry(openShopText)
  const registry = parseRegistry(text, 'registry.yaml')
  const parts = { store, registry: () => registry, mailKey: Buffer.alloc(32, 7) }
  const place = async (name: string) => {
    const placed = await placeOrder(
      { ...parts, now: () => Date.now() },
      {
        kind: 'new',
        subscriptionId: null,
        basedOn: null,
        buyer: null,
        email: `${name}@example.org`,
        language: 'en',
        items: [{ dataset: 'things', plan: 'start' }],
        months: 1,
        amountRub: 990,
      },
    )
    return placed.kind === 'waiting' ? placed.order.orderId : ''
  }
  const confirmedOf = async (orderIds: readonly string[]) => {
    const shown = await Promise.all(orderIds.map((orderId) => showOrder(store, orderId)))
    return shown.filter(({ state }) => state === 'confirmed').map(({ orderId }) => orderId)
  }
  const all: string[] = []
  let interrupted = 0
  for (let round = 0; round < rounds || (interrupted === 0 && round < roundsMax); round += 1) {
    const orders = await Promise.all(
      Array.from({ length: ordersOfRound }, (_, at) => place(`a${round}-${at}`)),
    )
    all.push(...orders)
    const children = await startProcesses(t, './confirm-process.js', 2, [path, text])
    const acknowledged: unknown[] = []
    for (const child of children) {
      child.on('message', (orderId) => acknowledged.push(orderId))
      child.send(orders)
    }
    while (acknowledged.length < 5 + (round % rounds) * 3) {
      await once(children[0] ?? process, 'message')
    }
    const exits = children.map((child) => once(child, 'exit'))
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(exits)
    const done = await confirmedOf(orders)
    if (done.length < orders.length) interrupted += 1
    for (const orderId of acknowledged) {
      t.ok(done.includes(String(orderId)), 'what was acknowledged is stored')
    }
  }
  t.ok(interrupted > 0, 'processes died between two orders, or within one')
  const confirmed = await confirmedOf(all)
  const letters = await listLetters(store, ['waiting'])
  const actions = await listActions(store, {})
  for (const orderId of confirmed) {
    const { subscriptionId } = await showOrder(store, orderId)
    const own = letters.filter((each) => each.orderId === orderId && each.kind === 'new-token')
    t.equal(own.length, 1, 'one letter with a token')
    const [{ tokenId = '', sealedSecret = null } = {}] = own
    const token = openSecret(parts.mailKey, tokenId ?? '', sealedSecret ?? Buffer.alloc(0))
    t.match(token, /^das_live_/)
    t.equal((await ordersOfSubscription(store, subscriptionId ?? '')).length, 1)
    const entries = actions.filter(
      ({ action, subject }) => action === 'order.confirmed' && subject === orderId,
    )
    t.equal(entries.length, 1)
  }
  t.equal((await listSubscriptions(store)).length, confirmed.length, 'one subscription an order')
  t.comment(`${all.length} orders, ${confirmed.length} confirmed, ${interrupted} rounds cut short`)
})
