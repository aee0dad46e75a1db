import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { listen } from '../support/answers.js'
import { logged } from '../support/logged.js'
import { startShipped } from '../support/shipped.js'
import { python } from './fixtures/python-client.js'

// Guarantee: the SDKs of agents take every tool as it is advertised, and their calls are answered.

interface Tool {
  readonly described: boolean
  /** The names of the arguments that the model is shown. */
  readonly members: readonly string[]
  readonly answer: Readonly<Record<string, unknown>>
}

interface StrictTool extends Tool {
  /** Whether the tool can be called in strict mode. */
  readonly strict: boolean
  readonly sent: unknown
  /** The answer to the same call with every optional argument, as strict mode sends it. */
  readonly strictly: unknown
}

interface Results {
  readonly openai: Readonly<Record<string, StrictTool>>
  readonly google: Readonly<Record<string, Tool>>
  readonly anthropic: Readonly<Record<string, Tool>>
}

const members = {
  list_resources: [],
  describe_resource: ['columns', 'resource', 'search'],
  query: ['cursor', 'explain', 'filters', 'limit', 'resource', 'select'],
  aggregate: [
    ...['filters', 'group', 'having', 'labels', 'limit', 'measures', 'order', 'pivot', 'resource'],
    'rest',
  ],
  top: ['by', 'filters', 'limit', 'resource', 'select'],
  find: ['explain', 'limit', 'q', 'resource'],
  changes: ['cursor', 'filters', 'limit', 'resource', 'select', 'since'],
  search: ['query'],
  fetch: ['id'],
} as const

await t.test('the tools through openai-agents, google-genai and anthropic', async (t) => {
  const world = await startShipped(t)
  void world.app.prepare()
  await logged(world, '"packed"')
  const { token } = await world.subscribe(['financials:business'])
  const url = `http://127.0.0.1:${await listen(world)}/mcp`
  const { stdout } = await promisify(execFile)(python, ['test/clients/agent_sdks.py', url], {
    env: { DAS_TOKEN: token, OPENAI_AGENTS_DISABLE_TRACING: '1' },
    maxBuffer: 2 ** 24,
  })
  const { openai, ...others } = JSON.parse(stdout) as Results
  for (const [sdk, tools] of Object.entries({ openai, ...others })) {
    t.same(Object.keys(tools), Object.keys(members), sdk)
    for (const [name, known] of Object.entries(members)) {
      t.match(tools[name], { described: true, members: known }, `${sdk}: ${name}`)
      t.same(tools[name]?.answer, openai[name]?.answer, `${sdk}: ${name} answers alike`)
    }
  }
  for (const [name, { strict, sent, answer, strictly }] of Object.entries(openai)) {
    // Without arguments, strict mode needs `additionalProperties: false`, at which google-genai fails.
    t.equal(strict, name !== 'list_resources', `${name} in strict mode`)
    t.same(strictly, answer, `${name}: absent, and as strict mode sends it`)
    t.same(Object.keys(sent as object).sort(), members[name as keyof typeof members])
  }
  t.match(openai['query']?.answer, { columns: ['inn', 'year', '2110'], row_count: 50 })
  t.match(openai['query']?.sent, { cursor: '', filters: [{}, { op: 'not_null', value: '' }] })
})
