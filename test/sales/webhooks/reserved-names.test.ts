import t from 'tap'
import { startWorld } from '../../support/world.js'

const plans = '{all: {rows_per_month: 1000, history: all, price_rub: 0}}'
const datasetOf = (name: string) =>
  `  ${name}: {title: ${name}, files: data/${name}.parquet, key: id, plans: ${plans}}\n`
const names = ['watch', 'webhooks', 'other']
const world = await startWorld(t, {
  files: Object.fromEntries(
    names.map((name) => [`data/${name}.parquet`, `SELECT '${name}' AS id`]),
  ),
  registry: `datasets:\n${names.map(datasetOf).join('')}`,
})
const holder = await world.subscribe(names.map((name) => `${name}:all`))
const stranger = await world.subscribe(['other:all'])

for (const name of ['watch', 'webhooks']) {
  await t.test(`a dataset of the name ${name} is served, with a warning, and wins`, async (t) => {
    t.match(world.log.join(), new RegExp(`datasets\\.${name}: the name is reserved`))
    const path = `/v1/${name}`
    const rows = await world.get(`${path}?id=eq.${name}`, holder.token)
    t.same([rows.status, rows.body.data], [200, [{ id: name }]])
    for (const rest of ['schema', 'aggregate?measures=count', 'top?by=id', 'export', 'versions']) {
      const answer = await world.get(`${path}/${rest}`, holder.token)
      t.equal(answer.status, 200, rest)
      t.notMatch(answer.text, /watch list|no such webhook/, rest)
    }
    const asked = await world.post(`${path}/query`, holder.token, {
      filters: [{ column: 'id', op: 'eq', value: name }],
    })
    t.match([asked.status, asked.text], [200, new RegExp(`"id":"${name}"`)])
    t.same(
      (await world.get(path, stranger.token)).body,
      { data: [] },
      'the path of who can not read it',
    )
    t.equal((await world.get(`${path}/schema`, stranger.token)).status, 404)
  })
}

await t.test('lists and webhooks are kept beside such datasets', async (t) => {
  const list = { dataset: 'watch', column: 'id', values: ['watch'] }
  const headers = { 'content-type': 'application/json' }
  const put = { method: 'PUT', headers, body: JSON.stringify(list) } as const
  t.equal((await world.get('/v1/watch/mine', holder.token, put)).status, 200)
  t.match((await world.get('/v1/watch/mine', holder.token)).body, list)
  const hook = { url: 'https://example.org/', events: ['dataset.version'], watch: 'mine' }
  const added = await world.post('/v1/webhooks', holder.token, hook)
  t.equal(added.status, 201)
  const path = `/v1/webhooks/${String(added.body['id'])}/deliveries`
  t.equal((await world.get(path, holder.token)).status, 200)
})
