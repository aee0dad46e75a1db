import t from 'tap'
import { column } from '../support/answers.js'
import { startShipped } from '../support/shipped.js'
import type { Answer, World } from '../support/world.js'

/** The body's rows with numbers as text, so that no digit is lost on the way. */
function exactRows(answer: Answer): readonly Readonly<Record<string, string>>[] {
  const text = answer.text.replace(/:(-?\d+(?:\.\d+)?)(?=[,}])/g, ':"$1"')
  return (JSON.parse(text) as { data: Record<string, string>[] }).data
}

async function rowsOf(world: World, token: string, path: string): Promise<Answer> {
  const answer = await world.get(`/v1/${path}${path.includes('?') ? '&' : '?'}limit=1000`, token)
  if (answer.status !== 200 || answer.body.next_cursor !== null) {
    throw new Error(`${path}: ${answer.text.slice(0, 200)}`)
  }
  return answer
}

await t.test('the accounts hold what was measured on them', async (t) => {
  const world = await startShipped(t)
  const { token } = await world.subscribe(['financials:business', 'procurement:pro'])
  const count = async (query: string) =>
    (await rowsOf(world, token, `financials?${query}&select=inn`)).body.data.length

  const years: Readonly<Record<string, number>> = {
    2019: 249,
    2020: 260,
    2021: 268,
    2022: 273,
    2023: 285,
    2024: 283,
    2025: 281,
  }
  for (const [year, rows] of Object.entries(years)) {
    t.equal(await count(`year=eq.${year}`), rows, year)
  }
  const counts: Readonly<Record<string, number>> = {
    'year=eq.2024&2400=lt.0': 20,
    'year=eq.2024&okfs=ne.16': 31,
    'year=eq.2024&okved=like.64.*': 68,
    'okved=like.64.*': 435,
    'year=eq.2024&2110=gte.1000000': 174,
    'year=in.2023,2024&2110=gte.1000000000': 4,
    'kpp=is_null': 0,
    '1330=not_null': 0,
    'year=eq.2024&2110=is_null': 27,
    'year=eq.2024&2110=eq.0': 1,
    'inn=eq.7736050003': 0,
    'inn=eq.7708503727': 3,
    'inn=in.0261012138,0278181110,0278202835,0411137185&year=eq.2024': 4,
  }
  for (const [query, rows] of Object.entries(counts)) t.equal(await count(query), rows, query)

  const revenue = exactRows(await rowsOf(world, token, 'financials?year=eq.2024&select=2110'))
  const sum = revenue.reduce((total, row) => total + BigInt(row['2110'] ?? 0), 0n)
  t.equal(sum, 11_601_126_087n, 'sum of line 2110 in 2024')

  const lukoil = await rowsOf(
    world,
    token,
    'financials?inn=eq.7708004767&year=gte.2024&select=2110,2400,1600,year',
  )
  t.equal(
    lukoil.text.slice(0, lukoil.text.indexOf('}')),
    '{"data":[{"2110":3046943699,"2400":732516214,"1600":2863934119,"year":2024',
    'keys in the order asked for, digit-only ones too',
  )
  t.equal(lukoil.body.data[1]?.['2110'], 3_453_224_535)
  t.equal(await count('inn=eq.7708004767'), 7)
  const rzd = await rowsOf(world, token, 'financials?inn=eq.7708503727&year=eq.2021')
  t.equal(rzd.body.data[0]?.['1600'], 7_436_550_217)
  t.equal(Object.keys(rzd.body.data[0] ?? {}).length, 131)
  const neftemash = await rowsOf(world, token, 'financials?inn=eq.0261012138&year=eq.2024')
  t.match(neftemash.body.data, [{ inn: '0261012138', 2110: 1_959_588, okved: '28.99.9' }])
  const kopecks = exactRows(await rowsOf(world, token, 'financials?2900=not_null&select=2900'))
  t.equal(kopecks.filter((row) => !row['2900']?.endsWith('.00')).length, 70)
})

