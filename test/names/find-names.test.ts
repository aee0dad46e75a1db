import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import type { Test } from 'tap'
import type { ServiceError } from '../../src/errors.js'
import { NameIndex } from '../../src/names/find-names.js'
import { writeNameIndex } from '../../src/names/write-names.js'
import type { Alias, NamedEntity } from '../../src/names/write-names.js'
import { testFolder } from '../support/folder.js'

const all = { window: 7, isDemo: false, limit: 10 }

/** Names in order of rank, the first the largest. */
const companies: readonly string[] = [
  'Публичное акционерное общество "Нефтяная компания "ЛУКОЙЛ"',
  'Публичное акционерное общество "Газпром Нефть"',
  'Открытое акционерное общество "Российские железные дороги"',
  'Публичное акционерное общество "Мобильные ТелеСистемы"',
  'ПАО "Северсталь"',
  'ПУБЛИЧНОЕ АКЦИОНЕРНОЕ ОБЩЕСТВО "АЭРОФЛОТ-РОССИЙСКИЕ АВИАЛИНИИ"',
  'ООО "Газпром капитал"',
  'Общество с ограниченной отвественностью "Сергиевское"',
  'ООО "СФО ТБ-17"',
  'ООО "СФО ТБ-71"',
  `ООО "О'Кей"`,
  'ООО "АЛЬФА"',
  'ООО "АЛЬФА ДОН ТРАНС" (ООО "АДТ-Логистика")',
  'Yandex MTS LLC',
  'ООО "СЕЛО ЗЕЛЁНОЕ ХОЛДИНГ"',
  'ООО "А101"',
  'ООО "ЮЖУРАЛЗОЛОТО ГРУППА КОМПАНИЙ"',
  'АО "Московский Завод Резки Металла Прогресс"',
  'ООО "ООО"',
  'Федеральное государственное бюджетное учреждение "Строительная академия"',
]

function entityOf(name: string, at: number): NamedEntity {
  const key = String(7708000000 + at * 101)
  return { key, name, periods: 7, demoPeriods: 0, rank: 1000 - at, facts: `{"at":${at}}` }
}

async function indexOf(
  t: Test,
  entities: Iterable<NamedEntity>,
  aliases: readonly Alias[] = [],
): Promise<NameIndex> {
  const path = join(testFolder(t), 'names.db')
  await writeNameIndex(path, entities, aliases)
  const index = NameIndex.open(path)
  t.teardown(() => index.close())
  return index
}

/** Question, how it matches, and a part of the name of the first company found. */
const questions: readonly (readonly [string, string, string])[] = [
  ['7708000202', 'key', 'железные'],
  ['ПАО ЛУКОЙЛ', 'words', 'ЛУКОЙЛ'],
  ['Лукойл, ПАО', 'words', 'ЛУКОЙЛ'],
  ['нефтяная компания лукойл', 'exact', 'ЛУКОЙЛ'],
  ['НК Лукойл', 'words', 'ЛУКОЙЛ'],
  ['Lukoil PJSC', 'words', 'ЛУКОЙЛ'],
  ['kerjqk', 'words', 'ЛУКОЙЛ'],
  ['ПАО kerjqk', 'words', 'ЛУКОЙЛ'],
  ['РЖД', 'words', 'железные'],
  ['h;l', 'words', 'железные'],
  ['МТС', 'words', 'Теле'],
  ['мобильные телесистемы', 'exact', 'Теле'],
  ['мобильные теле системы', 'exact', 'Теле'],
  ['мобильные те', 'prefix', 'Теле'],
  ['Газпром нефть', 'exact', 'Нефть'],
  ['газпромнефть', 'exact', 'Нефть'],
  ['газпрмнефть', 'typo', 'Нефть'],
  ['Gazprom neft', 'exact', 'Нефть'],
  ['нефть газпром', 'words', 'Нефть'],
  ['ГAЗПPОМ КAПИТAЛ', 'exact', 'капитал'],
  ['север сталь', 'exact', 'Северсталь'],
  ['СевСталь', 'typo', 'Северсталь'],
  ['северст', 'prefix', 'Северсталь'],
  ['аэрафлот', 'typo', 'АЭРОФЛОТ'],
  ['аэорфлот', 'typo', 'АЭРОФЛОТ'],
  ['аэрофлот российские авиа', 'prefix', 'АЭРОФЛОТ'],
  ['Aeroflot', 'prefix', 'АЭРОФЛОТ'],
  ['фукщадще', 'prefix', 'АЭРОФЛОТ'],
  ['аэрафл', 'typo', 'АЭРОФЛОТ'],
  ['Общество с ограниченной ответственностью Сергиевское', 'exact', 'Сергиевское'],
  ['Общеество с ограниченой отвественостью Сергиевское', 'exact', 'Сергиевское'],
  ['OOO Sergievskoye', 'exact', 'Сергиевское'],
  ['Сергеевскае', 'typo', 'Сергиевское'],
  ['ТБ-17', 'words', 'ТБ-17'],
  ['тб71', 'words', 'ТБ-71'],
  ['специализированное финансовое общество тб 17', 'exact', 'ТБ-17'],
  ['окей', 'exact', "О'Кей"],
  ['о кей', 'exact', "О'Кей"],
  ['альфа', 'exact', '"АЛЬФА"'],
  ['альфа-дон-транс', 'exact', 'ДОН'],
  ['адт логистика', 'exact', 'ДОН'],
  ['яндекс', 'prefix', 'Yandex'],
  ['яндекс мтс', 'exact', 'Yandex'],
  ['село зеленое', 'prefix', 'ЗЕЛЁНОЕ'],
  ['Selo Zelenoe', 'prefix', 'ЗЕЛЁНОЕ'],
  ['а 101', 'exact', 'А101'],
  ['завод металла', 'words', 'Резки'],
  ['московскийзаводрезкиметаллапрогресс', 'exact', 'Резки'],
  ['резкиметала', 'typo', 'Резки'],
  ['южурал золото', 'prefix', 'ЗОЛОТО'],
  ['ООО', 'prefix', '"ООО"'],
  ['Сергиевское, О.О.О.', 'exact', 'Сергиевское'],
  ['Selo Zelënoe', 'prefix', 'ЗЕЛЁНОЕ'],
  ['Južuralzoloto', 'prefix', 'ЮЖУРАЛЗОЛОТО'],
  ['cthutdcrjt', 'typo', 'Сергиевское'],
  ['.;ehfkpjkjnf', 'typo', 'ЗОЛОТО'],
  ['moskovskijzavodrezkimetallaprogress', 'exact', 'Резки'],
  ['московскийзаводрескиметаллапрогресс', 'typo', 'Резки'],
  ['Северсталью', 'typo', 'Северсталь'],
  ['академиею', 'typo', 'академия'],
  ['мобильных телесистем', 'typo', 'Теле'],
  ['учреждение академия', 'words', 'академия'],
]

