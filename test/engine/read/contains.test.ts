import { LIST, VARCHAR, listValue } from '@duckdb/node-api'
import fc from 'fast-check'
import t from 'tap'
import { foldCharacter, foldText } from '../../../src/columns/search-words.js'
import { casedEnd, wordPattern } from '../../../src/engine/sql/word-pattern.js'
import { withDuckDb } from '../../support/parquet.js'
import { never, openEngine } from '../fixtures/open-engine.js'

// Guarantee: DuckDB finds the texts in which JavaScript finds every word, whatever the letters.

/** Letters with several forms, words that share beginnings, and everything that patterns mean. */
const letter = fc.oneof(
  fc.constantFrom(...'аАеЕёЁиИйЙкКkK\u212asSſßẞσςΣiIıİ0019.*%_\\^$[]()|?+-{}'),
  fc.constantFrom('\u0306', '\u0000', '\ufeff', '\n', '😀', '𐐀', '𐐨', '\u{10ffff}'),
)
const texts = fc.sample(fc.string({ unit: letter, maxLength: 8 }), { seed: 1, numRuns: 400 })
const searches = fc.sample(
  fc.string({ unit: fc.oneof({ weight: 5, arbitrary: letter }, fc.constant(' ')), maxLength: 4 }),
  { seed: 2, numRuns: 200 },
)

function sqlText(text: string): string {
  const letters = [...text].map((each) => `chr(${each.codePointAt(0)})`)
  return letters.length === 0 ? "''" : letters.join(' || ')
}

/** The words as a person reads the documentation, without the code under test. */
function isFound(text: string, search: string): boolean {
  const fold = (each: string) => foldText(each)
  return search
    .split(/\s/)
    .filter(Boolean)
    .every((word) => fold(text).indexOf(fold(word)) >= 0)
}

await t.test('a search finds what JavaScript finds, on every text type', async (t) => {
  const rows = texts.map((text, id) => `(${id}, ${sqlText(text)})`)
  const { version, engine, filter } = await openEngine(t, {
    files: {
      'a.parquet': `SELECT id, text, ['Ёж', 'жук', NULL][1 + id % 3]::ENUM('Ёж', 'жук') AS kind,
          ('abcdef00-0000-0000-0000-' || lpad(id::VARCHAR, 12, '0'))::UUID AS uuid
        FROM (VALUES ${rows.join()}) t(id, text)`,
    },
  })
  const count = (name: string, words: string) =>
    engine.count(version, filter(name, 'contains', words), { signal: never, client: 'a client' })
  let found = 0
  for (const search of searches.filter((each) => /\S/.test(each))) {
    const expected = texts.filter((text) => isFound(text, search)).length
    t.equal(await count('text', search), expected, JSON.stringify(search))
    found += expected
  }
  t.ok(found > 1000, 'most searches find something')
  t.equal(await count('kind', 'ЕЖ'), 134)
  t.equal(await count('kind', 'ж'), 267)
  t.equal(await count('uuid', 'ABCDEF 99'), 4, '99, 199, 299, 399')
  t.equal(await count('text', 'к'.repeat(1000)), 0, 'as long as a word may be')
})

await t.test('a walk over a search is whole and in stored order', async (t) => {
  const { walk, filter } = await openEngine(t, {
    files: {
      'a.parquet': `SELECT i AS id, ['ООО "РОМАШКА"', 'Ромашка и К'][1 + i % 2] || i AS name
        FROM range(5000) t(i)`,
    },
  })
  const rows = await walk(filter('name', 'contains', 'ромашка 77'), 7)
  const ids = rows.map(({ json }) => (JSON.parse(json) as { id: number }).id)
  const expected = Array.from({ length: 5000 }, (_, id) => id).filter((id) => /77/.test(String(id)))
  t.same(ids, expected)
})

await t.test('every form of every letter of Unicode is found by its folded form', async (t) => {
  const forms: string[] = []
  for (let point = 0; point < 0x11_0000; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue
    const character = String.fromCodePoint(point)
    if (foldCharacter(character) === character) continue
    if (point >= casedEnd) t.fail(`${character} has forms and is beyond the table`)
    forms.push(character)
  }
  const patterns = forms.map((form) => wordPattern(foldCharacter(form)))
  const reader = await withDuckDb((connection) =>
    connection.runAndReadAll(
      'SELECT form FROM (SELECT unnest($1) AS form, unnest($2) AS pattern) ' +
        'WHERE regexp_matches(form, pattern) IS NOT TRUE',
      [listValue(forms), listValue(patterns)],
      [LIST(VARCHAR), LIST(VARCHAR)],
    ),
  )
  t.same(reader.getRows(), [])
  t.ok(forms.length > 1400)
})
