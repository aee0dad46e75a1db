import { gzipSync } from 'node:zlib'
import { strToU8, zipSync } from 'fflate'
import t from 'tap'
import { importFile, refusalOf } from '../fixtures/imported.js'
import { workbook } from '../fixtures/workbook.js'

const russian = 'код;имя\n007;Ёлка «№ 1» — да\n'
const western = 'name;city\nRené;Orléans\n'

/** Windows-1251, for the letters of `russian`. */
function windows1251(text: string): Uint8Array {
  const others: Readonly<Record<string, number>> = {
    ...{ Ё: 0xa8, ё: 0xb8, '№': 0xb9, '«': 0xab, '»': 0xbb, '—': 0x97 },
  }
  return Uint8Array.from(text, (letter) => {
    const code = letter.charCodeAt(0)
    return others[letter] ?? (code >= 0x410 ? code - 0x350 : code)
  })
}

function utf16(text: string, isBig: boolean, mark: string): Uint8Array {
  const bytes = Buffer.from(mark + text, 'utf16le')
  return isBig ? bytes.swap16() : bytes
}

await t.test('the encoding is recognised, with and without a mark', async (t) => {
  const folder = t.testdir({})
  const cases: readonly (readonly [string, Uint8Array | string])[] = [
    ['utf-8', russian],
    ['utf-8', `\ufeff${russian}`],
    ['utf-16le', utf16(russian, false, '\ufeff')],
    ['utf-16be', utf16(russian, true, '\ufeff')],
    ['utf-16le', utf16(`${western}x;y\n`, false, '')],
    ['utf-16be', utf16(`${western}x;y\n`, true, '')],
    ['windows-1251', windows1251(russian)],
  ]
  for (const [encoding, content] of cases) {
    const { table, names, rows } = await importFile(folder, 'a.csv', content)
    t.match(table, { encoding, separator: ';' })
    t.match(
      [...names, ...(rows[0] ?? [])].join(),
      /^(код,имя,007,Ёлка «№ 1» — да|name,city,René,.*)$/,
    )
  }
  const packed = await importFile(folder, 'a.csv.gz', gzipSync(windows1251(russian)))
  t.match(packed, { table: { encoding: 'windows-1251' }, rows: [['007', 'Ёлка «№ 1» — да']] })
  const cut = gzipSync(russian.repeat(100)).subarray(0, 40)
  t.match(await refusalOf(folder, 'a.csv.gz', cut), 'the gzip file is damaged or cut')
})

await t.test('an encoding that is not sure is asked for, and can be set', async (t) => {
  const folder = t.testdir({})
  const content = Buffer.from(western, 'latin1')
  t.match(
    await refusalOf(folder, 'a.csv', content),
    /not certain[^]*--encoding[^]*windows-1252: "[^"]*René;Orléans"/,
  )
  const { rows } = await importFile(folder, 'a.csv', content, { encoding: 'windows-1252' })
  t.same(rows, [['René', 'Orléans']])
  await t.rejects(
    importFile(folder, 'a.csv', content, { encoding: 'cp0' }),
    /"cp0" is not a known encoding/,
  )
})

await t.test('bytes of another encoding are named by their lines', async (t) => {
  const folder = t.testdir({})
  const good = 'a,имя\n1,Анна\n2,Мария\n'
  const content = Buffer.concat([
    Buffer.from(good),
    Buffer.from([0x33, 0x2c, 0xff, 0x0a]),
    Buffer.from('4,Яна\n5,\0\n'),
  ])
  const text = await refusalOf(folder, 'a.csv', content)
  t.match(
    text,
    /^error: a\.csv has 2 bad lines, so nothing was written:\n {2}line 4: bytes that are/,
  )
  t.match(text, 'line 6: a NUL character')
})

