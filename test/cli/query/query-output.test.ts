import t from 'tap'
import { rowFormat } from '../../../src/cli/query/query-output.js'
import type { ServedColumns } from '../../../src/cli/query/query-output.js'
import { textsOf } from '../../../src/row-texts.js'

const served: ServedColumns = [
  { name: 'a', type: 'integer' },
  { name: 'new', type: 'string' },
  { name: 'b', type: 'json' },
]

await t.test('the names and cells of a row are its JSON texts, digit for digit', (t) => {
  const row = '{"2110":12345678901234567.10,"a":"x,\\"y\\\\","b":{"c":["}",1]},"n":null}'
  t.same(textsOf(row), {
    names: ['"2110"', '"a"', '"b"', '"n"'],
    cells: ['12345678901234567.10', '"x,\\"y\\\\"', '{"c":["}",1]}', 'null'],
  })
  const long = JSON.stringify(`${'x"'.repeat(6_000_000)}\\`)
  t.ok(textsOf(`{"a":${long},"b":1}`).cells[0] === long, 'also for a very long text')
  t.end()
})

// Guarantee: a value is below its own name, also when the newest version has other columns.
await t.test('the columns of CSV are the columns of the rows', (t) => {
  const writing = rowFormat('csv', ['a', 'new', 'b'], served)
  t.equal(writing.rows([]), '')
  t.equal(writing.rows(['{"a":1,"b":"x"}']), 'a,b\r\n1,"""x"""\r\n', 'JSON is quoted as it is')
  t.equal(writing.rows(['{"a":2,"b":null}']), '2,\r\n')
  t.throws(() => writing.rows(['{"a":1,"new":"","b":[1]}']), /columns changed during the query/)
  t.equal(writing.end(), '')
  t.equal(
    rowFormat('csv', ['a', 'new', 'b'], served).end(),
    'a,new,b\r\n',
    'an answer without rows has a header',
  )
  t.end()
})

await t.test('JSON is one array, also without rows', (t) => {
  const writing = rowFormat('json', ['a'], served)
  t.equal(
    writing.rows(['{"a":1}', '{"a":2}']) + writing.rows(['{"a":3}']) + writing.end(),
    '[\n{"a":1},\n{"a":2},\n{"a":3}\n]\n',
  )
  t.equal(rowFormat('json', ['a'], served).end(), '[\n]\n')
  t.end()
})
