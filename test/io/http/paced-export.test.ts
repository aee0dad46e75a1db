import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from 'node:zlib'
import t from 'tap'
import type { Test } from 'tap'
import { openControl, usageOf } from '../../support/control.js'
import { startWorld } from '../../support/world.js'
import type { World } from '../../support/world.js'

/**
 * Exports to clients that read slowly, or not at all, over real connections: local ones, whose
 * buffers in the system are small.
 */

/** A page is smaller than Node's own buffers, of which several would fit. */
const pageRows = 1
const rowBytes = 12_000
/** 4.8 MB, of which no compressor saves more than half: more than the system's buffers hold. */
const noiseRows = 400
/** Short files, so that a page is read quickly. */
const fileRows = 100
const noiseFrom = (first: number) => `SELECT i AS id,
    array_to_string([md5(i || '-' || j) FOR j IN range(${rowBytes / 32})], '') AS text
    FROM range(${first}, ${first + fileRows}) t(i)`
const files = Object.fromEntries(
  Array.from({ length: noiseRows / fileRows }, (_, index) => [
    `data/noise-${String(index).padStart(2, '0')}.parquet`,
    noiseFrom(index * fileRows),
  ]),
)

const registry = `
datasets:
  noise:
    title: Noise
    files: data/noise-*.parquet
    require_filter: false
    limit: {default: ${pageRows}, max: ${pageRows}}
    plans: {pro: {rows_per_month: 1000000, history: all, price_rub: 0}}
`

async function startNoise(t: Test) {
  const world = await startWorld(t, { files, registry, isTimeStill: true })
  const control = openControl(t, world)
  const subscribe = async () => {
    const { token, subscriptionId } = await world.subscribe(['noise:pro'])
    return { token, charged: async () => (await usageOf(control, world, subscriptionId)).total }
  }
  // The name of a socket is short.
  const folder = mkdtempSync(join(tmpdir(), 'das-export-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'socket')
  await world.app.server.listen({ path })
  return { world, subscribe, path }
}

/** The server's end of the connection that is opened next. */
async function nextConnection(world: World): Promise<Socket> {
  const [socket] = (await once(world.app.server.server, 'connection')) as [Socket]
  return socket
}

/** A client that asks for an export and reads nothing before it is resumed. */
function openUnread(
  path: string,
  token: string,
  coding: string,
  asked = '/v1/noise/export',
): Socket {
  const socket = connect({ path })
  socket.pause()
  socket.on('error', () => undefined)
  const lines = [`GET ${asked} HTTP/1.1`, 'Host: test', `Authorization: Bearer ${token}`]
  socket.write([...lines, `Accept-Encoding: ${coding}`, '', ''].join('\r\n'))
  return socket
}

/** A write that the network takes ends within a turn or two of the event loop. */
const turnsMax = 2000

/** Until the network takes no more: a write does not end, however many turns pass. */
async function filled(socket: Socket): Promise<void> {
  for (let turns = 0; turns < turnsMax; turns += 1) {
    await setImmediate()
    if (socket.writableLength === 0) turns = 0
  }
}

/** All that still comes. */
async function readRest(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => parts.push(part)).resume()
  if (!socket.closed) await once(socket, 'close')
  return Buffer.concat(parts)
}

/** The chunks of an answer's body, also of one that breaks off. */
function bodyOf(answer: Buffer): Buffer {
  const parts: Buffer[] = []
  let at = answer.indexOf('\r\n\r\n') + 4
  for (;;) {
    const end = answer.indexOf('\r\n', at)
    const size = end === -1 ? 0 : Number.parseInt(answer.toString('latin1', at, end), 16)
    if (size === 0) return Buffer.concat(parts)
    parts.push(answer.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  identity: (body) => body,
  gzip: (body) => gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }),
  zstd: (body) => zstdDecompressSync(body, { finishFlush: constants.ZSTD_e_flush }),
  br: (body) => brotliDecompressSync(body, { finishFlush: constants.BROTLI_OPERATION_FLUSH }),
}

const rowsIn = (body: string) => body.split('{"id":').length - 1

/** How long a client may read nothing. */
const silenceMs = 300_000

// Guarantee: what is paid for and unread is one page and what the operating system holds.
await t.test('one page at most is paid beyond what the network holds', async (t) => {
  const { world, subscribe, path } = await startNoise(t)
  for (const [coding, decode] of Object.entries(decoders)) {
    const { token, charged } = await subscribe()
    const accepted = nextConnection(world)
    const client = openUnread(path, token, coding)
    const socket = await accepted
    await filled(socket)
    while (!socket.destroyed) await world.clock.advance(silenceMs / 4)
    const paid = await charged()
    const held = rowsIn(decode(bodyOf(await readRest(client))).toString())
    t.ok(paid < noiseRows, `${coding}: the buffers were full`)
    t.ok(held > pageRows, `${coding}: ${held} rows held`)
    t.ok(paid - held <= pageRows, `${coding}: ${paid} rows paid, ${held} held`)
    t.equal(await charged(), paid, `${coding}: and nothing after that`)
  }
  const reported = world.log.filter((line) => line.includes('the client read nothing'))
  t.equal(reported.length, Object.keys(decoders).length)
})

await t.test('a client that reads all gets all', async (t) => {
  const { subscribe, path } = await startNoise(t)
  const { token, charged } = await subscribe()
  const client = openUnread(path, token, 'identity', '/v1/noise/export?id=lt.200')
  const parts: Buffer[] = []
  client.on('data', (part: Buffer) => {
    parts.push(part)
    if (part.includes('"complete":true')) client.end()
  })
  client.resume()
  await once(client, 'close')
  const body = bodyOf(Buffer.concat(parts)).toString()
  t.equal(rowsIn(body), 200)
  t.match(body.slice(-200), /"complete":true,"rows":200/)
  t.equal(await charged(), 200)
})
