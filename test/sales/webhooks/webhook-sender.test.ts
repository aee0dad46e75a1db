import t from 'tap'
import type { Test } from 'tap'
import type { Catalog } from '../../../src/catalog.js'
import { listActions } from '../../../src/control/audit.js'
import { listDeliveries, resendDelivery } from '../../../src/control/hooks/deliveries.js'
import { noteVersion } from '../../../src/control/hooks/events.js'
import { putWatchList } from '../../../src/control/hooks/watch-lists.js'
import {
  addWebhook,
  changeSecret,
  eventTypes,
  listWebhooks,
} from '../../../src/control/hooks/webhooks.js'
import type { EventType, Webhook } from '../../../src/control/hooks/webhooks.js'
import { allJobs } from '../../../src/control/jobs.js'
import type { ControlStore } from '../../../src/control/store/store.js'
import { chargeAll, periodOf } from '../../../src/control/usage.js'
import { webhookSecret } from '../../../src/sales/webhooks/send-message.js'
import { WebhookSender } from '../../../src/sales/webhooks/webhook-sender.js'
import type { WebhookSenderParts } from '../../../src/sales/webhooks/webhook-sender.js'
import { noon, openAnyStore, subscribe } from '../../control/fixtures/store.js'
import { MovingClock } from '../../support/moving-clock.js'
import { isSignedBy, startReceiver } from './fixtures/receiver.js'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const key = Buffer.alloc(32, 7)
const page = { upTo: 1000, limit: 1000 }
const published = { dataset: 'financials', version: 'v1' }

const plans = new Map([['start', { rowsPerMonth: 100 }]])
const catalog = { datasets: new Map([['financials', { name: 'financials', plans }]]) }

async function startSender(
  t: Test,
  more: Partial<WebhookSenderParts> = {},
  events: readonly EventType[] = eventTypes,
) {
  const receiver = await startReceiver(t)
  const store = openAnyStore(t)
  const clock = new MovingClock(noon)
  const log: string[] = []
  const write = (fields: object, message: string) => {
    log.push(`${message} ${JSON.stringify(fields)} ${String((fields as { err?: unknown }).err)}`)
  }
  const parts: WebhookSenderParts = {
    ...{ store, clock, key, jobs: allJobs, hosts: receiver.hosts },
    // The sender reads names and plans alone.
    catalog: () => catalog as unknown as Catalog,
    hasChanged: async () => true,
    logger: { info: write, warn: write, error: write },
    ...more,
  }
  const sender = new WebhookSender(parts)
  t.teardown(() => sender.close())
  const { subscriptionId } = await subscribe(store)
  const wanted = { subscriptionId, url: receiver.url, events, watch: null, now: noon }
  const webhook = await addWebhook(store, wanted)
  const publish = async (version = published, by = sender) => {
    await noteVersion(store, version, clock.now())
    await by.send()
  }
  return { receiver, store, clock, log, parts, sender, subscriptionId, webhook, publish }
}

async function deliveriesOf(store: ControlStore, { webhookId }: Webhook) {
  return await listDeliveries(store, webhookId, page)
}

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

await t.test('a redirect is not followed', async (t) => {
  const { receiver, store, publish, webhook } = await startSender(t)
  receiver.answer = (response) => response.writeHead(302, { location: receiver.url }).end()
  await publish()
  t.equal(receiver.received.length, 1)
  t.match(await deliveriesOf(store, webhook), [{ status: 302, error: /redirects/ }])
})

await t.test('410 ends the webhook: nothing more is sent', async (t) => {
  const { receiver, store, publish, webhook, subscriptionId } = await startSender(t)
  receiver.answer = (response) => response.writeHead(410).end()
  await publish()
  await publish({ ...published, version: 'v2' })
  t.equal(receiver.received.length, 1)
  t.match(await listWebhooks(store, subscriptionId), [{ state: 'ended' }])
  t.match(await deliveriesOf(store, webhook), [{ state: 'failed', status: 410 }])
  const actions = await listActions(store, { subject: webhook.webhookId })
  t.match(actions, [{ action: 'webhook.added' }, { action: 'webhook.ended' }])
  t.notMatch(JSON.stringify(actions), /localhost/)
})

await t.test(
  'a receiver that hangs, or stops in its answer, is left after ten seconds',
  async (t) => {
    const { receiver, store, clock, sender, publish, webhook } = await startSender(t)
    receiver.answer = () => undefined
    const noted = publish()
    await receiver.arrived(1)
    clock.runNext(10_000)
    await noted
    t.match(await deliveriesOf(store, webhook), [
      { status: null, error: 'no answer within 10 seconds', state: 'waiting' },
    ])
    receiver.answer = (response) => response.writeHead(200).write('slow')
    clock.pass(2 * minuteMs)
    await sender.send()
    t.match(await deliveriesOf(store, webhook), [{ status: 200, error: null, state: 'sent' }])
  },
)

await t.test('a slow receiver holds up no other subscription', async (t) => {
  const { receiver, store, clock, publish, webhook } = await startSender(t)
  const quick = await subscribe(store, { email: 'quick@example.com' })
  const { subscriptionId } = quick
  const wanted = { subscriptionId, url: receiver.url, events: eventTypes, watch: null, now: noon }
  const other = await addWebhook(store, wanted)
  receiver.answer = (response) => {
    if (receiver.received.at(-1)?.headers['webhook-id']?.includes(webhook.webhookId.slice(4))) {
      return
    }
    response.writeHead(204).end()
  }
  const noted = publish()
  await receiver.arrived(2)
  await clock.advance(10_000)
  await noted
  t.match(await deliveriesOf(store, other), [{ state: 'sent' }])
  t.match(await deliveriesOf(store, webhook), [{ state: 'waiting', status: null }])
})

// Guarantee: a subscriber's URL never leads into the networks of this machine.
await t.test('a private address is never connected to, also after it was public', async (t) => {
  const receiver = await startReceiver(t)
  const { ca } = receiver.hosts
  const isPrivate = await startSender(t, { hosts: { ca } })
  await isPrivate.publish()
  const error = 'the host has an address that is not public'
  t.match(await deliveriesOf(isPrivate.store, isPrivate.webhook), [{ status: null, error }])
  t.same(isPrivate.receiver.received, [])
  let asked = 0
  const resolve = async () => [(asked += 1) === 1 ? '203.0.113.7' : '127.0.0.1']
  const isAllowed = (address: string) => address === '203.0.113.7'
  const changing = await startSender(t, { hosts: { ca, resolve, isAllowed } })
  const noted = changing.publish()
  await changing.clock.advanceUntil(noted)
  t.equal(asked, 1, 'the name is resolved once; the connection goes to what was checked')
  t.same(changing.receiver.received, [])
})

await t.test('after a change both secrets sign for a day, then the new one alone', async (t) => {
  const { receiver, store, clock, sender, webhook } = await startSender(t)
  const changed = await changeSecret(store, webhook, clock.now())
  const secrets = [webhook, changed].map((each) => webhookSecret(key, each))
  t.not(secrets[0], secrets[1])
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
