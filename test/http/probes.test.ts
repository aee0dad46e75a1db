import t from 'tap'
import { isError } from '../support/answers.js'
import { callRpc } from '../support/mcp/mcp-messages.js'
import { startThings } from '../support/things.js'

// Guarantee: what readers of files and clients try before they ask costs nothing, and says the way.

const page = '/v1/things?limit=4'

await t.test('a part of an answer is refused before it is charged; the whole is not', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const ranges = ['bytes=0-3', 'bytes=-8', 'bytes=100-', 'bytes=0-0,5-9', 'items=0-5', 'bytes=']
  const paths = [
    page,
    `${page}&format=parquet`,
    '/v1/things/top?by=-2110&limit=2',
    '/v1/things/aggregate?measures=count',
    '/v1/things/export?format=csv',
  ]
  for (const path of paths) {
    for (const range of ranges) {
      const answer = await world.get(path, token, { headers: { range } })
      isError(t, answer, 'bad_request', /^Byte ranges are not served: download the answer, then/)
      t.equal(answer.headers['x-rows-charged'], undefined)
    }
  }
  const parquet = await world.get(`${page}&format=parquet`, token, {
    headers: { range: 'bytes=-8' },
  })
  t.match(parquet.body.detail, 'pq.read_table(io.BytesIO(')
  t.match((await world.get('/v1/account', token)).body['datasets'], [{ rows: { used: 0 } }])
  const whole = await world.get(page, token, { headers: { range: 'bytes=0-' } })
  t.equal(whole.status, 200)
  t.equal(whole.headers['x-rows-charged'], '4')
  t.equal(whole.headers['content-range'], undefined)
  for (const path of paths) {
    for (const method of ['HEAD', 'GET'] as const) {
      const { status, headers } = await world.get(path, token, { method })
      t.strictSame([status, headers['accept-ranges']], [200, 'none'], `${method} ${path}`)
    }
  }
})

await t.test('a GET or HEAD with a body is refused: its filters would be dropped', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const path of [page, '/v1/', '/v1/things/schema', '/openapi.json']) {
    for (const method of ['GET', 'HEAD'] as const) {
      const payload = '{"filters":[{"column":"year","op":"eq","value":2022}]}'
      const headers = { 'content-type': 'application/json' }
      const answer = await world.get(path, token, { method, payload, headers })
      t.equal(answer.status, 400, `${method} ${path}`)
      if (method === 'GET') isError(t, answer, 'bad_request', /^A GET has no body here.+POST/)
    }
  }
  const empty = await world.get(page, token, { headers: { 'content-length': '0' } })
  t.equal(empty.status, 200)
})

await t.test('a modification time alone asks for the page again', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const first = await world.get(page, token)
  const modified = String(first.headers['last-modified'])
  const again = await world.get(page, token, { headers: { 'if-modified-since': modified } })
  t.strictSame([again.status, again.headers['x-rows-charged']], [200, '4'])
})

await t.test('an empty answer of /mcp has no Content-Type, and a 405 no body', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const headers = { 'content-type': 'application/json' }
  const payload = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const noted = await world.get('/mcp', token, { method: 'POST', headers, payload })
  t.strictSame([noted.status, noted.text, noted.headers['content-type']], [202, '', undefined])
  for (const method of ['GET', 'DELETE'] as const) {
    const answer = await world.get('/mcp', token, { method })
    t.strictSame([answer.status, answer.text, answer.headers['content-type']], [405, '', undefined])
  }
  t.equal((await callRpc(world, token, 'ping', {})).status, 200)
})
