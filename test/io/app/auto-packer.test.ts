import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { listDatasetStates } from '../../../src/control/dataset-state.js'
import { openControl } from '../../support/control.js'
import { logged } from '../../support/logged.js'
import { startWorld, writeParquet } from '../../support/world.js'
import type { World } from '../../support/world.js'

const yearOf = (year: number, generation: number) =>
  `SELECT 'c' || lpad(CAST((i * 7) % 40 AS VARCHAR), 2, '0') AS id, ${year} AS year,
     ${generation} AS generation FROM range(40) t(i)`

const filesOf = (generation: number) => ({
  'data/year=2023/a.parquet': `SELECT id, generation FROM (${yearOf(2023, generation)})`,
  'data/year=2024/a.parquet': `SELECT id, generation FROM (${yearOf(2024, generation)})`,
})

const registryOf = (pack: string, key = 'key: [id, year]') => `
datasets:
  things:
    title: Things
    files: data/*/*.parquet
    ${key}
    history: year
    pack: ${pack}
    plans: {pro: {rows_per_month: 100000, history: all, price_rub: 0, rate_per_minute: 100000}}
`

/** Of the one dataset. */
const stateIn = async (control: Parameters<typeof listDatasetStates>[0]) =>
  (await listDatasetStates(control))[0]

const isPacked = (world: World) =>
  world.app.catalog().datasets.get('things')?.version?.files[0]?.name.startsWith('packed/')

await t.test(
  'each new version is packed beside the server, and walks stay where they are',
  async (t) => {
    const world = await startWorld(t, { files: filesOf(0), registry: registryOf('auto') })
    const { token } = await world.subscribe(['things:pro'])
    const page = async (after = '') => world.get(`/v1/things?limit=30${after}`, token)
    const dropped = await page()
    t.equal(isPacked(world), false, 'dropped files are served at once')
    void world.app.prepare()
    await logged(world, '"packed"')
    t.equal(isPacked(world), true)
    const packed = await page()
    const keys = packed.body.data.map((row) => `${row['id']} ${row['year']}`)
    t.same(keys, [...keys].sort(), 'sorted by the key')
    t.same(Object.keys(packed.body.data[0] ?? {}), Object.keys(dropped.body.data[0] ?? {}))
    t.not(packed.headers['x-dataset-version'], dropped.headers['x-dataset-version'])
    const next = await page(`&cursor=${dropped.body.next_cursor}`)
    t.equal(next.headers['x-dataset-version'], dropped.headers['x-dataset-version'])
    const control = openControl(t, world)
    // The state is stored beside the log.
    while ((await stateIn(control))?.packing !== null) await sleep(20)
    t.match(await stateIn(control), {
      status: 'serving',
      stored: 'packed',
      packing: null,
      earlier: 1,
      rows: 80,
    })

    await writeParquet(world.folder, filesOf(1))
    await logged(world, '"packed"', 2)
    const refreshed = await page()
    t.ok(refreshed.body.data.every((row) => row['generation'] === 1))
    t.equal(isPacked(world), true)
  },
)

await t.test('packed files are served at once by the next server', async (t) => {
  const world = await startWorld(t, { files: filesOf(0), registry: registryOf('auto') })
  void world.app.prepare()
  await logged(world, '"packed"')
  const { id } = world.app.catalog().datasets.get('things')?.version ?? {}
  await world.app.close()
  const next = await startWorld(t, { at: world.folder, files: {}, registry: registryOf('auto') })
  t.equal(next.app.catalog().datasets.get('things')?.version?.id, id)
  writeFileSync(join(next.folder, 'registry.yaml'), registryOf('off'))
  await next.app.reload()
  t.equal(isPacked(next), true, 'also when the registry asks for no more of them')
})

await t.test('data that can not be packed without loss is served unpacked', async (t) => {
  // Both together are a HUGEINT, for which Parquet has no type.
  const rows = (type: string) => `SELECT 'c1' AS id, 2024 AS year, 1::${type} AS x`
  const files = { 'data/a/1.parquet': rows('BIGINT'), 'data/b/1.parquet': rows('UBIGINT') }
  const world = await startWorld(t, { files, registry: registryOf('auto') })
  const { token } = await world.subscribe(['things:pro'])
  void world.app.prepare()
  await logged(world, 'packing failed')
  t.equal((await world.get('/v1/things', token)).status, 200)
  const control = openControl(t, world)
  while (!(await stateIn(control))?.packing?.startsWith('not packed: ')) await sleep(20)
  t.match(await stateIn(control), { status: 'serving', packing: /^not packed: / })
})
