import { parse } from 'csv-parse/sync'
import t from 'tap'
import { sheetLines } from '../support/programs/libreoffice.js'
import { startShipped } from '../support/shipped.js'
import { startTyped } from '../support/typed.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

// Guarantee: what a spreadsheet reads from XLSX is what the dataset holds: codes with their zeros,
// long numbers with their digits, dates as dates.

/** The cells of an answer that LibreOffice shows, by line. */
async function opened(world: World, token: string, url: string): Promise<readonly string[]> {
  const { statusCode, rawPayload } = await world.app.server.inject({
    url,
    headers: { authorization: `Bearer ${token}` },
  })
  if (statusCode !== 200) throw new Error(rawPayload.toString())
  return sheetLines(world.folder, rawPayload)
}

/** Cells as LibreOffice writes them, decimals without zeros at the end. */
function cellsOf(csv: string): readonly (readonly string[])[] {
  const rows: readonly (readonly string[])[] = parse(csv)
  return rows.map((row) =>
    row.map((cell) => (/^-?\d{1,12}\.\d{1,2}$/.test(cell) ? String(Number(cell)) : cell)),
  )
}

await t.test('a leading zero and 19 digits stay, and every cell is that of CSV', async (t) => {
  const world = await startShipped(t)
  const { token } = await world.subscribe(['financials:pro', 'procurement:pro'])
  const codes = await opened(
    world,
    token,
    '/v1/financials?inn=eq.0261012138&year=eq.2021&select=inn,year,2110,kpp&format=xlsx&header=code',
  )
  t.strictSame(codes, ['"inn","year","2110","kpp"', '"0261012138",2021,1770785,"026101001"'])
  const contracts =
    '/v1/procurement?okpd2=eq.35.11.10.111&select=reg_number,sign_date,price,customer_name&limit=50'
  const [, ...rows] = await opened(world, token, `${contracts}&format=xlsx&header=code`)
  t.ok(rows.length > 10)
  for (const row of rows) t.match(row, /^"\d{19}",\d{4}-\d\d-\d\d,\d+(?:\.\d\d?)?,"/)
  for (const url of [contracts, '/v1/financials?year=eq.2024&limit=200']) {
    const { text } = await world.get(`${url}&format=csv`, token)
    t.strictSame(
      cellsOf((await opened(world, token, `${url}&format=xlsx&header=code`)).join('\n')),
      cellsOf(text),
      url,
    )
  }
  const groups = '/v1/procurement/aggregate?group=quarter(sign_date)&measures=count,sum(price)'
  const { text } = await world.get(`${groups}&format=csv`, token)
  t.strictSame(
    cellsOf((await opened(world, token, `${groups}&format=xlsx&header=code`)).join('\n')),
    cellsOf(text),
  )
})

await t.test('a cell of every type is a value of that type, or text', async (t) => {
  const world = await startTyped(t)
  const { token } = await world.subscribe(['typed:pro'])
  const [head, ...rows] = await opened(world, token, '/v1/typed?limit=50&format=xlsx')
  t.match(head, '"id","int","big","dec"')
  t.match(rows[0], /^1,-5,"-9007199254740993",10,0\.1,0\.1,TRUE,2024-01-31,/)
  t.match(rows[0], ',2024-01-31 09:30:00,2024-01-31 06:30:00,"09:30:00","plain","A",')
  t.match(rows[2], '1969-12-31,"1969-12-31T23:59:59.999999",1969-12-31 23:59:59')
  t.match(rows[3], ',"9223372036854775807","9999999999999999.99",')
  t.match(rows[5], /^6,+$/)
})

await t.test('a text is that text, whatever it looks like', async (t) => {
  const texts = [
    ...['=1+1', '+7', '@x', '007', '1e5', 'TRUE', '2024-01-01', ' a ', 'a"b', 'a,b', '<&>', '🦆'],
    ...['constructor', '__proto__', 'toString', '_x0041_', '_x', 'Ж', "'quoted"],
  ]
  const values = texts.map((text, id) => `(${id}, '${text.replaceAll("'", "''")}')`).join()
  const world = await startWorld(t, {
    files: {
      'data/odd.parquet': `SELECT * FROM (VALUES ${values}, (99, chr(1) || 'a' || chr(13) || chr(10) || 'b')) v(id, odd)`,
    },
    registry: `datasets: {odd: {title: Odd, files: data/odd.parquet,
      plans: {all: {rows_per_month: 1000, history: all, price_rub: 0}}}}`,
  })
  const { token } = await world.subscribe(['odd:all'])
  const [, ...rows] = cellsOf((await opened(world, token, '/v1/odd?format=xlsx')).join('\n'))
  t.strictSame(
    rows.slice(0, texts.length).map(([, text]) => text),
    texts,
  )
  t.match(rows.at(-1)?.[1], /a\r?\n?b/)
})