await t.test('the procurement contracts hold what was measured on them', async (t) => {
  const world = await startShipped(t)
  const { token } = await world.subscribe(['procurement:pro'])
  const all = await rowsOf(
    world,
    token,
    'procurement?select=reg_number,price,customer_inn,supplier_inn,okpd2,status',
  )
  const rows = exactRows(all)
  t.equal(rows.length, 969)
  const kopecks = (price = '') => BigInt(price.replace('.', ''))
  const total = (of: typeof rows) => of.reduce((sum, row) => sum + kopecks(row['price']), 0n)
  t.equal(total(rows), 272_648_544_929n)
  const distinct = (name: string) => new Set(column(all, name)).size
  t.equal(distinct('reg_number'), 969)
  t.equal(distinct('customer_inn'), 347)
  t.equal(distinct('supplier_inn'), 128)
  t.equal(distinct('okpd2'), 20)
  for (const [status, count] of [
    ['E', 960],
    ['EC', 7],
    ['ET', 2],
  ] as const) {
    const answer = await rowsOf(world, token, `procurement?status=eq.${status}&select=status`)
    t.equal(answer.body.data.length, count, status)
  }
  const dear = await rowsOf(world, token, 'procurement?price=gt.10000000&select=price')
  t.equal(dear.body.data.length, 59)
  const stations = exactRows(
    await rowsOf(world, token, 'procurement?okpd2=like.35.11*&select=price'),
  )
  t.equal(stations.length, 160)
  t.equal(total(stations), 105_507_181_148n)
  const retail = await rowsOf(world, token, 'procurement?okpd2=eq.35.13.10.000&select=okpd2')
  t.equal(retail.body.data.length, 510)
  const dearest = await world.get('/v1/procurement?price=eq.167705820.32&select=reg_number', token)
  t.equal(dearest.text, '{"data":[{"reg_number":"1772472939018000010"}],"next_cursor":null}')
  t.equal(
    (await world.get('/v1/procurement?price=eq.167705820.321', token)).text.slice(0, 10),
    '{"data":[]',
  )
})

await t.test('each plan sees its years, and the demo its companies', async (t) => {
  const world = await startShipped(t)
  const plans = [
    ['free', 281, 2025],
    ['start', 564, 2024],
    ['pro', 1899, 2019],
    ['business', 1899, 2019],
  ] as const
  for (const [plan, rows, oldest] of plans) {
    const { token } = await world.subscribe([`financials:${plan}`])
    const schema = await world.get('/v1/financials/schema', token)
    t.equal(schema.body['rows'], rows, plan)
    const first = await world.get('/v1/financials?inn=not_null&select=year&limit=1', token)
    t.same(first.body.data, [{ year: oldest }], plan)
    const before = await world.get(`/v1/financials?year=lt.${oldest}`, token)
    t.equal(before.text, '{"data":[],"next_cursor":null}', plan)
  }
  const demo = await world.get('/v1/financials?year=gte.2019&select=inn', 'das_demo_opendata')
  t.equal(demo.body.data.length, 31)
  t.equal(new Set(column(demo, 'inn')).size, 5)
})

await t.test(
  'a walk over all accounts meets each company and year once, in stored order',
  async (t) => {
    const world = await startShipped(t)
    const { token } = await world.subscribe(['financials:pro'])
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const next: string = cursor === null ? '' : `&cursor=${cursor}`
      const page = await world.get(
        `/v1/financials?inn=not_null&select=year,inn&limit=${seen.length % 2 ? 97 : 250}${next}`,
        token,
      )
      seen.push(...page.body.data.map((row) => `${String(row['year'])} ${String(row['inn'])}`))
      cursor = page.body.next_cursor
    } while (cursor !== null)
    t.equal(seen.length, 1899)
    t.same(seen, [...new Set(seen)].sort())
  },
)
