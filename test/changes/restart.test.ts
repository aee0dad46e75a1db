import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { dayMs } from '../../src/clock.js'
import { recordVersion } from '../../src/control/dataset-versions.js'
import { sql } from '../../src/control/store/sql.js'
import { openRecordsOf } from '../support/database.js'
import { testFolder } from '../support/folder.js'
import { startWorld, writeParquet } from '../support/world.js'
import { compared } from './fixtures/copies.js'

const registry = `
datasets:
  firms:
    title: Firms
    files: data/a.parquet
    key: inn
    allow_breaking: true
    plans:
      pro: {rows_per_month: 1000, history: all, price_rub: 10, rate_per_minute: 100000}
`
const rows = (list: string) => ({ 'data/a.parquet': `SELECT * FROM (VALUES ${list}) t(inn, v)` })

/** A server over a folder; a file that is given takes the place of the one that is there. */
async function start(t: Test, at: string, files: Readonly<Record<string, string>> = {}) {
  const world = await startWorld(t, { at, files, registry })
  return { world, version: world.app.catalog().datasets.get('firms')?.version?.id ?? '' }
}

await t.test('files that changed while the server was down are a step of their own', async (t) => {
  const at = testFolder(t)
  const { world, version: first } = await start(t, at, rows("('a', 1), ('b', 1)"))
  const { token } = await world.subscribe(['firms:pro'])
  await compared(world, 'firms', token)
  await world.app.close()
  const { world: next, version: second } = await start(t, at, rows("('a', 2), ('b', 1)"))
  const { body } = await compared(next, 'firms', token)
  t.match(body.data, [
    { version: second, previous: first, changes: 'ready' },
    { version: first, previous: null, changes: 'none' },
  ])
  const changes = await next.get(`/v1/firms/changes?since=${first}`, token)
  t.same(changes.body.data, [{ change: 'changed', fields: ['v'], row: { inn: 'a', v: 2 } }])
  await next.app.close()
  const { world: last } = await start(t, at)
  t.same((await compared(last, 'firms', token)).body, body, 'a restart alone is no step')
  await writeParquet(at, rows("('a', 2)"))
  await last.app.reload(true)
  await compared(last, 'firms', token)
  const both = await last.get(`/v1/firms/changes?since=${first}`, token)
  t.match(both.body.data, [{ change: 'changed' }, { change: 'removed', row: { inn: 'b' } }])
})

/** What is written of the changes since a version. */
function factsFile(at: string, since: string): string {
  const folder = join(at, 'var', 'changes', 'firms')
  const found = readdirSync(folder).find((name) => name.startsWith(since) && name.endsWith('.json'))
  return join(folder, found ?? '')
}

await t.test('what a killed server wrote by half is not served, and is made again', async (t) => {
  const at = testFolder(t)
  const { world, version: first } = await start(t, at, rows("('a', 1)"))
  const { token } = await world.subscribe(['firms:pro'])
  await compared(world, 'firms', token)
  await writeParquet(at, rows("('a', 2)"))
  await world.app.reload(true)
  await compared(world, 'firms', token)
  await world.app.close()
  const json = factsFile(at, first)
  rmSync(json)
  writeFileSync(`${json}.part`, '{"kind":')
  writeFileSync(json.replace(/json$/, 'parquet'), 'PAR1')
  const sorted = join(json, '..', `first-${first}.parquet.sorted`)
  writeFileSync(sorted, 'PAR1')
  const { world: next } = await start(t, at)
  const ask = () => next.get(`/v1/firms/changes?since=${first}`, token)
  let changes = await ask()
  while (changes.status === 503) {
    await new Promise((resolve) => setImmediate(resolve))
    changes = await ask()
  }
  t.same(changes.body.data, [{ change: 'changed', fields: ['v'], row: { inn: 'a', v: 2 } }])
  t.notOk(existsSync(sorted))
})

await t.test('of what another release computed, an export is advised', async (t) => {
  const at = testFolder(t)
  const { world, version: first } = await start(t, at, rows("('a', 1)"))
  const { token } = await world.subscribe(['firms:pro'])
  await compared(world, 'firms', token)
  await writeParquet(at, rows("('a', 2)"))
  await world.app.reload(true)
  const { body } = await compared(world, 'firms', token)
  const second = body.data[0]?.['version']
  await world.app.close()
  const json = factsFile(at, first)
  const { layout, ...older } = JSON.parse(readFileSync(json, 'utf8')) as { layout: number }
  t.type(layout, 'number')
  writeFileSync(json, JSON.stringify(older))
  const { world: next } = await start(t, at)
  const changes = await next.get(`/v1/firms/changes?since=${first}`, token)
  t.equal(changes.status, 400)
  t.match(changes.body.detail, /take an export, and go on from version/)
  const versions = await compared(next, 'firms', token)
  t.match(versions.body.data[0], { version: second, changes: 'none' })
  await writeParquet(at, rows("('a', 3)"))
  await next.app.reload(true)
  await compared(next, 'firms', token)
  const later = await next.get(`/v1/firms/changes?since=${String(second)}`, token)
  t.match(later.body.data, [{ change: 'changed', row: { v: 3 } }])
})

