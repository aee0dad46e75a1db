import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { reloadProgress, requestReload } from '../../src/control/reload-requests.js'
import { sql } from '../../src/control/store/sql.js'
import type { ControlStore } from '../../src/control/store/store.js'
import { openControl } from '../support/control.js'
import { logged } from '../support/logged.js'
import { startWorld, writeParquet } from '../support/world.js'
import type { World } from '../support/world.js'

const dayMs = 24 * 3_600_000
const files = { 'data/a.parquet': 'SELECT 1 AS id' }
const registry = `
datasets:
  things:
    title: Things
    files: data/a.parquet
    keep_versions_hours: 1
    plans: {pro: {rows_per_month: 10, history: all, price_rub: 0}}
`

const listed = (world: World) => world.app.catalog().datasets.get('things')

/** A server that is to load a new title, and can't read the grants. */
async function requestFailingReload(t: Test) {
  const world = await startWorld(t, { files, registry })
  const control = openControl(t, world)
  await world.app.prepare()
  await control.run(sql`ALTER TABLE grants RENAME TO unreadable`)
  const path = join(world.folder, 'registry.yaml')
  writeFileSync(path, readFileSync(path, 'utf8').replace('Things', 'More things'))
  const id = await requestReload(control, { force: false, dataset: null }, world.clock.ms)
  await logged(world, 'reload failed; it is tried again')
  return { world, control, id }
}

/** Makes the grants readable again. */
async function restoreGrants(control: ControlStore): Promise<void> {
  await control.run(sql`ALTER TABLE unreadable RENAME TO grants`)
}

async function isFinished(control: ControlStore, id: number): Promise<void> {
  while ((await reloadProgress(control, id)) !== 'finished') await sleep(20)
}

await t.test('a requested reload that fails is not finished before it succeeds', async (t) => {
  const { world, control, id } = await requestFailingReload(t)
  t.equal(await reloadProgress(control, id), 'taken')
  t.equal(listed(world)?.title, 'Things')
  await restoreGrants(control)
  await isFinished(control, id)
  t.equal(listed(world)?.title, 'More things')
  const failures = world.log.filter((line) => line.includes('reload failed'))
  t.equal(failures.length, 1, 'logged once')
})

await t.test('a server that stops leaves such a request to the next one', async (t) => {
  const { world, control, id } = await requestFailingReload(t)
  await world.app.close()
  t.equal(await reloadProgress(control, id), 'waiting', 'das dataset reload may withdraw it')
  await restoreGrants(control)
  const next = await startWorld(t, { at: world.folder, files: {}, registry })
  await next.app.prepare()
  await isFinished(control, id)
})

await t.test('earlier versions expire after a clock that was ahead was set back', async (t) => {
  const world = await startWorld(t, { files, registry })
  await world.app.reload()
  world.clock.ms -= dayMs
  await writeParquet(world.folder, { 'data/a.parquet': 'SELECT 2 AS id' })
  await world.app.reload()
  t.equal(listed(world)?.earlier.length, 1)
  world.clock.ms += 3_600_000
  await world.app.reload()
  t.equal(listed(world)?.earlier.length, 0)
})

await t.test('a key of the registry that is gone is one warning in the log', async (t) => {
  const gone = registry.replace('keep_versions', 'pack_to: s3://data/packed/\n    keep_versions')
  const world = await startWorld(t, { files, registry: gone })
  await world.app.prepare()
  const { token } = await world.subscribe(['things:pro'])
  t.equal((await world.get('/v1/things', token)).status, 200)
  await writeParquet(world.folder, { 'data/a.parquet': 'SELECT 2 AS id' })
  await world.app.reload()
  const warnings = world.log.filter((line) => line.includes('registry used with a warning'))
  t.equal(warnings.length, 1)
  t.match(JSON.parse(warnings[0] ?? ''), {
    level: 40,
    warning: /^registry\.yaml:6:5: datasets\.things\.pack_to: is gone and ignored: each server /,
  })
})
