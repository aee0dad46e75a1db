import t from 'tap'
import { callTool } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'

// Guarantee: an answer says which part of a dataset the token sees, from the plan and the newest
// value alone: the same for a row that exists outside and for one that does not.

const demo = 'das_demo_scope'
const registry = `
demo: {token: ${demo}, rate_per_minute: 10000}
datasets:
  rows:
    title: Rows
    files: data/rows.parquet
    history: year
    demo: {id: [1, 2], год: [2021]}
    plans:
      free: {rows_per_month: 100, history: 1, price_rub: 0, rate_per_minute: 10000}
      two: {rows_per_month: 100, history: 2, price_rub: 0, rate_per_minute: 10000}
      all: {rows_per_month: 100, history: all, price_rub: 0, rate_per_minute: 10000}
  days:
    title: Days
    files: data/days.parquet
    history: day
    as_of: 2024-12
    demo: {id: [1]}
    plans: {free: {rows_per_month: 100, history: 1, price_rub: 0}}
  moments:
    title: Moments
    files: data/days.parquet
    history: at
    demo: {id: [1]}
    plans: {free: {rows_per_month: 100, history: 1, price_rub: 0}}
  discreet:
    title: Discreet
    files: data/days.parquet
    history: day
    columns: {day: {hidden: true}, id: {hidden: true}}
    demo: {id: [1]}
    plans: {free: {rows_per_month: 100, history: 2, price_rub: 0}}
`
const files = {
  'data/rows.parquet': `SELECT i AS id, 2020 + i AS year, 2020 + i AS "год" FROM range(5) t(i)`,
  'data/days.parquet': `SELECT i AS id, 1 AS one, DATE '2022-06-01' + i::INT AS day,
      TIMESTAMP '2023-12-31 22:00:00' + to_hours(i) AS at FROM range(4) t(i)`,
}

const storedOrder = { rows: ['id'], days: ['id'], moments: ['id'], discreet: ['id'] }

await t.test('the scope and the date of the data are those of the token', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder })
  const expected = {
    'rows:free': ['2024', 'plan free: year 2024'],
    'rows:two': ['2024', 'plan two: year 2023-2024'],
    'rows:all': ['2024', null],
    'rows:demo': ['2021', 'demo: 2 values of id, 1 value of год'],
    'days:free': ['2024-12', 'plan free: day 2022'],
    'days:demo': ['2024-12', 'demo: 1 value of id'],
    'moments:free': ['2024-01-01', 'plan free: at 2024'],
    'moments:demo': ['2023-12-31', 'demo: 1 value of id'],
    'discreet:free': [null, 'plan free: the latest 2 years'],
    'discreet:demo': [null, 'demo: a subset'],
  } as const
  for (const [grant, [asOf, scope]] of Object.entries(expected)) {
    const [dataset = '', plan] = grant.split(':')
    const token = plan === 'demo' ? demo : (await world.subscribe([grant])).token
    const schema = await world.get(`/v1/${dataset}/schema`, token)
    t.match(schema.body, { as_of: asOf, scope, updated_at: /^\d{4}-.+Z$/ }, grant)
    const list = await world.get('/v1/', token)
    const found = list.body.data.find(({ name }) => name === dataset)
    t.match(found, { as_of: asOf, scope }, grant)
    for (const path of ['', '/export']) {
      const { headers } = await world.get(`/v1/${dataset}${path}`, token)
      t.equal(headers['x-scope'], scope?.replace('год', '%D0%B3%D0%BE%D0%B4') ?? undefined, grant)
    }
  }
})

await t.test('an empty answer says the scope, the same inside and outside', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder })
  const { token } = await world.subscribe(['rows:free'])
  const hintOf = async (who: string, id: number, explain: boolean) => {
    const filters = [{ column: 'id', op: 'eq', value: id }]
    const answer = await callTool(world, who, 'query', { resource: 'rows', filters, explain })
    t.equal(answer.content['row_count'], 0)
    return String(answer.content['hint']).replaceAll(String(id), 'ID')
  }
  for (const explain of [true, false]) {
    const outside = await hintOf(token, 3, explain)
    t.match(outside, /This token sees only a part of the dataset: plan free: year 2024\.$/)
    t.equal(await hintOf(token, 77, explain), outside)
  }
  t.match(
    await hintOf(demo, 4, false),
    /part of the dataset: demo: 2 values of id, 1 value of год\.$/,
  )
  const { token: whole } = await world.subscribe(['rows:all'])
  t.notMatch(await hintOf(whole, 77, true), 'This token sees')
  const inside = await callTool(world, token, 'query', { resource: 'rows' })
  t.notOk(inside.content['hint'], 'rows need no hint')
})
