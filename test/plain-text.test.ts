import t from 'tap'
import { plainText, plainTextOrNull } from '../src/catalog/plain-text.js'

await t.test('what acts on a terminal or turns the writing is gone, the words stay', (t) => {
  t.equal(plainText('\u001b[31mred\u001b[0m title'), 'red title')
  t.equal(plainText('two\nlines\tand\u0000more '), 'two lines and more')
  t.equal(plainText('left \u202eright\u202c end\u2066'), 'left  right  end')
  t.equal(
    plainText('Отчётность — «2019–2025», 100 % naïve 日本'),
    'Отчётность — «2019–2025», 100 % naïve 日本',
  )
  t.equal(plainTextOrNull(undefined), null)
  t.equal(plainTextOrNull(null), null)
  t.equal(plainTextOrNull(' a '), 'a')
  t.end()
})
