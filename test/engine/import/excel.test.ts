import { strToU8, zipSync } from 'fflate'
import t from 'tap'
import { importFile, refusalOf } from '../fixtures/imported.js'
import { failed, inline, number, shared, workbook, workbookFiles } from '../fixtures/workbook.js'

const formulaOf = (at: string, formula: string, rest: string, type = '') =>
  `<c r="${at}"${type && ` t="${type}"`}><f>${formula}</f>${rest}</c>`

await t.test('cells have the values that Excel holds', async (t) => {
  const folder = t.testdir({})
  const header = ['inn', 'amount', 'day', 'at', 'ok', 'sum', 'name', 'long']
  const strings = ['<si><t>0261012138</t></si>', '<si><r><t>ООО </t></r><r><t>"Ё"</t></r></si>']
  const One = [
    header.map((name, at) => inline(`${'ABCDEFGH'[at]}1`, name)).join(''),
    shared('A2', 0) +
      number('B2', '12.34') +
      number('C2', '45292', 1) +
      number('D2', '45292.520833333336', 2) +
      '<c r="E2" t="b"><v>1</v></c>' +
      formulaOf('F2', 'B2*2', '<v>24.68</v>') +
      shared('G2', 1) +
      number('H2', '12345678901234567890'),
    '',
    inline('A4', '7708004767') +
      number('B4', '0.1') +
      number('C4', '45657', 1) +
      number('D4', '45292.999988425923', 2) +
      '<c r="E4" t="b"><v>0</v></c>' +
      formulaOf('G4', '"a"&amp;"b"', '<v>ab</v>', 'str'),
  ]
  const content = workbook({ sheets: { One }, strings, formats: [14, 22] })
  const { shown, rows, table } = await importFile(folder, 'a.xlsx', content)
  t.match(table, { sheet: 'One', headerLine: 1, notes: [], doubts: [] })
  t.same(shown, [
    'inn text',
    'amount decimal(18,2)',
    'day date',
    'at timestamp',
    'ok boolean',
    'sum decimal(18,2)',
    'name text',
    'long text',
  ])
  t.same(rows, [
    [
      '0261012138',
      '12.34',
      '2024-01-01',
      '2024-01-01 12:30:00',
      'true',
      '24.68',
      'ООО "Ё"',
      '12345678901234567890',
    ],
    ['7708004767', '0.10', '2024-12-31', '2024-01-01 23:59:59', 'false', null, 'ab', null],
  ])
})

await t.test('XML of other programs means the same', async (t) => {
  const folder = t.testdir({})
  const strings = [
    '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si>',
    '<si><t>a&#128512;&#x1F600;&lt;b&gt;_x000D_\nc</t></si>',
    '<si><t><![CDATA[x < y & z]]></t></si>',
  ]
  const One = [
    '<c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t>b</t></is></c>',
    `<c t="s"><v>0</v></c>${number('B2', 1)}`,
    `${shared('A3', 1)}${number('B3', '2E-3')}`,
    `${shared('A4', 2)}<c r="B4"/>`,
  ]
  const files = workbookFiles({ sheets: { One }, strings })
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
  const prefixed = Object.entries(files).map(([path, xml]) => {
    const isOwn = path.startsWith('xl/') && !path.endsWith('.rels')
    const text = xml
      .replace(/<(\/?)(\w)/g, '<$1x:$2')
      .replace(`xmlns="${main}"`, `xmlns:x="${main}"`)
    return [path, strToU8(isOwn ? text : xml)]
  })
  for (const content of [
    workbook({ sheets: { One }, strings }),
    zipSync(Object.fromEntries(prefixed) as Record<string, Uint8Array>),
  ]) {
    const { rows } = await importFile(folder, 'a.xlsx', content)
    t.same(rows, [
      ['東京', '1.000'],
      ['a😀😀<b>\r\nc', '0.002'],
      ['x < y & z', null],
    ])
  }
})

await t.test('digits that Excel holds as text are text; a sheet can be named', async (t) => {
  const folder = t.testdir({})
  const content = workbook({
    sheets: {
      One: [inline('A1', 'a'), inline('A2', '12')],
      Две: ['', inline('B2', 'b') + inline('C2', 'c'), number('B3', '5') + inline('C3', ' x ')],
    },
  })
  const first = await importFile(folder, 'a.xlsx', content)
  t.same(first.shown, ['a text'])
  t.same(first.table.notes, ['other sheets, not read: "Две"'])
  const second = await importFile(folder, 'a.xlsx', content, { sheet: 'Две' })
  t.same(second.shown, ['b integer', 'c text'])
  t.same(second.rows, [['5', ' x ']])
  t.match(second.table.notes, [/other sheets/, 'columns without a name and a value, left out: 1'])
  t.match(await refusalOf(folder, 'a.xlsx', content, { sheet: 'Три' }), /no sheet "Три"[^]*"One"/)
  t.match(await refusalOf(folder, 'a.xlsx', 'PK not a zip'), "a.xlsx can't be read as a workbook")
})

