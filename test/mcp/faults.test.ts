import { pino } from 'pino'
import t from 'tap'
import { buildServer } from '../../src/http/server.js'
import { addMcp } from '../../src/mcp/door.js'
import { protocolServer } from '../../src/mcp/server.js'
import type { Service } from '../../src/service.js'
import { holdsNoSecret } from '../support/answers.js'

/** A fault of our own is told to the log, with its cause, and to nobody else. */

const fail = () => Promise.reject(new Error('SELECT secret FROM read_parquet("/tmp/x.parquet")'))

const service: Service = {
  admit: (visit) => ({
    visit,
    principal: { kind: 'demo', id: 'demo' },
    catalog: { datasets: new Map(), demo: null },
  }),
  readPage: fail,
  listDatasets: fail,
  describeDataset: fail,
  guideDataset: fail,
  account: fail,
  prepare: fail,
}

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
    service,
    logger: pino({ level: 'info' }, { write }),
    trustProxy: [],
    doors: [
      (app, visitOf) => {
        const version = '0.0.0-test'
        addMcp(app, {
          service,
          serverFor: (call, logFault) => protocolServer({ service, version, logFault }, call),
          hosts: [],
          visitOf,
        })
      },
    ],
    isReady: () => true,
  })
  t.teardown(() => server.close())
  for (const [method, params] of calls) {
    const answer = await server.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'content-type': 'application/json', host: 'localhost' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    t.match(answer.body, 'internal_error: Something went wrong here.', method)
    holdsNoSecret(t, answer.body, method)
    t.notMatch(answer.body, /secret|Error:/, method)
    const line = lines.find((each) => each.includes(String(answer.headers['x-request-id'])))
    t.match(line, /SELECT secret/, 'the log has the cause, under the request id of the answer')
  }
})
