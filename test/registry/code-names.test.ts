import t from 'tap'
import { parseCodeLabels } from '../../src/registry/code-names.js'
import { datasetOf, makeCatalogFolder, versionOf } from '../catalog/live/fixtures/catalog-folder.js'

await t.test('codes have names in two languages; one that has one name has it in both', (t) => {
  const { plain, russian } = parseCodeLabels(
    '\ufeffcode,section,name,name_ru\r\n01,A,Farming,Растениеводство\r\n62.0,J,,"Разработка, ПО"\r\n' +
      '63,J,Information,\r\n',
  )
  t.same(Object.fromEntries(plain.names), {
    '01': 'Farming',
    '62.0': 'Разработка, ПО',
    63: 'Information',
  })
  t.same(Object.fromEntries(russian.names), {
    '01': 'Растениеводство',
    '62.0': 'Разработка, ПО',
    63: 'Information',
  })
  t.not(plain.digest, russian.digest)
  const names = 'code,name\n01,Farming\n62.0,"Разработка, ПО"\n63,Information'
  t.equal(parseCodeLabels(names).plain.digest, plain.digest)
  t.equal(parseCodeLabels(names).russian.digest, plain.digest)
  t.not(parseCodeLabels('code,name\n01,Farming').plain.digest, plain.digest)
  const { plain: same } = parseCodeLabels('code,name_ru\n01,Сельское хозяйство')
  t.same([...same.names], [['01', 'Сельское хозяйство']])
  t.end()
})

await t.test('a mistake in a file of names is reported with its line', (t) => {
  const cases = [
    ['kod,name\n01,x', 'the header row has no "code". Did you mean "kod"?'],
    ['code,title\n01,x', 'the header row has no "name" and no "name_ru"'],
    ['code,name\n01,x\n01,y', 'line 3: "01" is listed twice'],
    ['code,name\n,x', 'line 2 has no code'],
    ['code,name\n01,x\n02,', 'line 3: "02" has no name'],
  ] as const
  for (const [text, message] of cases) t.throws(() => parseCodeLabels(text), { message }, text)
  t.end()
})

await t.test(
  'a column of codes has levels and labels, a text column may be searched',
  async (t) => {
    const fixture = await makeCatalogFolder(t, {
      files: { 'data/1.parquet': "SELECT '62.01' AS act, 16 AS kind, [1] AS tags, 'x' AS other" },
      texts: { 'okved.csv': 'code,name\n62,IT', 'kinds.csv': 'code,name\n16,Private' },
    })
    const open = async (columns: string) => {
      fixture.writeRegistry(`    columns:\n      ${columns}`)
      return await fixture.open()
    }
    const catalog = await open(
      'act: {name: okved, levels: {group: {chars: 5, label: {en: Group, ru: Группа}}, class: 2}, ' +
        'labels: okved.csv}\n      kind: {labels: kinds.csv}',
    )
    const [okved, kind, , other] = versionOf(catalog).columns
    t.same(okved?.levels, [
      { name: 'class', label: null, russian: { label: null }, length: 2 },
      { name: 'group', label: 'Group', russian: { label: 'Группа' }, length: 5 },
    ])
    t.equal(okved?.labels?.plain.names.get('62'), 'IT')
    t.equal(kind?.labels?.plain.names.get('16'), 'Private')
    t.match(other, { levels: [], labels: null })
    const reasonOf = async (columns: string) => datasetOf(await open(columns)).reason
    t.equal(
      await reasonOf('kind: {levels: {class: 1}}'),
      'registry.yaml:6:14: levels are for codes in a text column; "kind" is integer',
    )
    t.match(await reasonOf('tags: {labels: kinds.csv}'), /rows can't be grouped by "tags" \(json\)/)
    t.equal(
      await reasonOf('kind: {search: true}'),
      'registry.yaml:6:14: search is for text columns; "kind" is integer',
    )
    const marked = await open('act: {search: true}\n      other: {search: true, hidden: true}')
    t.same(
      versionOf(marked).columns.map(({ searched }) => searched),
      [true, false, false, false],
      'callers can not search a hidden column',
    )
    t.equal(
      await reasonOf('act: {labels: no.csv}'),
      'registry.yaml:6:13: labels no.csv: is not there',
    )
    const refused = (columns: string, message: RegExp) =>
      t.rejects(open(columns), { name: 'RegistryError', message })
    await refused('act: {levels: {class: 0}}', /whole number of characters, 1 to 100/)
    await refused('act: {levels: {a: 2, b: 2}}', /a has the same length; keep one/)
    await refused('act: {levels: {a: 2, b: {chars: 2}}}', /a has the same length; keep one/)
    await refused('act: {levels: {a: {chars: 2, name: A}}}', /levels\.a\.name: unknown key/)
    await refused('act: {levels: {a: {chars: 2, column: b}}}', /needs one of chars and column/)
    await refused('act: {levels: {a: {label: A}}}', /needs one of chars and column/)
    await refused('act: {levels: {A b: 2}}', /a level name must be 1 to 32 of a-z/)
    await refused(
      'act: {levels: {section: part}}',
      /levels\.section: needs the file with the column part: add "labels: <file>"/,
    )
    await refused(
      'act: {levels: {a: part, b: part}, labels: okved.csv}',
      /a has the same column; keep one/,
    )
    t.match(
      await reasonOf('act: {levels: {section: part}, labels: okved.csv}'),
      /labels okved\.csv: the header row has no "part"/,
    )
  },
)
