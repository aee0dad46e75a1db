import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseDictionary } from '../../src/registry/dictionary.js'
import { datasetOf, makeCatalogFolder, versionOf } from '../catalog/live/fixtures/catalog-folder.js'

const none = { label: null, section: null, unit: null, description: null, nullable: true }

await t.test('a dictionary gives unit, description and nullability of each column', (t) => {
  const dictionary = parseDictionary(
    '\ufeffcolumn,unit,nullable,description,source\r\n' +
      'inn,,false,"Taxpayer number, 10 digits",FNS\r\n\r\n' +
      '2110,thousand RUB,true,"Revenue\nof the year",\r\n' +
      ' year , year ,, Reporting year ,\r\n',
  )
  t.same(Object.fromEntries(dictionary), {
    inn: { ...none, description: 'Taxpayer number, 10 digits', nullable: false, line: 2 },
    2110: { ...none, unit: 'thousand RUB', description: 'Revenue\nof the year', line: 5 },
    year: { ...none, unit: 'year', description: 'Reporting year', line: 6 },
  })
  t.equal(parseDictionary('column\n').size, 0)
  t.equal(parseDictionary('').size, 0)
  t.end()
})

await t.test('a dictionary may have its texts in Russian as well, or alone', (t) => {
  const dictionary = parseDictionary(
    'column,label_en,label_ru,section,section_ru,unit,unit_ru,description,description_ru\n' +
      '2110,Revenue,Выручка,Income,Доходы,thousand RUB,тыс. руб.,Revenue,Выручка\n' +
      'inn,,,,,,,Taxpayer number,\nname,,Имя,Company,,,,,Название\n',
  )
  t.match(Object.fromEntries(dictionary), {
    2110: {
      label: { en: 'Revenue', ru: 'Выручка' },
      section: { en: 'Income', ru: 'Доходы' },
      unit: { en: 'thousand RUB', ru: 'тыс. руб.' },
      description: { en: 'Revenue', ru: 'Выручка' },
    },
    inn: { label: null, section: null, unit: null, description: 'Taxpayer number' },
    name: { label: 'Имя', section: 'Company', description: 'Название' },
  })
  t.end()
})

await t.test('a mistake in a dictionary is reported with its line', (t) => {
  const cases = [
    ['name,unit\ninn,', 'the header row has no "column".'],
    ['colum,unit\ninn,', 'the header row has no "column". Did you mean "colum"?'],
    ['column;unit\ninn;', 'the header row has no "column". Did you mean "column;unit"?'],
    ['column,unit,unit\ninn,,', 'the header row has "unit" twice'],
    ['column,unit\ninn,\nyear,\ninn,', 'line 4: "inn" is listed twice'],
    ['column,unit\n,RUB', 'line 2 has no column name'],
    ['column,nullable\ninn,no', 'line 2: nullable must be true or false, got "no"'],
    [
      `column,label_en\ninn,INN\nname,${'я'.repeat(61)}`,
      'line 3: label_en has 61 characters; at most 60',
    ],
    [
      `column,label_ru\ninn,${'я'.repeat(60)}\nname,${'я'.repeat(70)}`,
      'line 3: label_ru has 70 characters; at most 60',
    ],
    ['column,unit\ninn,a,b', 'Invalid Record Length: columns length is 2, got 3 on line 2'],
    [
      'column,unit\n"inn,a',
      'Quote Not Closed: the parsing is finished with an opening quote at line 2',
    ],
  ] as const
  for (const [text, message] of cases) t.throws(() => parseDictionary(text), { message }, text)
  t.end()
})

await t.test('a dataset with an invalid dictionary is not served', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: { 'data/1.parquet': 'SELECT 1 AS inn, 2 AS year' },
  })
  const reasonWith = async (content: string | Uint8Array | null) => {
    if (content !== null) fixture.write('meta/d.csv', content)
    fixture.writeRegistry('    dictionary: meta/d.csv')
    return datasetOf(await fixture.open()).reason
  }
  const place = 'registry.yaml:5:5: '
  t.equal(await reasonWith(null), `${place}dictionary meta/d.csv: is not there`)
  t.equal(
    await reasonWith('column,unit\ninn,\ninn,'),
    `${place}dictionary meta/d.csv: line 3: "inn" is listed twice`,
  )
  t.equal(
    await reasonWith('column,unit\ninn,\nyaer,year\nnothing,\n'),
    `${place}line 3 of meta/d.csv: the files have no column "yaer". Did you mean "year"?\n` +
      `${place}line 4 of meta/d.csv: the files have no column "nothing".`,
  )
  t.equal(
    await reasonWith(Buffer.from('column,unit\ninn,\xf0\xf3\xe1', 'latin1')),
    `${place}dictionary meta/d.csv: is not UTF-8: save it in that encoding`,
  )
  mkdirSync(join(fixture.folder, 'folder.csv'))
  fixture.writeRegistry('    dictionary: folder.csv')
  t.equal(
    datasetOf(await fixture.open()).reason,
    `${place}dictionary folder.csv: can't be read (EISDIR)`,
  )
  t.equal(await reasonWith('column,unit\ninn,number\n'), null, 'corrected, it is served')
  t.equal(versionOf(await fixture.open()).columns[0]?.unit, 'number')
})

await t.test('a dictionary names columns as the files do, also renamed ones', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: { 'data/1.parquet': 'SELECT 1 AS line_2110' },
    texts: { 'd.csv': 'column,unit\nline_2110,RUB\n' },
    registry: '    dictionary: d.csv\n    columns: {line_2110: {name: "2110"}}',
  })
  t.match(versionOf(await fixture.open()).columns[0], { name: '2110', unit: 'RUB' })
})

await t.test('the registry has the last word on labels and sections', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: { 'data/1.parquet': 'SELECT 1 AS a, 2 AS b' },
    texts: {
      'd.csv':
        'column,label_en,label_ru,section,section_ru\n' +
        'a,Assets,Активы,Balance,Баланс\nb,Bonds,Облигации,Balance,Баланс\n',
    },
    registry: '    dictionary: d.csv\n    columns: {a: {label: {en: All, ru: Всё}, section: Top}}',
  })
  const version = versionOf(await fixture.open())
  t.match(version.columns, [
    { label: 'All', section: 'Top', russian: { label: 'Всё', section: null } },
    { label: 'Bonds', section: 'Balance', russian: { label: 'Облигации', section: 'Баланс' } },
  ])
})