await t.test('merged cells among the values are not certain', async (t) => {
  const folder = t.testdir({})
  const rows = [
    inline('A1', 'Отчёт'),
    inline('A2', 'a') + inline('B2', 'b'),
    inline('A3', 'x') + number('B3', 1),
    number('B4', 2),
    inline('A5', 'y') + number('B5', 3),
    number('B6', 4),
  ]
  const merged = (...cells: readonly string[]) => workbook({ sheets: { One: rows }, merged: cells })
  const doubts = async (...cells: readonly string[]) =>
    (await importFile(folder, 'a.xlsx', merged(...cells), { skipLines: 1 })).table.doubts
  t.match(await doubts('A3:A4', 'A5:A6'), [
    /^of merged cells only the first has a value: A3:A4, A5:A6; undo/,
  ])
  t.match(await doubts('A1:B1', 'A5:B6'), [/a value: A5:B6; /])
  t.match(await doubts(...Array<string>(7).fill('A3:A4')), [/A3:A4, and 2 more; /])
  t.same(await doubts('A1:B1', 'A2:B2', 'A9:B9'), [])
})

await t.test('values in hidden rows and columns are not certain', async (t) => {
  const folder = t.testdir({})
  const row = (line: number, ...cells: readonly string[]) =>
    cells.map((cell, at) => inline(`${'ABC'[at]}${line}`, cell)).join('')
  const One = [row(1, 'title'), row(2, 'a', 'b', 'c'), row(3, 'x', 'y', 'z'), row(4, 'p', 'q', 'r')]
  const files = workbookFiles({ sheets: { One } })
  const part = 'xl/worksheets/sheet1.xml'
  const doubts = async (columns: string, ...lines: readonly number[]) => {
    const plain = (files[part] ?? '').replace('<sheetData>', `<cols>${columns}</cols><sheetData>`)
    const sheet = lines.reduce(
      (text, line) => text.replace(`<row r="${line}"`, `<row r="${line}" hidden="1"`),
      plain,
    )
    const parts = Object.entries({ ...files, [part]: sheet })
    const content = zipSync(Object.fromEntries(parts.map(([path, text]) => [path, strToU8(text)])))
    return (await importFile(folder, 'a.xlsx', content, { skipLines: 1 })).table.doubts
  }
  const way = 'show what is to be published, and delete the rest'
  t.same(await doubts(''), [])
  t.same(await doubts('<col min="2" max="2"/><col min="4" max="16384" hidden="1"/>', 1), [])
  t.same(await doubts('<col min="2" max="2" hidden="1"/>'), [
    `the sheet hides values in column B; ${way}`,
  ])
  t.same(await doubts('<col min="2" max="9" hidden="true"/>', 4), [
    `the sheet hides values in columns B, C and row 4; ${way}`,
  ])
  t.same(await doubts('', 3, 4), [`the sheet hides values in rows 3, 4; ${way}`])
  const unnamed = async (columns: string, place: string) => {
    const cells = inline('', 'x').replace(' r=""', '').repeat(28)
    const names = Array.from({ length: 28 }, (_, at) => inline('', `n${at}`).replace(' r=""', ''))
    const plain = workbookFiles({ sheets: { One: [names.join(''), cells] } })
    const sheet = plain[part]?.replace('<sheetData>', `<cols>${columns}</cols><sheetData>`) ?? ''
    const parts = Object.entries({ ...plain, [part]: sheet })
    const content = zipSync(Object.fromEntries(parts.map(([path, text]) => [path, strToU8(text)])))
    const { table } = await importFile(folder, 'a.xlsx', content)
    t.same(table.doubts, [`the sheet hides values in ${place}; ${way}`])
  }
  await unnamed('<col min="26" max="28" hidden="1"/>', 'columns Z, AA, AB')
})

