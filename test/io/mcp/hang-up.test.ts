import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { busyFor, cpuOf, cpuOfNextSecond } from '../../engine/fixtures/long-query.js'
import { holdsNoSecret, listen, requestText } from '../../support/answers.js'
import { openControl, usageOf } from '../../support/control.js'
import { callTool, modernRevision } from '../../support/mcp/mcp-messages.js'
import { slowQuestion, startSlow } from '../../support/slow.js'

// Guarantee: a query that nobody waits for any more really stops, and costs its caller nothing.
// Measured in CPU time, which other processes hardly change, as a share of what one of them takes.

const clients = 12

const meta = {
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const eras = {
  legacy: { headers: {}, params: {} },
  modern: {
    headers: {
      'MCP-Protocol-Version': modernRevision,
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'query',
    },
    params: { _meta: meta },
  },
} as const

for (const [era, { headers, params }] of Object.entries(eras)) {
  await t.test(`clients that hang up stop their queries: ${era}`, async (t) => {
    const world = await startSlow(t, 60)
    const { token, subscriptionId } = await world.subscribe(['slow:pro'])
    const port = await listen(world)
    const args = { resource: 'slow', ...slowQuestion }
    const call = { name: 'query', arguments: args, ...params }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })
    const text = requestText(
      'POST /mcp',
      {
        Host: 'localhost',
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(body)),
        ...headers,
      },
      body,
    )
    const one = await cpuOf(() => callTool(world, token, 'query', args))
    const sockets = Array.from({ length: clients }, () => {
      const socket = connect({ host: '127.0.0.1', port })
      socket.on('error', () => undefined)
      socket.write(text)
      return socket
    })
    await busyFor(300)
    for (const socket of sockets) socket.resetAndDestroy()
    const gone = () => world.log.filter((line) => line.includes('"status":499')).length
    while (gone() < clients - 1) await setTimeout(5)
    const spent = await cpuOfNextSecond()
    t.ok(spent < one / 3, `neither the one that ran nor those that waited: ${spent} of ${one} ms`)
    t.equal((await usageOf(openControl(t, world), world, subscriptionId)).total, 0)
    t.notMatch(world.log.join(''), /"level":50/, 'a client that leaves is no error of ours')
    for (const line of world.log) holdsNoSecret(t, line, 'log')
    const next = await callTool(world, token, 'query', { resource: 'slow', limit: 1 })
    t.match(next.content, { row_count: 1 }, 'the place is free')
  })
}
