import fc from 'fast-check'
import t from 'tap'
import {
  exactJsonText,
  keepingDigits,
  parseExactJson,
  parseKeepingDigits,
  requireExactNumbers,
  writtenJson,
} from '../../src/query/exact-json.js'
import { memberText } from '../../src/row-texts.js'

/** A number in whatever way JSON lets it be written. */
const token = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,24}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,24}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?\d{1,3}$/)),
  )
  .map((parts) => parts.join(''))

/** Sign, digits without zeros at the ends, and power of ten: equal for equal numbers. */
function valueOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const short = digits.replace(/0+$/, '')
  if (short === '') return '0'
  const power = Number(exponent) - fraction.length + digits.length - short.length
  return `${sign}${short}e${power}`
}

await t.test('a number is read as itself, or as the text of its digits', (t) => {
  fc.assert(
    fc.property(token, (text) => {
      const read = parseKeepingDigits(`{"x": [${text}]}`) as { x: readonly unknown[] }
      const [value] = read.x
      if (typeof value === 'string') return value === text
      return typeof value === 'number' && valueOf(String(value)) === valueOf(text)
    }),
    { numRuns: 5000 },
  )
  t.same(parseKeepingDigits('[1, -0.5, 1e15, 123456789012345, 0.30000000000000004]'), [
    1,
    -0.5,
    1e15,
    123456789012345,
    '0.30000000000000004',
  ])
  t.end()
})

await t.test('a number is written as it came, and is an equal value', (t) => {
  fc.assert(
    fc.property(fc.array(token), fc.string({ unit: 'binary' }), (numbers, key) => {
      const text = `{${JSON.stringify(key)}:[${numbers.join()}]}`
      const written = exactJsonText({ part: [writtenJson(keepingDigits(text))] })
      const read = JSON.parse(written) as { part: unknown[] }
      t.strictSame(read.part, [parseKeepingDigits(text)])
      const [, list = ''] = /^.*:\[([^\]]*)\]\}\]\}$/s.exec(written) ?? []
      return list.replaceAll('"', '') === numbers.join()
    }),
  )
  const served = '{"a":7.000,"b":[{"c":0.00000099}],"d":-0.0,"e":"7.000","__proto__":1.50}'
  t.equal(exactJsonText([writtenJson(served)]), `[${served}]`)
  const plain = { a: [1, 'x', null, true, { b: undefined }], c: undefined, d: 1e-7, '2': [] }
  t.equal(exactJsonText(plain), JSON.stringify(plain))
  t.end()
})

await t.test('what is read as a text is what a caller must send as one', (t) => {
  fc.assert(
    fc.property(token, (text) => {
      const [value] = parseKeepingDigits(`[${text}]`) as readonly unknown[]
      try {
        parseExactJson(`[${text}]`, 'It')
        return typeof value === 'number'
      } catch {
        return typeof value === 'string'
      }
    }),
    { numRuns: 2000 },
  )
  t.end()
})

await t.test('texts are unchanged, with any content', (t) => {
  const json = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(json, (value) => {
      const text = JSON.stringify(value)
      parseExactJson(text, 'It')
      return JSON.stringify(parseKeepingDigits(text)) === text
    }),
  )
  const tricky = ['12345678901234567890', '"12345678901234567890', '\\', '\\"1e999', '[1e999]']
  t.strictSame(parseKeepingDigits(JSON.stringify(tricky)), tricky)
  t.strictSame(parseKeepingDigits('{"12345678901234567890": 1}'), { '12345678901234567890': 1 })
  t.end()
})

await t.test('in a part of a text only the numbers of that part must be exact', (t) => {
  const text = '{"id": 1732178817123457001, "args": {"list": [1, 12345678901234567890], "n": 2}}'
  const refused = { message: /The number 12345678901234567890 can't/ }
  t.throws(() => requireExactNumbers(memberText(text, 'args')), refused)
  t.doesNotThrow(() => requireExactNumbers(memberText(memberText(text, 'args'), 'n')))
  t.end()
})
