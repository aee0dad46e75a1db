import t from 'tap'
import { importFile, readTexts, refusalOf } from '../fixtures/imported.js'

/** Values of one column → its type, its values as stored, and the reason for text. */
const cases: readonly (readonly [
  values: readonly string[],
  type: string,
  stored: readonly (string | null)[] | null,
  why?: string | RegExp,
])[] = [
  [['1', '-20', '0'], 'integer', null],
  [['999999999999999', '1'], 'integer', null],
  [['1234567890123456', '1'], 'text', null, /more than 15 digits/],
  [['12345678901234567890'], 'text', null, /more than 15 digits/],
  [['007', '1'], 'text', null, 'zeros at the start: 007'],
  [['01.5', '1'], 'text', null, 'zeros at the start: 01.5'],
  [['+7', '8'], 'text', null, 'because of "+7" in line 2'],
  [['1.10', '2', '.53'], 'decimal(18,2)', ['1.10', '2.00', '0.53']],
  [['12345678901234567890.123', '1.5'], 'decimal(38,3)', ['12345678901234567890.123', '1.500']],
  [['1e5', '2.5'], 'double', ['100000.0', '2.5']],
  [['1e-320', '1'], 'double', ['1e-320', '1.0']],
  [['1e400'], 'text', null, 'numbers that no type holds exactly'],
  [['1.23456789012345678e5'], 'text', null, 'numbers that no type holds exactly'],
  [[`0.${'1'.repeat(40)}`], 'text', null, 'numbers that no type holds exactly'],
  [['1,5', '1,234', '7'], 'decimal(18,3)', ['1.500', '1.234', '7.000']],
  [['1,234', '5'], 'text', null, 'does the comma separate thousands?'],
  [['1,5', '1.5'], 'text', null, 'points and commas'],
  [['1,234.56'], 'text', null],
  [['1 234', '5', '6', '7'], 'text', null, 'because of "1 234" in line 2'],
  [['1', '2', 'NULL'], 'text', null, 'because of "NULL" in line 4'],
  [['1', '2', '3', '4', 'NaN', 'n/a'], 'text', null, 'because of "NaN" in line 6 and 1 more'],
  [[' 1', '2 '], 'integer', ['1', '2']],
  [['true', 'FALSE', 'Истина'], 'boolean', ['true', 'false', 'true']],
  [['true', '1'], 'text', null],
  [['2024-02-29', '0001-01-01'], 'date', null],
  [['2023-02-29'], 'text', null],
  [['31.12.2023', '01.02.2024'], 'date', ['2023-12-31', '2024-02-01']],
  [['01.02.2024', '03.04.2024'], 'text', null, /day or the month/],
  [['31.12.2023', '2023-12-31'], 'text', null],
  [['12.31.2023'], 'text', null],
  [
    ['2024-01-02T03:04:05.123456', '2024-01-02 03:04'],
    'timestamp',
    ['2024-01-02 03:04:05.123456', '2024-01-02 03:04:00'],
  ],
  [['2024-01-02', '2024-01-02 03:04'], 'timestamp', ['2024-01-02 00:00:00', '2024-01-02 03:04:00']],
  [['31.12.2023 10:20', '01.02.2024'], 'timestamp', ['2023-12-31 10:20:00', '2024-02-01 00:00:00']],
  [
    ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05+03:00', '2024-01-02 03:04:05.5+0300'],
    'instant',
    ['2024-01-02 03:04:05+00', '2024-01-02 00:04:05+00', '2024-01-02 00:04:05.5+00'],
  ],
  [
    ['31.12.2023 0:00:00', '01.02.2024 9:05:07', '02.02.2024'],
    'timestamp',
    ['2023-12-31 00:00:00', '2024-02-01 09:05:07', '2024-02-02 00:00:00'],
  ],
  [['2024-01-02 9:05:07+03'], 'instant', ['2024-01-02 06:05:07+00']],
  [['2024-01-02 99:05:07'], 'text', null],
  [['2024-01-02T03:04:05.1234567'], 'text', null],
  [['2024-01-02 24:00:00'], 'text', null],
  [['2024-01-02 03:04+03'], 'text', null],
]

await t.test('the type of a column holds every value exactly, or it is text', async (t) => {
  const folder = t.testdir({})
  for (const [values, type, stored, why = null] of cases) {
    const lines = values.map((value) => `"${value}";x`)
    const { shown, rows, table } = await importFile(
      folder,
      'a.csv',
      ['v;w', ...lines, ''].join('\n'),
    )
    t.equal(shown[0], `v ${type}`, values.join(' '))
    t.same(
      rows.map(([value]) => value),
      stored ?? values,
      values.join(' '),
    )
    t.match(table.columns[0]?.why, why, values.join(' '))
  }
})

await t.test('a text with very many spaces is read at once', async (t) => {
  const { shown } = await importFile(t.testdir({}), 'a.csv', `a,b\n 7 , x${' '.repeat(300_000)}y\n`)
  t.same(shown, ['a integer', 'b text'])
})

