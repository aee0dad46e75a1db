import t from 'tap'
import type { Test } from 'tap'
import { isError } from '../support/answers.js'
import { startWorld } from '../support/world.js'
import type { Answer, World } from '../support/world.js'

// Guarantee: over REST an empty answer says why only where it is asked to, for the price of a row.

const startFirms = (t: Test): Promise<World> =>
  startWorld(t, {
    files: {
      'data/firms.parquet': `SELECT * FROM (VALUES ('1', 2023, 'Завод Север'), ('2', 2024, 'Завод Юг'))
        t(inn, year, name)`,
    },
    registry: `
datasets:
  firms:
    title: Firms
    files: data/firms.parquet
    key: [inn, year]
    history: year
    plans:
      pro: {rows_per_month: 1000, history: all, price_rub: 0}
      one: {rows_per_month: 1, history: all, price_rub: 0}
`,
  })

const explained = ({ headers }: Answer) => {
  const text = headers['x-explained']
  return typeof text === 'string' ? decodeURIComponent(text) : null
}
const charged = ({ headers }: Answer) => headers['x-rows-charged']
const search = encodeURIComponent('завод запад')

await t.test('the words that are nowhere are named for one row, in every format', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:pro'])
  const path = `/v1/firms?name=contains.${search}`
  for (const format of ['json', 'csv', 'ndjson', 'xlsx', 'parquet']) {
    const answer = await world.get(`${path}&explain=true&format=${format}`, token)
    t.equal(answer.status, 200)
    t.match(explained(answer), /No row has "запад" in name\./, format)
    t.equal(charged(answer), '1')
  }
  for (const more of ['', '&explain=false']) {
    const answer = await world.get(path + more, token)
    t.equal(explained(answer), null)
    t.equal(charged(answer), '0')
  }
  const head = await world.get(`${path}&explain=true`, token, { method: 'HEAD' })
  t.equal(explained(head), null, 'HEAD reads nothing')
})

await t.test('an answer with rows, and a refusal, are not explained', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:one'])
  const empty = `/v1/firms?name=contains.${search}&explain=true`
  const found = await world.get('/v1/firms?inn=eq.1&explain=true', token)
  t.equal(found.body.data.length, 1)
  t.equal(explained(found), null)
  const last = await world.get(empty, token)
  isError(t, last, 'row_quota_exceeded', /rows/)
  t.equal(explained(last), null)
})

await t.test('explain is true or false, on rows alone', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:pro'])
  const refused = await world.get('/v1/firms?inn=eq.1&explain=yes', token)
  isError(t, refused, 'bad_request', /explain must be true or false/)
  const exported = await world.get('/v1/firms/export?explain=true', token)
  isError(t, exported, 'bad_request', /An export explains nothing/)
  const column = await world.get('/v1/firms?explain=eq.1', token)
  isError(t, column, 'bad_request', /explain/)
})
