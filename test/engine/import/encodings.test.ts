import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { fileBytes } from '../../../src/versions/tables/file-text.js'
import { recognizeEncoding } from '../../../src/versions/tables/recognize-encoding.js'
import { TableError } from '../../../src/versions/tables/table.js'
import { importFile, readTexts, refusalOf } from '../fixtures/imported.js'
import { runs } from '../../support/runs.js'

// Guarantee: what is imported without --encoding is the text that was written, or it is refused.

const russian = ['windows-1251', 'koi8-r', 'x-mac-cyrillic', 'ibm866', 'iso-8859-5'] as const

/** The bytes of a text in an encoding of one byte a letter; letters that it lacks become `?`. */
function bytesIn(encoding: string, text: string): Uint8Array {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const letters = [...new TextDecoder(encoding).decode(bytes)]
  const byLetter = new Map(letters.map((letter, byte) => [letter, byte]))
  return Uint8Array.from([...text], (letter) => byLetter.get(letter) ?? 63)
}

function textIn(encoding: string, text: string): string {
  return new TextDecoder(encoding).decode(bytesIn(encoding, text))
}

const texts = {
  companies:
    'ООО «Ромашка»;Общество с ограниченной ответственностью\nАО "Ёжик";Акционерное общество\n' +
    'ИП Щербаков Ю. Ж.;Индивидуальный предприниматель\nФГУП НИИ "Точмаш";Предприятие\n',
  places:
    'г. Санкт-Петербург;ул. Большая Пушкарская, д. 5\nг. Йошкар-Ола;пр-т Гагарина, 17\n' +
    'Ханты-Мансийск;мкр. Южный, стр. 3\nпос. Эльбан;пер. Цветочный\n',
  goods:
    'молоко пастеризованное 3,2 %;шт.\nхлеб ржаной;кг\nкабель ВВГнг-LS 3х2,5;м\n' +
    'щебень гранитный 20–40;т\nобъектив съёмочный;шт.\n',
  capitals: 'ГАЗПРОМ;МОСКВА\nРОССИЙСКИЕ ЖЕЛЕЗНЫЕ ДОРОГИ;МОСКВА\nУРАЛЬСКАЯ СТАЛЬ;НОВОТРОИЦК\n',
  prose:
    'Все счастливые семьи похожи друг на друга;1\nкаждая несчастливая семья несчастлива по-своему;2\n' +
    'Я вас любил: любовь ещё, быть может;3\nв душе моей угасла не совсем;4\n',
} as const

/** The text as it is read; null if its encoding is not certain. */
async function readText(folder: string, bytes: Uint8Array): Promise<string | null> {
  const path = join(folder, 'a.csv')
  // Some file systems wait for the disk where a file is cut before it is written.
  rmSync(path, { force: true })
  writeFileSync(path, bytes)
  try {
    return new TextDecoder(await recognizeEncoding(() => fileBytes(path), 'a.csv')).decode(bytes)
  } catch (cause) {
    if (cause instanceof TableError) return null
    throw cause
  }
}

await t.test('Russian in any of its encodings is read as it was written', async (t) => {
  const folder = t.testdir({})
  for (const encoding of russian) {
    for (const [name, text] of Object.entries(texts)) {
      for (const lineBreak of ['\n', '\r\n']) {
        const content = `название;описание\n${text}`.replaceAll('\n', lineBreak)
        const wanted = textIn(encoding, content)
        t.equal(
          await readText(folder, bytesIn(encoding, content)),
          wanted,
          `${name} in ${encoding}`,
        )
      }
    }
    const read = await importFile(folder, 'a.csv', bytesIn(encoding, `код;имя\n${texts.capitals}`))
    t.match(read, { table: { encoding }, names: ['код', 'имя'] })
    t.same(read.rows[0], ['ГАЗПРОМ', 'МОСКВА'])
  }
})

await t.test(
  'short words that are valid UTF-8 by chance are not letters of other scripts',
  async (t) => {
    const folder = t.testdir({})
    for (const word of ['ржи', 'тип']) {
      const bytes = bytesIn('ibm866', `id;name\n1;${word}\n`)
      t.doesNotThrow(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes))
      t.equal(await readText(folder, bytes), null, word)
    }
    for (const text of [
      '«x»',
      'é',
      'à la',
      'ü',
      '№ 5',
      '—',
      '€',
      '10 °C',
      'я',
      'ЧП',
      '日本',
      'தமிழ்',
      'हिन्दी',
    ]) {
      const content = `id;name\n1;${text}\n`
      t.equal(await readText(folder, Buffer.from(content)), content)
    }
  },
)

await t.test('a long text that begins in ASCII, and a word at its end', async (t) => {
  const folder = t.testdir({})
  // More than is read at once.
  const lines = Array.from({ length: 20_000 }, (_, index) => `${index},item ${index},ok`)
  for (const encoding of russian) {
    const content = `id,name,note\n${lines.join('\n')}\n20000,Ростовская область,конец\n`
    const { table, rows } = await readTexts(folder, 'a.csv', bytesIn(encoding, content))
    t.equal(table.encoding, encoding)
    t.same(rows.at(-1)?.slice(1), ['Ростовская область', 'конец'])
  }
})

