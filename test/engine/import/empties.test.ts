import t from 'tap'
import { importFile } from '../fixtures/imported.js'
import { inline, number, workbook } from '../fixtures/workbook.js'

// Guarantee: a text that means no value is one only where the owner names it.

const csv = 'inn;rev;day\n0261012138;н/д;31.12.2023\n7708004767; 100 ;NA\n7707083893;"NA"; н/д \n'

await t.test('without the option, such a text keeps a column from being a number', async (t) => {
  const { shown, table } = await importFile(t.testdir({}), 'a.csv', csv)
  t.same(shown, ['inn text', 'rev text', 'day text'])
  t.equal(table.rows, 3)
})

await t.test('named texts are empty in every column, quoted or not', async (t) => {
  const options = { empties: ['NA', 'н/д'] }
  const { shown, rows, table } = await importFile(t.testdir({}), 'a.csv', csv, options)
  t.same(shown, ['inn text', 'rev integer', 'day date'])
  t.same(rows, [
    ['0261012138', null, '2023-12-31'],
    ['7708004767', '100', null],
    ['7707083893', null, null],
  ])
  t.same(
    table.columns.map(({ emptyRows }) => emptyRows),
    [0, 2, 2],
  )
})

await t.test('case counts, and so does the rest of the text', async (t) => {
  const content = 'id,a\n1,na\n2,NAN\n3,NA\n'
  const { rows } = await importFile(t.testdir({}), 'a.csv', content, { empties: ['NA'] })
  t.same(rows, [
    ['1', 'na'],
    ['2', 'NAN'],
    ['3', null],
  ])
})

await t.test('a row of such texts alone is a row', async (t) => {
  const content = 'id,a\nNA,NA\n2,5\n'
  const { rows, table } = await importFile(t.testdir({}), 'a.csv', content, { empties: ['NA'] })
  t.same(rows, [
    [null, null],
    ['2', '5'],
  ])
  t.same(table.notes, [])
})

await t.test('names of columns stay, whatever is named', async (t) => {
  const { shown } = await importFile(t.testdir({}), 'a.csv', 'id,NA\n1,NA\n2,3\n', {
    empties: ['NA'],
    hasHeader: true,
  })
  t.same(shown, ['id integer', 'NA integer'])
})

await t.test('the \\N of a dump is empty, and no doubt is left', async (t) => {
  const content = 'id,a\n1,\\N\n2,3\n'
  const { rows, table } = await importFile(t.testdir({}), 'a.csv', content, { empties: ['\\N'] })
  t.same(table.doubts, [])
  t.same(rows, [
    ['1', null],
    ['2', '3'],
  ])
})

await t.test('a stated type holds beside them', async (t) => {
  const { rows } = await importFile(t.testdir({}), 'a.csv', 'id,a\n1,-\n2,1.5\n', {
    empties: ['-'],
    types: ['a=decimal(18,2)'],
  })
  t.same(rows, [
    ['1', null],
    ['2', '1.50'],
  ])
})

await t.test(
  'a sheet: a number column with texts says which, and is a number without',
  async (t) => {
    const cells = (row: number, id: string, value: string) => inline(`A${row}`, id) + value
    const One = [
      inline('A1', 'name') + inline('B1', 'rev'),
      cells(2, 'a', inline('B2', 'н/д')),
      cells(3, 'b', number('B3', '5')),
      cells(4, 'c', number('B4', '6')),
    ]
    const content = workbook({ sheets: { One } })
    const folder = t.testdir({})
    const plain = await importFile(folder, 'a.xlsx', content)
    t.match(plain.table.columns[1], { type: 'text', why: 'because of "н/д" in row 2' })
    const named = await importFile(folder, 'b.xlsx', content, { empties: ['н/д'] })
    t.same(named.shown, ['name text', 'rev integer'])
    t.same(named.rows, [
      ['a', null],
      ['b', '5'],
      ['c', '6'],
    ])
  },
)

await t.test('NDJSON: a text among numbers is empty where it is named', async (t) => {
  const content = '{"id": 1, "rev": "NA"}\n{"id": 2, "rev": 5}\n{"id": 3}\n'
  const folder = t.testdir({})
  t.same((await importFile(folder, 'a.ndjson', content)).shown, ['id integer', 'rev text'])
  const { shown, rows } = await importFile(folder, 'b.ndjson', content, { empties: ['NA'] })
  t.same(shown, ['id integer', 'rev integer'])
  t.same(rows, [
    ['1', null],
    ['2', '5'],
    ['3', null],
  ])
})
