import { existsSync, renameSync } from 'node:fs'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import t from 'tap'
import type { StreamCell } from '../../../src/sheet/sheet-stream.js'
import { openExcel } from '../../../src/versions/tables/excel-table.js'
import { fileBytes } from '../../../src/versions/tables/file-text.js'
import { inns, startLists, workbookOf } from './fixtures/lists.js'

const [first = '', second = '', third = ''] = inns
const lists = await startLists(t)
const { enrich, write, read } = lists

const text = (value: string): StreamCell => ({ kind: 'text', text: value })
const number = (value: string): StreamCell => ({ kind: 'number', text: value })

/** The rows of a workbook by their numbers, as texts. */
async function rowsOf(name: string) {
  const order = { file: name, skipLines: 0, sheet: null }
  const { rows, sheet } = await openExcel(order, () => fileBytes(lists.path(name)))
  const found: Record<number, readonly (string | null)[]> = {}
  for await (const batch of rows) for (const { line, cells } of batch) found[line] = cells
  return { sheet, rows: found }
}

await t.test('values, their types and empty rows stay; new columns come last', async (t) => {
  write(
    'list.xlsx',
    workbookOf([
      [text('Our clients')],
      [],
      [text('ИНН'), text('day'), text('sum'), text('ok')],
      [
        text(first),
        { kind: 'date', text: '2024-05-06' },
        number('12.5'),
        { kind: 'boolean', text: 'true' },
      ],
      [number(second), text('=1+1'), number('770708389312'), null],
      [],
      [number(third.replace(/^0/, '')), { kind: 'date', text: '2024-05-06 07:08:09' }, null, null],
      [text('00123'), text('0042'), null, null, text('far')],
    ]),
  )
  const argv = ['list.xlsx', '--column', 'ИНН', '--select', 'year,name,revenue,note']
  const { code, stdout, stderr } = await enrich([...argv, '-o', 'out.xlsx'])
  t.same({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /4 lines, 3 found, 0 not found, 1 malformed; 3 rows charged/)
  t.match(stdout, /styles, formulas and other sheets of the workbook are not kept/)
  t.same(await rowsOf('out.xlsx'), {
    sheet: 'Clients',
    rows: {
      1: ['Our clients'],
      3: ['ИНН', 'day', 'sum', 'ok', null, 'year', 'name', 'revenue', 'note', '_status'],
      4: [
        first,
        '2024-05-06',
        '12.5',
        'true',
        null,
        '2024',
        'ООО «Фирма 0»',
        '506',
        '=1+0',
        'found',
      ],
      5: [
        second,
        '=1+1',
        '770708389312',
        null,
        null,
        '2023',
        'ООО «Фирма 1»',
        '755.75',
        null,
        'found',
      ],
      7: [
        third,
        '2024-05-06 07:08:09',
        null,
        null,
        null,
        '2022',
        'ООО «Фирма 2»',
        '1005.5',
        '=1+2',
        'found',
      ],
      8: ['00123', '0042', null, null, 'far', null, null, null, null, 'malformed'],
    },
  })
  const sheet = strFromU8(
    unzipSync(read('out.xlsx'))['xl/worksheets/sheet1.xml'] ?? new Uint8Array(),
  )
  t.notMatch(sheet, /<f>/)
  t.match(sheet, /<c r="B5" s="2" t="inlineStr"><is><t xml:space="preserve">=1\+1<\/t>/)
  t.match(sheet, /<c r="C5" s="1"><v>770708389312<\/v>/)
})

await t.test('days, times and durations stay the numbers that they are', async (t) => {
  const at = (text: string, serial: string): StreamCell => ({ kind: 'date', text, serial })
  const book = workbookOf([
    [text('inn'), text('a'), text('b'), text('c'), text('d'), text('e'), text('f'), text('g')],
    [
      text(first),
      at('08:05:01', '0.336817129629629'),
      at('30:05:00', '1.2534722222222223'),
      at('2024-05-06', '45418'),
      at('2024-05-06 07:08:09', '45418.297326388885'),
      at('1900-01-00', '0'),
      at('1900-02-29', '60'),
      at('00:00:00', '0'),
    ],
  ])
  const xmlOf = (file: Uint8Array, part: string) => strFromU8(unzipSync(file)[part] ?? book)
  const sheet = 'xl/worksheets/sheet1.xml'
  const valuesOf = (file: Uint8Array) =>
    [...xmlOf(file, sheet).matchAll(/<c r="([B-H]2)" s="(\d)"><v>([\d.]+)<\/v>/g)].map(
      ([, place = '', style = '', value = '']) => [place, style, value],
    )
  write('times.xlsx', book)
  t.equal(valuesOf(book).length, 7)
  const { code, stderr } = await enrich(['times.xlsx', '-o', 'times-out.xlsx'])
  t.same({ code, stderr }, { code: 0, stderr: '' })
  t.same(valuesOf(read('times-out.xlsx')), valuesOf(book))

  // A workbook that counts its days from 1904 becomes one of 1900.
  const names = xmlOf(book, 'xl/workbook.xml').replace('<sheets>', '<workbookPr date1904="1"/>$&')
  write('mac.xlsx', zipSync({ ...unzipSync(book), 'xl/workbook.xml': strToU8(names) }))
  t.equal((await enrich(['mac.xlsx', '-o', 'mac-out.xlsx'])).code, 0)
  const own = (await rowsOf('mac.xlsx')).rows[2] ?? []
  t.match(own, [first, '08:05:01', '30:05:00', '2028-05-07', '2028-05-07 07:08:09', '1904-01-01'])
  t.same((await rowsOf('mac-out.xlsx')).rows[2]?.slice(0, own.length), own)
})

await t.test(
  'a sheet without place for new columns is refused before anything is paid',
  async (t) => {
    const wide = Array.from({ length: 16_381 }, (_, at) => text(`c${at}`))
    write('wide.xlsx', workbookOf([[text('inn'), ...wide], [text(first)]]))
    const argv = ['wide.xlsx', '-o', 'wide-out.xlsx', '--select']
    const { code, stderr } = await enrich([...argv, 'name,year'])
    t.equal(code, 2)
    t.match(stderr, /XLSX holds 16384 columns, and the list would have 16385: select fewer/)
    t.notOk(existsSync(lists.path('wide-out.xlsx.part')))
    t.equal((await enrich([...argv, 'name'])).code, 0)
  },
)

await t.test('what a sheet has no place for is paid, kept, and written as CSV', async (t) => {
  const names = ['inn', ...Array.from({ length: 16_381 }, (_, at) => `c${at}`)]
  write('years.xlsx', workbookOf([names.map(text), [text(second)]]))
  const argv = ['--match', 'wide', '--select', 'revenue', '-o']
  const full = await enrich(['years.xlsx', ...argv, 'years-out.xlsx'])
  t.equal(full.code, 2)
  t.match(
    full.stderr,
    /XLSX holds 16384 columns.*paid is in \S+years-out\.xlsx\.part.* as CSV, rename that file/,
  )
  t.notOk(existsSync(lists.path('years-out.xlsx')))
  const before = await lists.charged()
  renameSync(lists.path('years-out.xlsx.part'), lists.path('years-out.csv.part'))
  write('years.csv', `${names.join(',')}\n${second}\n`)
  t.equal((await enrich(['years.csv', ...argv, 'years-out.csv'])).code, 0)
  t.match(
    String(read('years-out.csv')),
    /,revenue 2022,revenue 2023,_status\n.*,755\.5,755\.75,found/,
  )
  t.equal(await lists.charged(), before)
})

await t.test('rows of all move the rows below them; zeros become texts again', async (t) => {
  write(
    'lost.xlsx',
    workbookOf([
      [text('n'), text('inn')],
      [number('1'), number(first.replace(/^0/, ''))],
      [number('2'), text(third)],
    ]),
  )
  const dry = await enrich(['lost.xlsx', '--dry-run', '--match', 'all'])
  t.match(dry.stdout, /zeros lost: 1 key \(line 2: \d{9} → 0\d{9}\)/)
  const argv = [
    'lost.xlsx',
    '-o',
    'lost-out.xlsx',
    '--match',
    'all',
    '--select',
    'year',
    '--add-zeros',
  ]
  t.equal((await enrich(argv)).code, 0)
  t.same((await rowsOf('lost-out.xlsx')).rows, {
    1: ['n', 'inn', 'year', '_status'],
    2: ['1', first, '2022', 'found'],
    3: ['1', first, '2023', 'found'],
    4: ['1', first, '2024', 'found'],
    5: ['2', third, '2022', 'found'],
  })
})

await t.test('numbers of any size are keys with every digit that the file has', async (t) => {
  write(
    'ids.xlsx',
    workbookOf([
      [text('id')],
      [number('9007199254740993')],
      [number('9.007199254740992E15')],
      [number('12345678901234567890')],
      [text('9007199254740991')],
    ]),
  )
  const argv = [
    'ids.xlsx',
    '-o',
    'ids-out.xlsx',
    '--dataset',
    'ids',
    '--key',
    'id',
    '--select',
    'name',
  ]
  t.equal((await enrich(argv)).code, 0)
  t.same((await rowsOf('ids-out.xlsx')).rows, {
    1: ['id', 'name', '_status'],
    2: ['9007199254740993', 'n0', 'found'],
    3: ['9007199254740992', 'n-1', 'found'],
    4: ['12345678901234567890', null, 'not_found'],
    5: ['9007199254740991', 'n-2', 'found'],
  })
})

await t.test('an empty workbook, another sheet and a damaged file are refused', async (t) => {
  write('empty.xlsx', workbookOf([]))
  write('head.xlsx', workbookOf([[text('inn')]]))
  write('damaged.xlsx', 'PK')
  for (const [argv, message] of [
    [['empty.xlsx'], /is empty/],
    [['head.xlsx', '--sheet', 'Other'], /no sheet "Other".*Clients/],
    [['damaged.xlsx'], /can't be read as a workbook/],
  ] as const) {
    const { code, stderr } = await enrich([...argv, '-o', 'none.xlsx'])
    t.equal(code, 1)
    t.match(stderr, message)
    t.notOk(existsSync(lists.path('none.xlsx')))
  }
  t.equal((await enrich(['head.xlsx', '-o', 'head-out.xlsx', '--select', 'year'])).code, 0)
  t.same((await rowsOf('head-out.xlsx')).rows, { 1: ['inn', 'year', '_status'] })
})
