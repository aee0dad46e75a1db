import t from 'tap'
import type { Test } from 'tap'
import { openControl, usageOf } from '../support/control.js'
import { callTool } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

type Filter = readonly [column: string, op: string, value?: unknown]

/** Companies by year: a key, codes, amounts; each has accounts in some of the years only. */
const files = {
  'data/2022.parquet': accountsOf(2022, 'i < 40'),
  'data/2023.parquet': accountsOf(2023, 'i < 20'),
  'data/2024.parquet': accountsOf(2024, 'i % 2 = 0'),
  'data/days.parquet': `SELECT i AS id, DATE '2024-01-01' + (i * 10)::INT AS day,
      DATE '2020-01-01' + (i % 3)::INT AS class_day, 'w' || i AS word FROM range(30) t(i)`,
}

function accountsOf(year: number, which: string): string {
  return `SELECT 'inn' || lpad(i::VARCHAR, 3, '0') AS inn, ${year} AS year,
      ['62.01', '62.02', '47.11', '01.11'][1 + i % 4] AS okved, i % 3 AS region,
      (i % 2 = 0) AS audited, ${year * 1000} + i * 7 AS revenue,
      'firm ' || i AS name, CASE WHEN i < 3 THEN 'r' || i END AS rare,
      CASE WHEN i % 16 = 0 THEN ${year * 1000} + i END AS fine, (i * 1.5)::DECIMAL(9,2) AS share,
      'hidden' || i AS secret FROM range(40) t(i) WHERE ${which}`
}

const registry = `
demo: {token: das_demo_accounts, rate_per_minute: 10000}
datasets:
  accounts:
    title: Accounts
    files: data/20*.parquet
    key: [inn, year]
    history: year
    demo: {inn: ["inn001", "inn002"]}
    columns: {secret: {hidden: true}}
    plans:
      last: {rows_per_month: 1000, history: 1, price_rub: 0, rate_per_minute: 100000}
      pro: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 100000}
  days:
    title: Days
    files: data/days.parquet
    key: id
    history: day
    plans: {pro: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 100000}}
`

const startAccounts = (t: Test): Promise<World> => startWorld(t, { files, registry })
const demoToken = 'das_demo_accounts'

/** The hint of a question that no row meets; undefined without one. */
async function hintOf(
  world: World,
  token: string,
  filters: readonly Filter[],
  resource = 'accounts',
): Promise<string | undefined> {
  const { isError, text, content } = await callTool(world, token, 'query', {
    resource,
    filters: filters.map(([column, op, value]) => ({ column, op, value })),
  })
  if (isError || content['row_count'] !== 0) throw new Error(`no empty answer: ${text}`)
  return content['hint'] as string | undefined
}

await t.test('the filter that matches no row is named', async (t) => {
  const world = await startAccounts(t)
  const { token, subscriptionId } = await world.subscribe(['accounts:pro'])
  const hint = (...filters: Filter[]) => hintOf(world, token, filters)
  t.match(
    await hint(['inn', 'eq', 'inn999'], ['year', 'eq', 2024]),
    /^The filter inn eq "inn999" leaves no row; without it there are rows\./,
  )
  t.match(
    await hint(['okved', 'in', ['x', 'y', 'z']]),
    /^The filter okved in 3 values leaves no row/,
  )
  t.match(await hint(['inn', 'is_null']), /^The filter inn is_null leaves no row/)
  t.match(
    await hint(['okved', 'like', '%62%*']),
    /^In like, % is an ordinary .+ use contains: okved=contains\.62\. The filter okved like/,
  )
  t.match(
    await hint(['year', 'gte', 2030], ['region', 'eq', 1], ['okved', 'like', '62*']),
    /^The filter year gte "2030" leaves no row; without it there are rows\./,
  )
  const { total } = await usageOf(openControl(t, world), world, subscriptionId)
  t.equal(total, 2, 'a row where there is more than one filter')
})

