import { strToU8, zipSync } from 'fflate'
import t from 'tap'
import { importFile, refusalOf } from '../fixtures/imported.js'

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'
const spreadsheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** A workbook with the rows of these sheets, and style 1 for dates, 2 for dates with times, 3 for durations. */
function workbook(
  sheets: Readonly<Record<string, readonly string[]>>,
  strings: readonly string[] = [],
): Uint8Array {
  const names = Object.keys(sheets)
  const part = (name: string, type: string) =>
    `<Override PartName="/xl/${name}" ContentType="${spreadsheet}.${type}+xml"/>`
  const link = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`
  const sheetParts = names.map((_, at) => part(`worksheets/sheet${at + 1}.xml`, 'worksheet'))
  const files: Record<string, string> = {
    '[Content_Types].xml': `<Types xmlns="${packages}/content-types">
      <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
      ${part('workbook.xml', 'sheet.main')}${sheetParts.join('')}
      ${part('styles.xml', 'styles')}${part('sharedStrings.xml', 'sharedStrings')}</Types>`,
    '_rels/.rels': `<Relationships xmlns="${packages}/relationships">
      ${link('r1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets>
      ${names.map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="s${at + 1}"/>`).join('')}
      </sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships">
      ${names.map((_, at) => link(`s${at + 1}`, 'worksheet', `worksheets/sheet${at + 1}.xml`)).join('')}
      ${link('y', 'styles', 'styles.xml')}${link('z', 'sharedStrings', 'sharedStrings.xml')}
      </Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${main}"><cellXfs count="4"><xf numFmtId="0"/>
      <xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="22" applyNumberFormat="1"/>
      <xf numFmtId="46" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst xmlns="${main}">${strings.join('')}</sst>`,
  }
  for (const [at, name] of names.entries()) {
    const rows = sheets[name]?.map((cells, row) => `<row r="${row + 1}">${cells}</row>`).join('')
    files[`xl/worksheets/sheet${at + 1}.xml`] =
      `<worksheet xmlns="${main}"><sheetData>${rows}</sheetData></worksheet>`
  }
  return zipSync(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])),
  )
}

const inline = (at: string, text: string) =>
  `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`
const shared = (at: string, index: number) => `<c r="${at}" t="s"><v>${index}</v></c>`
const number = (at: string, value: string, style = 0) =>
  `<c r="${at}" s="${style}"><v>${value}</v></c>`

await t.test('cells have the values that Excel holds', async (t) => {
  const folder = t.testdir({})
  const header = ['inn', 'amount', 'day', 'at', 'ok', 'sum', 'name', 'long']
  const strings = ['<si><t>0261012138</t></si>', '<si><r><t>ООО </t></r><r><t>"Ё"</t></r></si>']
  const rows = [
    header.map((name, at) => inline(`${'ABCDEFGH'[at]}1`, name)).join(''),
    shared('A2', 0) +
      number('B2', '12.34') +
      number('C2', '45292', 1) +
      number('D2', '45292.520833333336', 2) +
      '<c r="E2" t="b"><v>1</v></c>' +
      '<c r="F2"><f>B2*2</f><v>24.68</v></c>' +
      shared('G2', 1) +
      number('H2', '12345678901234567890'),
    '',
    inline('A4', '7708004767') +
      number('B4', '0.1') +
      number('C4', '45657', 1) +
      number('D4', '45292.999988425923', 2) +
      '<c r="E4" t="b"><v>0</v></c>' +
      '<c r="G4" t="str"><f>"a"&amp;"b"</f><v>ab</v></c>',
  ]
  const { shown, rows: read } = await importFile(
    folder,
    'a.xlsx',
    workbook({ One: rows }, strings),
  )
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
  t.same(read, [
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

await t.test('digits that Excel holds as text are text; a sheet can be named', async (t) => {
  const folder = t.testdir({})
  const content = workbook({
    One: [inline('A1', 'a'), inline('A2', '12')],
    Две: ['', inline('B2', 'b') + inline('C2', 'c'), number('B3', '5') + inline('C3', ' x ')],
  })
  t.same((await importFile(folder, 'a.xlsx', content)).shown, ['a text'])
  const second = await refusalOf(folder, 'a.xlsx', content, { sheet: 'Две' })
  t.match(second, 'column 1 has no name')
  t.match(await refusalOf(folder, 'a.xlsx', content, { sheet: 'Три' }), /Три[^]*One/)
  t.match(
    await refusalOf(folder, 'a.xlsx', 'PK not a zip'),
    "a.xlsx can't be read as a workbook",
  )
})

await t.test('a cell with an error is empty', async (t) => {
  const folder = t.testdir({})
  const rows = [
    inline('A1', 'a') + inline('B1', 'b'),
    number('A2', '1') + '<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c>',
    number('A3', '2') + number('B3', '3'),
  ]
  const read = await importFile(folder, 'a.xlsx', workbook({ One: rows }))
  t.same(read.rows, [
    ['1', null],
    ['2', '3'],
  ])
})

await t.test('numbers are those that Excel shows, and durations may exceed a day', async (t) => {
  const folder = t.testdir({})
  const rows = [
    inline('A1', 'share') + inline('B1', 'worked'),
    number('A2', '0.28999999999999998') + number('B2', '1.0416666666666667', 3),
    number('A3', '-0.56999999999999995') + number('B3', '0.35416666666666669', 3),
    number('A4', '1.1000000000000001') + number('B4', '1.9999884259259259', 3),
  ]
  const { shown, rows: read } = await importFile(folder, 'a.xlsx', workbook({ One: rows }))
  t.same(shown, ['share decimal(18,2)', 'worked text'])
  t.same(read, [
    ['0.29', '25:00:00'],
    ['-0.57', '08:30:00'],
    ['1.10', '47:59:59'],
  ])
})