await t.test('people find a company as they write its name', async (t) => {
  const index = await indexOf(t, companies.map(entityOf))
  for (const [q, match, part] of questions) {
    const [first] = index.find({ ...all, q })
    t.equal(first?.match, match, q)
    t.ok(first?.name.includes(part), `${q}: ${first?.name}`)
    t.equal(first?.matched, match === 'key' ? q : first?.name, q)
  }
})

await t.test('no edit touches a digit, and short words have no typos', async (t) => {
  const index = await indexOf(t, companies.map(entityOf))
  for (const q of ['ТБ-18', 'тб 7', '77080002', 'окай', 'сев']) {
    const matches = index.find({ ...all, q }).map(({ match }) => match)
    t.notOk(matches.includes('typo'), q)
  }
  t.same(index.find({ ...all, q: 'СФО ТБ-18' }), [])
  t.same(index.find({ ...all, q: 'бета' }), [])
})

await t.test('words that are longer than any name find nothing, and are not split', async (t) => {
  const index = await indexOf(t, companies.map(entityOf))
  for (const q of ['a'.repeat(300), 'ta'.repeat(150), 'север'.repeat(60)]) {
    t.same(index.find({ ...all, q }), [], q)
  }
})

await t.test('matches come by kind, then by rank, null last, then by key', async (t) => {
  const ranks: readonly [string, string, number | null][] = [
    ['5', 'ООО "Заря"', 1],
    ['4', 'ООО "Заря Плюс"', 7],
    ['3', 'ООО "Заря Строй"', 9],
    ['2', 'ООО "Новая Заря"', 10],
    ['1', 'ООО "Заря"', null],
    ['0', 'ООО "Заря"', null],
  ]
  const index = await indexOf(
    t,
    ranks.map(([key, name, rank]) => ({ ...entityOf(name, 0), key, rank })),
  )
  const found = index.find({ ...all, q: 'заря' })
  t.same(
    found.map(({ key, match, rank }) => `${match} ${key} ${rank}`),
    ['exact 5 1', 'exact 0 null', 'exact 1 null', 'prefix 3 9', 'prefix 4 7', 'words 2 10'],
  )
  t.same(index.find({ ...all, q: 'заря', limit: 4 }), found.slice(0, 4))
})

await t.test('a key comes before the keys that begin with it, those by rank', async (t) => {
  const keys = ['77', '7701', '7702', '78', 'Я1']
  const entities = keys.map((key, at) => ({ ...entityOf('ООО "Заря"', at), key, rank: at }))
  const index = await indexOf(t, entities)
  const keysOf = (q: string) => index.find({ ...all, q }).map(({ key }) => key)
  t.same(keysOf(' 77 '), ['77', '7702', '7701'])
  t.same(keysOf('7'), ['78', '7702', '7701', '77'])
  t.same(keysOf('Я1'), ['Я1'])
  t.same(keysOf('7703'), [])
})

