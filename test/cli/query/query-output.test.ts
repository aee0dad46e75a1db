import t from 'tap'
import type { ServedDataset } from '../../../src/cli/query/query-client.js'
import { writingOf } from '../../../src/cli/query/query-output.js'
import { textsOf } from '../../../src/query/row-texts.js'

const facts: ServedDataset = {
  rows: 2,
  limit: { max: 10 },
  columns: [
    { name: 'a', type: 'integer' },
    { name: 'new', type: 'string' },
    { name: 'b', type: 'json' },
  ],
}

await t.test('the names and texts of a row are what stands there', (t) => {
  const row = '{"2110":12345678901234567.10,"a":"x,\\"y\\\\","b":{"c":["}",1]},"n":null}'
  t.same(textsOf(row), {
    names: ['"2110"', '"a"', '"b"', '"n"'],
    cells: ['12345678901234567.10', '"x,\\"y\\\\"', '{"c":["}",1]}', 'null'],
  })
  const long = JSON.stringify(`${'x"'.repeat(6_000_000)}\\`)
  t.ok(textsOf(`{"a":${long},"b":1}`).cells[0] === long, 'however long a text is')
  t.end()
})

// Guarantee: a value stands below its own name, also where the newest version has other columns.
await t.test('the columns of CSV are those that the rows name', (t) => {
  const writing = writingOf('csv', ['a', 'new', 'b'], facts)
  t.equal(writing.rows([]), '')
  t.equal(writing.rows(['{"a":1,"b":"x"}']), 'a,b\r\n1,"""x"""\r\n', 'JSON is told from text')
  t.equal(writing.rows(['{"a":2,"b":null}']), '2,\r\n')
  t.throws(() => writing.rows(['{"a":1,"new":"","b":[1]}']), /columns changed midway/)
  t.equal(writing.end(), '')
  t.equal(writingOf('csv', ['a', 'new', 'b'], facts).end(), 'a,new,b\r\n', 'without rows')
  t.end()
})

await t.test('JSON is one array, of no row too', (t) => {
  const writing = writingOf('json', ['a'], facts)
  t.equal(
    writing.rows(['{"a":1}', '{"a":2}']) + writing.rows(['{"a":3}']) + writing.end(),
    '[\n{"a":1},\n{"a":2},\n{"a":3}\n]\n',
  )
  t.equal(writingOf('json', ['a'], facts).end(), '[\n]\n')
  t.end()
})
