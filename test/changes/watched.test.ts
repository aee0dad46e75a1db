import t from 'tap'
import { startReceiver } from '../sales/webhooks/fixtures/receiver.js'
import { startWorld, writeParquet } from '../support/world.js'
import { compared } from './fixtures/copies.js'

const registry = `
demo: {token: das_demo_watch, rate_per_minute: 100000}
datasets:
  firms:
    title: Firms
    files: data/a.parquet
    key: inn
    allow_repeated_keys: true
    allow_breaking: true
    demo: {inn: ["a"]}
    columns: {secret: {hidden: true}}
    plans:
      pro: {rows_per_month: 1000, history: all, price_rub: 10, rate_per_minute: 100000}
  plain:
    title: Plain
    files: data/b.parquet
    plans:
      pro: {rows_per_month: 1000, history: all, price_rub: 10, rate_per_minute: 100000}
`
const firms = (list: string) => `SELECT * FROM (VALUES ${list}) t(inn, v, w, ok, secret)`
const first = "('a', 1, 1, true, 1), ('b', 1, 1, true, 1), ('c', 1, 1, false, 1)"

const receiver = await startReceiver(t)
const world = await startWorld(t, {
  files: { 'data/a.parquet': firms(first), 'data/b.parquet': 'SELECT 1 AS id' },
  registry,
  receivers: receiver.hosts,
})
const { token } = await world.subscribe(['firms:pro', 'plain:pro'])
const versionOf = (dataset: string) => world.app.catalog().datasets.get(dataset)?.version?.id ?? ''

async function replace(rows: string) {
  await writeParquet(world.folder, { 'data/a.parquet': firms(rows) })
  await world.app.reload(true)
  await compared(world, 'firms', token)
}

const put = (name: string, list: object) =>
  world.get(`/v1/watch/${name}`, token, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ dataset: 'firms', ...list }),
  })

await t.test(
  'a list filters changes, and leaves out what changed none of its fields',
  async (t) => {
    const since = versionOf('firms')
    await put('ab', { column: 'inn', values: ['a', 'b', 'd'] })
    await put('v', { column: 'inn', values: ['a', 'b', 'd'], fields: ['v'] })
    await put('true', { column: 'ok', values: ['true'] })
    await put('of-plain', { dataset: 'plain', column: 'id', values: ['1'] })
    await replace(
      "('a', 2, 1, true, 1), ('b', 1, 2, true, 1), ('c', 2, 2, true, 1), ('d', 1, 1, false, 1)",
    )
    const seen = async (more: string) => {
      const answer = await world.get(`/v1/firms/changes?since=${since}&${more}`, token)
      t.equal(answer.headers['x-rows-charged'], String(answer.body.data.length))
      return answer.body.data.map(
        ({ change, fields, row }) =>
          `${String(change)} ${String((row as { inn: string }).inn)} ${String(fields)}`,
      )
    }
    t.same(await seen('watch=ab'), ['changed a v', 'changed b w', 'added d '])
    t.same(await seen('watch=v'), ['changed a v', 'added d '])
    t.same(await seen('watch=v&select=inn,w'), ['added d '])
    t.same(await seen('watch=v&v=gt.1'), ['added a '])
    t.same(await seen('watch=true'), ['changed a v', 'changed b w', 'added c '])
    const page = await world.get(`/v1/firms/changes?since=${since}&watch=ab&limit=1`, token)
    const next = `watch=ab&limit=9&cursor=${page.body.next_cursor}`
    t.same(await seen(next), ['changed b w', 'added d '])
    await put('ab', { column: 'inn', values: ['a'] })
    const stale = await world.get(`/v1/firms/changes?${next}`, token)
    t.equal(stale.status, 400, 'a cursor is of the list as it was')
    const answers: [string, string | undefined, number, RegExp][] = [
      ['none', token, 400, /"ab", "true" and "v"/],
      ['of-plain', token, 400, /another dataset/],
      ['ab', 'das_demo_watch', 404, /no subscription/],
      ['ab', (await world.subscribe(['firms:pro'])).token, 400, /no watch list/],
    ]
    for (const [name, by, status, detail] of answers) {
      const answer = await world.get(`/v1/firms/changes?since=${since}&watch=${name}`, by)
      t.match([answer.status, answer.body.detail], [status, detail], name)
    }
  },
)

await t.test(
  'a webhook with a list is sent what changed in it, when it can be asked for',
  async (t) => {
    const post = (watch?: string) =>
      world.post('/v1/webhooks', token, { url: receiver.url, events: ['dataset.version'], watch })
    await put('c', { column: 'inn', values: ['c'], fields: ['v'] })
    const added = [await post(), await post('c')]
    for (const { status } of added) t.equal(status, 201)
    const [all = '', watching = ''] = added.map(({ body }) => String(body['id']))
    const deliveriesOf = async (id: string) =>
      (await world.get(`/v1/webhooks/${id}/deliveries`, token)).body.data
    const waits = async (id: string) =>
      (await deliveriesOf(id)).some(({ state }) => state === 'waiting')
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    await world.app.prepare()
    const used = (await world.get('/v1/account', token)).body['months']
    const sent = async (rows: string) => {
      const { length } = await deliveriesOf(all)
      await replace(rows)
      while ((await deliveriesOf(all)).length === length) await turn()
      await world.clock.advance(5000)
      while ((await waits(all)) || (await waits(watching))) await turn()
      return receiver.received
        .splice(0)
        .map(({ body }) => (JSON.parse(body) as { data: { version: string } }).data)
    }
    const same = "('b', 1, 2, true, 1), ('d', 1, 1, false, 1)"
    const data = () => ({ dataset: 'firms', version: versionOf('firms') })
    t.same(await sent(`('a', 3, 1, true, 1), ('c', 2, 3, true, 1), ${same}`), [data()])
    t.same(await sent(`('a', 3, 1, true, 1), ('c', 3, 3, true, 1), ${same}`), [data(), data()])
    t.same(await sent(`('a', 3, 1, true, 1), ('a', 3, 3, true, 1), ${same}`), [data(), data()])
    t.same((await world.get('/v1/account', token)).body['months'], used, 'it costs nothing')
  },
)
