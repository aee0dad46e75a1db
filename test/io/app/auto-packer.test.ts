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

const versionOf = (world: World) => world.app.catalog().datasets.get('things')?.version
const isPacked = (world: World) =>
  versionOf(world)?.files.every(({ rowCopy }) => rowCopy !== null) === true

await t.test('the forms of each new version are made beside the server', async (t) => {
  const world = await startWorld(t, { files: filesOf(0), registry: registryOf('auto') })
  const { token } = await world.subscribe(['things:pro'])
  const page = async (after = '') => world.get(`/v1/things?limit=30${after}`, token)
  const before = await page()
  t.equal(isPacked(world), false, 'the files are served at once')
  void world.app.prepare()
  await logged(world, '"packed"')
  t.equal(isPacked(world), true)
  const after = await page()
  t.same(after.body, before.body, 'the same rows in the same order, and the same cursor')
  t.equal(after.headers['etag'], before.headers['etag'])
  t.equal(after.headers['x-dataset-version'], before.headers['x-dataset-version'])
  const next = await page(`&cursor=${before.body.next_cursor}`)
  t.equal(next.body.data.length, 30, 'a walk goes on')
  const control = openControl(t, world)
  const made = [
    { form: 'pages', state: 'made' },
    { form: 'rows', state: 'made' },
  ]
  // The state is stored beside the log.
  while ((await stateIn(control))?.packing !== JSON.stringify(made)) await sleep(20)
  t.match(await stateIn(control), { status: 'serving', stored: 'copied', earlier: 0, rows: 80 })

  await writeParquet(world.folder, filesOf(1))
  await logged(world, '"packed"', 2)
  const refreshed = await page()
  t.ok(refreshed.body.data.every((row) => row['generation'] === 1))
  t.equal(isPacked(world), true)
})

await t.test('a replaced file loses its forms, and the others keep theirs', async (t) => {
  const world = await startWorld(t, { files: filesOf(0), registry: registryOf('auto') })
  void world.app.prepare()
  await logged(world, '"packed"')
  const copyOf = (index: number) => versionOf(world)?.files[index]?.rowCopy?.path
  const [first, second] = [copyOf(0), copyOf(1)]
  const [name = '', sql = ''] = Object.entries(filesOf(1))[1] ?? []
  await writeParquet(world.folder, { [name]: sql })
  await logged(world, '"packed"', 2)
  t.equal(copyOf(0), first)
  t.not(copyOf(1), second)
  t.match(world.log.join(''), /"forms":2,[^\n]*"msg":"packed"/, 'only those of one file are made')
})

await t.test('forms are served at once by the next server', async (t) => {
  const world = await startWorld(t, { files: filesOf(0), registry: registryOf('auto') })
  void world.app.prepare()
  await logged(world, '"packed"')
  await world.app.close()
  const next = await startWorld(t, { at: world.folder, files: {}, registry: registryOf('auto') })
  t.equal(isPacked(next), true)
  writeFileSync(join(next.folder, 'registry.yaml'), registryOf('off'))
  await next.app.reload()
  t.equal(isPacked(next), true, 'also when the registry asks for no more of them')
})

await t.test('without a word in the registry, large datasets with a key are packed', async (t) => {
  const large = { 'data/a/1.parquet': 'SELECT i AS id, 2024 AS year FROM range(100001) t(i)' }
  const registry = registryOf('auto').replace('    pack: auto\n', '')
  const world = await startWorld(t, { files: large, registry })
  void world.app.prepare()
  await logged(world, '"packed"')
  t.equal(isPacked(world), true)
  const small = await startWorld(t, { files: filesOf(0), registry })
  await small.app.prepare()
  t.notOk(small.log.some((line) => line.includes('"packing"')))
})

await t.test('entities that are looked up by their key are packed, however few', async (t) => {
  const registry = registryOf('auto').replace('    pack: auto\n', '    entity: { key: id }\n')
  const world = await startWorld(t, { files: filesOf(0), registry })
  void world.app.prepare()
  await logged(world, '"packed"')
  t.equal(isPacked(world), true)
})

await t.test('a form that can not be made leaves the files to answer', async (t) => {
  const world = await startWorld(t, { files: filesOf(0), registry: registryOf('auto') })
  const { token } = await world.subscribe(['things:pro'])
  // A file is where the folder of forms would be.
  writeFileSync(join(world.folder, 'var/versions/things/forms'), '')
  void world.app.prepare()
  await logged(world, 'packing failed')
  t.equal((await world.get('/v1/things', token)).status, 200)
  const control = openControl(t, world)
  while (!(await stateIn(control))?.packing?.includes('"failed"')) await sleep(20)
  t.match(await stateIn(control), {
    status: 'serving',
    packing: /"form":"rows","state":"failed","reason":"[^"]*EEXIST/,
  })
})
