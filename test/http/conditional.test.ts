import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { holdsNoSecret, isError, listen, requestText, sendOne } from '../support/answers.js'
import { demoToken, startThings } from '../support/things.js'
import type { Answer, World } from '../support/world.js'

const page = '/v1/things?year=eq.2024&limit=2'

function withTag(world: World, token: string, tag: string, url = page): Promise<Answer> {
  return world.get(url, token, { headers: { 'if-none-match': tag } })
}

async function rowsUsed(world: World, token: string): Promise<unknown> {
  const { body } = await world.get('/v1/account', token)
  return (body['datasets'] as { rows: { used: number } }[])[0]?.rows.used
}

await t.test('a page says what it was read from, and whom it is for', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const { headers } = await world.get(page, token)
  t.match(headers['etag'], /^W\/"[\w-]{27}"$/)
  t.match(headers['x-dataset-version'], /^[0-9a-f]{16}$/)
  const times = [2022, 2023, 2024].map(
    (year) => statSync(join(world.folder, `data/${year}.parquet`)).mtimeMs,
  )
  t.equal(headers['last-modified'], new Date(Math.max(...times)).toUTCString())
  t.equal(headers['vary'], 'Authorization, Accept, Accept-Encoding')
  t.equal(headers['cache-control'], 'private, no-cache')
  t.equal(headers['content-type'], 'application/json; charset=utf-8')
  t.equal(headers['x-content-type-options'], 'nosniff')
  const account = await world.get('/v1/account', token)
  t.equal(account.headers['cache-control'], 'no-store')
  t.equal(account.headers['etag'], undefined)
})

await t.test('the list and a schema have a tag too, good for what this caller sees', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const url of ['/v1/', '/v1/things/schema']) {
    const first = await world.get(url, token)
    const tag = String(first.headers['etag'])
    t.match(tag, /^W\/"[\w-]{27}"$/, url)
    t.equal(first.headers['vary'], 'Authorization, Accept-Encoding')
    t.equal(first.headers['cache-control'], 'private, no-cache')
    t.equal(first.headers['content-type'], 'application/json; charset=utf-8')
    const again = await withTag(world, token, tag, url)
    t.equal(again.status, 304)
    t.equal(again.text, '')
    t.equal(again.headers['content-type'], undefined)
    for (const name of ['etag', 'vary', 'cache-control']) {
      t.equal(again.headers[name], first.headers[name], name)
    }
    const head = await world.get(url, token, { method: 'HEAD' })
    t.equal(head.headers['etag'], tag)
    t.not((await world.get(url, demoToken)).headers['etag'], tag, 'the demo sees other rows')
    isError(t, await withTag(world, 'das_live_no', tag, url), 'unauthorized')
  }
})

await t.test('a known tag is 304: no body, no charge, the headers of the page', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny'])
  const first = await world.get(page, token)
  const tag = String(first.headers['etag']).replace('W/', '')
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, ` W/"x" ,W/${tag} `, '*']) {
    const again = await withTag(world, token, known)
    t.equal(again.status, 304, known)
    t.equal(again.text, '')
    for (const name of ['content-length', 'content-type', 'retry-after']) {
      t.equal(again.headers[name], undefined, name)
    }
    for (const name of ['etag', 'vary', 'cache-control', 'last-modified', 'x-dataset-version']) {
      t.equal(again.headers[name], first.headers[name], name)
    }
    t.equal(again.headers['x-quota-rows-remaining'], '5')
    t.type(again.headers['x-ratelimit-remaining'], 'string')
  }
  for (const unknown of ['', '"x"', tag.slice(1, -1), tag.toLowerCase(), `${tag}x`]) {
    const again = await withTag(world, token, unknown)
    t.not(again.status, 304, unknown)
  }
  t.equal(await rowsUsed(world, token), 7, 'the pages were charged until nothing was left')
  isError(t, await world.get(page, token), 'row_quota_exceeded')
  t.equal((await withTag(world, token, tag)).status, 304, 'also with nothing left of the quota')
  t.equal(await rowsUsed(world, token), 7)
})

