import { METHODS } from 'node:http'
import { pino } from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { buildServer } from '../../src/http/server.js'
import { holdsNoSecret, isError, listen, requestText, sendOne } from '../support/answers.js'
import { faultyService } from '../support/faulty-service.js'
import { startSlow, slowQuestion } from '../support/slow.js'
import { filesOnly } from '../support/tables.js'
import { demoToken, startThings } from '../support/things.js'
import type { Answer } from '../support/world.js'
import { machineClock } from '../../src/clock.js'
import { machineRandom } from '../../src/random.js'

const limitNames = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
const quotaNames = ['x-quota-rows-limit', 'x-quota-rows-remaining', 'x-quota-scope']

function hasLimits(t: Test, answer: Answer, names: readonly string[], name: string): void {
  for (const each of [...limitNames, ...quotaNames]) {
    if (names.includes(each)) t.type(answer.headers[each], 'string', `${name}: ${each}`)
    else t.equal(answer.headers[each], undefined, `${name}: ${each}`)
  }
}

await t.test('every 400 of the specification says what to correct', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro', 'days:pro', 'big:pro'])
  const mistakes: readonly (readonly [string, RegExp])[] = [
    ['/v1/things?yaer=eq.2024', /no column or parameter "yaer".+Did you mean "year"/],
    ['/v1/things?year=is.2024', /Column "year": there is no operator "is".+It has: eq, ne/],
    ['/v1/things?year=like.2024', /Column "year" \(integer\) has no operator "like"/],
    [
      '/v1/things?year=eq.twenty',
      /Column "year" takes an integer, got "twenty".+Example: year=eq\.2024/,
    ],
    ['/v1/things?id=in.a,,b', /element 2 can't be read.+""/],
    ['/v1/things?cursor=AAAA', /^The cursor is not valid for this request/],
    ['/v1/things?cursor=', /^The cursor is not valid for this request/],
    ['/v1/big', /needs at least one filter.+for example id=eq\./],
    ['/v1/big?limit=1&select=id', /needs at least one filter/],
    ['/v1/things?limit=1001', /limit must be from 1 to 1000 for this dataset, got 1001\./],
    ['/v1/things?limit=0', /limit must be from 1 to 1000/],
    ['/v1/things?limit=ten', /limit must be a whole number, got "ten"/],
    ['/v1/things?select=id,id', /select names "id" twice/],
    ['/v1/things?select=id&select=id', /select names "id" twice/],
    ['/v1/things?id=eq.%', /percent-encoding.+%25/],
    ['/v1/things?id', /Parameter "id" has no value/],
  ]
  for (const [url, detail] of mistakes) {
    const answer = await world.get(url, token)
    isError(t, answer, 'bad_request', detail, url)
    hasLimits(t, answer, [...limitNames, ...quotaNames], url)
    t.equal(answer.headers['retry-after'], undefined, url)
  }
  const { data } = (await world.get('/v1/things?id=eq.nobody', token)).body
  t.same(data, [], 'what matches nothing is no error')
})

await t.test('401 and 404 do not name the resource or the reason', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const url of ['/v1/', '/v1/account', '/v1/things', '/v1/things/schema', '/v1/nothing']) {
    const answer = await world.get(url)
    isError(t, answer, 'unauthorized', /Authorization: Bearer <token>/, url)
    t.equal(
      answer.headers['www-authenticate'],
      'Bearer realm="datasets", error="invalid_token"',
      'with neither scope nor resource_metadata',
    )
    hasLimits(t, answer, [], url)
  }
  const post = await world.post('/v1/things/query', 'das_live_x', {})
  isError(t, post, 'unauthorized')
  for (const url of ['/v1/nothing', '/v1/days', '/v1/days/schema', '/v1/account/schema']) {
    const answer = await world.get(url, token)
    isError(
      t,
      answer,
      'not_found',
      /^There is no dataset of this name for this token\. GET \/v1\//,
      url,
    )
    hasLimits(t, answer, limitNames, url)
    t.notMatch(answer.text, /days|nothing/, url)
  }
})

