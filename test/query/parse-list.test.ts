import fc from 'fast-check'
import t from 'tap'
import { parseList } from '../../src/query/parse-list.js'

/** How the contract tells callers to write a value in a list. */
function written(value: string): string {
  const needsQuotes = value === '' || /[",\\]/.test(value) || value.startsWith('(')
  return needsQuotes ? `"${value.replace(/["\\]/g, '\\$&')}"` : value
}

function detailOf(text: string): string {
  try {
    parseList(text, 'in')
  } catch (cause) {
    return (cause as { detail: string }).detail
  }
  return ''
}

await t.test('any list of texts, written as the contract says, is read as itself', (t) => {
  const piece = fc.constantFrom(
    '"',
    '\\',
    ',',
    '(',
    ')',
    'a',
    ' ',
    '.',
    '*',
    '\n',
    'я',
    '\u{1f600}',
  )
  const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: piece }))
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1, maxLength: 8 }), (values) => {
      return JSON.stringify(parseList(values.map(written).join(), 'in')) === JSON.stringify(values)
    }),
    { numRuns: 1500 },
  )
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1, maxLength: 8 }), (values) => {
      const quoted = values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`)
      return JSON.stringify(parseList(quoted.join(), 'in')) === JSON.stringify(values)
    }),
    { numRuns: 300 },
  )
  t.end()
})

await t.test('any text is read as a list or refused', (t) => {
  const piece = fc.constantFrom('"', '\\', ',', '(', 'a', ' ')
  fc.assert(
    fc.property(fc.string({ unit: piece, maxLength: 12 }), (text) => {
      try {
        return parseList(text, 'in').length > 0
      } catch (cause) {
        return (cause as { code?: string }).code === 'bad_request'
      }
    }),
    { numRuns: 1500 },
  )
  t.end()
})

await t.test('values are separated by commas and taken unchanged', (t) => {
  t.same(parseList('a', 'in'), ['a'])
  t.same(parseList('a,b,c', 'in'), ['a', 'b', 'c'])
  t.same(parseList(' a , b ', 'in'), [' a ', ' b '], 'nothing is trimmed')
  t.same(parseList('a(b),c)', 'in'), ['a(b)', 'c)'])
  t.same(parseList('""', 'in'), [''])
  t.same(parseList('"",a,""', 'in'), ['', 'a', ''])
  t.same(parseList('"a,b",c', 'in'), ['a,b', 'c'])
  t.same(parseList('"say \\"hi\\"","C:\\\\"', 'in'), ['say "hi"', 'C:\\'])
  t.same(parseList('"(a)"', 'in'), ['(a)'])
  t.end()
})

await t.test('the error for a malformed list names the element and how to write it', (t) => {
  const form = 'write a value that holds a comma, a quote or a backslash as "…" with \\" and \\\\.'
  const empty = 'an empty element is written ""; '
  const bracket =
    'in takes a bare list, a,b,c, without brackets; quote a value that begins with "(".'
  t.equal(detailOf(''), 'in needs at least one value; write "" for the empty text.')
  t.equal(detailOf('a,'), `in: element 2 can't be read; ${empty}${form}`)
  t.equal(detailOf(',a'), `in: element 1 can't be read; ${empty}${form}`)
  t.equal(detailOf('a,,b'), `in: element 2 can't be read; ${empty}${form}`)
  t.equal(detailOf(','), `in: element 1 can't be read; ${empty}${form}`)
  t.equal(detailOf('a"b'), `in: element 1 can't be read; ${form}`)
  t.equal(detailOf('a,b\\'), `in: element 2 can't be read; ${form}`)
  t.equal(detailOf('"a'), `in: element 1 can't be read; ${form}`)
  t.equal(detailOf('"a"b'), `in: element 1 can't be read; ${form}`)
  t.equal(detailOf('"a\\n"'), `in: element 1 can't be read; ${form}`)
  t.equal(detailOf('(a,b)'), bracket)
  t.equal(detailOf('('), bracket)
  t.end()
})

await t.test('a list as long as a URL can carry is read in no time', (t) => {
  t.equal(parseList(Array(8000).fill('a').join(), 'in').length, 8000)
  t.equal(parseList(`"${'\\"'.repeat(8000)}"`, 'in')[0]?.length, 8000)
  t.end()
})
