import t from 'tap'
import type { Test } from 'tap'
import { startWorld, writeParquet } from '../support/world.js'
import type { World } from '../support/world.js'

/** More than a megabyte. */
const generation = (number: number) => ({
  'data/1.parquet': `SELECT i AS id, ${number} AS generation, hash(i + ${number}) AS y
    FROM range(100_000) t(i)`,
})
const registry = `
datasets:
  things:
    title: Things
    files: data/*.parquet
    key: id
    require_filter: false
    plans: {all: {rows_per_month: 1000000, history: all, price_rub: 0}}
`
const removed = 'earlier version removed before its time: --disk-limit'

function start(t: Test, diskLimit: string): Promise<World> {
  return startWorld(t, { files: generation(1), registry, settings: { diskLimit } })
}

/** Begins a walk, replaces the files, and reloads a minute later; gives the walk's next page. */
async function refreshDuringWalk(world: World, token: string): Promise<string> {
  const { body } = await world.get('/v1/things?limit=7', token)

  await writeParquet(world.folder, generation(2))
  await world.app.reload()
  world.clock.ms += 60_000
  await world.app.reload()
  return `/v1/things?limit=7&cursor=${body.next_cursor}`
}

const isLogged = ({ log }: World) => log.some((line) => line.includes(removed))

await t.test('a walk whose version the disk limit removed starts again', async (t) => {
  const world = await start(t, '1MB')
  const { token } = await world.subscribe(['things:all'])
  const next = await refreshDuringWalk(world, token)
  // The disk is measured beside the requests.
  for (let tries = 0; tries < 1000 && !isLogged(world); tries++) await world.app.reload()
  const { status, body } = await world.get(next, token)
  t.equal(status, 400)
  t.match(body, { error: 'bad_request', detail: /^The cursor is not valid .* start again/ })
  t.ok(isLogged(world))
  const fresh = await world.get('/v1/things?limit=1', token)
  t.equal(fresh.body.data[0]?.['generation'], 2)
})

await t.test('within the limit, the walk continues', async (t) => {
  const world = await start(t, '100MB')
  const { token } = await world.subscribe(['things:all'])
  const next = await refreshDuringWalk(world, token)
  for (let count = 0; count < 10; count++) await world.app.reload()
  const { status, body } = await world.get(next, token)
  t.equal(status, 200)
  t.equal(body.data[0]?.['generation'], 1)
  t.notOk(isLogged(world))
})

await t.test('forms that do not fit are not made, and the files answer', async (t) => {
  const packed = registry.replace('key: id', 'key: id\n    pack: auto')
  const settings = { diskLimit: '1MB' }
  const world = await startWorld(t, { files: generation(1), registry: packed, settings })
  const failure = () => world.log.find((line) => line.includes('packing failed'))
  for (let tries = 0; tries < 1000 && !failure(); tries++) await world.app.reload()
  t.match(failure(), /needs [\d,]+ bytes of disk, but only \d+,\d+ of --disk-limit are left/)
  const { token } = await world.subscribe(['things:all'])
  t.equal((await world.get('/v1/things?limit=1', token)).status, 200)
})