await t.test('a path that does not exist is 404, with or without a token', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const paths = [
    '/v2/things',
    '/v1/things/rows',
    '/v1/things/schema/x',
    '/v1//things',
    '/V1/things',
    '/metrics',
    '/v1/things/../../registry.yaml',
    '/v1/..%2f..%2fregistry.yaml/schema/x',
    `/v1/${'a'.repeat(101)}`,
    `/v1/${'a'.repeat(101)}/schema`,
  ]
  for (const url of paths) {
    for (const each of [undefined, token]) {
      const answer = await world.get(url, each)
      isError(t, answer, 'not_found', /^There is nothing at this path\.$/, url)
      hasLimits(t, answer, [], url)
    }
  }
  for (const method of METHODS.filter((each) => !['CONNECT', 'HEAD'].includes(each))) {
    // Each method Node reads is in Fastify's type as a word of its own.
    const answer = await world.get('/nowhere', token, { method: method as 'PUT' })
    isError(t, answer, 'not_found', /^There is nothing at this path\.$/, method)
  }
  t.equal((await world.get(`/v1/${'a'.repeat(100)}`)).status, 401, 'the longest name')
})

await t.test('a wrong method is 405 and names those that the path has', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']
  const paths = [
    ['/healthz', 'GET, HEAD'],
    ['/readyz', 'GET, HEAD'],
    ['/v1', 'GET, HEAD'],
    ['/v1/', 'GET, HEAD'],
    ['/v1/account', 'GET, HEAD'],
    ['/v1/things', 'GET, HEAD'],
    ['/v1/things/', 'GET, HEAD'],
    ['/v1/things/schema', 'GET, HEAD'],
    ['/v1/things/query', 'POST'],
    ['/v1/nothing', 'GET, HEAD'],
  ] as const
  for (const [url, allow] of paths) {
    for (const method of methods) {
      if (allow.includes(method)) continue
      // Each method Node reads is in Fastify's type as a word of its own.
      const answer = await world.get(url, token, { method: method as 'PUT' })
      if (method === 'HEAD') t.equal(answer.status, 405)
      else {
        isError(
          t,
          answer,
          'method_not_allowed',
          new RegExp(`^Only ${allow.replace(', ', ' and ')} (is|are) allowed`),
          method + url,
        )
      }
      t.equal(answer.headers['allow'], allow, method + url)
      t.equal(answer.headers['access-control-allow-origin'], undefined)
    }
  }
})

await t.test(
  'a media type that is not served is 406, after the token and the dataset',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    const accept = async (value: string) =>
      world.get('/v1/things?limit=1', token, { headers: { accept: value } })
    for (const value of ['application/xml', 'text/html;q=0.9, image/*', 'application/json;q=0']) {
      isError(t, await accept(value), 'not_acceptable', /application\/json/, value)
    }
    for (const value of ['', '*/*', 'Application/JSON', 'text/html, application/json;q=0.1']) {
      t.equal((await accept(value)).status, 200, value)
    }
    isError(
      t,
      await world.get('/v1/things?format=xml', token),
      'not_acceptable',
      /must be one of json, .+, got "xml"/,
    )
    t.equal((await world.get('/v1/things?format=json', token)).status, 200)
    isError(t, await world.get('/v1/things?format=xml'), 'unauthorized')
    isError(t, await world.get('/v1/nothing?format=xml', token), 'not_found')
  },
)

await t.test(
  'a body is plain JSON of at most 1 MiB; its size is checked before the token',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    const post = (headers: Record<string, string>, body: string, bearer = token) =>
      world.get('/v1/things/query', bearer, { method: 'POST', headers, body })
    const json = { 'content-type': 'application/json' }
    const padded = (bytes: number) => `{"limit":1${' '.repeat(bytes - 11)}}`
    t.equal((await post(json, padded(1024 * 1024))).status, 200, 'exactly 1 MiB')
    const large = await post(json, padded(1024 * 1024 + 1))
    isError(t, large, 'payload_too_large', /over 1 MiB/)
    isError(t, await post(json, padded(1024 * 1024 + 1), ''), 'payload_too_large')
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/vnd.api+json']
    for (const type of [...types, 'json', 'application/json/x', '\t', 'multipart/form-data; x']) {
      const answer = await post({ 'content-type': type }, '{}')
      isError(t, answer, 'unsupported_media_type', /application\/json/, type)
    }
    for (const encoding of ['gzip', 'br', 'identity, gzip']) {
      const answer = await post({ ...json, 'content-encoding': encoding }, '{}')
      isError(t, answer, 'unsupported_media_type', /uncompressed/, encoding)
    }
    t.equal((await post({ 'content-type': 'application/json; charset=utf-8' }, '{}')).status, 200)
    isError(t, await post({}, ''), 'bad_request', /needs a JSON body/)
    isError(t, await post(json, ''), 'bad_request', /needs a JSON body/)
    isError(t, await post(json, '{"limit":1'), 'bad_request', /not valid JSON/)
    const inUrl = await world.post('/v1/things/query?limit=1', token, {})
    isError(t, inUrl, 'bad_request', /question from the body/)
  },
)

