import t from 'tap'
import { holdsNoSecret, isError } from '../support/answers.js'
import { callTool } from '../support/mcp/mcp-messages.js'
import { startThings } from '../support/things.js'
import { startWorld } from '../support/world.js'

/** A request in the words of another service, what it is told, and the request that works. */
type Mistake = readonly [wrong: string, detail: RegExp, right: string]

const topDetail = /Rows come in stored order\..+ ask top with by=column, or by=-column/
const byCursor = /Pages follow by cursor: send the next_cursor of an answer as cursor\.$/
const notNull = 'note=not_null'

const mistakes: readonly Mistake[] = [
  ['?offset=10', /^There is no parameter "offset"\. Pages follow by cursor/, '?limit=1'],
  ...['skip=5', 'page=2', '$skip=1', 'page_number=2', 'start=0'].map(
    (wrong) => [`?${wrong}`, byCursor, '?limit=1'] as const,
  ),
  ...['per_page=2', 'page-size=2', 'pageSize=2', 'first=2'].map(
    (wrong) => [`?${wrong}`, /^There is no parameter ".+"\. Use limit\.$/, '?limit=2'] as const,
  ),
  ...['order=year.desc', 'sort=-year', 'sort_by=year', 'orderBy=year', '$orderby=year'].map(
    (wrong) => [`?${wrong}`, topDetail, '/top?by=-year'] as const,
  ),
  ['?fields=id', /"fields"\. Use select\.$/, '?select=id'],
  ['?q=even', /contains searches words in a text\.$/, '?note=contains.even'],
  ['?group_by=year', /ask aggregate with group and measures\.$/, '/aggregate?measures=count'],
  ['?select=*', /^select takes names of columns, got "\*"\. Leave select out/, ''],
  ['?select=count(*)', /For totals, ask aggregate/, '/aggregate?measures=count'],
  ['/top?by=year&sort=year', /"sort"\. Use by: /, '/top?by=year'],
  ['/top?by=year&offset=2', /"offset"\. There is one page: use a larger limit\.$/, '/top?by=year'],
  ['/aggregate?measures=count&sort=count', /"sort"\. Use order\.$/, '/aggregate?measures=count'],
  ['/aggregate?measures=count&select=id', /Use group and measures/, '/aggregate?measures=count'],
  ['?year=eq.null', /write year=is_null$/, '?year=is_null'],
  ['?year=ne.NULL', /write year=not_null$/, '?year=not_null'],
  ['?note=null', /no operator "null"\. Write note=is_null$/, '?note=is_null'],
  ['?note=is.null', /no operator "is"\. Write note=is_null$/, '?note=is_null'],
  ['?note=is.not_null', /Write note=not_null$/, `?${notNull}`],
  ['?note=not.is.null', /no operator "not"\. Write note=not_null$/, `?${notNull}`],
  ['?note=isnull', /Did you mean "is_null"\?/, '?note=is_null'],
  ['?id=not.eq.a1', /Write id=ne\.a1$/, '?id=ne.a1'],
  ['?id=like.%25a%25', /like finds texts by their beginning.+ id=contains\.a$/, '?id=contains.a'],
  ['?id=like.*a*', /id=contains\.a$/, '?id=contains.a'],
  ['?id=like.a%25', /write id=like\.a\*\. In like, % is an ordinary/, '?id=like.a*'],
  ['?id=like.a%25', /for the text itself, use eq\.$/, '?id=eq.a%25'],
  ['?id=ilike.%25a%25', /no operator "ilike"\. .+ id=contains\.a$/, '?id=contains.a'],
  ['?id=startswith.a', /no operator "startswith"\. Write id=like\.a\*$/, '?id=like.a*'],
]

await t.test(
  'a request in the words of another service is refused with what works here',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    for (const [wrong, detail, right] of mistakes) {
      isError(t, await world.get(`/v1/things${wrong}`, token), 'bad_request', detail, wrong)
      const answer = await world.get(`/v1/things${right}`, token)
      t.equal(answer.status, 200, `${right}: ${answer.text}`)
    }
    const inBody = await world.post('/v1/things/query', token, { offset: 5 })
    isError(t, inBody, 'bad_request', /^offset: unknown key\. Pages follow by cursor/)
    const column = await world.get(
      '/v1/days?half=eq.1',
      (await world.subscribe(['days:pro'])).token,
    )
    t.equal(column.status, 200)
  },
)

// A Mr Null is found.
await t.test('null is a text in a column of texts, with a hint to is_null', async (t) => {
  const world = await startWorld(t, {
    files: { 'data/people.parquet': "SELECT unnest(['null', 'Null', NULL, 'x']) AS имя, 1 AS id" },
    registry: `
datasets:
  people:
    title: People
    files: data/people.parquet
    plans: {pro: {rows_per_month: 1000, price_rub: 0}}
`,
  })
  const { token } = await world.subscribe(['people:pro'])
  const ask = (filter: string) =>
    world.get(`/v1/people?${encodeURIComponent('имя')}=${filter}`, token)
  for (const [filter, rows, hint] of [
    ['eq.null', 1, /=eq\.null means that text; is_null finds empty values\.$/],
    ['ne.null', 2, /=ne\.null means that text; not_null leaves out empty values\.$/],
    ['in.null,x', 2, null],
    ['is_null', 1, null],
  ] as const) {
    const answer = await ask(filter)
    t.equal(answer.body.data.length, rows, filter)
    const { 'x-hint': given } = answer.headers
    if (hint === null) t.equal(given, undefined)
    else t.match(decodeURIComponent(String(given)), hint)
  }
})

