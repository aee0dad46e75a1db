import fc from 'fast-check'
import t from 'tap'
import {
  callName,
  parseCallBeforeDot,
  parseCalls,
  parseDirectedCalls,
  parseArgument,
} from '../../src/columns/call-text.js'
import { plainOperand } from '../../src/columns/formula.js'

const one = plainOperand

function refusal(text: string): string {
  try {
    parseCalls(text, 'measures')
  } catch (cause) {
    const { code, detail } = cause as { code?: string; detail?: string }
    if (code === 'bad_request') return detail ?? ''
    throw cause
  }
  return ''
}

await t.test('a list has names and functions, with or without a new name', (t) => {
  t.same(parseCalls('year, prefix(okved, 2),revenue:sum(2110),m:avg(2400/2110)', 'x'), [
    { text: 'year', alias: null, name: 'year', operands: null },
    {
      text: 'prefix(okved, 2)',
      alias: null,
      name: 'prefix',
      operands: [[one('okved')], [one('2')]],
    },
    { text: 'sum(2110)', alias: 'revenue', name: 'sum', operands: [[one('2110')]] },
    { text: 'avg(2400/2110)', alias: 'm', name: 'avg', operands: [[one('2400'), one('2110')]] },
  ])
  t.same(parseDirectedCalls('-revenue, - "a,b",year', 'order'), [
    { call: { text: 'revenue', alias: null, name: 'revenue', operands: null }, isDescending: true },
    { call: { text: '"a,b"', alias: null, name: 'a,b', operands: null }, isDescending: true },
    { call: { text: 'year', alias: null, name: 'year', operands: null }, isDescending: false },
  ])
  t.end()
})

await t.test('a name with special characters stands in quotes', (t) => {
  t.match(parseCalls(String.raw`"a,b":ratio("x/y"/"q\"(\\)")`, 'x'), [
    { alias: 'a,b', name: 'ratio', operands: [[one('x/y'), one(String.raw`q"(\)`)]] },
  ])
  const names = fc.string({ minLength: 1, unit: 'grapheme' })
  fc.assert(
    fc.property(fc.array(names, { minLength: 1, maxLength: 4 }), (list) => {
      const calls = list.map((name) => `sum(${callName(name)})`).join(',')
      t.same(
        parseCalls(calls, 'x').map(({ operands }) => operands?.[0]?.[0]?.name),
        list,
      )
      t.same(
        parseCalls(list.map(callName).join(), 'x').map(({ name }) => name),
        list,
      )
      t.same(
        parseArgument(list.map(callName).join('/'))?.map(({ name }) => name),
        list,
      )
    }),
  )
  t.end()
})

await t.test('a name that begins with - is ordered upwards, and downwards after another -', (t) => {
  const [up, down] = parseDirectedCalls(`${callName('-')},-${callName('-a')}`, 'order')
  t.match(up, { call: { name: '-' }, isDescending: false })
  t.match(down, { call: { name: '-a' }, isDescending: true })
  t.end()
})

await t.test('a condition begins with a name up to a dot, or with a function', (t) => {
  const rest = (text: string) => {
    const read = parseCallBeforeDot(text)
    return read && [read.call.name, read.rest]
  }
  t.same(rest('revenue.gt.5.5'), ['revenue', 'gt.5.5'])
  t.same(rest('sum(a.b).gt.5'), ['sum', 'gt.5'])
  t.same(rest('"a.b".lt.x'), ['a.b', 'lt.x'])
  t.same(rest('p90("a).b").lt.'), ['p90', 'lt.'])
  t.equal(rest('count'), undefined)
  t.equal(rest('.gt.5'), undefined)
  t.end()
})

await t.test('what can not be read is refused with the right form', (t) => {
  t.equal(refusal('a,,b'), 'measures has an empty element. Leave the extra comma out.')
  t.equal(refusal('a,'), 'measures has an empty element. Leave the extra comma out.')
  t.match(refusal('sum(a)b'), /^measures: "sum\(a\)b" can't be read\. Write a name or a function/)
  t.equal(refusal('sum(2110'), 'measures: write "sum(2110" as sum(2110)')
  t.equal(refusal('count,sum(a) AS b,c'), 'measures: write "sum(a) AS b" as b:sum(a)')
  t.equal(refusal('sum(a):b'), 'measures: write "sum(a):b" as b:sum(a)')
  for (const text of ['f()', 'a:b:c', '"a', 'sum(a)b', 'a b)', 'sum((a))', '""']) {
    t.match(refusal(text), /can't be read/, text)
  }
  t.equal(
    refusal('sum(2400)/sum(2110),count'),
    'measures: write a quotient of sums as ratio(2400/2110), over the rows that have both.',
  )
  t.match(refusal('a'.repeat(10_001)), /over 10000 characters/)
  t.end()
})