await t.test('both kinds of 429 say when to come back', async (t) => {
  const world = await startThings(t)
  const slow = (await world.subscribe(['things:slow'])).token
  for (let request = 0; request < 5; request++) await world.get('/v1/', slow)
  const limited = await world.get('/v1/things', slow)
  isError(
    t,
    limited,
    'rate_limit_exceeded',
    /^Only 5 requests a minute are allowed\. Wait \d+ s\.$/,
  )
  hasLimits(t, limited, limitNames, 'rate')
  t.equal(limited.headers['x-ratelimit-remaining'], '0')
  t.equal(limited.headers['retry-after'], limited.headers['x-ratelimit-reset'])
  t.ok(Number(limited.headers['retry-after']) >= 1 && Number(limited.headers['retry-after']) <= 60)
  const tiny = (await world.subscribe(['things:tiny'])).token
  await world.get('/v1/things', tiny)
  const used = await world.get('/v1/things', tiny)
  isError(t, used, 'row_quota_exceeded', /^This month's 7 rows for this dataset are used/)
  hasLimits(t, used, [...limitNames, ...quotaNames], 'quota')
  const secondsLeft = (Date.UTC(2026, 11, 1) - world.clock.ms) / 1000
  t.equal(used.headers['retry-after'], String(secondsLeft), 'the rest of November')
})

await t.test(
  'a query that takes too long is 504 and is not charged',
  filesOnly('slow'),
  async (t) => {
    const world = await startSlow(t, 0.1)
    const { token } = await world.subscribe(['slow:pro'])
    const answer = await world.post('/v1/slow/query', token, slowQuestion)
    isError(t, answer, 'timeout', /did not finish in 0\.1 s\. Ask for less/)
    hasLimits(t, answer, [...limitNames, ...quotaNames], 'timeout')
    t.equal(answer.headers['x-quota-rows-remaining'], '1000')
    t.equal(answer.headers['retry-after'], undefined, 'the same query would take as long again')
  },
)

await t.test('a fault of our own is 500 without a word of what it was', async (t) => {
  const lines: string[] = []
  const write = (line: string) => {
    lines.push(line)
  }
  const logger = pino({ level: 'info' }, { write })
  const server = buildServer({
    clock: machineClock,
    random: machineRandom,
    service: faultyService,
    logger,
    trustProxy: [],
    corsOrigins: [],
    doors: [],
    isReady: async () => false,
    isUpToDate: () => true,
    isDamaged: () => false,
    isStopping: () => false,
  })
  t.teardown(() => server.close())
  for (const url of ['/v1/', '/v1/account', '/v1/things', '/v1/things/schema']) {
    const { statusCode, headers, body } = await server.inject(url)
    const answer = { status: statusCode, headers, text: body, body: JSON.parse(body) }
    isError(
      t,
      answer,
      'internal_error',
      /^Something went wrong in the service\. Report the X-Request-Id of this answer\.$/,
      url,
    )
    const line = lines.find((each) => each.includes(String(headers['x-request-id'])))
    t.match(line, /SELECT secret/, 'the log has the cause, under the request id of the answer')
  }
  const ready = await server.inject('/readyz')
  t.equal(ready.statusCode, 503)
  t.equal(ready.headers['retry-after'], '5')
  t.equal(ready.json().error, 'service_unavailable')
})

await t.test('HEAD of an error has the status and headers of GET, and no body', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const { token } = await world.subscribe(['things:slow'])
  const cases = [
    ['/v1/things', undefined],
    ['/nowhere', token],
    ['/v1/nothing', token],
    ['/v1/things?x=eq.1', token],
  ] as const
  for (const [url, bearer] of cases) {
    const headers = bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }
    const head = await sendOne(port, requestText(`HEAD ${url}`, headers))
    const get = await world.get(url, bearer)
    t.equal(head.status, get.status, url)
    t.equal(head.text, '', url)
    for (const name of ['content-type', 'www-authenticate', 'cache-control']) {
      t.equal(head.headers[name], get.headers[name], name)
    }
  }
})

await t.test('no answer and no log line of an erring client shows the machine', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const urls = ['/v1/things?id=eq.%00', '/v1/things?cursor=x', '/%zz', '/v1/things?2110=gt.1e9']
  for (const url of [...urls, `/v1/things?token=${token}`, `/v1/things?id=eq.${demoToken}`]) {
    holdsNoSecret(t, (await world.get(url, token)).text, url)
  }
  const lines = world.log.filter((line) => line.includes('"msg":"request"'))
  t.equal(lines.length, 6, 'a line for each request, broken ones too')
  for (const line of lines) holdsNoSecret(t, line, 'log')
})
