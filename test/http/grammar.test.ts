import t from 'tap'
import { column, isError } from '../support/answers.js'
import { askBoth, jsonBody, urlQuery } from '../support/carriers.js'
import type { TestQuestion } from '../support/carriers.js'
import { startThings } from '../support/things.js'
import { startTyped } from '../support/typed.js'

await t.test('a list is bare, its elements quoted where they have to be', async (t) => {
  const world = await startTyped(t)
  const { token } = await world.subscribe(['typed:pro'])
  const ids = async (list: string) =>
    column(await world.get(`/v1/typed?text=in.${encodeURIComponent(list)}`, token), 'id')
  t.same(await ids('plain,plainer'), [1, 5])
  t.same(await ids('"plain","plainer"'), [1, 5])
  t.same(await ids('plain,plain,"plain"'), [1], 'duplicates count once')
  t.same(await ids('"a,b"'), [2])
  t.same(await ids('"say \\"hi\\" \\\\"'), [3])
  t.same(await ids('""'), [4], 'the empty text')
  t.same(await ids('plain, plainer'), [1], 'nothing is trimmed')
  t.same(await ids('"(plain)"'), [])
  const refused: Readonly<Record<string, RegExp>> = {
    '(plain,plainer)': /without brackets/,
    '': /at least one value; write "" for the empty text/,
    ',plain': /element 1 can't be read; an empty element is written ""/,
    'plain,': /element 2 can't be read; an empty element is written ""/,
    'plain,,b': /element 2/,
    'pl"ain': /as "…" with \\" and \\\\/,
    '"plain': /element 1/,
    '"plain"er': /element 1/,
    'a\\,b': /element 1/,
    '"a\\nb"': /element 1/,
  }
  for (const [list, detail] of Object.entries(refused)) {
    for (const operator of ['in', 'not_in']) {
      const url = `/v1/typed?text=${operator}.${encodeURIComponent(list)}`
      isError(t, await world.get(url, token), 'bad_request', detail, url)
    }
  }
})

await t.test('a filter is column, operator and all after the first dot', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const rows = async (query: string) =>
    (await world.get(`/v1/things?${query}`, token)).body.data.length
  t.equal(await rows('id=eq.a.1'), 0)
  t.equal(await rows('year=gte.2023&year=lte.2023'), 5, 'a column twice: both hold')
  t.equal(await rows('year=eq.2023&year=eq.2024'), 0)
  t.equal(await rows('2110=gt.2&note=eq.even'), 3)
  t.equal(await rows('note=is_null'), 6)
  t.equal(await rows('note=ne.even'), 0, 'empty is not unequal')
  t.equal(await rows('note=isdistinct.even'), 6)
  t.equal(await rows('note=not_in.odd'), 9)
  t.equal(await rows('&&id=eq.a1&'), 3)
  t.equal(await rows('%69d=%65q.%611'), 3, 'percent-encoding anywhere')
  const refused: Readonly<Record<string, RegExp>> = {
    'id=a1': /there is no operator "a1".+It has: eq, ne, like/,
    'id=': /there is no operator ""\. Write id=eq\.value/,
    'id=eq': /eq needs a value\. Write id=eq\.value/,
    'id=EQ.a1': /no operator "EQ"/,
    'id=not.is.a1': /no operator "not".+Did you mean "not_in"/,
    'id=fts.': /no operator "fts"\..+ id=contains\.word$/,
    'id=contains. ': /contains on "id" needs at least one word\. Example: id=contains\.word/,
    'note=is_null.': /is_null takes no value\. Write note=is_null/,
    'note=not_null.true': /not_null takes no value/,
    'id.eq=a1': /no column or parameter "id\.eq"/,
    'ID=eq.a1': /no column or parameter "ID"\. Did you mean "id"/,
    ' id=eq.a1': /no column or parameter " id"\. Did you mean "id"/,
    '=eq.a1': /no column or parameter ""/,
    'nota=eq.even': /Did you mean "note"/,
    'limt=10': /no column or parameter "limt"/,
  }
  for (const [query, detail] of Object.entries(refused)) {
    isError(t, await world.get(`/v1/things?${query}`, token), 'bad_request', detail, query)
  }
})

