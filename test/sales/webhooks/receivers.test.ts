import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { listActions } from '../../../src/control/audit.js'
import { addWebhook, eventTypes, listWebhooks } from '../../../src/control/hooks/webhooks.js'
import { noon, subscribe } from '../../control/fixtures/store.js'
import { certificate, startReceiver } from './fixtures/receiver.js'
import { deliveriesOf, published, startSender } from './fixtures/sender.js'

const minuteMs = 60_000
const notPublic = 'the host has an address that is not public'

await t.test('a redirect is not followed', async (t) => {
  const { receiver, store, webhook, publish } = await startSender(t)
  receiver.answer = (response) => response.writeHead(302, { location: receiver.url }).end()
  await publish(published)
  t.equal(receiver.received.length, 1)
  t.match(await deliveriesOf(store, webhook), [{ status: 302, error: /redirects/ }])
})

await t.test('410 ends the webhook: nothing more is sent', async (t) => {
  const { receiver, store, webhook, subscriptionId, publish } = await startSender(t)
  receiver.answer = (response) => response.writeHead(410).end()
  await publish(published)
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
    const { receiver, store, clock, sender, webhook, publish } = await startSender(t)
    receiver.answer = () => undefined
    const noted = publish(published)
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
  const { receiver, store, clock, webhook, publish } = await startSender(t)
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
  const noted = publish(published)
  await receiver.arrived(2)
  await clock.advance(10_000)
  await noted
  t.match(await deliveriesOf(store, other), [{ state: 'sent' }])
  t.match(await deliveriesOf(store, webhook), [{ state: 'waiting', status: null }])
})

/** A port of this machine whose connections are handed to `serve`. */
async function startRaw(t: Test, serve: (socket: Socket) => void, isPlain = false) {
  const open = new Set<Socket>()
  const accept = (socket: Socket) => {
    open.add(socket.on('error', () => undefined))
    serve(socket)
  }
  const server = isPlain ? createServer(accept) : createTlsServer(certificate, accept)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return `https://localhost:${(server.address() as AddressInfo).port}/`
}

/** A sender with a webhook for this address alone. */
async function startFor(t: Test, url: string) {
  const started = await startSender(t, {}, ['quota.80'])
  const { store, subscriptionId } = started
  const wanted = { subscriptionId, url, events: eventTypes, watch: null, now: noon }
  return { ...started, webhook: await addWebhook(store, wanted) }
}

// Guarantee: no answer of a receiver stops the messages to the others.
await t.test('an answer that is none is a failure of this delivery alone', async (t) => {
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'
  const long = `X-Long: ${'x'.repeat(1000)}\r\n`.repeat(100)
  const answers: Readonly<Record<string, (socket: Socket) => void>> = {
    'the connection ended without an answer': (socket) => socket.write(upgrade),
    'the connection failed (HPE_INVALID_CONSTANT)': (socket) => socket.write('no HTTP\r\n\r\n'),
    'the connection failed (HPE_HEADER_OVERFLOW)': (socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${long}`),
    'the connection failed (ECONNRESET)': (socket) => socket.end(),
  }
  for (const [error, answer] of Object.entries(answers)) {
    const url = await startRaw(t, (socket) => socket.once('data', () => answer(socket)))
    const { store, publish, webhook } = await startFor(t, url)
    await publish(published)
    t.match(await deliveriesOf(store, webhook), [{ state: 'waiting', status: null, error }])
  }
})

await t.test(
  'a port that never speaks TLS, and a name without an end, take ten seconds',
  async (t) => {
    let hasConnected: () => void = () => undefined
    const connected = new Promise<void>((resolve) => (hasConnected = resolve))
    const silent = await startFor(t, await startRaw(t, () => hasConnected(), true))
    const noted = silent.publish(published)
    await connected
    silent.clock.runNext(10_000)
    await noted
    const error = 'no answer within 10 seconds'
    t.match(await deliveriesOf(silent.store, silent.webhook), [{ state: 'waiting', error }])
    let hasAsked: () => void = () => undefined
    const asked = new Promise<void>((resolve) => (hasAsked = resolve))
    const resolve = () => {
      hasAsked()
      return new Promise<never>(() => undefined)
    }
    const nameless = await startSender(t, { hosts: { resolve } })
    const second = nameless.publish(published)
    await asked
    nameless.clock.runNext(10_000)
    await second
    t.match(await deliveriesOf(nameless.store, nameless.webhook), [
      { state: 'waiting', error: 'the name was not resolved in time' },
    ])
  },
)

// Guarantee: a subscriber's URL never leads into the networks of this machine.
await t.test('no spelling of a private address is connected to', async (t) => {
  const { receiver, store, sender, subscriptionId, webhook } = await startSender(t, { hosts: {} })
  const { port } = new URL(receiver.url)
  const hosts = [
    ...['localhost', 'LOCALHOST', '127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1'],
    ...['0x7f.1', '0', '0.0.0.0', '10.0.0.1', '169.254.169.254', '192.168.1.1', '100.64.0.1'],
    ...['[::1]', '[::]', '[::ffff:10.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]'],
    ...['[64:ff9b::7f00:1]', '[64:ff9b:1::1]', '[fc00::1]', '[fd12::1]', '[fe80::1]', '[fec0::1]'],
    ...['[2002:7f00:1::1]', '[ff02::1]', '%31%32%37.0.0.1', '１２７.0.0.1', '127。0。0。1'],
  ]
  for (const host of hosts) {
    for (const place of [`${host}:${port}`, host, `${host}:22`]) {
      const url = new URL(`https://${place}/hook`).href
      t.equal((await sender.test({ ...webhook, url })).error, notPublic, place)
    }
  }
  t.equal(receiver.connections(), 0)
  t.match(await listWebhooks(store, subscriptionId), [{ state: 'active' }])
})

// Guarantee: the address that was checked is the one that is connected to (DNS rebinding).
await t.test('a name is resolved once for each attempt, and all its addresses count', async (t) => {
  const { hosts } = await startReceiver(t)
  const names = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1', '10.0.0.1'], []]
  const asked: string[] = []
  const { receiver, store, clock, sender, webhook, publish } = await startSender(t, {
    hosts: {
      ca: hosts.ca,
      resolve: async (host) => {
        asked.push(host)
        return names.shift() ?? []
      },
      isAllowed: (address) => address === '127.0.0.1',
    },
  })
  receiver.answer = (response) => response.writeHead(500).end()
  await publish(published)
  t.match(await deliveriesOf(store, webhook), [{ status: 500 }])
  t.same(asked, ['localhost'])
  for (const attempt of [2, 3, 4]) {
    clock.pass(60 * minuteMs)
    await sender.send()
    t.match(await deliveriesOf(store, webhook), [{ error: notPublic, attempts: attempt }])
    t.equal(asked.length, attempt)
  }
  t.equal(receiver.connections(), 1)
})

await t.test('a connection goes to the address alone, whatever the name is later', async (t) => {
  let count = 0
  const resolve = async () => [(count += 1) === 1 ? '127.0.0.1' : '203.0.113.7']
  const { receiver, sender, webhook } = await startSender(t, {
    hosts: { resolve, isAllowed: () => true },
  })
  const url = receiver.url.replace('localhost', 'hooks.invalid')
  const { error } = await sender.test({ ...webhook, url })
  t.match(
    error,
    /^the connection failed \((DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_INVALID)\)$/,
  )
  t.same([receiver.connections(), receiver.received], [1, []], 'the name has no address but this')
})
