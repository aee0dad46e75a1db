import { once } from 'node:events'
import { request as ask } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createZstdDecompress,
  gunzipSync,
  zstdDecompressSync,
} from 'node:zlib'
import { pino } from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import type { AddRoutes } from '../../src/http/server.js'
import { buildServer } from '../../src/http/server.js'
import { faultyService } from '../support/faulty-service.js'
import { startShipped } from '../support/shipped.js'
import { startThings } from '../support/things.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'
import { machineClock } from '../../src/clock.js'
import { machineRandom } from '../../src/random.js'

const unpack = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync } as const
const names = ['zstd', 'br', 'gzip'] as const

const firstLine = '{"a":1}\n'

/** 1000 rows. */
const page = '/v1/big?id=lt.1000&limit=1000'

async function fetchPage(world: World, url: string, token: string, encoding?: string) {
  const { statusCode, headers, rawPayload } = await world.app.server.inject({
    url,
    headers: {
      authorization: `Bearer ${token}`,
      ...(encoding !== undefined && { 'accept-encoding': encoding }),
    },
  })
  return { status: statusCode, headers, bytes: rawPayload }
}

await t.test('a page goes out as the client takes it, and is the same page', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['big:pro'])
  for (const format of ['json', 'ndjson', 'csv']) {
    const url = `${page}&format=${format}`
    const plain = await fetchPage(world, url, token)
    t.equal(plain.headers['content-encoding'], undefined)
    for (const name of names) {
      const { headers, bytes } = await fetchPage(world, url, token, name)
      t.equal(headers['content-encoding'], name)
      t.equal(headers['content-length'], String(bytes.length))
      t.ok(bytes.length < plain.bytes.length / 3, `${format} as ${name}`)
      t.same(unpack[name](bytes), plain.bytes)
      const kept = ['content-type', 'etag', 'vary', 'x-next-cursor', 'link', 'cache-control']
      for (const each of kept) t.equal(headers[each], plain.headers[each], each)
    }
  }
})

await t.test('the coding is the one that the client likes best', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['big:pro'])
  const accepted = {
    'gzip, deflate, br, zstd': 'zstd',
    'gzip, deflate, br': 'br',
    'gzip, deflate': 'gzip',
    '*': 'zstd',
    'zstd;q=0, *': 'br',
    'br;q=0, zstd;q=0, *': 'gzip',
    'zstd;q=0.9, br': 'br',
    'GZIP;q=0.9, br;q=0.5': 'gzip',
    'gzip;q=0.5, identity': undefined,
    'gzip;q=0, br;q=0': undefined,
    'compress, deflate': undefined,
    identity: undefined,
    '': undefined,
  }
  for (const [accept, expected] of Object.entries(accepted)) {
    const { headers } = await fetchPage(world, page, token, accept)
    t.equal(headers['content-encoding'], expected, accept)
  }
})

await t.test('small answers, HEAD, 304 and /mcp go out as they are', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['big:pro'])
  const headers = { 'accept-encoding': 'br' }
  const whole = await world.get(page, token, { headers })
  t.equal(whole.headers['content-encoding'], 'br')
  const answers = [
    await world.get('/v1/big?id=eq.1', token, { headers }),
    await world.get(page, token, { headers, method: 'HEAD' }),
    await world.get(page, token, {
      headers: { ...headers, 'if-none-match': String(whole.headers['etag']) },
    }),
    await world.get('/nowhere', token, { headers }),
  ]
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 304, 404],
  )
  for (const answer of answers) t.equal(answer.headers['content-encoding'], undefined)
  const tools = await world.get('/mcp/', token, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  })
  t.equal(tools.status, 200)
  t.ok(tools.text.length > 1024)
  t.match(tools.text, 'list_resources')
  t.equal(tools.headers['content-encoding'], undefined)
})

await t.test('a schema with many columns is compressed, and its tag still holds', async (t) => {
  const world = await startShipped(t)
  const [url, token] = ['/v1/financials/schema', 'das_demo_opendata']
  const schema = await fetchPage(world, url, token, 'gzip')
  t.equal(schema.headers['content-encoding'], 'gzip')
  t.equal(JSON.parse(String(gunzipSync(schema.bytes))).name, 'financials')
  const headers = { 'if-none-match': String(schema.headers['etag']) }
  t.equal((await world.get(url, token, { headers })).status, 304)
})

