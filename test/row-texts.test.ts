import fc from 'fast-check'
import t from 'tap'
import { memberText, textsOf } from '../src/row-texts.js'

const names = fc.constantFrom('a', '2110', '9', '__proto__', '"', 'ж', ':', '\\', '[')

await t.test('a row is split into its names and values, as they are written', (t) => {
  const member = fc.tuple(names, fc.oneof(fc.jsonValue(), fc.constant('7.000')), fc.nat(2))
  fc.assert(
    fc.property(fc.array(member), fc.constantFrom('', ' ', '\n'), (members, space) => {
      const keys = members.map(([name]) => JSON.stringify(name))
      const values = members.map(([, value, indent]) => JSON.stringify(value, null, indent))
      const pairs = keys.map((key, at) => `${space}${key}${space}:${space}${values[at]}${space}`)
      t.strictSame(textsOf(`${space}{${pairs.join()}}${space}`), { names: keys, cells: values })
      t.strictSame(textsOf(`[${values.join(`,${space}`)}]`), { names: [], cells: values })
      return true
    }),
  )
  t.strictSame(textsOf('{"10":7.000,"9":-0.0,"10":12345678901234567890}'), {
    names: ['"10"', '"9"', '"10"'],
    cells: ['7.000', '-0.0', '12345678901234567890'],
  })
  for (const none of ['{}', '[]', ' { } ', '"{,:"', '1']) {
    t.strictSame(textsOf(none), { names: [], cells: [] }, none)
  }
  t.end()
})

await t.test('a member is the text that JSON.parse reads', (t) => {
  const object = fc.dictionary(fc.constantFrom('a', 'b', '"', 'ж', ':'), fc.jsonValue(), {
    noNullPrototype: true,
  })
  fc.assert(
    fc.property(
      object,
      fc.constantFrom('a', 'b', '"', 'ж', ':'),
      fc.nat(2),
      (value, key, space) => {
        const text = memberText(JSON.stringify(value, null, space), key)
        return Object.hasOwn(value, key)
          ? JSON.stringify(JSON.parse(text)) === JSON.stringify(value[key])
          : text === ''
      },
    ),
  )
  t.equal(memberText('{"a":1,"b":[{"a":2}],"a":{"c":3}}', 'a'), '{"c":3}', 'the last')
  t.equal(memberText('{"\\u0061":1}', 'a'), '1', 'however it is written')
  t.equal(memberText('["a",{"a":1}]', 'a'), '', 'a list has none')
  t.equal(memberText('"a"', 'a'), '')
  t.end()
})