await t.test('the separator is recognised and can be set', async (t) => {
  const folder = t.testdir({})
  for (const separator of [',', ';', '\t', '|']) {
    const content = `a${separator}b\n"x,;\t|"${separator}1\n`
    const { table, rows } = await importFile(folder, 'a.tsv', content)
    t.equal(table.separator, separator)
    t.same(rows, [['x,;\t|', '1']])
  }
  const prices = await importFile(folder, 'a.csv', 'a;b\n1,5;2,50\n3,0;4,25\n')
  t.match(prices, {
    shown: ['a decimal(18,1)', 'b decimal(18,2)'],
    rows: [
      ['1.5', '2.50'],
      ['3.0', '4.25'],
    ],
  })
  const one = await importFile(folder, 'a.csv', 'text\nyes, of course\n"a,b"\n\n', {
    separator: ';',
  })
  t.same(one.rows, [['yes, of course'], ['a,b'], [null]])
  t.match(await refusalOf(folder, 'a.csv', 'text\nyes, of course\n'), '2 fields instead of 1')
  const set = await importFile(folder, 'a.csv', 'a:b\n1:2\n', { separator: ':' })
  t.same(set.rows, [['1', '2']])
})

await t.test('line breaks, quotes and empty lines are read as written', async (t) => {
  const folder = t.testdir({})
  const content = 'a,b\r\n"x\r\ny","say ""hi"""\n\n5" pipe,ООО "Ромашка"\r" z ",\n'
  const { rows } = await importFile(folder, 'a.csv', content)
  t.same(rows, [
    ['x\r\ny', 'say "hi"'],
    ['5" pipe', 'ООО "Ромашка"'],
    [' z ', null],
  ])
})

await t.test('every bad line is named and none is dropped', async (t) => {
  const folder = t.testdir({})
  const content = 'a,b\n1,"x\r\n\ny"\n2\n3,4,5\n"6"x,7\n8,9\n10,"open\n11,12\n'
  t.equal(
    await refusalOf(folder, 'a.csv', content),
    [
      'error: a.csv has 4 bad lines, so nothing was written:',
      '  line 5: 1 field instead of 2',
      '  line 6: 3 fields instead of 2',
      '  line 7: text after a closing quote: "\\"6\\"x,7"',
      '  line 9: a quote is opened and never closed; the lines after it were not read',
    ].join('\n'),
  )
  const many = await refusalOf(folder, 'a.csv', `a,b\n${'1\n'.repeat(1234)}`)
  t.match(many, /^error: a\.csv has 1234 bad lines[^]*line 21: [^]*and 1214 more$/)
})

await t.test('empty columns at the ends are left out, and an index has a name', async (t) => {
  const folder = t.testdir({})
  const left = 'columns without a name and a value, left out: 1'
  const index = 'column 1 has no name and is called "index"'
  const files: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['id;v;\n1;a;\n2;;\n', ['id integer', 'v text'], [left]],
    ['id,v\n1,a,\n2,b,\n', ['id integer', 'v text'], [left]],
    [';id;v\n;1;a\n;2;b\n', ['id integer', 'v text'], [left]],
    [',a,b\n0,x,1\n1,y,2\n', ['index integer', 'a text', 'b integer'], [index]],
  ]
  for (const [content, shown, notes] of files) {
    const read = await importFile(folder, 'a.csv', content)
    t.same(read.shown, shown, content)
    t.same(read.table.notes, notes)
    t.same(read.table.doubts, [])
    t.equal(read.rows.length, 2)
  }
  const long = `id;v;\n${'1;a;\n'.repeat(250_000)}`
  t.match(
    await refusalOf(folder, 'a.csv', `${long}2;b;x\n`),
    'a value in column 3, which has no name: "x"',
  )
  t.match(await refusalOf(folder, 'a.csv', `${long}2;b\n`), 'line 250002: 2 fields instead of 3')
  t.match(await refusalOf(folder, 'a.csv', 'id,v\n1,a,\n2,b\n'), 'line 2: 3 fields instead of 2')
  t.match(await refusalOf(folder, 'a.csv', ',index\n1,2\n'), 'column 1 has no name')
  t.match(
    await refusalOf(folder, 'a.csv', 'Регион;Выручка;\n;2023;2024\nМосква;1;2\n'),
    /column 3 has no name\nThe heading has two rows \(1, 2\): write one\.$/,
  )
  t.match(await refusalOf(folder, 'a.csv', 'a;;c\n1;2;3\n'), /column 2 has no name\n.*--no-header/)
})

