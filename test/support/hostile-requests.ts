import type { InjectOptions } from 'fastify'

const bodyBytesMax = 1_048_576

/** A name, and the request that it stands for. */
export type HostileRequest = readonly [name: string, request: InjectOptions]

/** The unit as often as a body of the largest size holds it. */
function filled(head: string, unit: string, tail: string, between = ''): string {
  const room = bodyBytesMax - spare - Buffer.byteLength(head + tail)
  const count = Math.floor(room / Buffer.byteLength(unit + between))
  return head + Array(count).fill(unit).join(between) + tail
}

/** What an MCP message needs around a question. */
const spare = 300

function keys(count: number, name = 'k'): string {
  return Array.from({ length: count }, (_, index) => `"${name}${index}":1`).join()
}

/** 50 filters with 1000 values each: the most that is allowed. */
function most(column: string, op: string, value: (index: number) => string): string {
  const filters = Array.from({ length: 50 }, (_, filter) => {
    const list = Array.from({ length: 1000 }, (_, index) => value(filter * 1000 + index))
    return `{"column":"${column}","op":"${op}","value":[${list.join()}]}`
  })
  return `{"filters":[${filters.join()}]}`
}

const oneList = '{"filters":[{"column":"id","op":"in","value":['
const text = (column: string, op: string, value: string) =>
  filled(`{"filters":[{"column":"${column}","op":"${op}","value":"`, value, '"}]}')

/** Questions of up to 1 MiB, as the body of POST or the arguments of a tool. */
const questions: Readonly<Record<string, string>> = {
  'filters that are numbers': filled('{"filters":[', '1', ']}', ','),
  'filters that are long numbers': filled('{"filters":[', '12345678901234567', ']}', ','),
  'filters that are empty': filled('{"filters":[', '{}', ']}', ','),
  'filters that are lists': filled('{"filters":[', '[]', ']}', ','),
  'filters up to the limit': `{"filters":[${Array(54_000).fill('1.5e-5').join()}]}`,
  'values that are numbers': filled(oneList, '1', ']}]}', ','),
  'values with exponents': filled(oneList, '1.5e3', ']}]}', ','),
  'values that are null': most('id', 'in', () => 'null'),
  'many names': filled('{"select":[', '"id"', ']}', ','),
  'empty names': filled('{"select":[', '""', ']}', ','),
  'a thousand long names': `{"select":[${Array(1000)
    .fill(`"${'n'.repeat(1000)}"`)
    .join()}]}`,
  'a long name of emoji': filled('{"select":["', '😀', '"]}'),
  'deep lists': `{"filters":${'['.repeat(520_000)}${']'.repeat(520_000)}}`,
  'deep objects': `{"filters":${'{"a":'.repeat(170_000)}1${'}'.repeat(170_000)}}`,
  'deep and wide': `{"filters":[${Array(1900)
    .fill('['.repeat(28) + ']'.repeat(28))
    .join()}]}`,
  'many keys': `{${keys(95_000)}}`,
  'keys up to the limit': `{${keys(490, 'k'.repeat(1000))}}`,
  'a filter of many keys': `{"filters":[{${keys(90_000)}}]}`,
  'the same key': filled('{', '"limit":1', ',"limit":0}', ','),
  'a long key': filled('{"', 'k', '":1}'),
  'a long column': filled('{"filters":[{"column":"', 'c', '","op":"eq","value":"a"}]}'),
  'a long operator': filled('{"filters":[{"column":"id","op":"', 'o', '","value":"a"}]}'),
  'a long value': text('id', 'eq', 'v'),
  'a long prefix': text('id', 'like', 'x*'),
  'long digits': text('2110', 'eq', '9'),
  'lone surrogates': text('id', 'eq', '\\ud800'),
  'a cursor of escapes': filled('{"cursor":"', '\\u0041', '"}'),
  'a cursor of quotes': filled('{"cursor":"', '\\"', '"}'),
  'a cursor of Cyrillic': filled('{"cursor":"', 'Ж', '"}'),
  'a number of a million digits': filled('{"limit":', '1', '}'),
  'a fraction of a million zeros': filled('{"limit":1.', '0', '1}'),
  'a million spaces': filled('{"limit":', ' ', '10}'),
  'filters in a string': filled('{"filters":"[1', ',1', ']"}'),
  'names in a string': filled('{"select":"[1', ',\\"a\\"', ']"}'),
  'a string of brackets': filled('{"filters":"', '[', '"}'),
  'the most texts': most('id', 'in', (index) => `"a${index}"`),
  'the most numbers': most('2110', 'not_in', (index) => String(index + 100_000)),
  'the most decimals': most('2110', 'not_in', (index) => `"${index}.0000"`),
}