await t.test('words of a search that are in no row are named, for a row', async (t) => {
  const world = await startAccounts(t)
  const { token, subscriptionId } = await world.subscribe(['days:pro'])
  const hint = (value: string) => hintOf(world, token, [['word', 'contains', value]], 'days')
  t.match(await hint('w1 aero w2 flot'), /leaves no row.+ No row has "aero" and "flot" in word\.$/)
  t.match(await hint('w1 w2'), /Each word is in a row, but no row has all of them in word\.$/)
  t.match(await hint('aero'), /^The filter word contains "aero" leaves no row; [^.]+\.$/)
  const { total } = await usageOf(openControl(t, world), world, subscriptionId)
  t.equal(total, 2, 'one word is free: it is the only filter')
})

await t.test(
  'several filters, each of which would be enough to leave out, are all named',
  async (t) => {
    const world = await startAccounts(t)
    const { token } = await world.subscribe(['accounts:pro'])
    const several = await hintOf(world, token, [
      ['inn', 'eq', 'inn021'],
      ['year', 'eq', 2023],
      ['region', 'eq', 0],
    ])
    t.match(
      several,
      /^Together the filters leave no row; without any one of these there are rows: /,
    )
    t.match(several, /rows: inn eq "inn021", year eq "2023"\./, 'not the region, which is right')
    t.match(several, /Values of year near it: 2022\.$/)
  },
)

await t.test('where no single filter is the cause, that is said', async (t) => {
  const world = await startAccounts(t)
  const { token } = await world.subscribe(['accounts:pro'])
  const none = await hintOf(world, token, [
    ['inn', 'eq', 'inn999'],
    ['okved', 'eq', '99.99'],
  ])
  t.match(none, /^No single filter is the cause/)
  t.notMatch(none, /near/)
})