await t.test('a text that begins as packed data does is compressed as any other', async (t) => {
  const names = ['80', 'H', 'x^', 'hb']
  const world = await startWorld(t, {
    files: Object.fromEntries(
      names.map((name, index) => [
        `${index}.parquet`,
        `SELECT 'cell ' || i AS "${name}", i AS other FROM range(500) t(i)`,
      ]),
    ),
    registry: [
      'demo: {token: das_demo_names}',
      'datasets:',
      ...names.map(
        (_, index) => `  d${index}: {title: D, files: ${index}.parquet, demo: {other: [1]}, plans:
           {pro: {rows_per_month: 100000, history: all, price_rub: 0}}}`,
      ),
    ].join('\n'),
  })
  const { token } = await world.subscribe(names.map((_, index) => `d${index}:pro`))
  for (const [index, name] of names.entries()) {
    const url = `/v1/d${index}?limit=500&format=csv`
    const { headers, bytes } = await fetchPage(world, url, token, 'gzip')
    t.equal(headers['content-encoding'], 'gzip')
    t.ok(String(gunzipSync(bytes)).startsWith(`${name},other\r\n`), name)
  }
})

await t.test(
  'of a stream each piece can be read as soon as it is sent, and trailers',
  async (t) => {
    const decoders = {
      zstd: createZstdDecompress,
      br: createBrotliDecompress,
      gzip: createGunzip,
    } as const
    for (const name of names) {
      const { lines, answer } = await openStream(t, name)
      t.equal(answer.headers['content-encoding'], name)
      t.equal(answer.headers['content-length'], undefined)
      const text = answer.pipe(decoders[name]())
      t.equal(String((await once(text, 'data'))[0]), firstLine, name)
      for (const line of ['{"a":2}\n', '{"a":3}\n']) {
        lines.write(line)
        t.equal(String((await once(text, 'data'))[0]), line, name)
      }
      lines.end()
      text.resume()
      await Promise.all([once(answer, 'end'), once(text, 'end')])
      t.equal(answer.trailers['x-rows'], '3')
    }
  },
)

await t.test('an interrupted stream does not look complete', async (t) => {
  const { lines, answer } = await openStream(t)
  await once(answer, 'data')
  lines.destroy(new Error('broken'))
  await t.rejects(once(answer.resume(), 'end'), { code: 'ECONNRESET' })
})

await t.test('a client that hangs up ends the stream that feeds it', async (t) => {
  const { lines, answer } = await openStream(t)
  const closed = once(lines, 'close').catch((cause: unknown) => cause)
  await once(answer, 'data')
  answer.destroy()
  t.match(await closed, { code: 'ERR_STREAM_PREMATURE_CLOSE' })
  t.ok(lines.destroyed)
})

/** An answer that is a stream with a trailer, its first line sent, and the end that feeds it. */
async function openStream(
  t: Test,
  coding = 'zstd',
): Promise<{ lines: PassThrough; answer: IncomingMessage }> {
  const lines = new PassThrough()
  lines.write(firstLine)
  const door: AddRoutes = (app) => {
    app.get('/lines', (_request, reply) => {
      reply.trailer('X-Rows', async () => '3')
      return reply.type('application/x-ndjson; charset=utf-8').send(lines)
    })
  }
  const server = buildServer({
    clock: machineClock,
    random: machineRandom,
    service: faultyService,
    logger: pino({ level: 'silent' }),
    trustProxy: [],
    corsOrigins: [],
    doors: [door],
    isReady: async () => true,
    isUpToDate: () => true,
    isDamaged: () => false,
    isStopping: () => false,
  })
  t.teardown(() => server.close())
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  const asked = ask({
    host: '127.0.0.1',
    port,
    path: '/lines',
    headers: { 'accept-encoding': coding },
    agent: false,
  })
  t.teardown(() => asked.destroy())
  const [answer] = await once(asked.end(), 'response')
  return { lines, answer }
}