/** Bodies that are no question, nor a message. */
const bodies: Readonly<Record<string, string>> = {
  brackets: '['.repeat(bodyBytesMax),
  'a list of texts': filled('[', '""', ']', ','),
  'an open text': filled('{"cursor":"', '\\"', ''),
  spaces: ' '.repeat(bodyBytesMax),
}

/** Messages of MCP that no tool ever sees. */
const messages: Readonly<Record<string, string>> = {
  'a long id': filled('{"jsonrpc":"2.0","id":"', 'i', '","method":"ping","params":{}}'),
  'a long method': filled('{"jsonrpc":"2.0","id":1,"method":"', 'm', '","params":{}}'),
  'a long tool': rpc('tools/call', filled('{"name":"', 't', '","arguments":{}}')),
  'a long address': rpc('resources/read', filled('{"uri":"dataset://', 'u', '"}')),
  'a wide note': rpc('tools/list', `{"_meta":{"a":[${Array(50_000).fill('1').join()}]}}`),
}

/** Query strings of nearly 32 KiB. */
const queries: Readonly<Record<string, string>> = {
  'many filters': 'id=eq.a1&'.repeat(3500),
  'many parameters': Array.from({ length: 6000 }, (_, index) => `p${index}`).join('&'),
  'many empty parameters': '&'.repeat(32_000),
  'many names': `select=${'id,'.repeat(10_000)}id`,
  'many values': `id=in.${'a,'.repeat(15_000)}a`,
  'many quotes': `id=in.${'"'.repeat(32_000)}`,
  'many backslashes': `id=in."${'\\'.repeat(31_999)}`,
  'many percents': `id=eq.${'%25'.repeat(10_500)}%`,
  'encoded letters': `id=eq.${'%D0%96'.repeat(5200)}`,
  'many stars': `id=like.${'*'.repeat(32_000)}`,
  'many digits': `2110=eq.${'9'.repeat(32_000)}`,
  'a long column': `${'c'.repeat(32_000)}=eq.1`,
  'a long operator': `id=${'o'.repeat(32_000)}.1`,
  'a long cursor': `cursor=${'A'.repeat(32_000)}`,
}

function rpc(method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
}

const post = (url: string, body: string): InjectOptions => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body,
})

/** Requests made to hold the event loop, to every door, each within 1 MiB and 32 KiB. */
export const hostileRequests: readonly HostileRequest[] = [
  ...Object.entries({ ...questions, ...bodies }).map(
    ([name, body]) => [`POST ${name}`, post('/v1/things/query', body)] as const,
  ),
  ...Object.entries(questions).map(([name, question]) => {
    const args = `{"resource":"things",${question.slice(1)}`
    const body = rpc('tools/call', `{"name":"query","arguments":${args}}`)
    return [`MCP ${name}`, post('/mcp', body)] as const
  }),
  ...Object.entries({ ...bodies, ...messages }).map(
    ([name, body]) => [`MCP ${name}`, post('/mcp', body)] as const,
  ),
  ...Object.entries(queries).map(
    ([name, query]) => [`GET ${name}`, { url: `/v1/things?${query}` }] as const,
  ),
]
