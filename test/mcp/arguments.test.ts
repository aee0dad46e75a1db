import t from 'tap'
import type { Test } from 'tap'
import { holdsNoSecret } from '../support/answers.js'
import { openControl, usageOf } from '../support/control.js'
import { callRpc, callTool, postMcp, toolAnswer } from '../support/mcp/mcp-messages.js'
import type { ToolAnswer } from '../support/mcp/mcp-messages.js'
import { payloads } from '../support/payloads.js'
import { demoToken, startThings } from '../support/things.js'

const errorBytesMax = 1200

/** A mistake told so that an agent can mend it: short, in text alone, nothing of the machine. */
function isMistake(t: Test, told: ToolAnswer, text: RegExp, name: string): void {
  t.ok(told.isError, name)
  t.match(told.text, text, name)
  t.equal(told.answer.status, 200, name)
  t.equal(told.answer.result?.['structuredContent'], undefined, name)
  const bytes = Buffer.byteLength(told.text)
  t.ok(bytes <= errorBytesMax, `${name}: ${bytes} bytes`)
  holdsNoSecret(t, told.text, name)
}

const year = (value: unknown, op = 'eq') => ({ column: 'year', op, value })

await t.test('a mistake says what is wrong, what there is, and what to call next', async (t) => {
  const world = await startThings(t)
  const { token, subscriptionId } = await world.subscribe(['things:pro', 'big:pro'])
  const describe = /Call describe_resource \{"resource":"things"\}/
  const mistakes: readonly (readonly [args: object, ...texts: RegExp[]])[] = [
    [
      { resource: 'things', fliters: [] },
      /fliters: unknown key\. Did you mean "filters"/,
      /\nCorrected call: query \{"resource":"things","filters":\[\]\}$/,
    ],
    [{ resource: 'things', where: 'x' }, /where: unknown key/, describe],
    [{ resource: 'things', constructor: 1 }, /constructor: unknown key/],
    [{ resource: 'things', limit: 'ten' }, /limit: must be a whole number/, describe],
    [{ resource: 'things', limit: 1.5 }, /limit: must be a whole number/],
    [{ resource: 'things', limit: -1 }, /limit: must be a whole number/],
    [
      { resource: 'things', limit: 0 },
      /limit must be from 1 to 1000/,
      /Corrected call: query .+"limit":1/,
    ],
    [{ resource: 'things', select: 5 }, /select: must be a list of column names/],
    [{ resource: 'things', select: [5.5] }, /select\.0: must be a column name/],
    [{ resource: 'things', select: [true] }, /select\.0: must be a column name/],
    [
      { resource: 'things', filters: { year: 1 } },
      /filters: must be a list of \{column, op, value\}/,
    ],
    [{ resource: 'things', filters: ['year=eq.1'] }, /filters\.0: must be an object/],
    [{ resource: 'things', filters: [{ column: 'year' }] }, /filters\.0\.op: is missing/],
    [{ resource: 'things', filters: [{ ...year(1), ops: 'eq' }] }, /filters\.0\.ops: unknown key/],
    [{ resource: 'things', filters: [year({ a: 1 })] }, /filters\.0\.value: must be a text, a num/],
    [{ resource: 'things', filters: [year([1])] }, /"year": eq takes one value/],
    [{ resource: 'things', filters: [year(1, 'in')] }, /"year": in takes a list/],
    [{ resource: 'things', filters: [year(1, 'is_null')] }, /is_null takes no value/],
    [{ resource: 'things', cursor: 5 }, /cursor: must be the next_cursor/],
    [
      { resource: 'things', filters: [{ column: 'yaer', op: 'eq', value: 2024 }] },
      /no column "yaer".+Did you mean "year"/,
      /\nCorrected call: query \{"resource":"things","filters":\[\{"column":"year",/,
    ],
    [
      { resource: 'things', filters: [{ column: 'id', op: 'equals', value: 'a1' }] },
      /no operator "equals".+It has: eq, ne/s,
      /\nCorrected call: query .+"op":"eq"/,
    ],
    [
      { resource: 'things', filters: [{ column: 'year', op: '>=', value: 2024 }] },
      /no operator ">="\. Did you mean "gte"\?/,
      /\nCorrected call: query .+"op":"gte","value":2024\}/,
    ],
    [
      { resource: 'things', filters: [{ column: 'id', op: 'between', value: 'a' }] },
      /no operator "between".+It has: eq, ne/s,
      describe,
    ],
    [
      { resource: 'things', filters: [{ column: 'id', op: 'ilike', value: '%a%' }] },
      /no operator "ilike"\..+ use contains/,
      /\nCorrected call: query .+"op":"contains","value":"a"\}/,
    ],
    [
      { resource: 'things', filters: [{ column: 'year', op: 'eq', value: 'last' }] },
      /takes .*, got "last"/,
      /\nA call of the right form: query .+"value":"2024"/,
    ],
    [
      { resource: 'things', filters: [{ column: 'id', op: 'eq', value: 12 }] },
      /Column "id" is a string: send the value as a string/,
      /\nCorrected call: query .+"value":"12"/,
    ],
    [
      { resource: 'things', cursor: 'AAAA', limit: 3 },
      /The cursor is not valid/,
      /\nCorrected call: query \{"resource":"things","limit":3\}$/,
    ],
    [
      { resource: 'big', select: ['name'] },
      /This dataset needs at least one filter/,
      /\nA call of the right form: query .+"filters":\[\{"column":"id","op":"eq",/,
    ],
    [{}, /resource: is missing/, /Call list_resources \{\}/],
    [{ resource: 5 }, /resource: must be the name of a dataset/, /Call list_resources \{\}/],
    [{ resource: 'nothing' }, /not_found: /, /Call list_resources \{\}/],
  ]
  for (const [args, ...texts] of mistakes) {
    const told = await callTool(world, token, 'query', args)
    for (const text of texts) isMistake(t, told, text, JSON.stringify(args))
  }
  isMistake(
    t,
    await callTool(world, token, 'list_resources', { resource: 'things' }),
    /resource: unknown key/,
    'list_resources',
  )
  isMistake(
    t,
    await callTool(world, token, 'describe_resource', { name: 'things' }),
    /name: unknown key|resource: is missing/,
    'describe_resource',
  )
  const isList = await callTool(world, token, 'describe_resource', { resource: ['things'] })
  isMistake(t, isList, /resource: must be the name of a dataset/, 'a list')
  t.equal(
    (await usageOf(openControl(t, world), world, subscriptionId)).total,
    0,
    'no mistake is charged',
  )
})

await t.test('the corrected calls of mistakes have answers', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro', 'big:pro'])
  const mistakes = [
    { resource: 'things', filters: [{ column: 'yaer', op: 'eq', value: 2024 }], limit: 2 },
    { resource: 'things', filters: [{ column: 'year', op: 'equals', value: 2024 }] },
    { resource: 'things', filters: [{ column: 'id', op: 'eq', value: 12 }] },
    { resource: 'things', filters: [{ column: 'year', op: 'eq', value: 'last' }] },
    { resource: 'things', cursor: 'AAAA' },
    { resource: 'things', limit: 5000 },
    { resource: 'things', select: ['ID', 'Year'] },
    { resource: 'big', select: ['name'] },
  ]
  for (const wrong of mistakes) {
    let args: object = wrong
    let told = await callTool(world, token, 'query', args)
    t.ok(told.isError, JSON.stringify(wrong))
    // Each answer mends one mistake.
    for (let mended = 0; told.isError && mended < 2; mended++) {
      const call = /\n(?:Corrected call|A call of the right form): query (\{.*\})$/.exec(
        told.text,
      )?.[1]
      if (call === undefined) break
      args = JSON.parse(call) as object
      told = await callTool(world, token, 'query', args)
    }
    t.notOk(told.isError, `${JSON.stringify(wrong)}: ${told.text.slice(0, 300)}`)
  }
})

await t.test('what models write otherwise is understood', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const plain = {
    resource: 'things',
    filters: [year(2024), { column: 'note', op: 'is_null' }],
    select: ['id', '2110'],
  }
  const expected = (await callTool(world, token, 'query', plain)).content
  t.match(expected, { row_count: 2, columns: ['id', '2110'], data: { id: ['a1', 'a3'] } })
  const { quota, ...same } = expected
  t.match(quota, { scope: 'resource' })
  const others: object[] = [
    { ...plain, filters: JSON.stringify(plain.filters), select: JSON.stringify(plain.select) },
    { ...plain, cursor: null, limit: null },
    { ...plain, filters: [year(2024), { column: 'note', op: 'is_null', value: null }] },
    { ...plain, filters: JSON.stringify([year('2024'), { column: 'note', op: 'is_null' }]) },
  ]
  const withNull = [year(2024), { column: 'note', op: 'is_null', value: null }]
  others.push({ ...plain, filters: JSON.stringify(withNull) })
  for (const args of others) {
    const { isError, content, text } = await callTool(world, token, 'query', args)
    t.notOk(isError, text)
    t.match(content, same, JSON.stringify(args))
  }
  const all = { resource: 'things', filters: null, select: null }
  t.match((await callTool(world, token, 'query', all)).content, { row_count: 15 })
  const without = await callRpc(world, token, 'tools/call', { name: 'list_resources' })
  t.notOk(toolAnswer(without).isError, 'no arguments at all')
  const broken = [
    ['filters', '[{"column":'],
    ['select', 'id'],
  ] as const
  for (const [name, value] of broken) {
    const args = { resource: 'things', [name]: value }
    const told = await callTool(world, token, 'query', args)
    isMistake(t, told, new RegExp(`${name}, sent as a string, is not valid JSON`), name)
  }
})

await t.test('a number that JSON readers round is refused in every argument', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const call = (value: string) =>
    postMcp(
      world,
      token,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query","arguments":` +
        `{"resource":"things","filters":[{"column":"2110","op":"lt","value":${value}}]}}}`,
    )
  const inexact = ['9007199254740993', '0.1234567890123456', '1e400', '1e-320', '12345678901234567']
  for (const value of inexact) {
    const told = toolAnswer(await call(value))
    isMistake(t, told, /can't be kept exactly in JSON: send it as a string/, value)
  }
  for (const value of ['9007199254740990', '"9007199254740993"', '4.50', '1e3']) {
    const told = toolAnswer(await call(value))
    t.notOk(told.isError, `${value}: ${told.text}`)
  }
  const filters = '[{"column":"2110","op":"eq","value":9007199254740993}]'
  const inText = await callTool(world, token, 'query', { resource: 'things', filters })
  isMistake(t, inText, /can't be kept exactly/, 'inside a list sent as a string')
})

// Guarantee: nothing of the machine, the data or a token shows in errors and logs, whatever is sent.
await t.test('hostile arguments get short answers and are not logged', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const long = 'x'.repeat(100_000)
  // -0 and 1e309 are numbers like any other, and null as filters is none.
  const texts = [
    ...payloads.filter((each) => !['-0', '1e309', 'null'].includes(each)),
    long,
    `\u0000${long}`,
  ]
  for (const text of texts) {
    const name = JSON.stringify(text).slice(0, 60)
    const calls: readonly object[] = [
      { resource: text },
      // The protocol's reader passes over a key of this name.
      { resource: 'things', [text === '__proto__' ? '__proto' : text]: 1 },
      { resource: 'things', filters: text },
      { resource: 'things', select: [text] },
      { resource: 'things', cursor: text },
      { resource: 'things', filters: [{ column: text, op: 'eq', value: 1 }] },
      { resource: 'things', filters: [{ column: 'id', op: text, value: 1 }] },
      { resource: 'things', filters: [year(text)] },
    ]
    for (const args of calls) {
      const { isError, text: told } = await callTool(world, token, 'query', args)
      // Nothing, and all columns: these are no mistakes.
      if (!isError && ['', '""', '*'].includes(text)) continue
      t.ok(isError, `${name}: ${told.slice(0, 200)}`)
      const bytes = Buffer.byteLength(told)
      t.ok(bytes <= errorBytesMax, `${name}: ${bytes} bytes: ${told.slice(0, 300)}`)
    }
  }
  const lines = world.log.filter((line) => line.includes('"msg":"request"'))
  t.equal(lines.length, texts.length * 8, 'a line for each request')
  for (const line of world.log) holdsNoSecret(t, line, 'log')
  t.notMatch(world.log.join(''), /"level":50/, 'no mistake of a caller is a fault of ours')
  t.notMatch(world.log.join(''), demoToken)
})