await t.test('select gives the columns asked for, in the order asked for', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const text = async (select: readonly string[]) =>
    (await askBoth(t, world, token, 'things', { select, limit: 1 })).text
  t.match(await text(['2110', 'year', 'id']), '{"data":[{"2110":0,"year":2022,"id":"a0"}]')
  t.match(await text(['year', '2110']), '{"data":[{"year":2022,"2110":0}]')
  t.match(await text(['note']), '{"data":[{"note":"even"}]')
  const repeated = await world.get('/v1/things?limit=1&select=2110,year&select=id', token)
  t.equal(repeated.text, await text(['2110', 'year', 'id']), 'as generated clients send a list')
  const all = (await world.get('/v1/things?limit=1', token)).text
  t.match(all, '{"data":[{"year":2022,"id":"a0","2110":0,"note":"even"}]')
  const inQuotes = await world.get('/v1/things?limit=1&select="2110",%22id%22', token)
  t.match(inQuotes.text, '{"data":[{"2110":0,"id":"a0"}]')
  const refused: Readonly<Record<string, RegExp>> = {
    'select=': /select needs at least one value/,
    'select=id,': /select: element 2/,
    'select=id,id': /names "id" twice/,
    'select=id, year': /no column or parameter " year"\. Did you mean "year"/,
    'select=(id)': /without brackets/,
    'select=id&select=year,id': /select names "id" twice/,
    'select=id&select=': /select needs at least one value/,
    'limit=1&limit=1': /"limit" is given twice/,
    'cursor=a&cursor=a': /"cursor" is given twice/,
    'format=json&format=json': /"format" is given twice/,
  }
  for (const [query, detail] of Object.entries(refused)) {
    isError(t, await world.get(`/v1/things?${query}`, token), 'bad_request', detail, query)
  }
  const plain = await world.get('/v1/things', token)
  const empty = await world.post('/v1/things/query', token, { select: [] })
  t.same(empty.body.data, plain.body.data, 'an empty list of columns is an absent one')
})

await t.test('limit is 1 to the maximum of the dataset, never a silent cut', async (t) => {
  const world = await startTyped(t)
  const { token } = await world.subscribe(['typed:pro'])
  const ask = (limit?: number) =>
    askBoth(t, world, token, 'typed', limit === undefined ? {} : { limit })
  t.equal((await ask()).body.data.length, 3, "the dataset's own default")
  t.equal((await ask(1)).body.data.length, 1)
  const full = await ask(6)
  t.equal(full.body.data.length, 6)
  t.equal(full.body.next_cursor, null, 'a last page that is full says that it is the last')
  t.equal((await ask(50)).body.data.length, 6)
  for (const limit of [0, 51, 1e15 - 1]) {
    isError(t, await ask(limit), 'bad_request', /^limit must be from 1 to 50 for this dataset/)
  }
  for (const text of ['', '-1', '1.0', '1e1', '0x1', ' 1', '1'.repeat(16), '٣']) {
    const answer = await world.get(`/v1/typed?limit=${encodeURIComponent(text)}`, token)
    isError(t, answer, 'bad_request', /^limit must be a whole number, got "/, text)
  }
  for (const limit of [-1, 1.5, '1.0', true, [1]]) {
    const answer = await world.post('/v1/typed/query', token, { limit })
    isError(t, answer, 'bad_request', /^limit: must be a whole number of rows/, String(limit))
  }
})

await t.test('50 filters and lists of 1000 are served, one more is not', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const refused = async (question: TestQuestion, detail: RegExp) => {
    isError(t, await world.get(`/v1/things?${urlQuery(question)}`, token), 'bad_request', detail)
    const byBody = await world.post('/v1/things/query', token, jsonBody(question))
    isError(t, byBody, 'bad_request', detail)
  }
  const filters = (count: number) =>
    Array.from({ length: count }, () => ['2110', 'gte', 1] as const)
  const fifty = await askBoth(t, world, token, 'things', { filters: filters(50) })
  t.equal(fifty.body.data.length, 12)
  await refused({ filters: filters(51) }, /51.+|at most 50/)
  const list = (count: number) => Array.from({ length: count }, (_, index) => `a${index}`)
  for (const [op, rows] of [
    ['in', 15],
    ['not_in', 0],
  ] as const) {
    const most = await askBoth(t, world, token, 'things', { filters: [['id', op, list(1000)]] })
    t.equal(most.body.data.length, rows, op)
    await refused({ filters: [['id', op, list(1001)]] }, /at most 1000|1001/)
  }
})

