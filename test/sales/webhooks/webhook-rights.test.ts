import t from 'tap'
import { noteVersion } from '../../../src/control/hooks/events.js'
import { openControl } from '../../support/control.js'
import { demoToken, startThings } from '../../support/things.js'
import { connectAgent } from '../../portal/fixtures/connected.js'
import { startReceiver } from './fixtures/receiver.js'

const receiver = await startReceiver(t)
const world = await startThings(t, {}, { receivers: receiver.hosts })
const store = openControl(t, world)
const own = await world.subscribe(['things:pro'])
const stranger = await world.subscribe(['things:pro'])
const agent = await connectAgent(store, own, { now: world.clock.ms })
const list = { dataset: 'things', column: 'id', values: ['a1'] }
const hook = { url: receiver.url, events: ['dataset.version'] }

function ask(method: string, path: string, token: string | undefined, content?: unknown) {
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) }
  return world.get(`/v1${path}`, token, {
    ...{ method: method as 'GET' },
    ...(content !== undefined && json),
  })
}

const { body: made } = await ask('POST', '/webhooks', own.token, hook)
const id = String(made['id'])
await ask('PUT', '/watch/mine', own.token, list)
await noteVersion(store, { dataset: 'things', version: 'v1' }, world.clock.now())
await world.app.prepare()
await receiver.arrived(1)

/** Every path, for the webhook and the list of these names. */
const pathsOf = (webhook: string, name: string): readonly [string, string, unknown?][] => [
  ['DELETE', `/webhooks/${webhook}`],
  ['POST', `/webhooks/${webhook}/test`],
  ['POST', `/webhooks/${webhook}/secret`],
  ['GET', `/webhooks/${webhook}/deliveries`],
  ['POST', `/webhooks/${webhook}/deliveries/1/resend`],
  ['GET', `/watch/${name}`],
  ['DELETE', `/watch/${name}`],
]
const ownPaths: readonly [string, string, unknown?][] = [
  ['GET', '/webhooks'],
  ['POST', '/webhooks', hook],
  ['GET', '/watch'],
  ['PUT', '/watch/other', list],
]

// Guarantee: a webhook or a list of another subscription looks like one that does not exist.
await t.test("a stranger's request gets the answer about nothing, on every path", async (t) => {
  const unknown = pathsOf('whk_0000000000000000', 'none')
  for (const [index, [method, path]] of pathsOf(id, 'mine').entries()) {
    const foreign = await ask(method, path, stranger.token)
    const [, nowhere = ''] = unknown[index] ?? []
    const absent = await ask(method, nowhere, stranger.token)
    t.equal(foreign.status, 404, `${method} ${path}`)
    t.equal(foreign.text, absent.text, `${method} ${path}`)
  }
  const named = await ask('POST', '/webhooks', stranger.token, { ...hook, watch: 'mine' })
  const unnamed = await ask('POST', '/webhooks', stranger.token, { ...hook, watch: 'none' })
  t.same([named.status, unnamed.status], [400, 400])
  t.equal(named.text.replaceAll('mine', 'none'), unnamed.text)
  t.same((await ask('GET', '/webhooks', stranger.token)).body, { data: [] })
  t.same((await ask('GET', '/watch', stranger.token)).body, { data: [] })
})

// Guarantee: only a subscription's own token gives its holder webhooks and lists.
await t.test('the demo and an agent that signed in get 404 on every path', async (t) => {
  for (const [method, path, content] of [...pathsOf(id, 'mine'), ...ownPaths]) {
    const what = `${method} ${path}`
    const ofAgent = await ask(method, path, agent.access, content)
    const ofDemo = await ask(method, path, demoToken, content)
    t.same([ofAgent.status, ofDemo.status], [404, 404], what)
    t.equal(ofAgent.text, ofDemo.text, what)
    t.match(ofDemo.body.detail, /This token has no subscription/, what)
    t.equal((await ask(method, path, undefined, content)).status, 401, what)
  }
  t.match((await ask('GET', '/webhooks', own.token)).body.data, [{ id, state: 'active' }])
  t.match((await ask('GET', '/watch', own.token)).body.data, [{ name: 'mine' }])
})

// Guarantee: what a plan does not include looks like what does not exist.
await t.test(
  'a dataset without a grant, and a hidden column, look like unknown ones',
  async (t) => {
    const days = await world.subscribe(['days:pro'])
    const put = (more: object) => ask('PUT', '/watch/a', days.token, { ...list, ...more })
    const known = await put({ dataset: 'big' })
    const unknown = await put({ dataset: 'gib' })
    t.same([known.status, unknown.status], [404, 404])
    t.equal(known.text.replaceAll('big', 'gib'), unknown.text)
    for (const part of ['column', 'fields']) {
      const of = (name: string) =>
        put({ dataset: 'days', [part]: part === 'column' ? name : [name] })
      const hidden = await of('internal_note')
      const absent = await of('internal_nope')
      t.equal(hidden.status, 400, part)
      t.equal(hidden.text.replaceAll('internal_note', 'internal_nope'), absent.text, part)
    }
  },
)

await t.test('what has a wrong type, or is too much, is named and not stored', async (t) => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => String(index))
  const refused: [object, RegExp][] = [
    [{ values: ['a', {}] }, /^values\.1: must be a value as a text/],
    [{ values: 'a' }, /^values: must be a list of 1 to 10000 values/],
    [{ values: [] }, /^values: must be a list/],
    [{ values: many(10_001) }, /^values: must be a list of 1 to 10000/],
    [{ values: ['x'], column: 'year' }, /"x"/],
    [{ fields: [1.5] }, /^fields\.0: must be a column name/],
    [{ column: 7 }, /^column: must be/],
    [{ colum: 'id' }, /^colum: .*column/],
  ]
  for (const [more, detail] of refused) {
    const { status, body } = await ask('PUT', '/watch/wrong', own.token, { ...list, ...more })
    t.match([status, body.detail], [400, detail], JSON.stringify(more).slice(0, 60))
  }
  const large = await ask('PUT', '/watch/wrong', own.token, {
    ...list,
    values: ['x'.repeat(2 ** 20)],
  })
  t.equal(large.status, 413)
  t.equal((await ask('GET', '/watch/wrong', own.token)).status, 404)
  const most = await ask('PUT', '/watch/most', own.token, { ...list, values: many(10_000) })
  t.equal(most.status, 200)
})

// Guarantee: no log line and no later answer has a secret, or the address of a receiver.
await t.test('a secret is in the answer that makes it alone', async (t) => {
  const secrets = [made, (await ask('POST', `/webhooks/${id}/secret`, own.token)).body]
  const shown = ['', `/${id}/deliveries`].map((path) => ask('GET', `/webhooks${path}`, own.token))
  const texts = (await Promise.all(shown)).map(({ text }) => text)
  for (const userinfo of ['me:password1@', 'me@']) {
    const url = receiver.url.replace('https://', `https://${userinfo}`)
    const { status, text } = await ask('POST', '/webhooks', own.token, { ...hook, url })
    t.equal(status, 400)
    texts.push(text)
  }
  receiver.answer = (response) => response.writeHead(500).end()
  await ask('POST', `/webhooks/${id}/test`, own.token)
  const all = [...texts, ...world.log].join('\n')
  for (const { secret } of secrets) {
    t.match(secret, /^whsec_.{40}/)
    t.notOk(all.includes(String(secret).slice('whsec_'.length)))
  }
  t.notMatch(all, 'password1')
  t.notMatch(world.log.join('\n'), 'receivers-secret')
})