await t.test('only names in the periods and the subset of the caller are found', async (t) => {
  const entity = { ...entityOf('', 0), key: '1' }
  const index = await indexOf(
    t,
    [
      { ...entity, name: 'ООО "Старое имя"', periods: 1, demoPeriods: 0, facts: 'old' },
      { ...entity, name: 'ООО "Новый знак"', periods: 6, demoPeriods: 2, facts: 'new' },
      { ...entity, key: '2', name: 'ООО "Далёкий"', periods: 2 ** 51, demoPeriods: 2 ** 40 },
    ],
    [{ key: '1', alias: 'Кличка' }],
  )
  const find = (q: string, window: number, isDemo = false) =>
    index.find({ q, window, isDemo, limit: 10 }).map(({ name, matched, facts, periods }) => {
      return [name, matched, facts, periods].join('|')
    })
  t.same(find('старое', 7), ['ООО "Новый знак"|ООО "Старое имя"|new|6'], 'a former name')
  t.same(find('старое', 1), ['ООО "Старое имя"|ООО "Старое имя"|old|1'])
  t.same(find('старое', 6), [], 'the former name is not in these periods')
  t.same(find('знак', 1), [], 'nor the new one in those')
  t.same(find('знак', 7, true), ['ООО "Новый знак"|ООО "Новый знак"|new|2'])
  t.same(find('старое', 7, true), [])
  t.same(find('1', 1, true), [], 'keys neither')
  t.same(find('1', 1), ['ООО "Старое имя"|1|old|1'])
  t.same(find('кличка', 1), ['ООО "Старое имя"|Кличка|old|1'])
  t.same(find('кличка', 7), ['ООО "Новый знак"|Кличка|new|6'])
  t.same(find('далекий', 2 ** 51).length, 1)
  t.same(find('далекий', 2 ** 50 + 2 ** 19), [])
  t.same(find('далекий', 2 ** 40, true).length, 1)
  const explained = index.explain({ q: 'старое', window: 6, isDemo: false, limit: 10 })
  t.same(explained.nowhere, ['старое'], 'hidden names are nowhere')
  t.notMatch(JSON.stringify(explained), 'Старое')
})

await t.test('a question that finds nothing is explained', async (t) => {
  const index = await indexOf(t, companies.map(entityOf))
  const explain = (q: string) => index.explain({ ...all, q })
  t.same(explain('Лукойл Зимбабве'), { nowhere: ['Зимбабве'], nearest: [companies[0]] })
  t.same(explain('нефть капитал'), { nowhere: [], nearest: [companies[6]] })
  t.same(explain('ыыыыы'), { nowhere: ['ыыыыы'], nearest: [] })
  t.same(explain('Сиверсоль'), { nowhere: ['Сиверсоль'], nearest: [companies[4]] })
})

await t.test('too long a question, and one without letters, is refused', async (t) => {
  const index = await indexOf(t, companies.map(entityOf))
  const refused: readonly [string, RegExp][] = [
    ['', /letter or a digit/],
    [' "-" ', /letter or a digit/],
    ['а'.repeat(301), /at most 300 letters, it has 301/],
    [Array(25).fill('слово').join(' '), /at most 24 words, it has 25/],
  ]
  for (const [q, detail] of refused) {
    for (const ask of [() => index.find({ ...all, q }), () => index.explain({ ...all, q })]) {
      t.throws(ask, { code: 'bad_request', detail } as unknown as ServiceError)
    }
  }
})

await t.test('the longest questions are answered, however they are made', async (t) => {
  const index = await indexOf(t, companies.map(entityOf))
  const letters = ['а', 'ш', 'ts', 'альфа', 'ао ', 'л ', '1 а', 'российские ', "'", 'ъ', '中']
  for (const part of letters) {
    const q = part.repeat(300).slice(0, 290).split(' ').slice(0, 12).join(' ')
    t.ok(Array.isArray(index.find({ ...all, q: `я${q}` })), part)
  }
})

await t.test('other scripts are found as they are', async (t) => {
  const index = await indexOf(t, ['中国石油', 'Ελλάδα Α.Ε.', 'ТОО "Қазақстан"'].map(entityOf))
  for (const q of ['中国', 'ελλάδα', 'казакстан', 'Kazakstan']) {
    t.equal(index.find({ ...all, q }).length, 1, q)
  }
})

await t.test('an index is never written over a file, and another file is refused', async (t) => {
  const path = join(testFolder(t), 'names.db')
  await writeNameIndex(path, [], [])
  await t.rejects(writeNameIndex(path, [], []), /exists/)
  const empty = NameIndex.open(path)
  t.same(empty.find({ ...all, q: 'лукойл' }), [])
  t.same(empty.explain({ ...all, q: 'лукойл' }), { nowhere: ['лукойл'], nearest: [] })
  empty.close()
  const other = new Database(path)
  other.pragma('user_version = 99')
  other.close()
  t.throws(() => NameIndex.open(path), /format 99/)
  t.throws(() => NameIndex.open(`${path}.none`))
})
