import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { noteVersion } from '../../../src/control/hooks/events.js'
import { sql } from '../../../src/control/store/sql.js'
import { openRecordsOf } from '../../support/database.js'
import { startThings } from '../../support/things.js'
import { isSignedBy, startReceiver } from './fixtures/receiver.js'

const receiver = await startReceiver(t)
const world = await startThings(t, {}, { isTimeStill: true, receivers: receiver.hosts })
const { token } = await world.subscribe(['things:pro'])
const control = openRecordsOf(join(world.folder, 'var'))
t.teardown(() => control.close())
// A webhook that is added later is sent later versions alone.
while ((await control.all(sql`SELECT id FROM events`)).length < 3) await setImmediate()
const url = receiver.url
const events = ['dataset.version']

const remove = (path: string, by = token) => world.get(path, by, { method: 'DELETE' })
const put = (name: string, body: object, by = token) =>
  world.get(`/v1/watch/${name}`, by, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const list = { dataset: 'things', column: 'id', values: ['a1', 'a2', 'a1'] }

await t.test('a webhook is added, listed, tested, rolled and deleted', async (t) => {
  const added = await world.post('/v1/webhooks', token, { url, events })
  t.equal(added.status, 201)
  t.match(added.body, { id: /^whk_/, url, events, watch: null, secret: /^whsec_/ })
  const path = `/v1/webhooks/${String(added.body['id'])}`
  const listed = await world.get('/v1/webhooks', token)
  t.match(listed.body, { data: [{ id: added.body['id'], state: 'active' }] })
  t.notMatch(listed.text, /whsec_/)
  const tested = await world.post(`${path}/test`, token, '')
  t.same(tested.body, { delivered: true, status: 204, error: null })
  const [message] = receiver.received.splice(0)
  t.ok(message && isSignedBy(String(added.body['secret']), message))
  const rolled = await world.post(`${path}/secret`, token, '')
  t.equal(rolled.body['previous_valid_until'], '2026-11-16T12:00:00Z')
  t.not(rolled.body['secret'], added.body['secret'])
  t.same((await world.get(`${path}/deliveries`, token)).body, { data: [], next_cursor: null })
  t.equal((await remove(path)).status, 204)
  t.equal((await remove(path)).status, 404)
  t.notMatch(world.log.join(), /receivers-secret|whsec_/)
})

await t.test('a served version is delivered, and sent again on request', async (t) => {
  const { body } = await world.post('/v1/webhooks', token, { url, events })
  const path = `/v1/webhooks/${String(body['id'])}`
  const version = '0123456789abcdef'
  await noteVersion(control, { dataset: 'things', version }, world.clock.now())
  await world.app.prepare()
  await receiver.arrived(1)
  const [message] = receiver.received.splice(0)
  t.same(JSON.parse(message?.body ?? ''), {
    type: 'dataset.version',
    data: { dataset: 'things', version },
  })
  await world.clock.advance(5000)
  const deliveries = await world.get(`${path}/deliveries`, token)
  t.match(deliveries.body.data, [{ n: 1, status: 204, error: null, state: 'sent' }])
  t.equal((await world.post(`${path}/deliveries/2/resend`, token, '')).status, 404)
  const resent = await world.post(`${path}/deliveries/1/resend`, token, '')
  t.match([resent.status, resent.body], [202, { n: 1 }])
  await receiver.arrived(1)
  t.equal(receiver.received[0]?.headers['webhook-id'], message?.headers['webhook-id'])
  await remove(path)
})

await t.test('a watch list is put, read, used and deleted', async (t) => {
  const stored = { ...list, values: ['a1', 'a2'], fields: [], name: 'mine' }
  const made = await put('mine', list)
  t.same([made.status, made.body], [200, stored])
  t.same((await world.get('/v1/watch/mine', token)).body, stored)
  const { values: _values, ...summary } = stored
  t.same((await world.get('/v1/watch', token)).body, { data: [{ ...summary, count: 2 }] })
  const hook = await world.post('/v1/webhooks', token, { url, events, watch: 'mine' })
  t.equal(hook.status, 201)
  t.match((await remove('/v1/watch/mine')).body, {
    error: 'bad_request',
    detail: /names this list/,
  })
  t.equal((await remove(`/v1/webhooks/${String(hook.body['id'])}`)).status, 204)
  t.equal((await remove('/v1/watch/mine')).status, 204)
  t.equal((await world.get('/v1/watch/mine', token)).status, 404)
})

await t.test('what is malformed is refused, and says why', async (t) => {
  const refused: [string, object, RegExp][] = [
    ['webhooks', { url: 'http://example.org', events }, /https/],
    ['webhooks', { url: 'https://me:secret@example.org', events }, /user name/],
    ...['10.0.0.1', '127.1', '0x7f000001', '169.254.169.254', '[::1]', '[::ffff:10.0.0.1]'].map(
      (host): [string, object, RegExp] => [
        'webhooks',
        { url: `https://${host}/hook`, events },
        /public host/,
      ],
    ),
    ['webhooks', { url, events: [] }, /events/],
    ['webhooks', { url, events: ['other'] }, /events/],
    ['webhooks', { url, events, watch: 'none' }, /no watch list/],
  ]
  for (const [path, body, detail] of refused) {
    const answer = await world.post(`/v1/${path}`, token, body)
    t.match([answer.status, answer.body.detail], [400, detail])
    t.notMatch(answer.text, /secret@/)
  }
  t.equal((await put('Big', list)).status, 400)
  t.match((await put('a', { ...list, column: 'none' })).body.detail, /no column/)
  t.match((await put('a', { ...list, fields: ['none'] })).body.detail, /no column/)
  t.match((await put('a', { ...list, column: 'year' })).body.detail, /year/)
  const many = Array.from({ length: 10_001 }, (_, index) => String(index))
  t.equal((await put('a', { ...list, values: many })).status, 400)
  t.equal((await put('a', { ...list, dataset: 'days' })).status, 404, 'without a grant')
})

await t.test('there are at most 10 webhooks and 20 lists', async (t) => {
  const { token: own } = await world.subscribe(['things:pro'])
  const hooks: number[] = []
  for (let count = 0; count < 11; count += 1) {
    hooks.push((await world.post('/v1/webhooks', own, { url, events })).status)
  }
  t.same(hooks, [...Array.from({ length: 10 }, () => 201), 400])
  const lists: number[] = []
  for (let count = 0; count < 21; count += 1) lists.push((await put(`l${count}`, list, own)).status)
  t.same(lists, [...Array.from({ length: 20 }, () => 200), 400])
  t.equal((await put('l3', list, own)).status, 200, 'replacing adds none')
})
