import fc from 'fast-check'
import t from 'tap'
import { importFile, readTexts, refusalOf } from '../fixtures/imported.js'
import { runs } from '../../support/runs.js'

const names = ['инн', 'название', 'сумма', 'дата']
const rows = [
  ['7700000001', 'Первая', '10', '2024-01-31'],
  ['7700000002', 'Вторая', '20', '2024-02-29'],
  ['7700000003', 'Третья', '30', '2024-03-31'],
]

function csv(lines: readonly (readonly string[])[], separator = ';'): string {
  return lines.map((cells) => `${cells.join(separator)}\n`).join('')
}

await t.test('a title above the names is seen, whatever it looks like', async (t) => {
  const folder = t.testdir({})
  const titles: readonly (readonly string[])[] = [
    ['Список поставщиков на 1 мая'],
    ['Список поставщиков на 1 мая;;;'],
    ['Отчёт', 'за 2024 год', '', 'тыс. руб.'],
    ['"Отчёт;\nза 2024 год"'],
    ['2024'],
    ['Отчёт;', ';;;'],
  ]
  for (const title of titles) {
    for (const separator of [';', '\t', '|']) {
      const above = `${title.join('\n')}\n`.replaceAll(';', separator)
      const content = above + csv([names, ...rows], separator)
      const { table, names: found, rows: read } = await readTexts(folder, 'a.csv', content)
      const line = above.split('\n').length
      t.same(found, names, above)
      t.equal(read.length, 3)
      t.equal(table.headerLine, line)
      t.match(table.doubts, [/^line 1 looks like a title above the names: /])
      t.match(table.doubts[0], `leave it out with --skip-lines ${line - 1}, or use --header`)
      const skipLines = line - 1
      const skipped = await readTexts(folder, 'a.csv', content, { skipLines })
      t.match(skipped, { names, rows: read, table: { headerLine: line, doubts: [] } })
    }
  }
  const said = await refusalOf(folder, 'a.csv', `Отчёт\n${csv([names, ...rows])}`, {
    hasHeader: true,
  })
  t.match(said, 'line 2: 4 fields instead of 1')
})

