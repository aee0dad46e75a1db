import fc from 'fast-check'
import t from 'tap'
import { filterPredicates, textAfterPrefix } from '../../src/columns/predicate.js'
import { order, passes, scalar } from './fixtures/predicate-model.js'

const text = scalar('VARCHAR')
const anyText = fc.string({ unit: 'binary', maxLength: 5 })
const fewLetters = fc.string({
  unit: fc.constantFrom('a', 'b', '\u{d7ff}', '\u{e000}', '\uffff', '\u{10000}', '\u{10ffff}'),
  maxLength: 4,
})

await t.test('like with a closing * means "begins with" for all of Unicode', (t) => {
  const beginsWith = (prefix: string, value: string) =>
    passes(text, 'like', [`${prefix}*`], value) === value.startsWith(prefix)
  const noStar = (prefix: string) => !prefix.includes('*')
  fc.assert(fc.property(fewLetters, fewLetters, beginsWith), { numRuns: 1500 })
  fc.assert(fc.property(anyText.filter(noStar), anyText, beginsWith), { numRuns: 500 })
  fc.assert(
    fc.property(anyText.filter(noStar), anyText, (prefix, rest) =>
      beginsWith(prefix, prefix + rest),
    ),
    { numRuns: 500 },
  )
  t.equal(passes(text, 'like', ['a*'], null), false)
  t.equal(passes(text, 'like', ['*'], ''), true, '* alone is every text')
  t.equal(passes(text, 'like', ['*'], null), false)
  t.end()
})

await t.test('texts with a prefix lie between the prefix and the next text', (t) => {
  fc.assert(
    fc.property(fc.oneof(anyText, fewLetters), fc.oneof(anyText, fewLetters), (prefix, value) => {
      const next = textAfterPrefix(prefix)
      const isFrom = order(value, prefix) >= 0
      const isBefore = next === undefined || order(value, next) < 0
      return (isFrom && isBefore) === value.startsWith(prefix)
    }),
    { numRuns: 2000 },
  )
  t.equal(textAfterPrefix('a'), 'b')
  t.equal(textAfterPrefix('a\u{10ffff}'), 'b')
  t.equal(textAfterPrefix('\u{d7ff}'), '\u{e000}', 'no text lies between')
  t.equal(textAfterPrefix('\uffff'), '\u{10000}')
  t.equal(textAfterPrefix('\u{10ffff}\u{10ffff}'), undefined)
  t.equal(textAfterPrefix(''), undefined)
  t.equal(textAfterPrefix('я'.repeat(500_000))?.length, 500_000, 'as long as a body may be')
  t.end()
})

await t.test('in like, %, _ and \\ are ordinary letters, and * is allowed only at the end', (t) => {
  t.equal(passes(text, 'like', ['50%*'], '50% more'), true)
  t.equal(passes(text, 'like', ['50%*'], '500'), false)
  t.equal(passes(text, 'like', ['a_c*'], 'abc'), false)
  t.equal(passes(text, 'like', ['a\\*'], 'a\\b'), true)
  t.equal(passes(text, 'like', ['abc'], 'abc'), true, 'no * is equal')
  t.equal(passes(text, 'like', ['abc'], 'abcd'), false)
  for (const pattern of ['a*b', 'a**', '**', '* *', '*a', '*a*']) {
    t.throws(() => filterPredicates(text, 'like', [pattern]), {
      code: 'bad_request',
      detail:
        'like on "x" takes one * at the end. Example: x=like.text*. ' +
        'For a text that contains *, use eq.',
    })
  }
  t.equal(passes(text, 'eq', ['a*'], 'a*'), true)
  t.end()
})

await t.test('a UUID is equal in either case, and other text equals no UUID', (t) => {
  const column = scalar('UUID')
  const id = '123e4567-e89b-12d3-a456-426614174000'
  const value = BigInt(`0x${id.replaceAll('-', '')}`)
  t.equal(passes(column, 'eq', [id.toUpperCase()], value), true)
  t.equal(passes(column, 'like', [id], value), true)
  t.equal(passes(column, 'like', ['123E4567*'], id), true, 'a prefix is compared with the text')
  t.equal(passes(column, 'eq', ['other'], value), false)
  t.equal(passes(column, 'ne', ['other'], value), true)
  t.equal(passes(column, 'isdistinct', ['other'], null), true)
  t.equal(passes(column, 'in', ['other', id], value), true)
  t.equal(passes(column, 'not_in', ['other'], value), true)
  t.end()
})
