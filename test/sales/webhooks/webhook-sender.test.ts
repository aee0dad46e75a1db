import t from 'tap'
import { resendDelivery } from '../../../src/control/hooks/deliveries.js'
import { putWatchList } from '../../../src/control/hooks/watch-lists.js'
import { addWebhook, changeSecret, eventTypes } from '../../../src/control/hooks/webhooks.js'
import { chargeAll, periodOf } from '../../../src/control/usage.js'
import { webhookSecret } from '../../../src/sales/webhooks/send-message.js'
import { WebhookSender } from '../../../src/sales/webhooks/webhook-sender.js'
import { noon, openAnyStore } from '../../control/fixtures/store.js'
import { isSignedBy } from './fixtures/receiver.js'
import { deliveriesOf, key, published, startSender } from './fixtures/sender.js'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

await t.test('a version is sent once, signed, with a thin body, by two senders', async (t) => {
  const { receiver, store, parts, sender, publish, webhook, log } = await startSender(t)
  const second = new WebhookSender(parts)
  t.teardown(() => second.close())
  await Promise.all([sender, second, sender].map((each) => publish(published, each)))
  await Promise.all([sender.send(), second.send()])
  const [message, ...others] = receiver.received
  t.same(others, [])
  if (!message) return
  t.same(JSON.parse(message.body), { type: 'dataset.version', data: published })
  t.equal(message.headers['webhook-timestamp'], String(noon / 1000))
  t.ok(isSignedBy(webhookSecret(key, webhook), message))
  t.notOk(isSignedBy(webhookSecret(Buffer.alloc(32, 8), webhook), message))
  t.match(await deliveriesOf(store, webhook), [
    { n: 1, type: 'dataset.version', state: 'sent', status: 204, error: null, attempts: 1 },
  ])
  t.notMatch(log.join(), /receivers-secret|whsec_|localhost/)
})

// Guarantee: of several servers over one store, each event is sent once.
await t.test('two servers over one store send each event once to each webhook', async (t) => {
  const { receiver, store, path, parts, clock, sender, webhook, subscriptionId, publish } =
    await startSender(t)
  const other = new WebhookSender({ ...parts, store: openAnyStore(t, path) })
  t.teardown(() => other.close())
  const wanted = { subscriptionId, url: receiver.url, events: eventTypes, watch: null, now: noon }
  const second = await addWebhook(store, wanted)
  const versions = Array.from({ length: 10 }, (_, index) => `v${index}`)
  const noted = [sender, other].flatMap((each) =>
    versions.map((version) => publish({ ...published, version }, each)),
  )
  await clock.advanceUntil(Promise.all([...noted, sender.send(), other.send()]))
  await clock.advanceUntil(Promise.all([sender.send(), other.send()]))
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  t.equal(ids.length, 2 * versions.length)
  t.equal(new Set(ids).size, ids.length)
  for (const each of [webhook, second]) {
    const found = await deliveriesOf(store, each)
    t.same(new Set(found.map(({ state, attempts }) => `${state} ${attempts}`)), new Set(['sent 1']))
  }
})

await t.test('the server that sends the letters sends; when it ends, another does', async (t) => {
  const { receiver, parts, path, sender, publish } = await startSender(t)
  let isSecondSending = false
  const jobs = { ...parts.jobs, tryTake: async () => isSecondSending }
  const second = new WebhookSender({ ...parts, jobs, store: openAnyStore(t, path) })
  t.teardown(() => second.close())
  await publish(published, second)
  t.same(receiver.received, [])
  await sender.send()
  t.equal(receiver.received.length, 1)
  await sender.close()
  isSecondSending = true
  await publish({ ...published, version: 'v2' }, second)
  t.equal(receiver.received.length, 2)
})

await t.test('a version of a dataset without a grant is not sent', async (t) => {
  const { receiver, store, publish, webhook } = await startSender(t)
  await publish({ dataset: 'other', version: 'v1' })
  t.same(receiver.received, [])
  t.same(await deliveriesOf(store, webhook), [])
})

