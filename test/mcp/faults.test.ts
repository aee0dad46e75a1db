import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { buildServer } from '../../src/http/server.js'
import { addMcp } from '../../src/mcp/mcp-routes.js'
import { protocolServer } from '../../src/mcp/protocol-server.js'
import { holdsNoSecret } from '../support/answers.js'
import { openControl, usageOf } from '../support/control.js'
import { faultyService } from '../support/faulty-service.js'
import { callRpc, callTool } from '../support/mcp/mcp-messages.js'
import { slowQuestion, startSlow } from '../support/slow.js'
import { filesOnly } from '../support/tables.js'
import { startThings } from '../support/things.js'
import { machineClock } from '../../src/clock.js'
import { machineRandom } from '../../src/random.js'
import { signInPaths } from '../../src/sales/agents/resource.js'

/** A fault of our own is told to the log, with its cause, and to nobody else. */

const calls = [
  ['tools/call', { name: 'list_resources', arguments: {} }],
  ['tools/call', { name: 'describe_resource', arguments: { resource: 'a' } }],
  ['tools/call', { name: 'query', arguments: { resource: 'a' } }],
  ['resources/list', {}],
  ['resources/read', { uri: 'dataset://a' }],
] as const

await t.test('a fault is an error without a word of what it was', async (t) => {
  const lines: string[] = []
  const write = (line: string) => {
    lines.push(line)
  }
  const server = buildServer({
    clock: machineClock,
    random: machineRandom,
    service: faultyService,
    logger: pino({ level: 'info' }, { write }),
    trustProxy: [],
    corsOrigins: [],
    doors: [
      (app, manners) => {
        const version = '0.0.0-test'
        addMcp(app, {
          service: faultyService,
          serverFor: (call, logFault) =>
            protocolServer({ service: faultyService, version, logFault }, call),
          hosts: [],
          signInPaths,
          challengeOf: () => null,
          ...manners,
        })
      },
    ],
    isReady: async () => true,
    isUpToDate: () => true,
    isDamaged: () => false,
    isStopping: () => false,
  })
  t.teardown(() => server.close())
  for (const [method, params] of calls) {
    const answer = await server.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'content-type': 'application/json', host: 'localhost' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    t.match(answer.body, 'internal_error: Something went wrong in the service.', method)
    holdsNoSecret(t, answer.body, method)
    t.notMatch(answer.body, /secret|Error:/, method)
    const line = lines.find((each) => each.includes(String(answer.headers['x-request-id'])))
    t.match(line, /SELECT secret/, 'the log has the cause, under the request id of the answer')
  }
})

await t.test(
  'a query that takes too long is a timeout error and is not charged',
  filesOnly('slow'),
  async (t) => {
    const world = await startSlow(t, 0.1)
    const { token, subscriptionId } = await world.subscribe(['slow:pro'])
    const told = await callTool(world, token, 'query', { resource: 'slow', ...slowQuestion })
    t.ok(told.isError)
    t.match(told.text, /^timeout: The request did not finish in 0\.1 s\. Ask for less/)
    t.equal(told.answer.status, 200)
    t.equal(told.answer.headers['x-quota-rows-remaining'], '1000')
    t.equal((await usageOf(openControl(t, world), world, subscriptionId)).total, 0)
    t.notMatch(world.log.join(''), /"level":50/, 'nobody has to look at it')
  },
)

// Guarantee: what is wrong with a file is told to the log, and to no caller.
await t.test(
  'the error for a file that can not be read does not name it',
  filesOnly('damages'),
  async (t) => {
    const world = await startThings(t)
    const { token, subscriptionId } = await world.subscribe(['things:pro', 'days:pro'])
    const folder = join(world.folder, 'var')
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const served = paths.filter((path) => path.endsWith('.parquet'))
    t.ok(served.length >= 3)
    for (const path of served) writeFileSync(join(folder, path), 'PAR1 garbage')
    const calls = [
      ['query', { resource: 'things' }],
      ['describe_resource', { resource: 'things' }],
      ['list_resources', {}],
    ] as const
    for (const [name, args] of calls) {
      const told = await callTool(world, token, name, args)
      t.ok(told.isError, name)
      t.match(told.text, /^service_unavailable: .+\nTry again in \d+ s\.$/s, name)
      t.equal(told.answer.status, 200, name)
      holdsNoSecret(t, told.answer.text, name)
      const id = String(told.answer.headers['x-request-id'])
      const fault = world.log.find((line) => line.includes(id) && line.includes('"level":50'))
      // What could not be read is withdrawn then: nothing fails any more, it is not there.
      const isFirst = name !== 'describe_resource'
      t.equal(
        fault?.includes('service_unavailable'),
        isFirst || undefined,
        `${name}: is logged once`,
      )
    }
    const read = await callRpc(world, token, 'resources/read', { uri: 'dataset://things' })
    t.match(read.rpcError, { code: -32603, message: /^service_unavailable: / })
    holdsNoSecret(t, read.text, 'resources/read')
    t.equal(
      (await usageOf(openControl(t, world), world, subscriptionId)).total,
      0,
      'nothing is charged',
    )
  },
)