await t.test(
  'a tag is good for its question, its caller and what that caller may see',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    const tagOf = async (url: string, each = token) => (await world.get(url, each)).headers['etag']
    const tag = String(await tagOf(page))
    t.equal(await tagOf('/v1/things?limit=2&year=eq.2024'), tag, 'the same question, written else')
    t.equal(await tagOf('/v1/things?limit=2&year=in.2024,2024'), tag)
    const others = await Promise.all([
      tagOf('/v1/things?year=eq.2024&limit=3'),
      tagOf('/v1/things?year=eq.2023&limit=2'),
      tagOf('/v1/things?year=eq.2024&limit=2&select=id,year'),
      tagOf('/v1/things?year=eq.2024&limit=2&select=year,id'),
      tagOf('/v1/things?year=eq.2024&limit=2&year=not_null'),
      tagOf(page, demoToken),
      tagOf(page, (await world.subscribe(['things:pro'])).token),
      tagOf(page, (await world.subscribe(['things:last'])).token),
    ])
    t.equal(new Set([tag, ...others]).size, others.length + 1, 'all different')
    for (const other of [demoToken, (await world.subscribe(['things:last'])).token]) {
      t.equal((await withTag(world, other, tag)).status, 200, 'a stolen tag opens nothing')
    }
  },
)

await t.test('a tag is compared after token, rate, grant and question are checked', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const bare = await world.get(page, undefined, { headers: { 'if-none-match': '*' } })
  isError(t, bare, 'unauthorized')
  isError(t, await withTag(world, token, '*', '/v1/days'), 'not_found')
  isError(t, await withTag(world, token, '*', '/v1/things?x=eq.1'), 'bad_request')
  const slow = (await world.subscribe(['things:slow'])).token
  for (let request = 0; request < 5; request++) await withTag(world, slow, '*')
  isError(t, await withTag(world, slow, '*'), 'rate_limit_exceeded')
})

await t.test('a page that the quota cut has no tag: later it may be longer', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny'])
  t.type((await world.get('/v1/things?limit=5', token)).headers['etag'], 'string')
  const cut = await world.get('/v1/things?limit=5', token)
  t.equal(cut.body.data.length, 2)
  t.type(cut.body.next_cursor, 'string')
  t.equal(cut.headers['etag'], undefined)
})

await t.test('HEAD makes every check and reads and charges no row', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny', 'big:pro'])
  const head = (url: string, each = token, headers = {}) =>
    world.get(url, each, { method: 'HEAD', headers })
  const answer = await head(page)
  const get = await world.get(page, token)
  t.equal(answer.status, 200)
  t.equal(answer.text, '')
  t.equal(answer.headers['content-length'], undefined)
  t.equal(answer.headers['x-next-cursor'], undefined)
  for (const name of ['etag', 'content-type', 'vary', 'cache-control', 'x-dataset-version']) {
    t.equal(answer.headers[name], get.headers[name], name)
  }
  t.equal(answer.headers['x-quota-rows-remaining'], '7')
  t.equal(get.headers['x-quota-rows-remaining'], '5')
  t.equal((await head(page, token, { 'if-none-match': get.headers['etag'] })).status, 304)
  t.equal((await head('/v1/things?x=eq.1')).status, 400)
  t.equal((await head('/v1/big')).status, 400, 'needs a filter')
  t.equal((await head('/v1/things?cursor=AA')).status, 400)
  t.equal((await head('/v1/days')).status, 404)
  t.equal((await head(page, 'das_live_no')).status, 401)
  t.equal((await head(page, token, { accept: 'text/html' })).status, 406)
  await world.get('/v1/things', token)
  const used = await head(page)
  t.equal(used.status, 429)
  t.type(used.headers['retry-after'], 'string')
  const port = await listen(world)
  const authorization = { Authorization: `Bearer ${token}` }
  for (const url of ['/v1/', '/v1/account', '/v1/things/schema', '/healthz', '/readyz']) {
    const other = await sendOne(port, requestText(`HEAD ${url}`, authorization))
    t.equal(other.status, 200, url)
    t.equal(other.text, '', url)
  }
})