await t.test('POST to the path of GET is refused with the path for a body', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const ways = [
    [
      '/v1/things',
      'POST',
      /^Only GET and HEAD are allowed here\. .+ POST \/v1\/<dataset>\/query\.$/,
    ],
    ['/v1/nothing', 'POST', /POST \/v1\/<dataset>\/query\.$/],
    ['/v1/things/top', 'POST', /The question goes in the URL\.$/],
    ['/v1/things/export', 'POST', /The question goes in the URL\.$/],
    ['/v1/things/query', 'GET', /^Only POST is allowed here\. .+ GET \/v1\/<dataset>\.$/],
  ] as const
  for (const [url, method, detail] of ways) {
    const headers = { 'content-type': 'application/json' }
    const body = method === 'POST' ? '{}' : undefined
    const answer = await world.get(url, token, { method, headers, ...(body && { body }) })
    isError(t, answer, 'method_not_allowed', detail, url)
  }
})

// Guarantee: no answer and no log line repeats a token, wherever a client puts it.
await t.test('a token outside of its header is refused and never repeated', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const foreign = 'eyJhbGciOiJIUzI1NiJ9.c2VjcmV0.c2ln'
  const names = ['access_token', 'token', 'api_key', 'apikey', 'API-Key', 'auth', 'authorization']
  for (const name of names) {
    for (const value of [token, foreign, `in.${foreign}`, `in."${foreign}`, '']) {
      const url = `/v1/things?${name}=${value}`
      for (const bearer of [token, undefined]) {
        const answer = await world.get(url, bearer)
        const isRefused = bearer !== undefined || value === token
        isError(t, answer, isRefused ? 'bad_request' : 'unauthorized', /./, url)
        if (!value.includes('"')) {
          t.match(answer.body.detail, 'Authorization: Bearer <token>', url)
        }
        t.notMatch(answer.text, foreign, url)
      }
    }
    const inBody = await world.post('/v1/things/query', token, { [name]: foreign })
    isError(t, inBody, 'bad_request', /unknown key\. A token goes in the header/, name)
    t.notMatch(inBody.text, foreign)
    const told = await callTool(world, token, 'query', { resource: 'things', [name]: foreign })
    t.match(told, { isError: true, text: /A token goes in the header/ }, name)
    t.notMatch(told.text, foreign, name)
  }
  const log = world.log.join('')
  t.notMatch(log, foreign)
  holdsNoSecret(t, log, 'log')
})

await t.test('an agent gets the call that works', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const filter = (column: string, op: string, value?: unknown) => ({
    resource: 'things',
    filters: [{ column, op, value }],
  })
  const things = { resource: 'things' }
  const calls: readonly (readonly [object, RegExp, object | null])[] = [
    [{ ...things, offset: 10 }, /offset: unknown key\. Pages follow by cursor/, null],
    [{ ...things, page: 2, limit: 3 }, /Pages follow by cursor/, null],
    [{ ...things, order: '-year' }, /order: unknown key\. Rows come in stored order/, null],
    [{ ...things, sort: ['year'] }, /ask top with by: "column", or by: "-column"/, null],
    [{ ...things, select: ['sum(year)'] }, /For totals, ask aggregate/, null],
    [filter('offset', 'eq', 5), /There is no argument "offset"/, null],
    [
      filter('year', 'eq', 'null'),
      /write \{"column": "year", "op": "is_null"\}/,
      filter('year', 'is_null'),
    ],
    [filter('note', 'eq', null), /eq needs a value\. Empty values are found by is_null/, null],
    [
      filter('note', 'is', 'null'),
      /Write \{"column": "note", "op": "is_null"\}/,
      filter('note', 'is_null'),
    ],
    [filter('id', 'like', '%a%'), /use contains/, filter('id', 'contains', 'a')],
    [
      filter('id', 'like', 'a%'),
      /write \{"column": "id", "op": "like", "value": "a\*"\}/,
      filter('id', 'like', 'a*'),
    ],
    [filter('id', 'ilike', '%a%'), /use contains/, filter('id', 'contains', 'a')],
    [
      filter('id', 'startswith', 'a'),
      /Write \{"column": "id", "op": "like", "value": "a\*"\}/,
      filter('id', 'like', 'a*'),
    ],
    [
      filter('id', 'not', 'eq.a1'),
      /Write \{"column": "id", "op": "ne", "value": "a1"\}/,
      filter('id', 'ne', 'a1'),
    ],
  ]
  for (const [args, text, corrected] of calls) {
    const name = JSON.stringify(args)
    const told = await callTool(world, token, 'query', args)
    t.match(told, { isError: true, text }, name)
    if (corrected === null) continue
    const [, call = ''] = /\nCorrected call: query (.+)$/.exec(told.text) ?? []
    t.strictSame(call, JSON.stringify(corrected), name)
    const right = await callTool(world, token, 'query', corrected)
    t.notOk(right.isError, right.text)
  }
  const others = [
    ['top', { ...things, by: 'year', order: 'year' }, /order: unknown key\. Use by: /],
    ['aggregate', { ...things, measures: 'count', sort: 'x' }, /sort: unknown key\. Use order\./],
  ] as const
  for (const [tool, args, text] of others) {
    t.match(await callTool(world, token, tool, args), { isError: true, text }, tool)
  }
})
