import t from 'tap'
import type { Test } from 'tap'
import { Errors } from 'typebox/value'
import { instructions } from '../../src/mcp/instructions.js'
import { tools } from '../../src/mcp/tools.js'
import type { ToolName } from '../../src/mcp/tools.js'
import { callModern, callRpc, callTool } from '../support/mcp/mcp-messages.js'
import { demoToken, startThings } from '../support/things.js'
import { startTyped } from '../support/typed.js'
import type { World } from '../support/world.js'

type Schema = Readonly<Record<string, unknown>>

/** What one client or another refuses in a schema, as `path: reason`. */
function unportable(schema: unknown, path: string): readonly string[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    return [`${path}: ${JSON.stringify(schema)} for a schema`]
  }
  const { type, $ref, properties, items, anyOf, additionalProperties } = schema as Schema
  const found: string[] = []
  if (Object.keys(schema).length === 0) found.push(`${path}: {} for a schema`)
  if (Array.isArray(type)) found.push(`${path}: several types`)
  if ($ref !== undefined) found.push(`${path}: $ref`)
  for (const [name, each] of Object.entries((properties ?? {}) as Schema)) {
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name)) found.push(`${path}.${name}: a name of odd letters`)
    found.push(...unportable(each, `${path}.${name}`))
  }
  if (items !== undefined) found.push(...unportable(items, `${path}[]`))
  for (const each of (anyOf ?? []) as readonly unknown[]) found.push(...unportable(each, path))
  if (typeof additionalProperties === 'object') {
    found.push(...unportable(additionalProperties, `${path}.*`))
  }
  return found
}

await t.test('schemas are flat objects of what every client understands', (t) => {
  for (const { name, inputSchema, outputSchema } of tools) {
    t.match(name, /^[A-Za-z0-9_.-]{1,64}$/)
    for (const [kind, schema] of Object.entries({ inputSchema, outputSchema })) {
      t.equal(schema['type'], 'object', `${name}: ${kind}`)
      for (const word of ['anyOf', 'oneOf', 'allOf', '$ref']) {
        t.notOk(Object.hasOwn(schema, word), `${name}: ${word} on top of ${kind}`)
      }
      t.notMatch(JSON.stringify(schema), /"(\$ref|\$defs|oneOf|allOf)":/, `${name}: ${kind}`)
      t.same(unportable(schema, name), [], `${name}: ${kind}`)
    }
    t.notMatch(JSON.stringify(inputSchema), /"additionalProperties":false|"const"/, name)
  }
  t.same(
    unportable({ type: ['string', 'null'], items: {}, properties: { 'a b': true } }, 'x').length,
    4,
    'the check itself finds what it looks for',
  )
  t.end()
})

await t.test('the descriptions of tools are short enough for clients', (t) => {
  t.same(
    tools.map(({ name }) => name),
    [
      ...['list_resources', 'describe_resource', 'query', 'aggregate', 'top', 'find', 'changes'],
      ...['search', 'fetch'],
    ],
  )
  for (const { title, description, annotations } of tools) {
    t.match(title, /\w/)
    t.ok(description.length > 50 && description.length <= 1500, title)
    t.same(annotations, {
      title,
      readOnlyHint: true,
      openWorldHint: false,
      idempotentHint: true,
      destructiveHint: false,
    })
  }
  t.ok(Buffer.byteLength(instructions) <= 1500, String(Buffer.byteLength(instructions)))
  for (const { name } of tools.slice(0, 6)) t.match(instructions, name)
  t.end()
})

await t.test(
  'both eras list the same tools, in the same order, and the instructions',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    // No dataset has an entity to search for.
    const plain: unknown = JSON.parse(JSON.stringify(tools.slice(0, 7)))
    const legacy = await callRpc(world, token, 'tools/list')
    t.same(legacy.result?.['tools'], plain)
    const modern = await callModern(world, token, 'tools/list')
    t.same(modern.result?.['tools'], plain)
    t.match(modern.result, { resultType: 'complete', cacheScope: 'private', ttlMs: 300_000 })
    const hello = await callRpc(world, token, 'initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    })
    const capabilities = { tools: {}, resources: {}, prompts: {} }
    t.match(hello.result, { protocolVersion: '2025-06-18', instructions, capabilities })
    t.notMatch(hello.text, /listChanged|subscribe/, 'no promise to tell of changes')
    const discovered = await callModern(world, token, 'server/discover')
    t.match(discovered.result, { instructions, capabilities, cacheScope: 'private' })
  },
)

type AskedTool = readonly [name: ToolName, args: object]

async function haveTheirShape(t: Test, world: World, token: string, calls: readonly AskedTool[]) {
  for (const [name, args] of calls) {
    const label = `${name} ${JSON.stringify(args)}`
    const { isError, content, text } = await callTool(world, token, name, args)
    t.notOk(isError, `${label}: ${text.slice(0, 200)}`)
    const tool = tools.find((each) => each.name === name)
    t.same(Errors(tool?.outputSchema ?? {}, content), [], label)
    t.same(JSON.parse(text), content, label)
  }
}

await t.test('answers match their output schemas, and the text is the same', async (t) => {
  const query = tools.find(({ name }) => name === 'query')?.outputSchema ?? {}
  t.ok(Errors(query, { columns: [1] }).length > 1, 'the check itself finds what it looks for')
  await t.test('of datasets with a window, a demo and a required filter', async (t) => {
    const world = await startThings(t)
    const none = [{ column: 'year', op: 'eq', value: 1 }]
    await haveTheirShape(
      t,
      world,
      (await world.subscribe(['things:pro', 'days:two', 'big:pro'])).token,
      [
        ['list_resources', {}],
        ['describe_resource', { resource: 'things' }],
        ['describe_resource', { resource: 'days' }],
        ['describe_resource', { resource: 'big' }],
        ['query', { resource: 'things', limit: 2 }],
        ['query', { resource: 'things', filters: none }],
        ['aggregate', { resource: 'things', group: ['year'], measures: ['count', 'sum(2110)'] }],
        ['aggregate', { resource: 'things', group: ['year'], measures: 'count', filters: none }],
        ['top', { resource: 'things', by: '-2110', limit: 2 }],
        ['top', { resource: 'things', by: 'year', filters: none }],
      ],
    )
    await haveTheirShape(t, world, demoToken, [
      ['list_resources', {}],
      ['describe_resource', { resource: 'things' }],
      ['query', { resource: 'things' }],
    ])
  })
  await t.test('of a dataset with a column of every kind', async (t) => {
    const world = await startTyped(t)
    await haveTheirShape(t, world, (await world.subscribe(['typed:pro'])).token, [
      ['list_resources', {}],
      ['describe_resource', { resource: 'typed' }],
      ['query', { resource: 'typed' }],
      ['aggregate', { resource: 'typed', group: 'flag', measures: 'max(big),sum(dec),avg(dbl)' }],
      ['top', { resource: 'typed', by: '-big' }],
    ])
  })
})
