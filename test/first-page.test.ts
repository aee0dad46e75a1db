import t from 'tap'
import { startWorld } from './support/world.js'

await t.test(
  'a subscriber reads the rows of their window, in stored order, page by page',
  async (t) => {
    const world = await startWorld(t, {
      files: {
        'data/2023.parquet':
          'SELECT 2023 AS year, \'a\' || i AS id, i AS "2110" FROM range(3) t(i)',
        'data/2024.parquet':
          'SELECT 2024 AS year, \'a\' || i AS id, i AS "2110" FROM range(3) t(i)',
      },
      registry: `
datasets:
  things:
    title: Things
    files: data/*.parquet
    key: [id, year]
    history: year
    plans:
      last: {rows_per_month: 100, history: 1, price_rub: 0}
      pro: {rows_per_month: 4, history: all, price_rub: 10}
`,
    })
    const { token } = await world.subscribe(['things:pro'])
    const first = await world.get('/v1/things?limit=2&select=2110,id', token)
    t.equal(first.status, 200)
    t.match(
      first.text,
      /^\{"data":\[\{"2110":0,"id":"a0"\},\{"2110":1,"id":"a1"\}\],"next_cursor":"/,
    )
    const second = await world.get(`/v1/things?limit=5&cursor=${first.body.next_cursor}`, token)
    t.same(second.body.data, [
      { year: 2023, id: 'a2', 2110: 2 },
      { year: 2024, id: 'a0', 2110: 0 },
    ])
    t.equal(second.headers['x-quota-rows-remaining'], '0')
    t.type(second.body.next_cursor, 'string', 'a page that the quota cut goes on')
    const third = await world.get('/v1/things?limit=1', token)
    t.equal(third.status, 429)
    t.equal(third.body.error, 'row_quota_exceeded')
  },
)
