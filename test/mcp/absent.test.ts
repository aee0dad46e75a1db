import t from 'tap'
import { callTool, callRpc } from '../support/mcp/mcp-messages.js'
import { startThings } from '../support/things.js'

// Guarantee: a member that is left out, null, "", [] or {} means one thing, in every tool and body;
// a scalar that arrives as a text is read where what it is is certain.

const absent = [null, '', [], {}]
const filters = [{ column: 'year', op: 'eq', value: 2023 }]

/** What each tool needs, and what it may be given. */
const tools = {
  describe_resource: { given: { resource: 'things' }, optional: ['columns', 'search'] },
  query: {
    given: { resource: 'things', filters },
    optional: ['select', 'limit', 'cursor', 'explain'],
  },
  aggregate: {
    given: { resource: 'things', measures: ['count'], filters },
    optional: ['group', 'having', 'order', 'limit', 'labels'],
  },
  top: { given: { resource: 'things', by: '-2110', filters }, optional: ['select', 'limit'] },
} as const

await t.test('an absent member of a tool is the same in every form', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const ask = async (name: string, args: object) => {
    const { text, isError } = await callTool(world, token, name, args)
    t.notOk(isError, `${name} ${JSON.stringify(args)}: ${text.slice(0, 200)}`)
    return text.replaceAll(/"rows_remaining":\d+/g, '')
  }
  for (const [name, { given, optional }] of Object.entries(tools)) {
    await ask(name, given)
    const without = await ask(name, given)
    for (const member of optional) {
      for (const each of absent) {
        t.equal(await ask(name, { ...given, [member]: each }), without, `${name} ${member}`)
      }
    }
    const all = Object.fromEntries(optional.map((member, index) => [member, absent[index % 4]]))
    t.equal(await ask(name, { ...given, ...all }), without, `${name}: as strict callers send it`)
  }
  for (const op of ['is_null', 'not_null']) {
    const args = (filter: object) => ({
      resource: 'things',
      filters: [{ column: 'note', op, ...filter }],
    })
    const without = await ask('query', args({}))
    for (const value of absent) t.equal(await ask('query', args({ value })), without, op)
  }
  t.match(await ask('list_resources', {}), 'things')
})

await t.test('the same holds for a body', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const doors = {
    query: { given: { filters }, optional: ['select', 'limit', 'cursor'] },
    aggregate: {
      given: { measures: ['count'], filters },
      optional: ['group', 'having', 'order', 'limit', 'labels', 'format'],
    },
  }
  for (const [door, { given, optional }] of Object.entries(doors)) {
    const ask = async (body: object) => {
      const { status, text } = await world.post(`/v1/things/${door}`, token, body)
      t.equal(status, 200, text.slice(0, 200))
      return text
    }
    const without = await ask(given)
    for (const member of optional) {
      for (const each of absent) t.equal(await ask({ ...given, [member]: each }), without, member)
    }
    for (const each of absent) {
      t.equal(await ask({ ...given, filters: each }), await ask({ ...given, filters: [] }))
    }
  }
})

await t.test('an empty text is a value of an operator that takes one', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const ask = (value: unknown, op = 'eq') =>
    callTool(world, token, 'query', {
      resource: 'things',
      filters: [{ column: 'id', op, value }],
    })
  t.match(JSON.parse((await ask('')).text), { row_count: 0 })
  t.match(JSON.parse((await ask(['', 'a1'], 'in')).text), { row_count: 3 })
  t.match((await ask(null)).text, /eq needs a value/)
  t.match((await ask([], 'in')).text, /in needs a value|in takes|needs/)
})

await t.test('scalars that arrive as texts are read where that is certain', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const ask = async (name: string, args: object) => {
    const { text, isError } = await callTool(world, token, name, { resource: 'things', ...args })
    t.notOk(isError, `${JSON.stringify(args)}: ${text.slice(0, 200)}`)
    return text.replaceAll(/"rows_remaining":\d+/g, '')
  }
  const same = async (name: string, one: object, other: object) =>
    t.equal(await ask(name, one), await ask(name, other), JSON.stringify(one))
  await same('query', { limit: '2' }, { limit: 2 })
  await same('query', { limit: 2, explain: 'false' }, { limit: 2, explain: false })
  await same('query', { limit: 2, select: '*' }, { limit: 2 })
  await same('query', { limit: 2, select: ['*'] }, { limit: 2 })
  await same('query', { limit: 2, select: [2110] }, { limit: 2, select: ['2110'] })
  await same('top', { by: '2110', limit: '3' }, { by: '2110', limit: 3 })
  await same('aggregate', { measures: ['count'], labels: 'false' }, { measures: ['count'] })
  const years = (value: unknown) => ({ limit: 9, filters: [{ column: 'year', op: 'in', value }] })
  await same('query', years('[2022, 2024]'), years([2022, 2024]))
  for (const limit of ['2.5', 'two', '-1', '1e3', ' 2']) {
    const { isError } = await callTool(world, token, 'query', { resource: 'things', limit })
    t.ok(isError, limit)
  }
  const body = await world.post('/v1/things/query', token, { limit: '2' })
  t.equal(body.body.data.length, 2)
})

await t.test('what is advertised is understood by every client', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const { text } = await callRpc(world, token, 'tools/list', {})
  t.notMatch(text, '"additionalProperties":false')
  t.notMatch(text, '"const"')
  const unknown = await callTool(world, token, 'query', { resource: 'things', limits: 3 })
  t.match(unknown.text, /unknown key/)
})