await t.test('a table may begin in any column', async (t) => {
  const folder = t.testdir({})
  const rows = [inline('C1', 'a') + inline('D1', 'b'), inline('C2', '7') + number('D2', 5)]
  const read = await importFile(folder, 'a.xlsx', workbook({ sheets: { One: rows } }))
  t.same(read.shown, ['a text', 'b integer'])
  t.same(read.rows, [['7', '5']])
  t.same(read.table.notes, ['columns without a name and a value, left out: 2'])
})

await t.test('the first visible sheet is read, a hidden one by its name', async (t) => {
  const folder = t.testdir({})
  const sheets = {
    secret: [inline('A1', 'pin'), inline('A2', '1234')],
    lists: [inline('A1', 'x'), inline('A2', 'y')],
    data: [inline('A1', 'name'), inline('A2', 'z')],
    more: [inline('A1', 'more'), inline('A2', 'z')],
  }
  const states = { secret: 'hidden', lists: 'veryHidden' }
  const content = workbook({ sheets, states })
  const { names, table } = await importFile(folder, 'a.xlsx', content)
  t.same(names, ['name'])
  t.match(table, {
    sheet: 'data',
    notes: ['other sheets, not read: "secret" (hidden), "lists" (hidden), "more"'],
  })
  t.same((await importFile(folder, 'a.xlsx', content, { sheet: 'secret' })).names, ['pin'])
  const hidden = workbook({ sheets: { secret: sheets.secret }, states })
  t.match(
    await refusalOf(folder, 'a.xlsx', hidden),
    'no visible sheet. Name one with --sheet: "secret"',
  )
})

await t.test('a cell with an error is empty and named, and its row stays', async (t) => {
  const folder = t.testdir({})
  const errors = ['#N/A', '#DIV/0!', '#REF!', '#VALUE!', '#NAME?', '#NUM!', '#NULL!', '#SPILL!']
  const rows = [
    inline('A1', 'a') + inline('B1', 'b'),
    ...errors.map((error, at) => failed(`B${at + 2}`, error)),
    number('A10', 1) + `<c r="B10" t="e"><f>1/0</f><v>#DIV/0!</v></c>`,
    failed('A11', '#N/A') + number('B11', 5),
    failed('A12', '#N/A') + failed('B12', '#N/A'),
  ]
  const read = await importFile(folder, 'a.xlsx', workbook({ sheets: { One: rows } }))
  t.same(read.rows, [...errors.map(() => [null, null]), ['1', null], [null, '5'], [null, null]])
  t.same(read.shown, ['a integer', 'b integer'])
  const shown = errors.map((error, at) => `B${at + 2} ${error}`).join(', ')
  t.same(read.table.notes, [
    `12 cells have an error, read as empty: ${shown}, B10 #DIV/0!, A11 #N/A, …`,
  ])
})

await t.test('a formula without a result is refused by its cell', async (t) => {
  const folder = t.testdir({})
  const head = ['A1', 'B1', 'C1'].map((at) => inline(at, at)).join('')
  const refused = (...rows: string[]) =>
    refusalOf(folder, 'a.xlsx', workbook({ sheets: { One: [head, ...rows] } }))
  for (const empty of ['', '<v/>', '<v></v>']) {
    const text = await refused(number('A2', 1), number('A3', 2) + formulaOf('B3', 'A3*2', empty))
    t.match(text, 'a.xlsx has 1 bad row, so nothing was written:\n  row 3: B3 was never computed:')
    t.match(text, 'open the file in Excel or LibreOffice and save it')
  }
  const shared = '<c r="B2"><f t="shared" si="0"/></c><c r="C2" t="str"><f>A2</f></c>'
  t.match(await refused(shared), /row 2: B2 was never computed[^\n]*; C2 was never computed/)
  t.match(await refused(formulaOf('A1', 'B1', '<v/>')), 'A1 was never computed')
  const empty = [head, number('A2', 1) + formulaOf('B2', 'IF(A2>0,"","x")', '<v></v>', 'str')]
  const { rows } = await importFile(folder, 'a.xlsx', workbook({ sheets: { One: empty } }))
  t.same(rows, [['1', null, null]], 'an empty text is a result')
})

