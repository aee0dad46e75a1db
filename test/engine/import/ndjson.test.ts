import t from 'tap'
import { importFile, refusalOf } from '../fixtures/imported.js'

await t.test('keys become columns; numbers keep their digits and texts stay text', async (t) => {
  const folder = t.testdir({})
  const lines = [
    '{"id": 1, "inn": "0261012138", "n": 1.10, "big": 12345678901234567890, "d": "2024-01-31"}',
    '{"n": 1e2, "id": 20, "flag": true, "a, \\"b\\"": null, "tags": ["x", {"y": 1.50}]}',
    '',
    '{"id": null, "n": 0.5, "text": "я\\n\\u044f", "d": "", "o": {"k": "}"} }',
  ]
  const { shown, rows } = await importFile(folder, 'a.ndjson', lines.join('\r\n'))
  t.same(shown, [
    'id integer',
    'inn text',
    'n double',
    'big text',
    'd date',
    'flag boolean',
    'a, "b" text',
    'tags text',
    'text text',
    'o text',
  ])
  t.same(rows[0], [
    '1',
    '0261012138',
    '1.1',
    '12345678901234567890',
    '2024-01-31',
    ...Array(5).fill(null),
  ])
  t.same(rows[1]?.slice(-5), ['true', null, '["x", {"y": 1.50}]', null, null])
  t.same(rows[2]?.slice(-3), [null, 'я\nя', '{"k": "}"}'])
  const digits = await importFile(folder, 'a.jsonl', '{"a": "1"}\n{"a": "2"}\n')
  t.same(digits.shown, ['a text'], 'JSON says that it is text')
})

await t.test('lines that are not one object each are named', async (t) => {
  const folder = t.testdir({})
  const content = '{"a": 1}\n{"a": }\n[1]\n7\n{"a": 1, "a": 2}\n'
  t.equal(
    await refusalOf(folder, 'a.json', content),
    [
      'error: a.json has 4 bad lines, so nothing was written:',
      '  line 2: not valid JSON: "{\\"a\\": }"',
      '  line 3: not an object; write one object in each line (jq -c ".[]" does)',
      '  line 4: not an object',
      '  line 5: a key is used twice',
    ].join('\n'),
  )
  t.match(
    await refusalOf(folder, 'a.ndjson', '{"a": 1, "A": 2}\n'),
    'column 2 has the name of column 1',
  )
  t.match(await refusalOf(folder, 'a.ndjson', '\n{}\n'), 'a.ndjson has no row')
})

await t.test('JSON over several lines is one mistake, with the way to lines', async (t) => {
  const folder = t.testdir({})
  const list = [{ a: 1 }, { a: 2 }]
  const files: readonly (readonly [string, string])[] = [
    [
      JSON.stringify(list, null, 2),
      'not valid JSON: "["; write one object in each line (jq -c ".[]" does)',
    ],
    [
      `\n${JSON.stringify(list)}\n`,
      'not an object; write one object in each line (jq -c ".[]" does)',
    ],
    ['[{"a": 1},\n{"a": 2}]\n', 'not valid JSON: "[{\\"a\\": 1},"; write one object in each line'],
    [
      JSON.stringify(list[0], null, 2),
      'not valid JSON: "{"; write each object in one line (jq -c . does)',
    ],
  ]
  for (const [content, said] of files) {
    const refusal = await refusalOf(folder, 'a.json', content)
    t.match(refusal, 'error: a.json has 1 bad line, so nothing was written:')
    t.match(refusal, said)
  }
})

await t.test('keys that are no names are told as keys', async (t) => {
  const folder = t.testdir({})
  for (const content of ['{"": 1, "b": 2}\n', '{"a": 1}\n{"A": 2}\n']) {
    const refusal = await refusalOf(folder, 'a.ndjson', content)
    t.match(
      refusal,
      /the keys of a\.ndjson can't be names[^]*column \d has [^]*Rename or remove keys\.$/,
    )
    t.notMatch(refusal, /header|row/)
  }
})

await t.test('a line without an end is refused before it takes all memory', async (t) => {
  const folder = t.testdir({})
  const object = `{"a": "${'x'.repeat(9990)}"},`
  const refused = (text: string) => refusalOf(folder, 'a.json', text)
  const over = (line: number, hint = '') =>
    'error: a.json has 1 bad line, so nothing was written:\n' +
    `  line ${line}: over 16000000 characters${hint}; what follows was not read`
  const list = `\n [${object.repeat(1700)}7]\n`
  t.equal(await refused(list), over(2, '; write one object in each line (jq -c ".[]" does)'))
  t.equal(await refused(`{"a": "${object.repeat(1700)}`), over(1))
})
