import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { encodeAll } from './fixtures/all-types.js'
import type { Encoded } from './fixtures/all-types.js'

// Guarantee: the body is valid JSON for every value of every type, digits exact, whatever the
// process's time zone (contract 1.3). golden/all-types.json has the text of each value.
// `UPDATE_GOLDEN=1 npm test -- test/engine/golden.test.ts` writes that file again: read its diff.

const golden = join('test', 'engine', 'golden', 'all-types.json')

const encoded = await encodeAll()
if (process.env['UPDATE_GOLDEN'] === '1') {
  writeFileSync(golden, `${JSON.stringify(encoded, null, 2)}\n`)
}
const expected = JSON.parse(readFileSync(golden, 'utf8')) as Encoded

await t.test('every value of every type is served as the golden file says', (t) => {
  t.strictSame(encoded, expected)
  t.end()
})

await t.test('every row is JSON, with its keys in the order of the columns', (t) => {
  const { rows, columns, expressions, asText } = encoded
  for (const row of rows) {
    t.strictSame(Object.keys(JSON.parse(row) as object), Object.keys(columns))
  }
  for (const row of Object.values(columns).flat()) t.ok(JSON.parse(row))
  for (const [expression, row] of Object.entries(expressions)) {
    t.hasOwnProp(JSON.parse(row), 'x', expression)
    t.notMatch(row, /\n/, 'one line, as NDJSON needs')
  }
  for (const [expression, row] of Object.entries(asText)) {
    const { x } = JSON.parse(row) as { x: unknown }
    t.ok(x === null || typeof x === 'string', expression)
  }
  t.end()
})

await t.test('a row of all columns is the columns one by one', (t) => {
  for (const [index, row] of encoded.rows.entries()) {
    const alone = Object.values(encoded.columns).map((rows) => rows[index]?.slice(1, -1))
    t.equal(row, `{${alone.join(',')}}`)
  }
  t.end()
})

await t.test('a process in another time zone serves the same', async (t) => {
  const program = new URL('fixtures/encode-process.js', import.meta.url)
  const child = fork(program, { env: { ...process.env, TZ: 'Europe/Moscow' } })
  const [there] = (await once(child, 'message')) as [Encoded]
  t.strictSame(there, expected)
})
