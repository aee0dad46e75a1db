import t from 'tap'
import { readExactRows } from '../../src/portal/browser/question/exact-rows.js'
import { wordsOf } from '../../src/portal/words.js'
import { demoToken, startThings } from '../support/things.js'

await t.test('a page is read with every digit, and columns as they were sent', (t) => {
  const text = `{"data":[
    {"name":"a","2110":9007199254740993,"x":-0.10000000000000000000000000000000000001,"1":null},
    {"name":"q\\"}]{,:\\\\","2110":1e300,"x":[1,{"k":9007199254740993}],"1":{"a":[]},"t":true},
    {}],"next_cursor":"abc"}`
  const rows = readExactRows(text)
  t.same(
    rows.map((row) => [...row].map(([name, { kind, text: value }]) => [name, kind, value])),
    [
      [
        ['name', 'text', 'a'],
        ['2110', 'number', '9007199254740993'],
        ['x', 'number', '-0.10000000000000000000000000000000000001'],
        ['1', 'empty', ''],
      ],
      [
        ['name', 'text', 'q"}]{,:\\'],
        ['2110', 'number', '1e300'],
        ['x', 'json', '[1,{"k":9007199254740993}]'],
        ['1', 'json', '{"a":[]}'],
        ['t', 'boolean', 'true'],
      ],
      [],
    ],
  )
  t.same(readExactRows('{"data":[],"next_cursor":null}'), [])
  t.end()
})

await t.test('a text of many megabytes is read, with any content', (t) => {
  for (const part of ['long ', '\n', '\\', '"', '"\\,']) {
    const text = part.repeat(10_000_000 / part.length)
    const rows = readExactRows(JSON.stringify({ data: [{ text, id: 1 }], next_cursor: null }))
    t.ok(rows[0]?.get('text')?.text === text, JSON.stringify(part))
    t.equal(rows[0]?.get('id')?.text, '1')
  }
  t.end()
})

await t.test('a real page is read as it was sent', async (t) => {
  const world = await startThings(t)
  const { text } = await world.get('/v1/things?select=2110,note,id&limit=2', demoToken)
  const rows = readExactRows(text)
  t.same([...(rows[0]?.keys() ?? [])], ['2110', 'note', 'id'])
  t.equal(rows[0]?.get('id')?.text, 'a1')
})

await t.test('long numbers are set apart and never rounded', (t) => {
  const { digits } = wordsOf('en')
  t.equal(
    digits('12345678901234567890123456789.0100'),
    '12,345,678,901,234,567,890,123,456,789.0100',
  )
  t.equal(digits('-1234567'), '\u22121,234,567')
  t.equal(digits('2019'), '2019')
  t.equal(digits('1e300'), '1e300')
  t.match(wordsOf('ru').digits('1234567.5'), /^1\s234\s567,5$/)
  t.end()
})

await t.test('both languages say everything', (t) => {
  const texts = (language: 'en' | 'ru') => Object.entries(wordsOf(language))
  const same = texts('en').filter(
    ([key, text]) =>
      typeof text === 'string' && texts('ru').some(([k, v]) => k === key && v === text),
  )
  t.same(
    same.map(([key]) => key),
    ['restInterface'],
  )
  t.end()
})