await t.test('a server that lacks a listed version asks to wait', async (t) => {
  const { world, version } = await start(t, testFolder(t), rows("('a', 1)"))
  const { token } = await world.subscribe(['firms:pro'])
  await compared(world, 'firms', token)
  const control = openRecordsOf(join(world.folder, 'var'))
  t.teardown(() => control.close())
  const ahead = { version: '00000000000000aa', previous: version, asOf: null, rows: 2 }
  await recordVersion(control, 'firms', { ...ahead, publishedAt: world.clock.now() })
  const waits = await world.get(`/v1/firms/changes?since=${ahead.version}`, token)
  t.match([waits.status, waits.headers['retry-after']], [503, /^\d+$/])
  t.equal((await world.get(`/v1/firms/changes?since=${version}`, token)).status, 200)
  const [newest] = (await world.get('/v1/firms/versions', token)).body.data
  t.match(newest, { version: ahead.version })
})

await t.test(
  'a version is kept until it is compared, however short it is to be kept',
  async (t) => {
    const at = testFolder(t)
    const short = registry.replace('key: inn', 'key: inn\n    keep_versions_hours: 0')
    const open = (files: Readonly<Record<string, string>>) =>
      startWorld(t, { at, files, registry: short })
    const world = await open(rows("('a', 1)"))
    const { token } = await world.subscribe(['firms:pro'])
    const { body } = await compared(world, 'firms', token)
    const since = String(body.data[0]?.['version'])
    await writeParquet(at, rows("('a', 2)"))
    await world.app.reload(true)
    await world.app.close()
    const next = await open({})
    next.clock.ms += 3 * dayMs
    await next.app.reload(true)
    await compared(next, 'firms', token)
    const changes = await next.get(`/v1/firms/changes?since=${since}`, token)
    t.match(changes.body.data, [{ change: 'changed' }])
  },
)

await t.test(
  'of several servers, one that lacks changes which others have asks to wait',
  async (t) => {
    const at = testFolder(t)
    const { world, version } = await start(t, at, rows("('a', 1)"))
    const { token } = await world.subscribe(['firms:pro'])
    await compared(world, 'firms', token)
    const control = openRecordsOf(join(at, 'var'))
    t.teardown(() => control.close())
    const ask = async () =>
      (await world.get(`/v1/firms/changes?since=00000000000000aa`, token)).status
    await control.run(
      sql`UPDATE dataset_versions SET previous = '00000000000000aa', changes = 'ready'`,
    )
    t.equal(await ask(), 503)
    t.match((await world.get('/v1/firms/versions', token)).body.data, [
      { version, changes: 'pending' },
    ])
    await control.run(sql`UPDATE dataset_versions SET changes = NULL`)
    t.equal(await ask(), 503, 'one of them may compare the versions')
    await control.run(sql`UPDATE dataset_versions SET changes = 'none'`)
    t.equal(await ask(), 400)
  },
)

await t.test('more than 2,500 versions are not folded', async (t) => {
  const { world } = await start(t, testFolder(t), rows("('a', 1)"))
  const { token } = await world.subscribe(['firms:pro'])
  await compared(world, 'firms', token)
  const control = openRecordsOf(join(world.folder, 'var'))
  t.teardown(() => control.close())
  await control.run(sql`UPDATE dataset_versions SET number = 9999, previous = 'v2500'`)
  await control.run(
    sql`INSERT INTO dataset_versions (dataset, number, version, previous, rows, published_at, changes)
     WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2500)
     SELECT 'firms', n + 1, 'v' || n, 'v' || (n - 1), 1, ${world.clock.now()}, 'ready' FROM numbers`,
  )
  const ask = (since: string) => world.get(`/v1/firms/changes?since=${since}`, token)
  t.match((await ask('v0')).body.detail, /^More than 2500 versions lie between.*take an export/i)
  t.equal((await ask('v1')).status, 503, 'so many would be')
})

await t.test('what is kept of a dataset that left the registry is removed', async (t) => {
  const at = testFolder(t)
  const left = join(at, 'var', 'changes', 'left')
  mkdirSync(left, { recursive: true })
  writeFileSync(join(left, 'first-00.json'), 'null')
  const { world } = await start(t, at, rows("('a', 1)"))
  const { token } = await world.subscribe(['firms:pro'])
  await compared(world, 'firms', token)
  await world.app.close()
  t.same(readdirSync(join(at, 'var', 'changes')).includes('left'), false)
})