await t.test(
  "a request's id is its client's where that is harmless, in answer and log",
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    const ask = async (id: string) =>
      String(
        (await world.get(page, token, { headers: { 'x-request-id': id } })).headers['x-request-id'],
      )
    for (const id of ['a', 'A-1', '0'.repeat(64)]) {
      t.equal(await ask(id), id)
      t.equal(world.log.filter((line) => line.includes(`"requestId":"${id}"`)).length, 1)
    }
    for (const id of ['', 'a b', '0'.repeat(65), 'a,b', '"', '<b>', '../x', token, 'é']) {
      const given = await ask(id)
      t.match(given, /^[0-9a-f]{8}-[0-9a-f-]{27}$/, id)
      t.equal(world.log.filter((line) => line.includes(`"requestId":"${given}"`)).length, 1)
    }
    const ids = new Set<unknown>()
    for (const url of ['/v1/', '/nowhere', '/%zz', '/healthz', page]) {
      const { headers } = await world.get(url, token)
      ids.add(headers['x-request-id'])
      const lines = world.log.filter((line) => line.includes(String(headers['x-request-id'])))
      t.equal(lines.length, 1, url)
    }
    t.equal(ids.size, 5)
  },
)

await t.test('the log has paths and parameter names, but no values and no tokens', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const secret = '7708004767'
  const encoded = token.replace('das_', '%64%61%73%5f')
  const urls = [
    `/v1/things?id=eq.${secret}&year=in.${secret},1&select=id&limit=${secret}&cursor=${secret}`,
    `/v1/things?id=${secret}`,
    `/v1/things?token=${token}`,
    `/v1/things?${token}=eq.1`,
    `/v1/${token}`,
    `/v1/things?id=eq.${encoded}`,
    `/v1/${encoded}/schema`,
    `/v1/things?id=eq.${demoToken}`,
  ]
  for (const url of urls) await world.get(url, token)
  await world.post('/v1/things/query', token, {
    filters: [{ column: 'id', op: 'eq', value: secret }],
  })
  await world.post('/v1/things/query', token, `{"${secret}": ${secret}${secret}`)
  const lines = world.log.filter((line) => line.includes('"msg":"request"'))
  t.equal(lines.length, urls.length + 2)
  for (const line of world.log) {
    t.notMatch(line, secret)
    t.notMatch(line, token.slice(10))
    t.notMatch(line, demoToken)
    t.notMatch(line, /authorization|bearer/i)
    holdsNoSecret(t, line, 'log')
  }
  t.match(lines[0], '"url":"/v1/things?id&year&select&limit&cursor"')
})

await t.test('a token in the URL is refused, of any owner and in any form', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const refused = [
    `/v1/things?token=${token}`,
    `/v1/things?access_token=${token}&id=eq.a1`,
    `/v1/things?apikey=${token.toUpperCase()}`,
    `/v1/things?key=${token.replace('_', '%5F')}`,
    `/v1/things?key=${token.replace('d', '%64')}`,
    `/v1/${token}/schema`,
    `/nowhere?token=${demoToken}`,
    '/v1/things?id=eq.das_live_',
  ]
  for (const url of refused) {
    for (const bearer of [undefined, token]) {
      const answer = await world.get(url, bearer)
      isError(t, answer, 'bad_request', /header "Authorization: Bearer <token>"/, url)
      t.notMatch(answer.text, token.slice(9))
    }
  }
})

// RFC 9110, 13.1.2: 304 is for GET and HEAD; the target of a POST has no representation to compare.
await t.test('a POST ignores If-None-Match and returns its rows', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny'])
  const post = (known: string) =>
    world.get('/v1/things/query', token, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'if-none-match': known },
      body: '{"limit":1}',
    })
  const first = await post('"none"')
  for (const known of ['*', String(first.headers['etag'])]) {
    t.match(await post(known), { status: 200, text: first.text }, known)
  }
  t.equal(await rowsUsed(world, token), 3)
})
