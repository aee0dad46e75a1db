import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { inns, startLists } from './fixtures/lists.js'

const [first = '', second = '', third = ''] = inns
const lists = await startLists(t)
const { enrich, write, read, charged } = lists

/** Runs a list and returns the new one. */
async function enriched(content: string | Uint8Array, ...options: readonly string[]) {
  const name = `list${(runs += 1)}`
  write(`${name}.csv`, content)
  const { code, stdout, stderr } = await enrich([
    `${name}.csv`,
    '-o',
    `${name}-out.csv`,
    ...options,
  ])
  t.same({ code, stderr }, { code: 0, stderr: '' })
  return { bytes: read(`${name}-out.csv`), text: String(read(`${name}-out.csv`)), stdout }
}
let runs = 0

await t.test('newest pays one row a key, of its newest year; misses are free', async (t) => {
  const before = await charged()
  const unknown = '7707083893'
  const list = `inn,who\n${first},a\n${second},b\n${third},c\n${unknown},d\n,e\n123,f\n`
  const { text, stdout } = await enriched(list, '--select', 'year,name')
  t.equal(
    text,
    'inn,who,year,name,_status\n' +
      `${first},a,2024,ООО «Фирма 0»,found\n` +
      `${second},b,2023,ООО «Фирма 1»,found\n` +
      `${third},c,2022,ООО «Фирма 2»,found\n` +
      `${unknown},d,,,not_found\n` +
      ',e,,,malformed\n' +
      '123,f,,,malformed\n',
  )
  t.match(stdout, /6 lines, 3 found, 1 not found, 2 malformed; 3 rows charged/)
  t.equal((await charged()) - before, 3)
})

await t.test('a key that is there several times is paid once and filled in each line', async () => {
  const before = await charged()
  const { text } = await enriched(`inn\n${first}\n${first}\n${first}\n`, '--select', 'year')
  t.equal(text, `inn,year,_status\n${`${first},2024,found\n`.repeat(3)}`)
  t.equal((await charged()) - before, 1)
})

await t.test('all has a line for each row, wide a column for each year', async (t) => {
  const before = await charged()
  const list = `inn;x\n${second};1\n${third};2\n`
  const all = await enriched(list, '--match', 'all', '--select', 'year,revenue')
  t.equal(
    all.text,
    'inn;x;year;revenue;_status\n' +
      `${second};1;2022;755,5;found\n${second};1;2023;755,75;found\n${third};2;2022;1005,5;found\n`,
  )
  t.equal((await charged()) - before, 3)
  const wide = await enriched(list, '--match', 'wide', '--select', 'revenue')
  t.equal(
    wide.text,
    'inn;x;revenue 2022;revenue 2023;_status\n' +
      `${second};1;755,5;755,75;found\n${third};2;1005,5;;found\n`,
  )
  t.equal((await charged()) - before, 6)
})

await t.test('a filter on the history column leaves only its values', async (t) => {
  for (const [where, years] of [
    ['year=eq.2022', ['2022', '2022']],
    ['year=in.2022,2023', ['2023', '2022']],
    ['year=lt.2024', ['2023', '2022']],
  ] as const) {
    lists.asked.length = 0
    const { text } = await enriched(
      `inn\n${first}\n${third}\n`,
      ...['--where', where, '--select', 'year'],
    )
    t.equal(
      text,
      `inn,year,_status\n${first},${years[0]},found\n${third},${years[1]},found\n`,
      where,
    )
    const queries = lists.asked.filter((path) => path.endsWith('/query'))
    t.equal(queries.length, new Set(years).size, where)
  }
})