await t.test('near values are those of codes in the window, in order', async (t) => {
  const world = await startAccounts(t)
  const { token } = await world.subscribe(['accounts:pro', 'days:pro'])
  const near = async (filters: readonly Filter[], resource?: string) => {
    const hint = await hintOf(world, token, filters, resource)
    return /Values of .+ near it: (.+)\.$/.exec(hint ?? '')?.[1]
  }
  t.equal(await near([['okved', 'eq', '62.09']]), '"62.01", "62.02", "01.11", "47.11"')
  t.match(await near([['okved', 'like', '47.9*']]), /^"47\.11", /)
  t.equal(await near([['region', 'eq', 7]]), '0, 1, 2')
  t.equal(await near([['year', 'eq', 2020]]), '2022, 2023, 2024')
  t.equal(
    await near([['day', 'eq', '2024-03-02']], 'days'), // the five nearest of thirty
    '"2024-02-10", "2024-02-20", "2024-03-01", "2024-03-11", "2024-03-21"',
  )
  t.equal(
    await near([['class_day', 'gt', '2021-01-01']], 'days'),
    '"2020-01-01", "2020-01-02", "2020-01-03"',
  )
  t.match(await near([['okved', 'like', '63*']]), /^"62\.0/)
})

await t.test('what belongs to one key is for sale, however often its rows repeat it', async (t) => {
  const world = await startAccounts(t)
  const { token } = await world.subscribe(['accounts:pro'])
  for (const [name, wanted] of [
    ['inn', 'inn01'],
    ['name', 'firm 1x'],
    ['rare', 'r1x'],
    ['fine', 2_022_001],
  ] as const) {
    const url = `/v1/accounts?${name}=eq.${encodeURIComponent(wanted)}&explain=true`
    const { headers } = await world.get(url, token)
    t.equal(headers['x-rows-charged'], '0', name)
    t.match(headers['x-explained'], new RegExp(`^The filter ${name} eq .+ leaves no row`))
    t.notMatch(headers['x-explained'], /near/, name)
  }
})

await t.test('a value that is there has no values near it', async (t) => {
  const world = await startAccounts(t)
  const { token } = await world.subscribe(['accounts:pro'])
  const hint = await hintOf(world, token, [
    ['inn', 'eq', 'inn000'],
    ['okved', 'eq', '47.11'],
    ['audited', 'eq', true],
  ])
  t.match(hint, /okved eq "47\.11"/)
  t.notMatch(hint, /Values of/)
  const flag = await hintOf(world, token, [
    ['inn', 'eq', 'inn000'],
    ['audited', 'eq', false],
  ])
  t.match(flag, /audited eq "false"/)
  t.notMatch(flag, /Values of/)
  const last = (await world.subscribe(['accounts:last'])).token
  const only = await hintOf(world, last, [['audited', 'eq', false]])
  t.match(
    only,
    /^The filter audited eq "false" leaves no row.+Values of audited near it: true\. This/,
  )
})

// Guarantee: a hint costs one row at most, so it shows no cell. Only of the history column, which
// says which rows there are, does it show what the other filters leave.
await t.test('an impossible value beside a key reveals nothing of the row', async (t) => {
  const world = await startAccounts(t)
  const { token } = await world.subscribe(['accounts:pro'])
  for (const column of ['revenue', 'fine', 'share']) {
    const hints = new Set<string | undefined>()
    for (const inn of ['inn000', 'inn016', 'inn003', 'inn020']) {
      const nonsense = [
        [column, 'eq', 123456],
        [column, 'lt', -5],
      ] as const
      for (const filter of nonsense) {
        const hint = await hintOf(world, token, [['inn', 'eq', inn], filter])
        t.notMatch(hint, /Values of/, `${inn} ${filter.join(' ')}: ${hint}`)
        hints.add(hint?.replace(inn, '').replace(/"[-\d]+"|eq|lt/g, ''))
      }
    }
    t.equal(hints.size, 1, `${column}: every row has the same answer`)
  }
  const codes = new Set<string | undefined>()
  for (const inn of ['inn000', 'inn001', 'inn002', 'inn003']) {
    const hint = await hintOf(world, token, [
      ['inn', 'eq', inn],
      ['okved', 'eq', '99.99'],
    ])
    codes.add(/Values of okved.+/.exec(hint ?? '')?.[0])
  }
  t.equal(codes.size, 1, 'codes come from the whole window, not from the row')
  t.match([...codes][0], /"01\.11", "47\.11"|"47\.11"/)
  const years = async (inn: string) =>
    hintOf(world, token, [
      ['inn', 'eq', inn],
      ['year', 'eq', 2030],
    ])
  t.match(await years('inn002'), /Values of year near it: 2022, 2023, 2024\.$/)
  t.match(await years('inn021'), /Values of year near it: 2022\.$/)
})

// Guarantee: what a plan or the demo does not show is not revealed by a hint either.
await t.test('hints stay within the window, the demo subset and the shown columns', async (t) => {
  const world = await startAccounts(t)
  const { token } = await world.subscribe(['accounts:last'])
  const last = await hintOf(world, token, [['year', 'eq', 2022]])
  t.match(last, /Values of year near it: 2024\. This token sees/)
  const odd = await hintOf(world, token, [['inn', 'eq', 'inn001']])
  t.equal(
    odd,
    'The filter inn eq "inn001" leaves no row; without it there are rows. ' +
      'This token sees only a part of the dataset: plan last: year 2024.',
  )
  const absent = await hintOf(world, token, [['inn', 'eq', 'inn777']])
  t.equal(
    absent,
    odd?.replace('inn001', 'inn777'),
    'a key outside the window is like an unknown one',
  )
  const region = await hintOf(world, demoToken, [['region', 'eq', 0]])
  t.match(region, /region eq "0" leaves no row/)
  t.notMatch(region, /near it:.*0/)
  const outside = await hintOf(world, demoToken, [['inn', 'eq', 'inn003']])
  t.notMatch(outside, /inn00[04-9]|inn01/)
  const secret = await callTool(world, token, 'query', {
    resource: 'accounts',
    filters: [{ column: 'secret', op: 'eq', value: 'x' }],
  })
  t.ok(secret.isError)
  t.match(secret.text, /no column "secret"/)
  t.notMatch(secret.text, /hidden\d/)
})

await t.test('a window without any row is said to be empty', async (t) => {
  const world = await startWorld(t, {
    files: { 'data/a.parquet': 'SELECT i AS id FROM range(5) t(i)' },
    registry: `
demo: {token: das_demo_none, rate_per_minute: 10000}
datasets:
  rows:
    title: Rows
    files: data/a.parquet
    demo: {id: [99]}
    plans: {pro: {rows_per_month: 1000, history: all, price_rub: 0}}
`,
  })
  for (const filters of [[], [['id', 'eq', 1]]] as readonly (readonly Filter[])[]) {
    const hint = await hintOf(world, 'das_demo_none', filters, 'rows')
    t.match(hint, /^There is no row that this token can see\. This/)
  }
})

await t.test('an empty top says that rows without a value are left out', async (t) => {
  const world = await startAccounts(t)
  const { token, subscriptionId } = await world.subscribe(['accounts:pro'])
  const control = openControl(t, world)
  const hint = async (by: string, ...filters: readonly Filter[]) => {
    const { content } = await callTool(world, token, 'top', {
      resource: 'accounts',
      by,
      filters: filters.map(([column, op, value]) => ({ column, op, value })),
    })
    t.equal(content['row_count'], 0)
    return content['hint']
  }
  const without =
    'No row that meets the filters has a value in fine; rows without one are left out.'
  t.equal(await hint('-fine', ['inn', 'eq', 'inn001']), without, 'inn001 has rows')
  t.equal(await hint('-fine', ['inn', 'eq', 'inn001'], ['year', 'gte', 2022]), without)
  const near = 'Values of year near "2030": 2022, 2023, 2024.'
  t.equal(await hint('fine', ['year', 'eq', 2030]), `${without} ${near}`)
  t.equal((await usageOf(control, world, subscriptionId)).total, 0, 'it is free')
})

await t.test('hints are for first pages of up to eight filters', async (t) => {
  const world = await startAccounts(t)
  const { token } = await world.subscribe(['accounts:pro'])
  const year: Filter = ['year', 'eq', 2030]
  const rest = (count: number) => Array<Filter>(count).fill(['region', 'gte', 0])
  t.match(
    await hintOf(world, token, [year, ...rest(7)]),
    /^The filter year eq "2030" leaves no row/,
  )
  t.equal(await hintOf(world, token, [year, ...rest(8)]), undefined)
  const byUrl = await world.get('/v1/accounts?year=eq.2030', token)
  t.same(byUrl.body, { data: [], next_cursor: null }, 'REST has its own two keys, and no hint')
})

/** Filters of which many pairs and triples leave nothing, each as JSON and as a URL has it. */
const pool: readonly (readonly [Filter, string])[] = [
  [['year', 'eq', 2022], 'year=eq.2022'],
  [['year', 'gt', 2023], 'year=gt.2023'],
  [['region', 'eq', 1], 'region=eq.1'],
  [['audited', 'eq', false], 'audited=eq.false'],
  [['inn', 'eq', 'inn021'], 'inn=eq.inn021'],
  [['okved', 'like', '62*'], 'okved=like.62*'],
  [['fine', 'not_null'], 'fine=not_null'],
  [['inn', 'in', ['inn900', 'inn901']], 'inn=in.inn900,inn901'],
]

await t.test('the filters named are those without which there are rows', async (t) => {
  const world = await startAccounts(t)
  const { token } = await world.subscribe(['accounts:pro'])
  const has = async (chosen: typeof pool) => {
    const query = chosen.map(([, text]) => text).join('&')
    const answer = await world.get(`/v1/accounts?limit=1&${query}`, token)
    t.equal(answer.status, 200, query)
    return answer.body.data.length > 0
  }
  let empty = 0
  for (const [index, first] of pool.entries()) {
    for (const [offset, second] of pool.slice(index + 1).entries()) {
      for (const third of pool.slice(index + offset + 2)) {
        const chosen = [first, second, third]
        if (await has(chosen)) continue
        empty += 1
        const hint = await hintOf(
          world,
          token,
          chosen.map(([filter]) => filter),
        )
        const [told = ''] = /^(?:.*?rows: .*?|.*?rows|.*? row)\.(?= |$)/.exec(hint ?? '') ?? []
        for (const each of chosen) {
          const [[column, op, value], text] = each
          const isGuilty = await has(chosen.filter((other) => other !== each))
          const shown = Array.isArray(value) ? `${value.length} values` : `"${String(value)}"`
          const name = value === undefined ? `${column} ${op}` : `${column} ${op} ${shown}`
          t.equal(told.includes(name), isGuilty, `${text} in: ${hint}`)
        }
      }
    }
  }
  t.ok(empty >= 20, `${empty} questions without an answer`)
})