await t.test('a large dataset needs a filter in the first request, and suggests one', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['big:pro'])
  const bare = await askBoth(t, world, token, 'big', { limit: 1 })
  isError(t, bare, 'bad_request', /^This dataset needs at least one filter\./)
  const hint = /for example (\S+)\.$/.exec(bare.body.detail)?.[1] ?? ''
  t.equal((await world.get(`/v1/big?${hint}`, token)).status, 200, `the hint, ${hint}, works`)
  const first = await world.get('/v1/big?id=gte.0&limit=1', token)
  const cursor = first.body.next_cursor ?? ''
  t.equal((await world.get(`/v1/big?id=gte.0&cursor=${cursor}`, token)).status, 200)
  isError(t, await world.get(`/v1/big?cursor=${cursor}`, token), 'bad_request', /^The cursor/)
})

await t.test(
  'the body of POST is an object of four keys; everything else is refused',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    const post = (body: unknown) => world.post('/v1/things/query', token, body)
    t.equal((await post({})).body.data.length, 15)
    t.equal((await post({ filters: [], select: ['id'], limit: 5 })).body.data.length, 5)
    const refused: readonly (readonly [unknown, RegExp])[] = [
      ['[]', /must be an object \{filters, select, limit, cursor\}/],
      ['null', /must be an object/],
      ['"id=eq.a1"', /must be an object/],
      ['{} {}', /not valid JSON/],
      ["{'limit':1}", /not valid JSON/],
      [{ filter: [] }, /filter: unknown key\. Did you mean "filters"/],
      [{ format: 'csv' }, /format: unknown key/],
      [Object.fromEntries(Array.from({ length: 20 }, (_, key) => [`k${key}`, 1])), /unknown key/],
      [Object.fromEntries(Array.from({ length: 5000 }, (_, key) => [`k${key}`, 1])), /500 keys/],
      [{ filters: { id: 'eq.a1' } }, /filters: must be a list of \{column, op, value\}/],
      [{ filters: [{ column: 'id', value: 'a1' }] }, /filters\.0\.op: is missing/],
      [{ filters: [{ column: 'id', operator: 'eq', value: 'a1' }] }, /operator: unknown key|op/],
      [{ filters: [{ column: 'id', op: 'eq' }] }, /eq/],
      [{ filters: [{ column: 'id', op: 'eq', value: ['a1', 'a2'] }] }, /eq/],
      [{ filters: [{ column: 'id', op: 'in', value: 'a1' }] }, /in/],
      [{ filters: [{ column: 'id', op: 'in', value: [] }] }, /at least one|in/],
      [{ filters: [{ column: 'note', op: 'is_null', value: true }] }, /is_null takes no value/],
      [
        { filters: [{ column: 'id', op: 'eq', value: 1 }] },
        /is a string: send the value as a string/,
      ],
      [{ select: 'id' }, /select/],
      [{ select: [1] }, /no column or parameter "1"/],
      [{ cursor: 5 }, /cursor: must be the next_cursor/],
    ]
    for (const [body, detail] of refused) {
      isError(t, await post(body), 'bad_request', detail, JSON.stringify(body).slice(0, 60))
    }
  },
)

await t.test('no path drops a parameter: an empty or unknown one is refused', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const name of ['group', 'having', 'order', 'limit', 'pivot', 'rest', 'labels']) {
    const url = `/v1/things/aggregate?measures=count&${name}=`
    isError(t, await world.get(url, token), 'bad_request', new RegExp(`^"${name}" is empty`), url)
  }
  for (const name of ['select', 'limit']) {
    const url = `/v1/things/top?by=2110&${name}=`
    isError(t, await world.get(url, token), 'bad_request', new RegExp(`^"${name}" is empty`), url)
  }
  const several = await world.get('/v1/things/aggregate?group=year&group=&measures=count', token)
  isError(t, several, 'bad_request', /^"group" is empty/)
  for (const path of ['/v1/things/schema', '/v1/', '/v1/account', '/v1/things/versions']) {
    isError(t, await world.get(`${path}?fact=true`, token), 'bad_request', /parameter/, path)
  }
})
