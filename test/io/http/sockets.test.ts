import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { METHODS, request } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { cpuOf, cpuOfNextSecond } from '../../engine/fixtures/long-query.js'
import { isError, listen, requestText, sendOne, sendRaw } from '../../support/answers.js'
import { seriesOf, withMetrics } from '../../support/metrics.js'
import { slowQuestion, startSlow } from '../../support/slow.js'
import { startThings } from '../../support/things.js'
import { startWorld } from '../../support/world.js'
import type { World } from '../../support/world.js'

/** Waits until something is so; fails the test by its time limit when it never is. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(5)
}

function logged(world: World, text: string): number {
  return world.log.filter((line) => line.includes(text)).length
}

await t.test('URL and headers over 32 KiB are 431 in the shape of every error', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const port = await listen(world)
  const authorization = { Authorization: `Bearer ${token}` }
  const list = (values: number) => `/v1/things?id=in.${Array(values).fill('7708004767').join()}`
  const long = await sendOne(port, requestText(`GET ${list(1000)}`, authorization))
  t.equal(long.status, 200, '1000 INNs, 11 KB, fit')
  for (const bytes of [33_000, 1_000_000]) {
    for (const text of [
      requestText(`GET /v1/things?id=eq.${'x'.repeat(bytes)}`, authorization),
      requestText('GET /v1/things', { ...authorization, Cookie: 'x'.repeat(bytes) }),
    ]) {
      const answer = await sendOne(port, text)
      isError(t, answer, 'headers_too_large', /over 32 KiB.+POST \/v1\/<dataset>\/query/)
      t.equal(answer.headers['connection'], 'close')
    }
  }
  t.equal(logged(world, 'HPE_HEADER_OVERFLOW'), 4, 'and is logged, without what was sent')
  t.equal(logged(world, 'xxxxx'), 0)
})

await t.test('every method that Node.js reads is refused where a path lacks it', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const others = METHODS.filter((method) => !['CONNECT', 'GET', 'HEAD'].includes(method))
  t.ok(others.length > 20)
  for (const method of others) {
    const refused = await sendOne(port, requestText(`${method} /v1/things`))
    isError(t, refused, 'method_not_allowed', /^Only GET and HEAD are allowed here/, method)
    isError(t, await sendOne(port, requestText(`${method} /nowhere`)), 'not_found', /./, method)
  }
})

await t.test('broken HTTP is 400 in the shape of every error', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const broken = [
    'nonsense\r\n\r\n',
    'FETCH /v1/ HTTP/1.1\r\nHost: a\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00',
    'GET / HTTP/9.9\r\n\r\n',
    'GET /v1/ HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n',
    'GET /v1/\0 HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /v1/ HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n',
    'POST /v1/things/query HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
    'POST /v1/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /v1/things/query HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
      'Transfer-Encoding: chunked\r\n\r\nzz\r\n',
  ]
  for (const text of broken) {
    const answer = await sendOne(port, text)
    isError(t, answer, 'bad_request', /not valid HTTP/, JSON.stringify(text))
  }
  const unhosted = await sendOne(port, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')
  t.match(unhosted, { status: 400, body: { error: 'bad_request', detail: /Host/ } })
  t.equal((await sendOne(port, 'GET /healthz HTTP/1.0\r\n\r\n')).status, 200)
  const expecting = await sendOne(port, requestText('GET /healthz', { Expect: 'a miracle' }))
  t.equal(expecting.status, 200, 'an unknown expectation is passed over')
  const upgrade = { Connection: 'Upgrade, close', Upgrade: 'websocket' }
  t.equal((await sendOne(port, requestText('GET /healthz', upgrade))).status, 200)
})

await t.test('a URL with a raw letter or space says how to encode it', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const how = /percent-encoded[^]+%D0%98%D0%9D%D0%9D[^]+%20[^]+curl [^]+--data-urlencode/
  for (const path of ['/v1/things?ИНН=eq.1', '/v1/вещи', '/v1/things?note=eq.a b']) {
    isError(t, await sendOne(port, requestText(`GET ${path}`)), 'bad_request', how, path)
  }
})

await t.test('a broken path is 400; what Node would let pass of it shows nowhere', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  for (const path of ['/%', '/v1/%zz', '/v1/%ff%fe', '/v1/%ed%a0%80/schema', '/v1/%c0%ae']) {
    const answer = await sendOne(port, requestText(`GET ${path}`))
    isError(t, answer, 'bad_request', /path has a broken percent-encoding/, path)
    t.equal(logged(world, String(answer.headers['x-request-id'])), 1, 'one log line, same id')
  }
  t.equal((await sendOne(port, requestText('GET *'))).status, 200, 'as the first page')
  for (const path of ['http://evil.example/v1/things', '//evil.example/v1/', '/v1/a%2fb']) {
    const answer = await sendOne(port, requestText(`GET ${path}`))
    t.ok([401, 404].includes(answer.status), path)
    t.equal(answer.headers['location'], undefined, path)
  }
})

await t.test('a chunked body over 1 MiB is 413 as soon as it is over', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const port = await listen(world)
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Transfer-Encoding': 'chunked',
  }
  const post = 'POST /v1/things/query'
  const answer = await sendOne(port, requestText(post, headers, chunk.repeat(17)))
  isError(t, answer, 'payload_too_large', /over 1 MiB/)
  t.equal(answer.headers['connection'], 'close')
  const whole = await sendOne(port, requestText(post, headers, '2\r\n{}\r\n0\r\n\r\n'))
  t.equal(whole.status, 200)
})

await t.test(
  'a request that arrives too slowly is ended with an answer at every stage',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    const { server } = world.app.server
    Object.assign(server, {
      headersTimeout: 100,
      requestTimeout: 200,
      connectionsCheckingInterval: 30,
    })
    const port = await listen(world)
    const stages = [
      '',
      'GET /v1/thi',
      'GET /v1/things HTTP/1.1\r\nHost: a\r\nX-Slow: ',
      'POST /v1/things/query HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
        `Authorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\n{"limit":`,
    ]
    await Promise.all(
      stages.map(async (text) => {
        const answer = await sendOne(port, text)
        isError(t, answer, 'bad_request', /came too slowly/, JSON.stringify(text))
      }),
    )
    t.equal(logged(world, '"level":50'), 0, 'no error of ours')
  },
)

await t.test('a client that keeps sending after a refusal is disconnected', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  socket.on('error', () => undefined)
  socket.on('data', () => undefined)
  socket.write('nonsense\r\n\r\n')
  const drip = setInterval(() => socket.write('more'), 50)
  t.teardown(() => clearInterval(drip))
  await t.resolves(new Promise((resolve) => socket.once('close', resolve)))
})

await t.test(
  'a client that hangs up stops its query, is not charged and frees its slot',
  async (t) => {
    const world = await startSlow(t, 60, '1', withMetrics)
    const { token } = await world.subscribe(['slow:pro'])
    const port = await listen(world)
    const body = JSON.stringify(slowQuestion)
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
    }
    const one = await cpuOf(() => world.post('/v1/slow/query', token, slowQuestion))
    const sockets = Array.from({ length: 8 }, () => {
      const socket = connect({ host: '127.0.0.1', port })
      socket.on('error', () => undefined)
      socket.write(requestText('POST /v1/slow/query', headers, body))
      return socket
    })
    const busy = async (what: string) => (await seriesOf(world)).get(`${what}{lane="pages"}`)
    // Of eight: on a slow machine the first may have ended meanwhile.
    await until(async () => Number(await busy('das_queue_length')) >= 6)
    for (const socket of sockets) socket.resetAndDestroy()
    const next = await sendOne(
      port,
      requestText('GET /v1/slow?limit=1', { Authorization: headers.Authorization }),
    )
    t.equal(next.status, 200)
    const spent = await cpuOfNextSecond()
    t.ok(spent < one / 3, `the one that ran stops, the others never run: ${spent} of ${one} ms`)
    await until(async () => (await busy('das_queries_running')) === 0)
    t.equal(await busy('das_queue_length'), 0, 'none is left')
    // One alone, the eight, and the next: each has ended.
    await until(() => logged(world, '"/v1/slow') === 10)
    t.ok(logged(world, '"status":499') >= 5)
    t.equal(logged(world, '"level":50'), 0, 'a client that leaves is no error of ours')
    const account = await world.get('/v1/account', token)
    t.match(account.body['datasets'], [{ rows: { used: 1 } }], 'only the row that was sent')
  },
)

await t.test('a client that aborts its body is not logged as a fault', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('error', () => undefined)
  const { token } = await world.subscribe(['things:pro'])
  const json = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Content-Length': '100',
  }
  socket.write(requestText('POST /v1/things/query', json, '{"limit"'))
  await once(world.app.server.server, 'request')
  socket.resetAndDestroy()
  await until(() => logged(world, '"status":499') === 1)
  t.equal(logged(world, '"level":50'), 0)
})

await t.test(
  'a socket is closed when its client is silent, not while the answer is made',
  async (t) => {
    const world = await startSlow(t, 60)
    const { token } = await world.subscribe(['slow:pro'])
    world.app.server.server.timeout = 150
    const port = await listen(world)
    const body = JSON.stringify(slowQuestion)
    const answer = await sendOne(
      port,
      requestText(
        'POST /v1/slow/query',
        {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          'Content-Length': String(Buffer.byteLength(body)),
        },
        body,
      ),
    )
    t.match(answer, { status: 200, text: '{"data":[],"next_cursor":null}' })
    await t.resolves(sendRaw(port, 'GET /v1'), 'closed after half a request line, then nothing')
  },
)

await t.test('a client that does not read its answer is cut off', async (t) => {
  const world = await startWorld(t, {
    files: { 'data/a.parquet': "SELECT repeat('x', 20000) AS text FROM range(1000)" },
    registry: `
datasets:
  wide: {title: W, files: data/a.parquet, plans: {p: {rows_per_month: 1000, history: all, price_rub: 0}}}
`,
  })
  const { token } = await world.subscribe(['wide:p'])
  const { server } = world.app.server
  server.timeout = 200
  const closed = new Promise((resolve) => {
    server.once('connection', (accepted: Socket) => accepted.once('close', resolve))
  })
  const socket = connect({ host: '127.0.0.1', port: await listen(world) })
  socket.on('error', () => undefined)
  socket.write(requestText('GET /v1/wide?limit=1000', { Authorization: `Bearer ${token}` }))
  socket.pause()
  await closed
  socket.destroy()
  t.pass('its 20 MB are free again')
})

await t.test(
  'closing answers what is in flight, also on kept connections, and then ends',
  async (t) => {
    const world = await startSlow(t, 60)
    const { token } = await world.subscribe(['slow:pro'])
    const port = await listen(world)
    let requests = 0
    world.app.server.server.on('request', () => (requests += 1))
    // Its end is sent once the server closes: whatever the machine does, it is in flight then.
    const body = JSON.stringify({ filters: slowQuestion.filters.slice(-10) })
    const outgoing = request({
      port,
      path: '/v1/slow/query',
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    })
    const asked = new Promise<{ status: number | undefined; connection: string | undefined }>(
      (resolve, reject) => {
        outgoing.on('error', reject).on('response', (response) => {
          response.resume()
          const { statusCode: status, headers } = response
          response.on('end', () => {
            resolve({ status, connection: headers.connection })
          })
        })
        outgoing.write(body.slice(0, 20))
      },
    )
    const kept = connect({ host: '127.0.0.1', port })
    const answers: string[] = []
    kept.on('data', (chunk) => answers.push(String(chunk)))
    const ended = once(kept, 'close')
    kept.write(
      'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/slow?id=eq.7 HTTP/1.1\r\nHost: a\r\n',
    )
    await until(() => answers.length === 1 && requests === 2)
    const closed = world.app.close()
    outgoing.end(body.slice(20))
    kept.write(`Authorization: Bearer ${token}\r\n\r\n`)
    t.same(await asked, { status: 200, connection: 'close' })
    await ended
    await closed
    t.match(
      answers.join(''),
      /HTTP\/1\.1 200 OK[^]+HTTP\/1\.1 200 OK[^]+connection: close[^]+"data"/i,
    )
    await t.rejects(sendRaw(port, requestText('GET /healthz')), { code: 'ECONNREFUSED' })
  },
)

// Guarantee: requests of one connection are worked on one after another, so that of a client that
// hangs up nothing goes on: no query, no charge, no place among the exports.
await t.test(
  'a client that pipelines requests and disconnects leaves nothing in memory',
  async (t) => {
    const portalFolder = mkdtempSync(join(tmpdir(), 'das-portal-'))
    t.teardown(() => rmSync(portalFolder, { recursive: true }))
    writeFileSync(join(portalFolder, 'page-large.js'), '/'.repeat(1_500_000))
    const world = await startThings(t, {}, { portalFolder })
    const { token } = await world.subscribe(['things:pro'])
    const port = await listen(world)
    const headers = { Authorization: `Bearer ${token}`, Connection: 'keep-alive' }
    const large = requestText('GET /assets/page-large.js', headers)
    const exported = requestText('GET /v1/things/export', headers)
    const accepted = once(world.app.server.server, 'connection')
    const socket = connect({ host: '127.0.0.1', port })
    socket.pause()
    socket.on('error', () => undefined)
    socket.write(large.repeat(8) + exported.repeat(4))
    const [served] = (await accepted) as [Socket]
    await until(() => served.writableNeedDrain)
    const gone = () => logged(world, '"status":499')
    t.equal(gone(), 0)
    socket.resetAndDestroy()
    await until(() => gone() > 0)
    t.equal(logged(world, '/export'), 0, 'none was begun')
    const answers = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/v1/things/export`, { headers })
        return { status: answer.status, text: await answer.text() }
      }),
    )
    for (const { status } of answers) t.equal(status, 200)
    const rows = answers.map(({ text }) => text.trimEnd().split('\n').length - 1)
    const { datasets } = (await world.get('/v1/account', token)).body
    t.match(datasets, [{ rows: { used: rows.reduce((sum, each) => sum + each) } }], 'nor charged')
  },
)
