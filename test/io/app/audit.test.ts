import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { listActions } from '../../../src/control/audit.js'
import type { ControlStore } from '../../../src/control/store/store.js'
import { openControl } from '../../support/control.js'
import { rot } from '../../support/damage.js'
import { logged } from '../../support/logged.js'
import { startWorld, writeParquet } from '../../support/world.js'

const registryOf = (pack: string, more = '') => `
datasets:
  things:
    title: Things
    files: data/*.parquet
    key: id
    pack: ${pack}
    plans: {pro: {rows_per_month: 1000, history: all, price_rub: 0}}
${more}`
const other = `  other:
    title: Other
    files: other.parquet
    plans: {pro: {rows_per_month: 1000, history: all, price_rub: 0}}
`
const rowsOf = (count: number) => ({
  'data/1.parquet': `SELECT i AS id, md5(i::VARCHAR) AS text FROM range(${count}) t(i) ORDER BY text`,
})

/** What the server recorded after the first `seen` entries: action and subject. */
async function recorded(control: ControlStore, seen = 0): Promise<readonly string[]> {
  const entries = (await listActions(control, {})).slice(seen)
  return entries.map(({ actor, action, subject }) => `${actor}: ${action} ${subject}`)
}

await t.test('a server records what it serves, refuses and removes, once', async (t) => {
  const start = { files: rowsOf(3), registry: registryOf('off') }
  const world = await startWorld(t, start)
  const control = openControl(t, world)
  await world.app.prepare()
  t.same(await recorded(control), [
    'server: version.published things',
    'server: server.started server',
  ])
  t.match(await listActions(control, {}), [
    { details: { rows: 3 } },
    { details: { release: '0.0.0-test' } },
  ])

  await writeParquet(world.folder, rowsOf(4))
  await world.app.reload()
  t.same(await recorded(control, 2), ['server: version.published things'])
  writeFileSync(join(world.folder, 'data/2.parquet'), 'PAR1 half')
  await world.app.reload()
  t.same(await recorded(control, 3), ['server: version.refused things'])
  t.match(
    (await listActions(control, {}))[3]?.details['reason'],
    /^data\/2\.parquet is not a whole Parquet/,
  )

  await writeParquet(world.folder, { ...rowsOf(5), 'data/2.parquet': 'SELECT 9 AS id' })
  await writeParquet(world.folder, { 'other.parquet': 'SELECT 1 AS a' })
  writeFileSync(join(world.folder, 'registry.yaml'), registryOf('off', other))
  await world.app.reload()
  t.same([...(await recorded(control, 4))].sort(), [
    'server: registry.loaded registry.yaml',
    'server: version.published other',
    'server: version.published things',
  ])
  writeFileSync(join(world.folder, 'registry.yaml'), registryOf('off', 'nonsense: 1'))
  await world.app.reload()
  t.same(await recorded(control, 7), ['server: registry.refused registry.yaml'])
  writeFileSync(join(world.folder, 'registry.yaml'), registryOf('off'))
  await world.app.reload()
  t.same([...(await recorded(control, 8))].sort(), [
    'server: dataset.removed other',
    'server: registry.loaded registry.yaml',
  ])

  await world.app.close()
  const next = await startWorld(t, { ...start, at: world.folder, files: {} })
  await next.app.prepare()
  t.same(await recorded(control, 10), ['server: server.started server'], 'nothing else has changed')
})

await t.test('a server records forms that it made, and versions that it withdraws', async (t) => {
  const world = await startWorld(t, { files: rowsOf(900), registry: registryOf('auto') })
  const control = openControl(t, world)
  await world.app.prepare()
  await logged(world, '"packed"')
  t.same(await recorded(control), [
    'server: version.published things',
    'server: server.started server',
    'server: pack.made things',
  ])
  const path = world.app.catalog().datasets.get('things')?.version?.files[0]?.path ?? ''
  await world.app.close()
  rot(path, 0.5)
  const next = await startWorld(t, {
    at: world.folder,
    files: {},
    registry: registryOf('auto'),
  })
  const { token } = await next.subscribe(['things:pro'])
  // Row copies don't answer it.
  await next.get('/v1/things?text=like.a*', token)
  await next.app.reload()
  const withdrawn = (await listActions(control, { subject: 'things' })).filter(
    ({ action }) => action === 'version.withdrawn',
  )
  t.match(withdrawn, [{ actor: 'server', details: { lost: 'version', found: 'damaged' } }])
})