await t.test('a failure is tried again with the same id, for three days', async (t) => {
  const { receiver, store, clock, sender, publish, webhook } = await startSender(t)
  receiver.answer = (response) => response.writeHead(500).end('x'.repeat(1_000_000))
  await publish()
  t.match(await deliveriesOf(store, webhook), [{ state: 'waiting', status: 500, attempts: 1 }])
  clock.pass(minuteMs - 1)
  await sender.send()
  t.equal(receiver.received.length, 1)
  clock.pass(1)
  await sender.send()
  t.equal(receiver.received.length, 2)
  for (let hours = 0; hours < 80; hours += 1) {
    clock.pass(60 * minuteMs)
    await sender.send()
  }
  const [delivery] = await deliveriesOf(store, webhook)
  t.match(delivery, { state: 'failed', error: /answered 500/, attempts: receiver.received.length })
  t.ok((delivery?.attemptedAt ?? 0) > noon + 2 * dayMs)
  t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  receiver.answer = (response) => response.writeHead(200).end()
  await resendDelivery(store, webhook.webhookId, 1, clock.now())
  await sender.send()
  t.match(await deliveriesOf(store, webhook), [{ state: 'sent', status: 200, error: null }])
})

await t.test('after a change both secrets sign for a day, then the new one alone', async (t) => {
  const { receiver, store, clock, sender, webhook } = await startSender(t)
  const changed = await changeSecret(store, webhook, clock.now())
  const secrets = [webhook, changed].map((each) => webhookSecret(key, each))
  t.not(secrets[0], secrets[1])
  await t.rejects(changeSecret(store, changed, clock.now()), { code: 'bad_request' })
  await sender.test(changed)
  clock.pass(dayMs)
  await sender.test(changed)
  const signers = receiver.received.map((each) => secrets.map((secret) => isSignedBy(secret, each)))
  t.same(signers, [
    [true, true],
    [false, true],
  ])
})

await t.test('a used quota and a term that ends are sent once each', async (t) => {
  const { receiver, store, clock, sender, subscriptionId } = await startSender(t)
  const use = async (rows: number) => {
    const caps = { datasetRowsMax: 100, globalRowsMax: null, period: periodOf(clock.now()) }
    await chargeAll(store, [{ subscriptionId, dataset: 'financials', rows, ...caps }])
    clock.pass(minuteMs)
    await sender.send()
    await sender.send()
    return receiver.received.splice(0).map(({ body }) => JSON.parse(body) as unknown)
  }
  t.same(await use(79), [])
  const data = { dataset: 'financials', limit: 100 }
  t.same(await use(1), [{ type: 'quota.80', data: { ...data, used: 80 } }])
  t.same(await use(20), [{ type: 'quota.used', data: { ...data, used: 100 } }])
  clock.ms = Date.UTC(2026, 6, 10)
  t.match(await use(0), [
    {
      type: 'subscription.ending',
      data: { subscription: subscriptionId, expires_at: '2026-07-15T12:00:00Z' },
    },
  ])
  t.same(await use(0), [])
})

await t.test('a webhook with a watch list is sent only what changed in it', async (t) => {
  let answers: (() => boolean)[] = []
  const { receiver, store, clock, sender, publish, subscriptionId } = await startSender(t, {
    hasChanged: async ({ list }) => {
      t.same(list.values, ['1', '2'])
      return answers.shift()?.() ?? false
    },
  })
  const list = {
    name: 'mine',
    dataset: 'financials',
    column: 'inn',
    values: ['1', '2'],
    fields: [],
  }
  await putWatchList(store, subscriptionId, list)
  const wanted = { subscriptionId, url: receiver.url, events: eventTypes, now: noon }
  const webhook = await addWebhook(store, { ...wanted, watch: 'mine' })
  const notReady = () => {
    throw new Error('not ready')
  }
  answers = [() => false, notReady, () => true]
  await publish()
  t.same(await deliveriesOf(store, webhook), [])
  await publish({ ...published, version: 'v2' })
  t.match(await deliveriesOf(store, webhook), [{ n: 2, state: 'waiting', status: null }])
  clock.pass(minuteMs)
  await sender.send()
  t.match(await deliveriesOf(store, webhook), [{ n: 2, state: 'sent' }])
})

await t.test('deliveries are kept for 30 days', async (t) => {
  const events = ['dataset.version'] as const
  const { store, clock, sender, publish, webhook, receiver } = await startSender(t, {}, events)
  await publish()
  clock.pass(29 * dayMs)
  await sender.send()
  t.equal((await deliveriesOf(store, webhook)).length, 1)
  clock.pass(2 * dayMs)
  await sender.send()
  t.same(await deliveriesOf(store, webhook), [])
  const before = receiver.received.length
  await publish()
  t.equal(receiver.received.length, before, 'a version that is still served is not new')
})
