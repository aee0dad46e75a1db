import { connect } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { listen, secretIn } from '../support/answers.js'
import { postMcp } from '../support/mcp/mcp-messages.js'
import { startThings } from '../support/things.js'

// Guarantee: no bytes take the server down, are answered as a fault of the service (5xx), or show
// anything of the machine. `npm run check:questions` sends many more.

const world = await startThings(t)
const { token } = await world.subscribe(['things:pro'])
const port = await listen(world)

const request = [
  'POST /v1/things/query HTTP/1.1',
  'Host: test',
  'Connection: close',
  `Authorization: Bearer ${token}`,
  'Content-Type: application/json',
  'Content-Length: 11',
  '',
  '{"limit":1}',
].join('\r\n')
const wrong = request.replace('{"limit":1}', '{"limit":x}')
const call = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'query', arguments: { resource: 'things', limit: 1 } },
})

const anyByte = fc.integer({ min: 0, max: 255 })
const cut = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.constantFrom(0, 0, 1, 3, 20),
  bytes: fc.oneof(
    fc.array(anyByte, { maxLength: 4 }),
    fc
      .constantFrom('\r\n', ':', '{', '"', '[', '\\u0000', 'Transfer-Encoding: chunked\r\n', '\0')
      .map((text) => [...Buffer.from(text)]),
  ),
})
const cuts = fc.array(cut, { minLength: 1, maxLength: 4 })
type Cut = typeof cuts extends fc.Arbitrary<infer Value> ? Value : never

/** The text with some of its bytes replaced, added or removed. */
function damaged(text: string, all: Cut): Buffer {
  return all.reduce((bytes, { at, length, bytes: put }) => {
    const place = Math.floor(at * bytes.length)
    return Buffer.concat([
      bytes.subarray(0, place),
      Buffer.from(put),
      bytes.subarray(place + length),
    ])
  }, Buffer.from(text))
}

/** Half a request gets no answer: then the client leaves. */
const silenceMs = 1000

/** Sends bytes; returns what came back until the server closed, or was silent. */
function exchange(bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: '127.0.0.1', port })
    socket
      .on('data', (chunk) => chunks.push(chunk))
      // A connection may be closed before all was sent.
      .on('error', () => undefined)
      .on('close', () => resolve(Buffer.concat(chunks).toString()))
      .setTimeout(silenceMs, () => socket.destroy())
      .write(bytes)
  })
}

await t.test('a request of any bytes', async (t) => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          cuts.map((all) => damaged(request, all)),
          fc.array(anyByte, { maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        ),
        { minLength: 50, maxLength: 50 },
      ),
      async (requests) => {
        const sent = [Buffer.from(request), Buffer.from(wrong), ...requests]
        for (const text of await Promise.all(sent.map(exchange))) {
          for (const [, status = ''] of text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)) {
            seen.add(status)
            if (status.startsWith('5')) throw new Error(text)
          }
          const found = secretIn(text)
          if (found) throw new Error(`${String(found)} in ${text}`)
        }
      },
    ),
    { numRuns: 3 },
  )
  t.ok(seen.has('200') && seen.has('400'), [...seen].join())
  t.equal((await world.get('/v1/things?limit=1', token)).status, 200)
})

await t.test('an MCP message of any bytes', async (t) => {
  t.equal((await postMcp(world, token, call)).status, 200)
  t.equal((await postMcp(world, token, call.slice(1))).status, 400)
  await fc.assert(
    fc.asyncProperty(cuts, async (all) => {
      const { status, text } = await postMcp(world, token, damaged(call, all))
      const found = secretIn(text)
      if (status >= 500 || found) throw new Error(`${status} ${String(found)}: ${text}`)
    }),
    { numRuns: 300 },
  )
})

await t.test('a cursor of any bytes', async (t) => {
  const { body } = await world.get('/v1/things?limit=1', token)
  const cursor = String(body.next_cursor)
  await fc.assert(
    fc.asyncProperty(cuts, async (all) => {
      const forged = damaged(cursor, all)
      const encoded = [...forged].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
      const { status, text } = await world.get(`/v1/things?limit=1&cursor=${encoded}`, token)
      // Cuts may change nothing.
      const isSame = String(forged) === cursor
      if (status !== (isSame ? 200 : 400)) throw new Error(`${status}: ${text}`)
    }),
    { numRuns: 300 },
  )
  t.pass()
})