await t.test('a header must name every column once', async (t) => {
  const folder = t.testdir({})
  const twice = await refusalOf(folder, 'a.csv', 'a,b,A,\n1,2,3,4\n')
  t.match(twice, 'column 3 has the name of column 1: A')
  t.match(twice, /column 4 has no name\n.*--no-header/)
  const bare = await importFile(folder, 'a.csv', '1,x\n2,y\n', { hasHeader: false })
  t.match(bare, {
    names: ['column1', 'column2'],
    rows: [
      ['1', 'x'],
      ['2', 'y'],
    ],
  })
  t.match(await refusalOf(folder, 'a.csv', ''), 'a.csv is empty')
  t.match(await refusalOf(folder, 'a.csv', '\n\n'), 'a.csv is empty')
  t.match(await refusalOf(folder, 'a.csv', 'a,b\n'), 'a.csv has no row below its header')
})

await t.test('a long record and many columns are read', async (t) => {
  const folder = t.testdir({})
  const long = 'я\n'.repeat(2_000_000)
  const { rows } = await importFile(folder, 'a.csv', `a,b\n1,"${long}"\n2,x\n`)
  t.equal(rows[0]?.[1], long)
  const header = Array.from({ length: 131 }, (_, index) => `c${index}`)
  const wide = await importFile(
    folder,
    'a.csv',
    `${header.join()}\n${header.map((_, i) => i).join()}\n`,
  )
  t.equal(wide.shown.filter((text) => text.endsWith(' integer')).length, 131)
})

await t.test('a file of another kind is told by its first bytes', async (t) => {
  const folder = t.testdir({})
  const zip = zipSync({ 'a.csv': strToU8('id\n1\n') })
  const kinds: readonly (readonly [content: string | Uint8Array, said: RegExp])[] = [
    [gzipSync('id,name\n1,a\n'), /is packed by gzip; unpack it, or give it the ending \.gz/],
    [zip, /is a zip archive; unpack it/],
    [workbook({ sheets: { One: [] } }), /is an Office file, as \.xlsx; give it the ending \.xlsx/],
    [Buffer.from('d0cf11e0a1b11ae1', 'hex'), /is an Excel file, old \(\.xls\) or with a password/],
    ['<!DOCTYPE html><table>', /is a web page/],
    ['\ufeff <html>', /is a web page/],
    ['<?xml version="1.0"?><a/>', /is an XML file/],
    ['version https://git-lfs.github.com/spec/v1\n', /is a pointer of Git LFS/],
    ['SQLite format 3\0', /is a database of SQLite/],
    ['BZh91AY&SY', /is packed; unpack it/],
    ['%PDF-1.7\n', /is a PDF/],
    ['<TABLE border=1>', /is a web page/],
    [Buffer.from('\ufeff<?xml version="1.0"?><a/>', 'utf16le'), /is an XML file/],
    [Buffer.from('<?xml version="1.0"?><a/>', 'utf16le'), /is an XML file/],
    [Buffer.from('\ufeff<html><table>', 'utf16le').swap16(), /is a web page/],
  ]
  for (const [content, said] of kinds) {
    for (const name of ['a.csv', 'a.json', 'a.tsv']) {
      t.match(await refusalOf(folder, name, content), said)
    }
  }
  t.match(await refusalOf(folder, 'a.xlsx', '<html>'), /is a web page/)
  t.match(await refusalOf(folder, 'a.xlsx', zip), /can't be read as a workbook/)
  for (const name of ['ORCID', 'PK', 'BZh9', 'Obj', '7z', '%PDF', '<header>', '<metadata>']) {
    t.match(await importFile(folder, 'a.csv', `${name},v\n1,2\n`), { names: [name, 'v'] })
  }
})
