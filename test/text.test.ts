import t from 'tap'
import { plainText } from '../src/plain-text.js'
import { article, didYouMean, nearestNames, nearestTexts, quoted } from '../src/text.js'

await t.test('up to three similar names are found, nearest first', (t) => {
  const names = ['inn', 'year', 'okved', 'okopf', 'okpo', 'kpp', 'name']
  t.same(nearestNames('innn', names), ['inn'])
  t.same(nearestNames('INN', names), ['inn'], 'case is no difference')
  t.same(nearestNames('yaer', names), ['year'])
  t.same(nearestNames('oked', names)[0], 'okved')
  t.same(nearestNames('okpf', names), ['okopf', 'okpo', 'kpp'])
  t.same(nearestNames('something else', names), [])
  t.same(nearestNames('', names), [])
  t.same(nearestNames('inn', []), [])
  const codes = ['2110', '2120', '2400']
  t.same(nearestNames('2111', codes), ['2110'])
  t.same(nearestNames('2024', codes), [], 'other digits are another number')
  t.end()
})

await t.test('a name that only goes on is near, however far it goes', (t) => {
  t.same(nearestNames('rate', ['token', 'rate_per_minute']), ['rate_per_minute'])
  t.same(nearestNames('operator', ['column', 'op', 'value']), ['op'])
  t.same(nearestNames('is', ['is_null', 'isdistinct', 'eq']), ['is_null', 'isdistinct'])
  t.same(nearestNames('r', ['token', 'rate_per_minute']), [], 'a letter is too little')
  t.end()
})

await t.test('two letters that changed places are one mistake, in short names too', (t) => {
  const names = ['key', 'title', 'pack', 'keep_versions_hours']
  t.same(nearestNames('kye', names), ['key'])
  t.same(nearestNames('ekY', names), ['key'])
  t.same(nearestNames('yek', names), [])
  t.same(nearestNames('ke', names), ['key', 'keep_versions_hours'])
  t.same(nearestNames('pcak', names), ['pack'])
  t.same(nearestNames('ab', ['ba', 'bb', 'cc']), ['ba', 'bb'])
  t.end()
})

await t.test('the closing sentence of an error names them, or is empty', (t) => {
  t.equal(didYouMean('innn', ['inn', 'okfs']), ' Did you mean "inn"?')
  t.equal(didYouMean('ok', ['okpo', 'okved']), ' Did you mean "okpo" or "okved"?')
  t.equal(didYouMean('zzz', ['inn']), '')
  t.end()
})

await t.test('the text of a caller is quoted, cut at 40 letters, and harmless', (t) => {
  t.equal(quoted('a"b\n\0'), '"a\\"b\\n\\u0000"')
  t.equal(quoted('x'.repeat(40)), `"${'x'.repeat(40)}"`)
  t.equal(quoted('x'.repeat(41)), `"${'x'.repeat(40)}…"`)
  t.equal(quoted(`${'x'.repeat(39)}\u{1f600}`), `"${'x'.repeat(39)}\u{1f600}"`)
  t.equal(quoted('\u{1f600}'.repeat(41)), `"${'\u{1f600}'.repeat(40)}…"`, 'no letter is halved')
  t.end()
})

await t.test('an article fits its noun', (t) => {
  t.equal(article('integer'), 'an integer')
  t.equal(article('date'), 'a date')
  t.end()
})

await t.test('texts near a wrong one share its beginning, then its spelling', (t) => {
  const codes = ['01.11', '47.11', '62.01', '62.02', '62.09', '63.11']
  t.same(nearestTexts('62.03', codes, 3), ['62.01', '62.02', '62.09'])
  t.same(nearestTexts('62', codes, 4), ['62.01', '62.02', '62.09', '63.11'])
  t.same(nearestTexts('6', codes, 1), ['62.01'])
  t.same(nearestTexts('9', ['abcdef', 'ab', 'x'], 1), ['x'], 'nothing shared: the fewest edits')
  t.same(nearestTexts('x', [], 5), [])
  t.same(nearestTexts('x', codes, 100).length, codes.length)
  const long = 'a'.repeat(100_000)
  t.same(nearestTexts(`${long}b`, [`${long}c`, 'b', ''], 1), [`${long}c`], 'long ones cost little')
  t.end()
})

await t.test('what acts on a terminal or turns the writing is gone, the words stay', (t) => {
  t.equal(plainText('\u001b[31mred\u001b[0m title'), 'red title')
  t.equal(plainText('two\nlines\tand\u0000more '), 'two lines and more')
  t.equal(plainText('left \u202eright\u202c end\u2066'), 'left  right  end')
  t.equal(
    plainText('Отчётность — «2019–2025», 100 % naïve 日本'),
    'Отчётность — «2019–2025», 100 % naïve 日本',
  )
  t.end()
})

// Guarantee: no suggestion drops a part of an expression.
await t.test('a name is not suggested for an expression or a list of names', (t) => {
  const names = ['2110', '1230', 'inn', 'a,b', 'x/y']
  for (const written of ['2110@2024', '365*1230', 'inn, year', '1230+1', 'inn*']) {
    t.same(nearestNames(written, names), [], written)
  }
  t.same(nearestNames('a,c', names), ['a,b'])
  t.same(nearestNames('x/z', names), ['x/y'])
  t.end()
})