await t.test('columns with the name of a code are text', async (t) => {
  const folder = t.testdir({})
  const names = ['inn', 'ИНН поставщика', 'regNumber', 'postal_code', 'okved2', 'amount']
  const { shown } = await importFile(folder, 'a.csv', `${names.join()}\n1,2,3,4,5,6\n`)
  t.same(
    shown.map((text) => text.split(' ').pop()),
    ['text', 'text', 'text', 'text', 'text', 'integer'],
  )
})

await t.test('codes with a point stay as they are written, and amounts are numbers', async (t) => {
  const folder = t.testdir({})
  const codes = ['10.1', '10.10', '10.11']
  const table = (name: string, values: readonly string[], at: number) => {
    const rows = values.map((value, row) => (at === 0 ? `${value};${row}x` : `${row}x;${value}`))
    return [at === 0 ? `${name};w` : `w;${name}`, ...rows, ''].join('\n')
  }
  const named = ['Код', 'Код ОКВЭД', 'code', 'itemCode', 'Version', 'Раздел', 'Пункт сметы', 'Счёт']
  for (const name of named) {
    for (const values of [codes, ['10', '10.1', '10.10'], ['62.01', '60.10'], ['1,1', '1,10']]) {
      const { table: read } = await readTexts(folder, 'a.csv', table(name, values, 1))
      t.match(read.columns[1], { name, type: 'text', why: 'codes, by the name of the column' })
    }
  }
  for (const values of [
    codes,
    codes.toReversed(),
    ['2,1', '2,10', '3'],
    ['1.9', '1.100', '1.25'],
  ]) {
    const { shown, rows, table: read } = await importFile(folder, 'a.csv', table('v', values, 0))
    t.equal(shown[0], 'v text', values.join(' '))
    t.match(
      read.columns[0]?.why,
      /^codes\? \d[.,]\d in line \d, \d+[.,]\d+0 in line \d$|^codes\? 10/,
    )
    t.same(
      rows.map(([value]) => value),
      values,
    )
  }
  const amounts: readonly (readonly [readonly string[], string, RegExp | null])[] = [
    [
      ['10.5', '10.50', '7'],
      '2',
      /^10\.5 in line 2, 10\.50 in line 3: zeros at the end are not kept/,
    ],
    [['10,50', '10,5'], '2', /^10,5 in line 3, 10,50 in line 2: /],
    [['10.50', '10.00', '7'], '2', null],
    [['10.0', '10.25', '7.125'], '3', null],
    [['10.5', '10.25'], '2', null],
  ]
  for (const [values, scale, why] of amounts) {
    for (const name of ['Сумма', 'code_amount', 'Стоимость по коду', 'versions_paid', 'v']) {
      const { table: read } = await readTexts(folder, 'a.csv', table(name, values, 1))
      t.match(read.columns[1], { name, type: `decimal(18,${scale})`, why }, values.join(' '))
      t.same(read.doubts, [])
    }
    if (why === null) {
      const { table: read } = await readTexts(folder, 'a.csv', table('v', values, 0))
      t.equal(read.columns[0]?.type, `decimal(18,${scale})`)
    }
  }
  const set = await importFile(folder, 'a.csv', table('v', codes, 0), { types: ['v=decimal'] })
  t.same(set.types[0], 'DECIMAL(18,2)')
})

await t.test('a type can be set, and every value that does not fit is named', async (t) => {
  const folder = t.testdir({})
  const content =
    'a;b;c;d;e;f\n1;1 234,5;01.02.2024;1e3;9223372036854775807;01.02.2024 10:00\n7;2\u00a0000;05.06.2024;0,1;-1;2024-01-01\n'
  const types = ['a=text', 'b=decimal', 'c=date', 'd=double', 'e=integer', 'f=timestamp']
  const { types: stored, rows } = await importFile(folder, 'a.csv', content, { types })
  t.same(stored, ['VARCHAR', 'DECIMAL(18,1)', 'DATE', 'DOUBLE', 'BIGINT', 'TIMESTAMP'])
  t.same(rows, [
    ['1', '1234.5', '2024-02-01', '1000.0', '9223372036854775807', '2024-02-01 10:00:00'],
    ['7', '2000.0', '2024-06-05', '0.1', '-1', '2024-01-01 00:00:00'],
  ])
  const wrong = await refusalOf(folder, 'a.csv', 'a,b\n1.234,x\n1.5,9223372036854775808\n', {
    types: ['a=decimal(4,2)', 'b=integer'],
  })
  t.equal(
    wrong,
    [
      'error: a.csv has 2 bad lines, so nothing was written:',
      '  line 2: "a" is not decimal: "1.234"; "b" is not integer: "x"',
      '  line 3: "b" is not integer: "9223372036854775808"',
    ].join('\n'),
  )
  await t.rejects(
    importFile(folder, 'a.csv', 'abc,x\n1,2\n', { types: ['abd=text'] }),
    /names no column of the file: "abd"\. Did you mean "abc"/,
  )
  await t.rejects(
    importFile(folder, 'a.csv', 'a,x\n1,2\n', { types: ['a=money'] }),
    /--type takes column=TYPE, got "a=money"/,
  )
})
