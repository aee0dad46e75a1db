import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { isError, listen, requestText, sendOne } from '../support/answers.js'
import { audienceFiles, audienceRegistry } from '../support/audiences.js'
import { readDocument } from '../support/openapi.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

function start(t: Test): Promise<World> {
  return startWorld(t, { files: audienceFiles, registry: audienceRegistry })
}

// Guarantee: the document names nothing that its reader may not see.
await t.test('a visitor is shown listed datasets, and values of the demo alone', async (t) => {
  const world = await start(t)
  const { text } = await world.get('/openapi.json')
  for (const there of ['/v1/open', '/v1/plain', 'Open title', 'Open words', 'open_column']) {
    t.match(text, there)
  }
  t.match(text, 'shown1', 'an example of the demo subset')
  for (const absent of ['closed', 'Closed', 'concealed', 'paid0', 'unshown', 'rows_per_month']) {
    t.notMatch(text, absent)
  }
})

await t.test('the document of a token has exactly its datasets, listed or not', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['closed:p'])
  const { text } = await world.get('/openapi.json', token)
  const theirs = ['/v1/closed', 'Closed title', 'Closed words', 'Closed source', 'closed_column']
  for (const there of [...theirs, 'eq.closed0']) t.match(text, there)
  for (const absent of [
    '/v1/open',
    'Open title',
    'Open words',
    'open_column',
    'Plain',
    'concealed',
    token,
  ]) {
    t.notMatch(text, absent)
  }
  const own = await world.get('/openapi.json', (await world.subscribe(['open:p'])).token)
  t.match(own.text, 'paid0', 'an example of their own rows')
  t.notMatch(own.text, /concealed|Plain|[Cc]losed/)
})

await t.test('the demo token is shown what has a demo', async (t) => {
  const { paths } = await readDocument(await start(t), 'das_demo_audience')
  t.same(
    Object.keys(paths).filter((path) => /^\/v1\/\w+$/.test(path)),
    ['/v1/open', '/v1/account', '/v1/watch', '/v1/webhooks'],
  )
})

await t.test('a wrong token is refused, a known one counted', async (t) => {
  const world = await start(t)
  isError(t, await world.get('/openapi.json', 'das_live_wrong'), 'unauthorized')
  const { token } = await world.subscribe(['open:p'])
  const { headers } = await world.get('/openapi.json', token)
  t.equal(headers['x-ratelimit-remaining'], '999')
  t.equal(headers['x-quota-rows-limit'], undefined, 'no dataset, no quota')
  const visitor = await world.get('/openapi.json')
  t.equal(visitor.headers['x-ratelimit-limit'], undefined)
})

await t.test('a known document is 304 only for the audience that received it', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['closed:p'])
  const first = await world.get('/openapi.json')
  const tag = String(first.headers['etag'])
  t.match(first.headers, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'private, no-cache',
    vary: 'Authorization',
    etag: /^W\/"[\w-]{27}"$/,
  })
  const ask = (bearer?: string) =>
    world.get('/openapi.json', bearer, { headers: { 'if-none-match': tag } })
  const again = await ask()
  t.equal(again.status, 304)
  t.equal(again.text, '')
  t.equal(again.headers['etag'], tag)
  t.equal((await ask(token)).status, 200)
  const other = (await world.subscribe(['closed:p'])).token
  const tags = await Promise.all(
    [token, other].map(async (each) => (await world.get('/openapi.json', each)).headers['etag']),
  )
  t.equal(tags[0], tags[1], 'who sees the same has the same document')
  const head = await sendOne(
    await listen(world),
    // The host that `world.get` names: the document has it.
    requestText('HEAD /openapi.json', { Host: 'localhost:80' }),
  )
  t.equal(head.status, 200)
  t.equal(head.text, '')
  t.equal(head.headers['etag'], tag)
})

await t.test('a title that is edited leaves the examples as they are', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['open:p'])
  const tokens = [undefined, token]
  for (const each of tokens) t.match((await world.get('/openapi.json', each)).text, /eq\.\w+\d/)
  const before = await Promise.all(tokens.map((each) => world.get('/openapi.json', each)))
  const edited = audienceRegistry.replace('Open title', 'New title')
  writeFileSync(join(world.folder, 'registry.yaml'), edited)
  await world.app.reload()
  for (const [index, each] of tokens.entries()) {
    const { text } = await world.get('/openapi.json', each)
    t.equal(text, before[index]?.text.replaceAll('Open title', 'New title'))
  }
})
