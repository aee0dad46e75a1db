import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { listDatasetStates } from '../../../src/control/dataset-state.js'
import { openControl } from '../../support/control.js'
import { age, rot, rotGrossly } from '../../support/damage.js'
import { logged } from '../../support/logged.js'
import { startWorld, writeParquet } from '../../support/world.js'
import type { World } from '../../support/world.js'

/** With a limit small files are linked too: damage to a dropped file is damage to the served one. */
const settings = { diskLimit: '1GB' }

// Guarantee: a packed copy that is damaged is never read: the files that it was made from are
// served, and it is made again.

const registry = `
datasets:
  things:
    title: Things
    files: data/*.parquet
    key: id
    pack: auto
    plans: {pro: {rows_per_month: 10000000, history: all, price_rub: 0, rate_per_minute: 100000}}
`
const files = {
  'data/1.parquet': `SELECT i AS id, md5(i::VARCHAR) AS text FROM range(900) t(i) ORDER BY text`,
}

const versionOf = (world: World) => world.app.catalog().datasets.get('things')?.version
const storedFile = (world: World) => versionOf(world)?.files[0]?.path ?? ''
const isPacked = (world: World) => versionOf(world)?.files[0]?.name.startsWith('packed/') === true

/** A server that has packed, stopped: its folder, the packed file, and the rows by key. */
async function packed(t: Test) {
  const folder = t.testdir({})
  await writeParquet(folder, files)
  const world = await startWorld(t, { at: folder, files: {}, registry, settings })
  const { token } = await world.subscribe(['things:pro'])
  void world.app.prepare()
  await logged(world, '"packed"')
  const rows = await rowsOf(world, token)
  const id = versionOf(world)?.id
  const path = storedFile(world)
  await world.app.close()
  return { folder, path, rows, token, id }
}

/** The rows by key; null where there is no answer. */
async function rowsOf(world: World, token: string) {
  const { status, body } = await world.get('/v1/things?limit=1000', token)
  if (status === 503) return null
  return [...body.data].sort((left, right) => Number(left['id']) - Number(right['id']))
}

const damages: readonly (readonly [string, (path: string) => void])[] = [
  ['a bit near the start', (path) => rot(path, 0.01)],
  ['a bit in the middle', (path) => rot(path, 0.5)],
  ['a bit in the footer', (path) => rot(path, 0.98)],
  ['40 bytes every 15 kB', rotGrossly],
]

for (const [what, damage] of damages) {
  await t.test(`${what} of a packed file: the sources serve, and it is packed again`, async (t) => {
    const { folder, path, rows, token, id } = await packed(t)
    damage(path)
    const world = await startWorld(t, { at: folder, files: {}, registry, settings })
    const first = await rowsOf(world, token)
    if (first !== null) t.same(first, rows)
    t.equal(isPacked(world), false, 'withdrawn')
    await world.app.reload()
    t.same(await rowsOf(world, token), rows, 'as they were dropped')
    t.match(await world.get('/readyz'), { status: 200, body: { status: 'ready', data: 'damaged' } })
    const [state] = await listDatasetStates(openControl(t, world))
    t.match(state?.reason, /^the packed copy is damaged \(packed\/.*\); the files it was made from/)
    t.match(world.log.join(''), /"file":"packed\/[^"]*","found":"damaged"/)
    void world.app.prepare()
    await logged(world, '"packed"')
    t.equal(versionOf(world)?.id, id, 'the same version again')
    t.same(await rowsOf(world, token), rows)
    t.match(await world.get('/readyz'), { status: 200, body: { data: 'ok' } })
  })
}

await t.test('a damaged source does not end a packed copy that is sound', async (t) => {
  const { folder, rows, token, id } = await packed(t)
  age(join(folder, 'data/1.parquet'))
  const before = await startWorld(t, { at: folder, files: {}, registry, settings })
  await before.app.reload()
  await before.app.close()
  rot(join(folder, 'data/1.parquet'), 0.5)
  const world = await startWorld(t, { at: folder, files: {}, registry, settings })
  t.same(await rowsOf(world, token), rows)
  t.equal(versionOf(world)?.id, id)
})

await t.test('files that are damaged while they are packed are not served as packed', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, files)
  const source = join(folder, 'data/1.parquet')
  age(source)
  const world = await startWorld(t, { at: folder, files: {}, registry, settings })
  rot(source, 0.3)
  void world.app.prepare()
  await logged(world, 'is damaged: its content changed, but not its size')
  t.equal(isPacked(world), false)
})

await t.test('a packed copy of an earlier release, without a hash, is served', async (t) => {
  const { folder, path, rows, token, id } = await packed(t)
  const manifestPath = join(dirname(path), 'manifest.json')
  const [, body = ''] = readFileSync(manifestPath, 'utf8').split('\n')
  const manifest = JSON.parse(body) as { files: { hash?: string }[] }
  for (const file of manifest.files) delete file.hash
  const text = JSON.stringify(manifest)
  const sum = createHash('sha256').update(text).digest('hex')
  writeFileSync(manifestPath, `1 ${sum}\n${text}`)
  const world = await startWorld(t, { at: folder, files: {}, registry, settings })
  t.equal(versionOf(world)?.id, id)
  t.same(await rowsOf(world, token), rows)
  await world.app.close()
  t.match(readFileSync(manifestPath, 'utf8'), /"hash":"[0-9a-f]{64}"/, 'it has one from now on')
  rot(path, 0.5)
  const next = await startWorld(t, { at: folder, files: {}, registry, settings })
  await rowsOf(next, token)
  t.equal(isPacked(next), false, 'and is verified by it')
})
