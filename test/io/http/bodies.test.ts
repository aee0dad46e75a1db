import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { isError, listen, requestText, sendOne } from '../../support/answers.js'
import { demoToken, startThings } from '../../support/things.js'
import type { World } from '../../support/world.js'

const json = { 'Content-Type': 'application/json', Host: 'localhost' }
const chunked = { ...json, 'Transfer-Encoding': 'chunked' }
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const doors = ['POST /v1/things/query', 'POST /mcp/']

/** The server's side of the next connection. */
function accepted(world: World): Promise<Socket> {
  return new Promise((resolve) => world.app.server.server.once('connection', resolve))
}

/** Sends what is given, reads until the server ends its side, and then closes. */
async function ask(port: number, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  const read: Buffer[] = []
  socket.on('data', (piece) => read.push(piece))
  for (const part of parts) socket.write(part)
  await once(socket, 'end')
  socket.destroy()
  return Buffer.concat(read).toString()
}

// Guarantee: token and rate are judged by the headers alone; the body of a refused request is not
// read.
await t.test('a refusal does not wait for the body', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const refused = /^HTTP\/1\.1 401 [^]+connection: close[^]+"unauthorized"/i
  for (const door of doors) {
    for (const headers of [chunked, { ...json, 'Content-Length': '1048576' }]) {
      t.match(await ask(port, requestText(door, headers)), refused, 'not a byte is sent')
      const unknown = { ...headers, ...bearer('das_live_unknown') }
      t.match(await ask(port, requestText(door, unknown), '1\r\nx\r\n'), refused)
    }
    const large = requestText(door, { ...json, 'Content-Length': '1048577' })
    t.match(await ask(port, large), /^HTTP\/1\.1 413 [^]+over 1 MiB/, 'the length comes first')
  }
})

await t.test('a client over its rate is refused before its body', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const { token } = await world.subscribe(['things:slow'])
  for (let count = 0; count < 5; count++) await world.get('/v1/', token)
  const text = await ask(port, requestText(doors[0] ?? '', { ...chunked, ...bearer(token) }))
  t.match(text, /^HTTP\/1\.1 429 [^]+retry-after: \d+[^]+Only 5 requests/i)
})

await t.test('only admitted clients receive 100 Continue', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const headers = { ...json, 'Content-Length': '2', Expect: '100-continue' }
  for (const door of doors) {
    t.match(await ask(port, requestText(door, headers)), /^HTTP\/1\.1 401 /)
    const { token } = await world.subscribe(['things:pro'])
    const socket = connect({ host: '127.0.0.1', port })
    socket.write(requestText(door, { ...headers, ...bearer(token) }))
    const [first] = (await once(socket, 'data')) as [Buffer]
    t.match(String(first), /^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    socket.write('{}')
    const [second] = (await once(socket, 'data')) as [Buffer]
    t.match(String(second), door.includes('mcp') ? /^HTTP\/1\.1 400 / : /^HTTP\/1\.1 200 /)
    socket.destroy()
  }
})

await t.test('a client that sends the whole body before it reads gets the refusal', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const body = Buffer.alloc(1_048_576, ' ')
  for (const door of doors) {
    const headers = { ...json, 'Content-Length': String(body.length) }
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    socket.pause()
    socket.write(requestText(door, headers))
    await new Promise((resolve) => socket.write(body, resolve))
    const read: Buffer[] = []
    socket.on('data', (piece) => read.push(piece)).resume()
    await once(socket, 'end')
    socket.destroy()
    t.match(Buffer.concat(read).toString(), /^HTTP\/1\.1 401 [^]+unauthorized/)
  }
})

/** Sends one-byte chunks until the connection ends; how many bytes of them the server took. */
async function drip(t: Test, world: World, port: number, head: string): Promise<number> {
  const server = accepted(world)
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('error', () => undefined)
  const read: Buffer[] = []
  socket.on('data', (piece) => read.push(piece))
  socket.write(head)
  const chunks = '1\r\nx\r\n'.repeat(100_000)
  const pump = () => {
    while (!socket.destroyed && socket.write(chunks));
  }
  socket.on('drain', pump)
  pump()
  const { bytesRead } = await server.then(async (each) => {
    await once(each, 'close')
    return each
  })
  t.match(Buffer.concat(read).toString(), /^HTTP\/1\.1 4\d\d /, 'the answer came')
  return bytesRead
}

// Guarantee: a body without an end costs no more than one of the largest size.
await t.test(
  'an endless body in one-byte chunks is ended, for admitted and refused callers',
  async (t) => {
    const world = await startThings(t)
    const port = await listen(world)
    const { token } = await world.subscribe(['things:pro'])
    for (const door of doors) {
      for (const headers of [chunked, { ...chunked, ...bearer(token) }]) {
        const bytes = await drip(t, world, port, requestText(door, headers))
        t.ok(bytes < 2 * 1_048_576, `${bytes} bytes`)
      }
    }
  },
)

await t.test('a body of many small pieces is read, of too many refused', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const { token } = await world.subscribe(['things:pro'])
  const head = requestText(doors[0] ?? '', { ...chunked, ...bearer(token) })
  const body = (spaces: number) => `${'1\r\n \r\n'.repeat(spaces)}2\r\n{}\r\n0\r\n\r\n`
  t.equal((await sendOne(port, head + body(16_383))).status, 200)
  isError(t, await sendOne(port, head + body(16_384)), 'bad_request', /more than 16384 chunks/)
})

await t.test('a path that does not exist, or has no body, leaves the body unread', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const closed = /^HTTP\/1\.1 (?:400|404|405|200|415) [^]+connection: close/i
  const lines = [
    'POST /nothing',
    'POST /v1/%zz',
    'PUT /v1/things',
    'GET /healthz',
    'POST /register',
  ]
  for (const line of lines) t.match(await ask(port, requestText(line, chunked)), closed, line)
  const text = { 'Content-Type': 'text/plain', 'Content-Length': '5' }
  t.match(await ask(port, requestText(doors[0] ?? '', text)), closed)
})

// Guarantee: a client that is gone before its request begins pays nothing.
await t.test('a client that hangs up while its body is read is not charged', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  let isLost = false
  world.app.server.addHook('preHandler', async (request) => {
    if (!request.headers['x-leave']) return
    const closed = once(request.raw.socket, 'close')
    request.raw.socket.destroy()
    await closed
    isLost = true
  })
  const port = await listen(world)
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('error', () => undefined)
  const headers = { ...json, ...bearer(token), 'X-Leave': 'now' }
  for (const text of [
    requestText(doors[0] ?? '', { ...headers, 'Content-Length': '2' }, '{}'),
    requestText('GET /v1/things', headers),
  ]) {
    isLost = false
    const client = connect({ host: '127.0.0.1', port })
    client.on('error', () => undefined)
    client.write(text)
    await once(client, 'close')
    t.ok(isLost)
  }
  const account = await world.get('/v1/account', token)
  t.match(account.body['datasets'], [{ rows: { used: 0 } }])
})

await t.test('the demo token is judged by its address before the body, too', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const headers = { ...json, ...bearer(demoToken), 'Content-Length': '2' }
  const answer = await sendOne(port, requestText(doors[0] ?? '', headers, '{}'))
  t.equal(answer.status, 200)
  t.equal(answer.headers['x-ratelimit-limit'], '10000')
})
