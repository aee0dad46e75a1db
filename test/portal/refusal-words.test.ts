import t from 'tap'
import { errorCodes } from '../../src/errors.js'
import { languages } from '../../src/portal/language.js'
import { wordsOf } from '../../src/portal/words.js'

await t.test('every error code has words in every language, and no other code', (t) => {
  for (const [language] of languages) {
    const { refusals } = wordsOf(language)
    t.same(Object.keys(refusals).sort(), [...errorCodes].sort(), language)
    for (const [code, text] of Object.entries(refusals)) {
      t.match(text, language === 'ru' ? /^[А-ЯЁ][^a-z]+\.$/ : /^[A-Z][^а-яё]+\.$/, code)
    }
  }
  t.end()
})