await t.test('of any words in any encoding, none is read wrong', async (t) => {
  const folder = t.testdir({})
  const dictionary = readFileSync('data/dictionaries/okved2.csv', 'utf8').match(/[А-Яа-яЁё-]{2,}/g)
  const names = ['Юрий', 'Юлия', 'Южный', 'Эдуард', 'Эльза', 'Яна', 'Ёлка', 'ёж', 'Щука', 'объём']
  const words = [...new Set(dictionary), ...names]
  const styles = [
    (word: string) => word,
    (word: string) => word.toUpperCase(),
    (word: string) => (word[0]?.toUpperCase() ?? '') + word.slice(1),
    (word: string) => `${word} 5 mm`,
    (word: string) => `«${word}»`,
  ]
  const cells = fc
    .tuple(fc.constantFrom(...words), fc.constantFrom(...styles))
    .map(([word, style]) => style(word))
  const times = fc.constantFrom(1, 1, 1, 9)
  const tables = fc
    .array(fc.tuple(cells, times), { minLength: 1, maxLength: 12 })
    .map((all) => all.flatMap(([cell, count]) => Array.from({ length: count }, () => cell)))
  const counts = { read: 0, refused: 0 }
  const check = async (table: readonly string[], encoding: string) => {
    const content = `id;name\n${table.map((cell, index) => `${index};${cell}\n`).join('')}`
    const read = await readText(folder, bytesIn(encoding, content))
    if (read === null) counts.refused += 1
    else counts.read += 1
    const wanted = textIn(encoding, content)
    if (read !== null && read !== wanted) throw new Error(`${wanted} became ${read}`)
  }
  await fc.assert(fc.asyncProperty(tables, fc.constantFrom(...russian), check), {
    numRuns: runs(250),
  })
  t.ok(counts.read > 150, `${counts.read} read, ${counts.refused} refused`)
})

await t.test('other languages are refused with the text in each encoding', async (t) => {
  const folder = t.testdir({})
  const others: readonly (readonly [encoding: string, text: string])[] = [
    [
      'windows-1252',
      'name;city\nRené;Orléans\nMüller;Köln\nÅsa;Malmö\nJosé;Málaga\nFrançois;Angoulême\n',
    ],
    ['windows-1252', 'nom;place\nBord à bord;à côté\nà la carte;là\nà deux;où\n'],
    ['windows-1250', 'jméno;město\nŘehoř;Plzeň\nŠťastný;Příbram\nŽižka;Třebíč\nŁukasz;Łódź\n'],
    ['windows-1253', 'όνομα;πόλη\nΓιώργος;Θεσσαλονίκη\nΕλένη;Αθήνα\nΔημήτρης;Πάτρα\nτης;και\n'],
    ['windows-1254', 'ad;şehir\nŞükrü;İstanbul\nÇağla;Eskişehir\nGülşah;Muğla\n'],
    ['windows-1255', 'שם;עיר\nדוד;ירושלים\nשרה;תל אביב\nמשה;חיפה\n'],
    ['windows-1256', 'اسم;مدينة\nمحمد;القاهرة\nفاطمة;بغداد\nعلي;دمشق\n'],
  ]
  for (const [encoding, text] of others) {
    const refusal = await refusalOf(folder, 'a.csv', bytesIn(encoding, text))
    t.match(refusal, /^error: the encoding of a\.csv is not certain/, encoding)
    t.match(refusal, /\n {2}windows-1252: "[^\n]*\n/)
    t.notMatch(refusal, /[\x80-\x9f]/, 'no control character reaches the terminal')
    const { names, rows } = await importFile(folder, 'a.csv', bytesIn(encoding, text), { encoding })
    t.same([names, ...rows].map((cells) => cells.join(';')).join('\n') + '\n', text)
  }
  const asian: readonly (readonly [encoding: string, hex: string])[] = [
    [
      'shift_jis',
      '96bc914f3b8f5a8f8a0a93638b6087593b938c8b9e93730a97e996d889d48e713b91e58de3957b0a',
    ],
    ['gbk', 'c3fbd7d63bb3c7cad00ad5c5cefbb3c93bb1b1bea9cad00ac0eed0a1c0bc3bc9cfbaa3cad00a'],
    ['euc-kr', 'c0cca7a73bb5b5bdc30ab1e8c3b6bcf63bbcadbfefc6afbab0bdc30a'],
  ]
  for (const [encoding, hex] of asian) {
    t.match(await refusalOf(folder, 'a.csv', Buffer.from(hex, 'hex')), 'not certain', encoding)
  }
})

await t.test('UTF-16 is seen without a mark, of Latin and of Cyrillic letters', async (t) => {
  const folder = t.testdir({})
  const contents = ['id;name\n1;René\n2;Zoë\n', 'код;имя\n1;Анна Щербакова\n2;Ёж — «№ 1»\n']
  for (const content of contents) {
    for (const encoding of ['utf-16le', 'utf-16be']) {
      const bytes = Buffer.from(content, 'utf16le')
      if (encoding === 'utf-16be') bytes.swap16()
      const { table, rows } = await importFile(folder, 'a.csv', bytes)
      t.equal(table.encoding, encoding)
      t.same(rows, (await importFile(folder, 'b.csv', content)).rows)
    }
  }
})

await t.test('a few bytes that are not UTF-8 are bad lines, wherever they are', async (t) => {
  const folder = t.testdir({})
  const lines = Array.from({ length: 5000 }, (_, index) => `${index};Красноярский край`)
  for (const at of [1, 2500, 4998]) {
    const good = [...lines.slice(0, at), ...lines.slice(at + 1)]
    const content = Buffer.from(`id;name\n${good.join('\n')}\n`)
    const place = content.indexOf(`\n${good[at]}`) + 1
    const cut = Buffer.concat([
      content.subarray(0, place),
      Buffer.from('7;\xcd\xee\n', 'latin1'),
      content.subarray(place),
    ])
    t.match(await refusalOf(folder, 'a.csv', cut), `line ${at + 2}: bytes that are not utf-8: "7 `)
  }
  const { rows } = await importFile(folder, 'a.csv', 'id;name\n1;a\ufffdb\n')
  t.same(rows, [['1', 'a\ufffdb']], 'a file that has the replacement character itself is whole')
})
