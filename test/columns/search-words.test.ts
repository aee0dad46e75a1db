import fc from 'fast-check'
import t from 'tap'
import { filterPredicates } from '../../src/columns/predicate.js'
import { foldCharacter, foldText, hasWords } from '../../src/columns/search-words.js'
import { passes, scalar } from './fixtures/predicate-model.js'

const text = scalar('VARCHAR')
const has = (words: string, value: string | null) => passes(text, 'contains', [words], value)
const anyText = fc.string({ unit: 'binary', maxLength: 6 })

const everyCharacter = Array.from({ length: 0x11_0000 }, (_, point) => point).flatMap((point) =>
  point >= 0xd800 && point <= 0xdfff ? [] : String.fromCodePoint(point),
)

await t.test('two characters are equal as in Unicode, and ё is е, İ and ı are i', (t) => {
  const beyond: string[] = []
  for (const character of everyCharacter) {
    const folded = foldCharacter(character)
    if (Array.from(folded).length !== 1) t.fail(`${character} becomes several characters`)
    if (foldCharacter(folded) !== folded) t.fail(`${character} is folded in two steps`)
    if (folded === character) continue
    // The `i` flag is Unicode's simple case folding, of a table of its own.
    if (!new RegExp(folded, 'iu').test(character)) beyond.push(character)
  }
  t.same(beyond, ['İ', 'ı', 'Ё', 'ё'])
  t.end()
})

await t.test('no equal pair of Unicode is missed, except three of unusual letters', (t) => {
  const cased = everyCharacter.filter((each) => /\p{Changes_When_Casemapped}/u.test(each))
  const all = cased.join('')
  const missed = [...new Set(cased.map(foldCharacter))].flatMap((each) =>
    Array.from(all.matchAll(new RegExp(each, 'giu')), ([other]) => [each, other])
      .filter(([left = '', right = '']) => foldCharacter(left) !== foldCharacter(right))
      .map((pair) => pair.sort().join('')),
  )
  // Both letters of a pair find the other.
  t.same([...new Set(missed)], ['\u0390\u1fd3', '\u03b0\u1fe3', '\ufb05\ufb06'])
  t.end()
})

await t.test('contains finds all words anywhere, in any order and case', (t) => {
  const name = 'Публичное акционерное общество "Аэрофлот — Российские авиалинии"'
  t.equal(has('аэрофлот', name), true)
  t.equal(has('АЭРОФЛОТ', name), true)
  t.equal(has('авиа АЭРО', name), true)
  t.equal(has(' \u00a0авиа\n\tаэро  ', name), true, 'any white space separates')
  t.equal(has('аэро вокзал', name), false, 'every word is needed')
  t.equal(has('семен', 'Семёнов'), true)
  t.equal(has('СЕМЁН', 'семенов'), true)
  t.equal(has('οδος', 'ΟΔΌΣ ΟΔΟΣ'), true, 'a final sigma is a sigma')
  t.equal(has('strasse', 'Straße'), false, 'ß is one letter')
  t.equal(has('STRAẞE', 'Straße'), true)
  t.equal(has('istanbul', 'İSTANBUL'), true)
  t.equal(has('й', 'и\u0306'), false, 'a combining mark is a character')
  t.equal(has('и', 'и\u0306'), true)
  t.equal(has('x', null), false)
  t.end()
})

await t.test('no character but white space has a meaning', (t) => {
  for (const letter of '*%_\\.^$()[]{}|?+-"\',#&\u0000') {
    t.equal(has(letter, `a${letter}b`), true, letter)
    t.equal(has(`a${letter}`, 'ab'), false, letter)
  }
  t.end()
})

await t.test('a text has every part of itself, in either case', (t) => {
  const isWord = (part: string) => /\S/.test(part)
  fc.assert(
    fc.property(anyText, anyText.filter(isWord), anyText, (before, part, after) => {
      const whole = before + part + after
      return has(part, whole) && has(foldText(part), whole) && has(part, foldText(whole))
    }),
    { numRuns: 2000 },
  )
  fc.assert(
    fc.property(anyText, fc.array(anyText.filter(isWord), { minLength: 1 }), (value, words) => {
      const each = words.flatMap((word) => word.split(/\s+/).filter(Boolean))
      return has(words.join(' '), value) === each.every((word) => hasWords(value, [foldText(word)]))
    }),
    { numRuns: 1000 },
  )
  t.end()
})

await t.test('an empty or very long search is refused', (t) => {
  for (const nothing of ['', ' ', '\u00a0\n']) {
    t.throws(() => filterPredicates(text, 'contains', [nothing]), {
      code: 'bad_request',
      detail: 'contains on "x" needs at least one word. Example: x=contains.word',
    })
  }
  t.throws(() => filterPredicates(text, 'contains', ['я'.repeat(1001)]), {
    code: 'bad_request',
    detail: 'contains on "x" takes at most 1000 characters; this has 1001.',
  })
  t.equal(filterPredicates(text, 'contains', ['я '.repeat(500)]).length, 1, 'each word once')
  t.end()
})