await t.test('results that wait to be computed are not certain', async (t) => {
  const folder = t.testdir({})
  const rows = [
    inline('A1', 'a') + inline('B1', 'b'),
    number('A2', 1) + formulaOf('B2', 'A2', '<v>0</v>'),
  ]
  const settings = '<calcPr calcId="124519" fullCalcOnLoad="1"/>'
  const stale = await importFile(folder, 'a.xlsx', workbook({ sheets: { One: rows }, settings }))
  t.match(stale.table.doubts, [/the results of formulas wait to be computed \(1\): open the file/])
  const saved = await importFile(folder, 'a.xlsx', workbook({ sheets: { One: rows } }))
  t.same(saved.table.doubts, [])
  const plain = workbook({ sheets: { One: [inline('A1', 'a'), number('A2', 1)] }, settings })
  t.same((await importFile(folder, 'a.xlsx', plain)).table.doubts, [], 'no formula')
})

await t.test('numbers are those that Excel shows, and durations may exceed a day', async (t) => {
  const folder = t.testdir({})
  const One = [
    inline('A1', 'share') + inline('B1', 'worked'),
    number('A2', '0.28999999999999998') + number('B2', '1.0416666666666667', 1),
    number('A3', '-0.56999999999999995') + number('B3', '0.35416666666666669', 1),
    number('A4', '1.1000000000000001') + number('B4', '1.9999884259259259', 1),
  ]
  const content = workbook({ sheets: { One }, formats: [46] })
  const { shown, rows: read } = await importFile(folder, 'a.xlsx', content)
  t.same(shown, ['share decimal(18,2)', 'worked text'])
  t.same(read, [
    ['0.29', '25:00:00'],
    ['-0.57', '08:30:00'],
    ['1.10', '47:59:59'],
  ])
})

await t.test('the zeros of a format are those of the text', async (t) => {
  const folder = t.testdir({})
  const cases: readonly (readonly [code: string, value: string, shown: string])[] = [
    ['0000000000', '261012138', '0261012138'],
    ['0000000000', '7708004767', '7708004767'],
    ['000', '1234', '1234'],
    ['00000;-00000', '42', '00042'],
    ['[Red]00000', '42', '00042'],
    ['00000_ ', '42', '00042'],
    ['000\\-000\\-000\\ 00', '12345678901', '123-456-789 01'],
    ['000-000-000 00', '1234567', '000-012-345 67'],
    ['00\\.00\\.00', '10203', '01.02.03'],
    ['00.00', '1.1', '01.10'],
    ['00.00', '1.125', '1.125'],
    ['"+7 "(000) 000-00-00', '9031234567', '+7 (903) 123-45-67'],
    ['000', '1.5', '1.5'],
    ['000', '-7', '-7'],
  ]
  for (const [code, value, shown] of cases) {
    const One = [inline('A1', 'code'), number('A2', value, 1)]
    const { rows } = await importFile(
      folder,
      'a.xlsx',
      workbook({ sheets: { One }, formats: [code] }),
    )
    t.same(rows, [[shown]], `${code} ${value}`)
  }
  for (const code of [
    '0',
    '0.00',
    '#,##0',
    '#,##0.00\\ "₽"',
    '0%',
    '0.00E+00',
    'General',
    '@',
    '0 "шт."',
  ]) {
    const One = [inline('A1', 'n'), number('A2', '7', 1), number('A3', '12', 1)]
    const content = workbook({ sheets: { One }, formats: [code] })
    t.same((await importFile(folder, 'a.xlsx', content)).shown, ['n integer'], code)
  }
})

await t.test('days are those that Excel shows, in both calendars', async (t) => {
  const folder = t.testdir({})
  const read = async (values: readonly string[], format: string | number, settings = '') => {
    const One = [inline('A1', 'd'), ...values.map((value, at) => number(`A${at + 2}`, value, 1))]
    const content = workbook({ sheets: { One }, formats: [format], settings })
    const { rows, shown } = await importFile(folder, 'a.xlsx', content)
    return [shown[0], ...rows.flat()]
  }
  for (const format of [
    'yyyy-mm-dd',
    14,
    'dd.mm.yyyy;@',
    '[$-419]d mmm yyyy',
    'mmm\\-yy',
    'yyyy"г."',
  ]) {
    const days = await read(['1', '59', '61', '45293', '2958465'], format)
    const expected = ['1900-01-01', '1900-02-28', '1900-03-01', '2024-01-02', '9999-12-31']
    t.same(days, ['d date', ...expected], String(format))
  }
  t.same(await read(['0', '60', '61'], 14), ['d text', '1900-01-00', '1900-02-29', '1900-03-01'])
  const since1904 = '<workbookPr date1904="1"/>'
  t.same(await read(['0', '1', '43831'], 14, since1904), [
    'd date',
    '1904-01-01',
    '1904-01-02',
    '2024-01-02',
  ])
  t.same(await read(['1.5', '45293.25'], 'dd.mm.yyyy hh:mm'), [
    'd timestamp',
    '1900-01-01 12:00:00',
    '2024-01-02 06:00:00',
  ])
  t.same(await read(['0.5', '0.75'], 'hh:mm'), ['d text', '12:00:00', '18:00:00'])
  t.same(await read(['-1', '2958466.5'], 14), ['d decimal(18,1)', '-1.0', '2958466.5'])
  const iso = [inline('A1', 'd'), '<c r="A2" t="d"><v>2024-01-02T00:00:00Z</v></c>']
  t.same((await importFile(folder, 'a.xlsx', workbook({ sheets: { One: iso } }))).rows, [
    ['2024-01-02'],
  ])
})