await t.test('a file without names is seen by its values', async (t) => {
  const folder = t.testdir({})
  const files: readonly (readonly (readonly string[])[])[] = [
    rows,
    rows.map(([, name = '', , day = '']) => [name, day]),
    [
      ['Москва', 'да'],
      ['Казань', 'да'],
      ['Москва', 'нет'],
    ],
    [
      ['Иванов', '1985'],
      ['Петров', '1990'],
      ['Сидоров', '2001'],
    ],
    [
      ['а', 'true'],
      ['б', 'false'],
    ],
    [
      ['а', '1,5'],
      ['б', '2,5'],
    ],
  ]
  for (const file of files) {
    const { table, names: found, rows: read } = await readTexts(folder, 'a.csv', csv(file))
    t.match(table.doubts, [/^line 1 looks like values, not like names: "/], csv(file))
    t.match(table.doubts[0], 'use --no-header if there are no names, or --header if these are')
    t.match(found, ['column1', 'column2'])
    t.equal(read.length, file.length)
    const bare = await readTexts(folder, 'a.csv', csv(file), { hasHeader: false })
    t.match(bare, { rows: read, table: { headerLine: null, doubts: [] } })
    const said = await readTexts(folder, 'a.csv', csv(file), { hasHeader: true })
    t.match(said, { names: file[0], table: { headerLine: 1, doubts: [] } })
  }
})

await t.test('names that are years or codes of lines are names', async (t) => {
  const folder = t.testdir({})
  const files = [
    'регион;2021;2022;2023\nМосква;10,5;20;30\nКазань;40;50,1;60\n',
    'инн;2110;2120;2400\n7700000001;5000;300;1\n7700000002;17;;2\n',
    'inn;year;2110\n7700000001;2023;\n7700000002;2024;\n',
    'a;b\nx;y\n',
    ';b;c\nx;y;z\n'.replace(/^/, 'id'),
  ]
  for (const content of files) {
    const { table } = await readTexts(folder, 'a.csv', content)
    t.match(table, { headerLine: 1, doubts: [] }, content)
  }
})

await t.test('a row of units or a second row of names is not certain', async (t) => {
  const folder = t.testdir({})
  const content = 'инн;выручка;прибыль\nкод;тыс. руб.;тыс. руб.\n7700000001;10;5\n7700000002;20;7\n'
  const { table, shown } = await importFile(folder, 'a.csv', content)
  t.same(shown, ['инн text', 'выручка text', 'прибыль text'])
  t.match(table.doubts, [
    /^line 2 may have names or units, not values: without "код", "инн" would be integer|without "тыс\. руб\.", "выручка" would be integer/,
  ])
  t.match(table.doubts[0], '--skip-lines 1')
  const types = ['инн=text', 'выручка=text', 'прибыль=text']
  t.same((await importFile(folder, 'a.csv', content, { types })).table.doubts, [])
  const plain = 'a;b\nx;n/a\n1;2\n3;4\n'.replace('x', '7')
  t.same((await importFile(folder, 'a.csv', plain)).table.doubts, [], 'one odd value among numbers')
})

await t.test('a total, notes or another table below the data are not certain', async (t) => {
  const folder = t.testdir({})
  const data = 'регион;код;сумма\nМосква;1;10\nКазань;2;20\n'
  const ends: readonly (readonly [end: string, rows: number, said: RegExp])[] = [
    ['Итого;;30\n', 1, /^line 4 looks like a total: "Итого"; /],
    ['ИТОГО ПО ВСЕМ:;;30\n', 1, /^line 4 looks like a total/],
    ['\n;Всего:;30\n', 1, /^line 5 looks like a total/],
    ['Grand total;;30\nSource: the office;;\n', 2, /^line 4 looks like a total/],
    ['Sum;;30\n\n\n', 1, /^line 4 looks like a total/],
    ['Источник: Росстат;;\n', 1, /^line 4 may be a note or another table/],
    ['Исполнитель\n', 1, /1 field instead of 3/],
    ['Исполнитель: Иванов;;\n', 1, /^line 4 may be a note or another table/],
    ['Note: rounded;;\n', 1, /^line 4 may be a note or another table/],
    [';Отчёт составил Иванов;\n', 1, /^line 4 may be a note or another table/],
    [
      '\nгород;индекс;цена\nМосква;x;y\n',
      2,
      /^line 5 may be a note or another table, not values: "город"/,
    ],
    ['\n;вид;цена\n;x;y\n', 2, /^line 5 may be a note or another table, not values: "вид"/],
  ]
  for (const [end, rows, said] of ends) {
    const skipped = await readTexts(folder, 'a.csv', data + end, { skipLastRows: rows })
    t.match(
      skipped.rows,
      [
        ['Москва', '1', '10'],
        ['Казань', '2', '20'],
      ],
      end,
    )
    t.match(skipped.table, { rows: 2, doubts: [], columns: [{}, {}, { type: 'integer' }] })
    const read = readTexts(folder, 'a.csv', data + end)
    if (/field/.test(said.source)) await t.rejects(read, said)
    else {
      const { doubts } = (await read).table
      t.match(doubts, [said])
      t.match(doubts[0], `with --skip-last-rows ${rows}, or use --skip-last-rows 0 if it is data`)
      const kept = await readTexts(folder, 'a.csv', data + end, { skipLastRows: 0 })
      t.same(kept.table.doubts, [])
      t.same(kept.rows, (await read).rows)
    }
  }
  const plain = ['Тотальный;3;30\n', 'Summit;3;30\n', 'Пермь;n/a;30\n', 'Totalenergies;;\n']
  for (const end of plain) {
    t.same((await readTexts(folder, 'a.csv', data + end)).table.doubts, [], end)
  }
})

await t.test('totals of groups among the data are not certain', async (t) => {
  const folder = t.testdir({})
  const rest = 'Тула;a;1\n'.repeat(6)
  const head = 'регион;город;сумма\nМосква;b;10\n'
  const middles = [
    ...['Итого;;10', 'Итого по Москве;;10', 'Всего:;;10', 'Total for Moscow;;10', 'Sum;;10'],
    ...['Москва Итог;;10', 'Moscow Total;;10', ';Итого;10', 'Общий итог;x;10'],
  ]
  for (const middle of middles) {
    for (const end of ['', 'Итого;;16\n']) {
      const content = `${head}${middle}\n${rest}${end}`
      const { doubts } = (await readTexts(folder, 'a.csv', content)).table
      t.match(doubts[0], /^line 3 looks like a total: .*; remove them from the file, or/, middle)
      t.equal(doubts.length, end === '' ? 1 : 2)
      const skipped = await readTexts(folder, 'a.csv', content, { skipLastRows: 1 })
      t.match(skipped.table.doubts, [/^line 3 looks like a total/], 'without the last row too')
      const kept = await readTexts(folder, 'a.csv', content, { skipLastRows: 0 })
      t.match(kept.table, { rows: end === '' ? 8 : 9, doubts: [] })
    }
  }
  const many = `${head}${'Итого;;1\n'.repeat(3)}${rest}`
  t.match((await readTexts(folder, 'a.csv', many)).table.doubts, [/"Итого", and 2 more like it; /])
  for (const plain of ['Total Energies;x;1', 'ООО Итог;x;1', 'Всеволод;;1', 'x;Москва Итог;1']) {
    const { table } = await readTexts(folder, 'a.csv', `${head}${plain}\n${rest}`)
    t.same(table.doubts, [], plain)
  }
  for (const end of ['Москва Итог;;1\n', 'Общий итог;;1\n', 'Итог;b;1\n']) {
    const { table } = await readTexts(folder, 'a.csv', head + rest + end)
    t.match(table.doubts, [/^line 9 looks like a total/], end)
  }
})

await t.test('a sentence or a footnote below the data is not certain', async (t) => {
  const folder = t.testdir({})
  const data = 'регион;город;сумма\nМосква;b;10\n'
  for (const end of ['* по данным Росстата;;', '1) оценка;;', '¹оценка;;', 'Без учёта Крыма;;']) {
    for (const content of [data, data + 'Тула;a;1\n'.repeat(6)]) {
      const { table } = await readTexts(folder, 'a.csv', `${content}${end}\n`)
      t.match(table.doubts, [/may be a note or another table.*--skip-last-rows 1/], end)
    }
  }
  const tables = `${data}\nСправка по городам;;\n${'Тула;a;1\n'.repeat(6)}`
  const { table } = await readTexts(folder, 'a.csv', tables)
  t.match(table.doubts, [/^line 4 may be .*--skip-last-rows 7/], 'another table with a title')
  const first = 'регион;город;сумма\nНижний Новгород;;\nТула;a;1\nИтого;;1\n'
  const total = (await readTexts(folder, 'a.csv', first)).table
  t.match(total.doubts, [/^line 4 looks like a total: "Итого"/], 'a first row of one value')
  const sparse = 'регион;город;сумма\nНижний Новгород;;\nТула;a;1\nВеликий Новгород;;\n'
  t.same((await readTexts(folder, 'a.csv', sparse)).table.doubts, [], 'others are as sparse')
})

await t.test('a table of one column that is split alike in each line is not certain', async (t) => {
  const folder = t.testdir({})
  const quoted = '"id;""name"""\n"1;""ООО """"А"""""""\n"2;""Б"""\n'
  const files = [
    [quoted, /split by ";" in each line; write it without quotes/],
    ['"a\tb"\n"1\t2"\n"3\t4"\n', /split by tab in each line/],
    ['a^b^c\n1^2^3\n', /split by "\^" in each line; .*--separator "\^", or --separator ,/],
    ['a~b\n1~2\n', /split by "~"/],
    ['id   name      v\n1    Ivanov    2\n', /^the lines look like columns of a fixed width/],
  ] as const
  for (const [content, said] of files) {
    t.match((await readTexts(folder, 'a.csv', content)).table.doubts, [said])
    const one = await readTexts(folder, 'a.csv', content, { separator: ',' })
    t.same(one.table.doubts, [])
    t.equal(one.names.length, 1)
  }
  const again = await readTexts(folder, 'a.csv', quoted, { separator: ';' })
  t.match(again.table.doubts, [/split by ";"/], 'the separator is within quotes')
  t.match(await readTexts(folder, 'a.csv', 'a^b\n1^2\n', { separator: '^' }), { names: ['a', 'b'] })
  const comma = '"Фамилия, имя"\n"Иванов, Пётр"\n'
  const asked = (await readTexts(folder, 'a.csv', comma)).table.doubts
  t.match(asked, [/split by "," in each line; .*, or --separator tab if it is one$/])
  t.same((await readTexts(folder, 'a.csv', comma, { separator: '\t' })).table.doubts, [])
  for (const plain of ['имя\nИванов; Пётр\n', 'полное имя\nПётр Иванов\n', '"a;b"\n1\n']) {
    t.same((await readTexts(folder, 'a.csv', plain)).table.doubts, [], plain)
  }
})

await t.test('the \\N of a dump is not certain', async (t) => {
  const folder = t.testdir({})
  const content = 'id\tname\tsum\n1\ta\\tb\t\\N\n2\t\\N\t5\n'
  const { doubts } = (await readTexts(folder, 'a.tsv', content)).table
  t.match(doubts, [/^line 3 has \\N in "name": a dump of MySQL or PostgreSQL means an empty value/])
  const types = ['name=text', 'sum=text']
  const kept = await readTexts(folder, 'a.tsv', content, { types })
  const rows = [
    ['1', 'a\\tb', '\\N'],
    ['2', '\\N', '5'],
  ]
  t.match(kept, { table: { doubts: [] }, rows })
  const json = await readTexts(folder, 'a.jsonl', '{"a":"\\\\N"}\n')
  t.match(json, { table: { doubts: [] }, rows: [['\\N']] })
})

await t.test('signs that nobody sees are shown by their codes', async (t) => {
  const folder = t.testdir({})
  for (const letter of ['\ufeff', '\u200b', '\u202e']) {
    const { table } = await readTexts(folder, 'a.csv', `id,v\n1,1\n2,2\n${letter}3,3\n`)
    const code = letter.charCodeAt(0).toString(16)
    t.equal(table.columns[0]?.why, `because of "\\u${code}3" in line 4`)
  }
})

await t.test('a row of the numbers of the columns is not certain', async (t) => {
  const folder = t.testdir({})
  const files = [
    'имя;код;сумма\n1;2;3\nМосква;7;10\nКазань;8;20\n',
    'имя;код\nА;1\nМосква;7\nКазань;8\n',
    'имя;код;сумма\nА;Б;1\nМосква;x;10\n',
    'имя;код;сумма\nА;2;3\nМосква;4;10\n',
    'a;b;c;d;e\n1;2;3;4;5\n7;7;7;7;7\n',
  ]
  for (const content of files) {
    const { table } = await readTexts(folder, 'a.csv', content)
    t.match(
      table.doubts,
      [/^line 2 looks like the numbers of the columns.*remove it.*--header/],
      content,
    )
    t.same((await readTexts(folder, 'a.csv', content, { hasHeader: true })).table.doubts, [])
  }
  for (const content of ['id;v\n1;2\n3;4\n', 'a;b;c\n1;2;3\n2;3;4\n', 'a;b\n2;1\nx;5\n']) {
    t.same((await readTexts(folder, 'a.csv', content)).table.doubts, [], content)
  }
})

await t.test('sep= names the separator, in every encoding and with quotes', async (t) => {
  const folder = t.testdir({})
  for (const separator of [';', ',', '\t', '|', ':']) {
    for (const line of [`sep=${separator}`, `SEP=${separator}`, `"sep=${separator}"`]) {
      for (const lineBreak of ['\r\n', '\n', '\r']) {
        const lines = [line, `инн${separator}сумма`, `0277000001${separator}15`]
        const content = `\ufeff${lines.join(lineBreak)}${lineBreak}`
        for (const bytes of [content, Buffer.from(content, 'utf16le')]) {
          const { table, rows } = await readTexts(folder, 'a.csv', bytes)
          t.match(table, { separator, headerLine: 2, rows: 1, doubts: [] })
          t.same(rows, [['0277000001', '15']])
        }
      }
    }
  }
})

await t.test('two separators that fit alike are not certain', async (t) => {
  const folder = t.testdir({})
  const content = 'сумма, руб;дата, мск\n1,5;2,5\n3,5;4,5\n'
  const { table } = await readTexts(folder, 'a.csv', content)
  t.match(table, { separator: ';' })
  t.match(table.doubts, ['"," splits the lines as evenly as ";"; name one with --separator'])
  t.same((await readTexts(folder, 'a.csv', content, { separator: ';' })).table.doubts, [])
  const prices = 'товар;цена\nхлеб;1,5\nмолоко;2,5\n'
  t.match((await readTexts(folder, 'a.csv', prices)).table, { separator: ';', doubts: [] })
})

// Guarantee: what is published without a question has its names, and all of its rows.
await t.test('a table below any title is whole, or asked for', async (t) => {
  const folder = t.testdir({})
  const word = fc.constantFrom('Отчёт', 'за 2024 год', 'Форма № 2', 'тыс. руб.', 'Реестр', '')
  const titles = fc.array(fc.array(word, { minLength: 1, maxLength: 2 }), { maxLength: 3 })
  const check = async (title: readonly (readonly string[])[], separator: string) => {
    const content = csv([...title, names, ...rows], separator)
    const { table, names: found, rows: read } = await readTexts(folder, 'a.csv', content)
    const isFilled = title.some((cells) => cells.join('') !== '')
    if (
      table.doubts.length > 0 === isFilled &&
      found.join() === names.join() &&
      read.length === 3
    ) {
      return
    }
    throw new Error(`${content} became ${JSON.stringify({ found, read, doubts: table.doubts })}`)
  }
  const separators = fc.constantFrom(';', ',', '\t', '|')
  await fc.assert(fc.asyncProperty(titles, separators, check), { numRuns: runs(20) })
  t.pass('no title became a name, and no row was lost')
})