await t.test('every encoding, separator, line end and quote stays as it is', async (t) => {
  const cyrillic = new TextDecoder('windows-1251')
  const letters = new Map(
    Array.from({ length: 256 }, (_, byte) => [cyrillic.decode(Uint8Array.of(byte)), byte] as const),
  )
  const encoders: Record<string, (text: string) => Buffer> = {
    utf8: (text) => Buffer.from(text),
    'utf8 with a mark': (text) => Buffer.from(`\ufeff${text}`),
    utf16le: (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
    utf16be: (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    windows1251: (text) => Buffer.from([...text].map((letter) => letters.get(letter) ?? 0)),
  }
  for (const [encoding, encode] of Object.entries(encoders)) {
    for (const separator of [',', ';', '\t']) {
      for (const end of ['\n', '\r\n', '\r']) {
        const lines = (more: readonly [string, string, string]) =>
          [
            [
              'Номер договора клиента',
              '"Полное наименование организации"',
              'inn',
              ...(more[0] ? [more[0]] : []),
            ],
            [
              '17',
              `"Общество ""Ромашка""${separator}${end}Москва"`,
              first,
              ...(more[1] ? [more[1]] : []),
            ],
            ['', 'без кавычек', `"${second}"`, ...(more[2] ? [more[2]] : [])],
          ]
            .map((cells) => cells.join(separator))
            .join(end)
        const { bytes } = await enriched(
          encode(lines(['', '', ''])),
          ...['--select', 'name,year', '--where', 'year=eq.2022'],
        )
        const added = [0, 1].map((at) => `ООО «Фирма ${at}»${separator}2022${separator}found`)
        const head = `name${separator}year${separator}_status`
        const expected = encode(lines([head, added[0] ?? '', added[1] ?? '']))
        t.ok(bytes.equals(expected), `${encoding} ${JSON.stringify(separator + end)}`)
      }
    }
  }
})

await t.test('short and long rows, blank lines and titles keep their places', async (t) => {
  const { text } = await enriched(
    `sep=;\nOur clients\nn;inn;city\n\n1;${first}\n2;${second};x;y\n\n`,
    '--select',
    'year',
  )
  t.equal(
    text,
    `sep=;\nOur clients\nn;inn;city;;year;_status\n\n1;${first};;;2024;found\n2;${second};x;y;2023;found\n\n`,
  )
})

await t.test('a column that the list has already is named after the dataset', async (t) => {
  const { text } = await enriched(`inn,name,_status\n${first},x,old\n`, '--select', 'name')
  t.equal(text, `inn,name,_status,firms.name,firms._status\n${first},x,old,ООО «Фирма 0»,found\n`)
})

await t.test('what can not be named leaves the answers and no half of a list', async (t) => {
  write('both.csv', `inn,revenue 2022,firms.revenue 2022\n${third},,\n`)
  const before = await charged()
  const argv = ['both.csv', '-o', 'both-out.csv', '--match', 'wide', '--select', 'revenue']
  const { code, stderr } = await enrich(argv)
  t.equal(code, 2)
  t.match(stderr, /has the columns "revenue 2022" and "firms.revenue 2022": rename one/)
  t.same(
    ['', '.new', '.part'].map((ending) => existsSync(lists.path(`both-out.csv${ending}`))),
    [false, false, true],
  )
  write('both.csv', `inn,renamed\n${third},\n`)
  t.equal((await enrich(argv)).code, 0)
  t.equal((await charged()) - before, 1, 'the list with another name goes on with them')
})

await t.test('zeros that a spreadsheet dropped are named, and put back on demand', async (t) => {
  const lost = first.replace(/^0/, '')
  write('lost.csv', `"a ""b""";inn\n"x;y";${lost}\n`)
  const dry = await enrich(['lost.csv', '--dry-run'])
  t.match(dry.stdout, new RegExp(`zeros lost: 1 key \\(line 2: ${lost} → ${first}\\)`))
  const kept = await enriched(read('lost.csv'), '--select', 'year')
  t.equal(kept.text, `"a ""b""";inn;year;_status\n"x;y";${lost};;malformed\n`)
  const back = await enriched(read('lost.csv'), '--select', 'year', '--add-zeros')
  t.equal(back.text, `"a ""b""";inn;year;_status\n"x;y";${first};2024;found\n`)
})

await t.test('letters that the encoding lacks are counted', async (t) => {
  const text = `id;Город и улица, дом и квартира клиента\n9007199254740993;Москва\n`
  const letters = [...text].map((each) => {
    const code = each.charCodeAt(0)
    return code >= 0x410 && code <= 0x44f ? code - 0x350 : code
  })
  const { stdout, bytes } = await enriched(
    Buffer.from(letters),
    ...['--dataset', 'ids', '--key', 'id', '--select', 'sign'],
  )
  t.match(stdout, /1 character that windows-1251 lacks became "\?": save the list as UTF-8/)
  t.match(bytes.toString('latin1'), /;a\?b;found\n$/)
})

await t.test('a list without lines costs nothing; one without the column is refused', async (t) => {
  const before = await charged()
  t.equal((await enriched('inn,x\n', '--select', 'year')).text, 'inn,x,year,_status\n')
  t.equal((await enriched('inn', '--select', 'year')).text, 'inn,year,_status')
  for (const [content, message] of [
    ['', /is empty/],
    ['iin,x\n1,2\n', /has no column "inn"\. Did you mean "iin"\?/],
    ['inn,inn\n1,2\n', /two columns "inn"/],
    [`inn,x\n${first},"open\n`, /never closed/],
  ] as const) {
    write('bad.csv', content)
    const { code, stderr } = await enrich(['bad.csv', '-o', 'bad-out.csv'])
    t.equal(code, 1, content)
    t.match(stderr, message)
    t.notOk(existsSync(lists.path('bad-out.csv')))
  }
  t.equal(await charged(), before)
})

await t.test('keys that are numbers are compared with every digit', async (t) => {
  const list = 'id\n9007199254740993\n09007199254740992\n9007199254740994.0\n1\nx\n'
  const { text } = await enriched(list, '--dataset', 'ids', '--key', 'id', '--select', 'name')
  t.equal(
    text,
    'id,name,_status\n9007199254740993,n0,found\n09007199254740992,n-1,found\n' +
      '9007199254740994.0,n1,found\n1,,not_found\nx,,malformed\n',
  )
})

await t.test('a list of several requests is whole', async (t) => {
  const before = await charged()
  const ids = Array.from({ length: 2500 }, (_, at) =>
    String(9007199254740993n - 1000n + BigInt(at)),
  )
  const options = ['--dataset', 'ids', '--key', 'id', '--select', 'name']
  const { text } = await enriched(`id\n${ids.join('\n')}\n`, ...options)
  const expected = ids.map((id, at) => `${id},n${at - 1000},found\n`)
  t.equal(text, `id,name,_status\n${expected.join('')}`)
  t.equal((await charged()) - before, 2500)
})

await t.test('rows that newest does not show are paid and said', async (t) => {
  const options = ['--dataset', 'deals', '--key', 'buyer', '--where', 'day=eq.2024-01-02']
  const { stdout } = await enriched(`buyer\n${first}\n`, ...options)
  t.match(stdout, /3 rows of keys with several rows are not shown/)
  write('deals.csv', `buyer\n${first}\n`)
  const refused = await enrich(['deals.csv', '-o', 'no.csv', ...options.slice(0, 4)])
  t.equal(refused.code, 2)
  t.match(refused.stderr, /--where 'day=in/)
})

await t.test('the options that do not fit are refused before anything is asked', async (t) => {
  write('ok.csv', `inn\n${first}\n`)
  lists.asked.length = 0
  for (const [argv, message] of [
    [['ok.csv'], /-o/],
    [['ok.csv', '-o', 'ok.csv'], /exists/],
    [['ok.csv', '-o', 'x.xlsx'], /format/],
    [['ok.csv', '-o', 'x.csv', '--match', 'best'], /newest, all or wide/],
    [['ok.csv', '-o', 'x.csv', '--exact'], /--dry-run/],
    [
      ['ok.csv', '-o', 'x.csv', '--where', 'yaer=eq.2024'],
      /no column "yaer"\. Did you mean "year"/,
    ],
    [['ok.csv', '-o', 'x.csv', '--select', 'nme'], /Did you mean "name"/],
    [['ok.txt', '--dry-run'], /no list/],
  ] as const) {
    const { code, stderr } = await enrich(argv)
    t.not(code, 0, argv.join(' '))
    t.match(stderr, message)
  }
  t.notOk(lists.asked.some((path) => path.endsWith('/query')))
})

await t.test('a token is in no output', async (t) => {
  write('tokens.csv', `inn\n${first}\n`)
  const token = await lists.token('firms:pro')
  write('token.txt', `${token}\n`)
  const options = ['--token-file', lists.path('token.txt')]
  const { code, stdout, stderr } = await enrich(['tokens.csv', '-o', 'tokens-out.csv', ...options])
  t.equal(code, 0)
  t.notMatch(stdout + stderr + readFileSync(lists.path('tokens-out.csv'), 'utf8'), token)
  const wrong = await enrich(['tokens.csv', '-o', 'x.csv'], { token: `${token}x` })
  t.equal(wrong.code, 2)
  t.notMatch(wrong.stderr, token)
})
