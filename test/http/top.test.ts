import t from 'tap'
import { column, isError } from '../support/answers.js'
import { parquetFormat } from '../support/tables.js'
import { demoToken, startThings } from '../support/things.js'

const path = '/v1/things/top'

await t.test('the first rows by a column, charged as rows', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const answer = await world.get(`${path}?by=-2110&limit=4&select=2110,year,id`, token)
  t.equal(
    answer.text,
    '{"data":[{"2110":4,"year":2022,"id":"a4"},{"2110":4,"year":2023,"id":"a4"},' +
      '{"2110":4,"year":2024,"id":"a4"},{"2110":3,"year":2022,"id":"a3"}],"next_cursor":null}',
    'ties in stored order',
  )
  t.match(answer.headers, { 'x-rows-charged': '4', 'x-truncated': 'true' })
  t.equal(answer.headers['link'], undefined)
  const tag = String(answer.headers['etag'])
  const known = { headers: { 'if-none-match': tag } }
  const unchanged = await world.get(`${path}?by=-2110&limit=4&select=2110,year,id`, token, known)
  t.equal(unchanged.status, 304)
  t.equal(unchanged.headers['x-quota-rows-remaining'], '999996')
  const head = await world.get(`${path}?by=-2110&limit=4`, token, { method: 'HEAD' })
  t.equal(head.headers['x-quota-rows-remaining'], '999996')
  const again = await world.get(`${path}?by=-2110&limit=4&select=2110,year,id`, token)
  t.equal(again.text, answer.text)
  t.equal(again.headers['x-quota-rows-remaining'], '999992', 'a kept answer is charged the same')
})

await t.test('rows without a value have no place, and all the others one', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const notes = await world.get(`${path}?by=note&year=eq.2024`, token)
  t.same(column(notes, 'id'), ['a0', 'a2', 'a4'])
  t.equal(notes.headers['x-truncated'], undefined)
  const csv = await world.get(`${path}?by=note&year=eq.2024&select=id&format=csv`, token)
  t.equal(csv.text, 'id\r\na0\r\na2\r\na4\r\n')
  const window = await world.get(`${path}?by=-2110`, (await world.subscribe(['things:last'])).token)
  t.same(column(window, 'year'), [2024, 2024, 2024, 2024, 2024])
  const demo = await world.get(`${path}?by=-2110&year=eq.2024`, demoToken)
  t.same(column(demo, 'id'), ['a2', 'a1'])
  t.equal(demo.headers['x-rows-charged'], undefined)
})

await t.test('the quota cuts rows at the end, and the answer has the cut', async (t) => {
  const world = await startThings(t)
  for (const format of ['json', ...parquetFormat]) {
    const { token } = await world.subscribe(['things:tiny'])
    const cut = await world.get(`${path}?by=-2110&format=${format}`, token)
    t.match(cut.headers, {
      'x-rows-charged': '7',
      'x-truncated': 'true',
      'x-quota-rows-remaining': '0',
      etag: undefined,
    })
    isError(t, await world.get(`${path}?by=-2110`, token), 'row_quota_exceeded')
  }
})

await t.test('a mistake is a 400 and is not charged', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const queries = ['', 'by=', 'by=no', 'by=2110,year', 'by=sum(2110)', 'by=2110&cursor=x']
  for (const query of [...queries, 'by=2110&limit=1001', 'by=2110&select=no', 'by=--2110']) {
    isError(t, await world.get(`${path}?${query}`, token), 'bad_request', /./, query)
  }
  isError(t, await world.post(path, token, { by: '2110' }), 'method_not_allowed')
  isError(t, await world.get('/v1/no/top?by=2110', token), 'not_found')
  const { headers } = await world.get('/v1/account', token)
  t.equal(headers['x-rows-charged'], undefined)
})