await t.test(
  'a title, missing names and rows above the table are seen in a sheet too',
  async (t) => {
    const folder = t.testdir({})
    const head = inline('A3', 'inn') + inline('B3', 'sum') + inline('C3', 'day')
    const row = inline('A4', '77') + number('B4', 5) + number('C4', 6)
    const titled = workbook({ sheets: { One: [inline('A1', 'Отчёт за 2024 год'), '', head, row] } })
    const title = await importFile(folder, 'a.xlsx', titled)
    t.match(title, { names: ['inn', 'sum', 'day'], table: { headerLine: 3 } })
    t.match(title.table.doubts, [
      /^row 1 looks like a title[^]*"Отчёт за 2024 год"; [^]*--skip-lines 2/,
    ])
    const skipped = await importFile(folder, 'a.xlsx', titled, { skipLines: 2 })
    t.match(skipped.table, { headerLine: 3, doubts: [] })
    const bare = workbook({ sheets: { One: [row.replace(/4"/g, '1"')] } })
    const values = await importFile(folder, 'a.xlsx', bare)
    t.match(values, { names: ['column1', 'column2', 'column3'], table: { headerLine: null } })
    t.match(values.table.doubts, [/row 1 looks like values, not like names: "77"; [^]*--no-header/])
    const uneven = [inline('A1', 'x'), inline('A2', 'y') + number('C2', 5)]
    const read = await importFile(folder, 'a.xlsx', workbook({ sheets: { One: uneven } }), {
      hasHeader: false,
    })
    t.same(read.rows, [
      ['x', null, null],
      ['y', null, '5'],
    ])
  },
)

// Guarantee: a workbook takes no more memory than the limits say, whatever its zip claims.
await t.test(
  'a workbook whose sizes stand elsewhere (zip64) is refused, and named so',
  async (t) => {
    const bytes = Buffer.from(workbook({ sheets: { One: [inline('A1', 'x')] } }))
    const entry = bytes.indexOf(Buffer.from('PK\x01\x02', 'latin1'))
    bytes.writeUInt32LE(0xffffffff, entry + 24)
    t.match(
      await refusalOf(t.testdir({}), 'a.xlsx', bytes),
      /^error: a\.xlsx is packed as zip64, which is not read\. Open it in Excel/,
    )
  },
)

await t.test('a workbook that unpacks to gigabytes is refused before it is unpacked', async (t) => {
  const folder = t.testdir({})
  const files = workbookFiles({ sheets: { One: [inline('A1', 'a'), number('A2', 1)] } })
  const part = 'xl/worksheets/sheet1.xml'
  const image = 'xl/media/image1.png'
  const bytes = Object.fromEntries(Object.entries(files).map(([path, xml]) => [path, strToU8(xml)]))
  const bomb = withUnpackedSize(zipSync({ ...bytes, [image]: strToU8('0') }), image, 520_000_000)
  t.match(
    await refusalOf(folder, 'a.xlsx', bomb),
    /^error: a\.xlsx has 521 MB unpacked; a workbook may have 512\. Save it as CSV\.$/,
  )
  const long = files[part]?.replace('<sheetData>', `<sheetData>${' '.repeat(5_000_000)}`) ?? ''
  const lying = withUnpackedSize(zipSync({ ...bytes, [part]: strToU8(long) }), part, 100)
  t.match(await refusalOf(folder, 'a.xlsx', lying), "a.xlsx can't be read as a workbook")
})

/** A zip whose directory, which is at its end, says that a part has this many bytes unpacked. */
function withUnpackedSize(zip: Uint8Array, part: string, size: number): Buffer {
  const bytes = Buffer.from(zip)
  bytes.writeUInt32LE(size, bytes.lastIndexOf(part) - 46 + 24)
  return bytes
}
