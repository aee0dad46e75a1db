import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import { rowsThatFit } from '../../src/sheet/sheet.js'
import { workbook } from '../../src/sheet/workbook.js'
import { isError } from '../support/answers.js'
import { startThings } from '../support/things.js'
import { startTyped } from '../support/typed.js'
import { startWorld } from '../support/world.js'
import type { Answer } from '../support/world.js'

const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const page = '/v1/things?year=gte.2023&select=id,year,note&limit=4'

const charged = ({ headers }: Answer) => headers['x-rows-charged']

await t.test('XLSX is a format like the others: charged, tagged, walked, by Accept', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const answer = await world.get(`${page}&format=xlsx`, token)
  t.equal(answer.status, 200)
  t.equal(answer.headers['content-type'], xlsx)
  t.match(answer.text, /^PK/)
  t.equal(charged(answer), '4')
  t.type(answer.headers['x-next-cursor'], 'string')
  t.equal(answer.headers['content-encoding'], undefined)
  const tag = String(answer.headers['etag'])
  const again = await world.get(`${page}&format=xlsx`, token, { headers: { 'if-none-match': tag } })
  t.equal(again.status, 304)
  t.equal(charged(again), undefined)
  t.not(tag, (await world.get(page, token)).headers['etag'])
  const accepted = await world.get(page, token, { headers: { accept: xlsx } })
  t.equal(accepted.headers['content-type'], xlsx)
  const head = await world.get(`${page}&format=xlsx`, token, { method: 'HEAD' })
  t.match(head.headers['content-disposition'], /\.xlsx"$/)
  for (const url of ['top?by=-2110&limit=2', 'aggregate?group=year&measures=count']) {
    const { status, headers } = await world.get(`/v1/things/${url}&format=xlsx`, token)
    t.strictSame([status, headers['content-type']], [200, xlsx], url)
  }
  const posted = await world.get('/v1/things/query', token, {
    method: 'POST',
    headers: { accept: xlsx, 'content-type': 'application/json' },
    body: '{"limit":1}',
  })
  t.equal(posted.headers['content-type'], xlsx)
  const exported = await world.get('/v1/things/export?format=xlsx', token)
  isError(t, exported, 'not_acceptable', /An export is ndjson or csv/)
  const tiny = (await world.subscribe(['things:tiny'])).token
  t.equal(charged(await world.get('/v1/things?format=xlsx', tiny)), '7', 'a quota cuts it')
})

await t.test('a format for files has a name of dataset and version', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const format of ['csv', 'parquet', 'xlsx']) {
    const { headers } = await world.get(`${page}&format=${format}`, token)
    const version = String(headers['x-dataset-version'])
    t.equal(headers['content-disposition'], `attachment; filename="things-${version}.${format}"`)
  }
  for (const format of ['json', 'ndjson']) {
    const { headers } = await world.get(`${page}&format=${format}`, token)
    t.equal(headers['content-disposition'], undefined, format)
  }
})

await t.test('a text that Excel cannot hold is cut, marked and counted, and paid', async (t) => {
  const world = await startWorld(t, {
    files: {
      'data/long.parquet': `SELECT i AS id, repeat('ж', 32766 + i) AS text, [repeat('a', 40000)] AS list
        FROM range(3) t(i)`,
    },
    registry: `datasets: {long: {title: Long, files: data/long.parquet,
      plans: {all: {rows_per_month: 1000, history: all, price_rub: 0}}}}`,
  })
  const { token } = await world.subscribe(['long:all'])
  const short = await world.get('/v1/long?select=id,text&limit=2&format=xlsx', token)
  const long = await world.get('/v1/long?select=text,list&format=xlsx', token)
  t.same([short.status, charged(short), long.status, charged(long)], [200, '2', 200, '3'])

  const columns = [{ name: 'text', cells: { kind: 'text' } as const }]
  const texts = ['ж'.repeat(32_767), 'ж'.repeat(32_768), ['a'.repeat(40_000)]]
  const partsOf = async (rows: readonly unknown[]) => {
    const cells = rows.map((row) => [JSON.stringify(row)])
    const bytes = await workbook([{ name: 'long', columns, rows: cells }], [])
    return Object.fromEntries(
      Object.entries(unzipSync(bytes)).map(([name, part]) => [name, strFromU8(part)]),
    )
  }
  const parts = await partsOf(texts)
  const strings = parts['xl/sharedStrings.xml'] ?? ''
  const cells = [...strings.matchAll(/<t[^>]*>([^<]*)<\/t>/g)].map(([, text = '']) => text)
  t.same(
    cells.map((cell) => cell.length),
    [4, 32_767, 32_767, 32_767, cells[4]?.length],
  )
  t.ok(cells[2]?.endsWith('жж … [cut: 32768 characters]'))
  t.ok(cells[3]?.endsWith('aa … [cut: 40004 characters]'))
  t.match(cells[4], /^Texts cut to 32767 characters/)
  t.match(parts['xl/workbook.xml'], 'name="About"')
  t.match(parts['xl/worksheets/sheet2.xml'], '<v>2</v>')
  t.notMatch((await partsOf(texts.slice(0, 1)))['xl/workbook.xml'], 'About')
})

await t.test('more columns than Excel holds are refused for all rows', (t) => {
  for (const rows of [[], [Buffer.from('{}')]]) {
    t.throws(() => rowsThatFit(rows, 16_385), /at most 16384 columns; this has 16385/)
    t.equal(rowsThatFit(rows, 16_384), rows.length)
  }
  t.end()
})

await t.test('CSV for Excel has a mark, and the separator of the language', async (t) => {
  const world = await startTyped(t)
  const { token } = await world.subscribe(['typed:pro'])
  const ask = async (language: string, query = '&excel=true') => {
    const url = `/v1/typed?select=id,dec,text&limit=4&format=csv${query}`
    return world.get(url, token, { headers: { 'accept-language': language } })
  }
  const english = await ask('en-US,en;q=0.9,ru;q=0.8')
  t.equal(english.headers['content-type'], 'text/csv; charset=utf-8; header=present')
  t.match(english.headers['vary'], 'Accept-Language')
  const commas = '\ufeffid,dec,text\r\n1,10.00,plain\r\n2,10.01,"a,b"\r\n'
  t.equal(english.text.slice(0, commas.length), commas)
  const russian = await ask('ru-RU,ru;q=0.9,en;q=0.8')
  const semicolons = '\ufeffid;dec;text\r\n1;10,00;plain\r\n2;10,01;"a,b"\r\n'
  t.equal(russian.text.slice(0, semicolons.length), semicolons)
  t.ok(russian.text.endsWith('4;9999999999999999,99;""\r\n'))
  t.not(russian.headers['etag'], english.headers['etag'])
  for (const [language, separator] of [
    ['de', ';'],
    ['es-MX', ','],
    ['*', ','],
    ['', ','],
    ['xx-yy-zz, ru;q=0', ','],
  ] as const) {
    t.match((await ask(language)).text, `id${separator}dec`, language)
  }
  const plain = await ask('ru', '')
  t.match(plain.text, /^id,dec,text\r\n1,10\.00/, 'CSV stays CSV')
  t.equal((await ask('ru', '&excel=false')).text, plain.text)
  isError(t, await ask('ru', '&excel=yes'), 'bad_request', /excel must be true or false/)
  const other = await world.get('/v1/typed?format=json&excel=true', token)
  isError(t, other, 'bad_request', /excel=true needs format=csv/)
})
