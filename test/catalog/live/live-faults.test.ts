import { mkdirSync, readFileSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { LiveCatalog } from '../../../src/catalog/live/live-catalog.js'
import { makeForms } from '../../../src/engine/duckdb/pack/make-forms.js'
import { hashFile } from '../../../src/versions/hash-file.js'
import type { FormsOrder } from '../../../src/versions/forms/forms-order.js'
import type { LostVersion } from '../../../src/versions/store/damage-state.js'
import { FileChecks } from '../../../src/versions/store/file-checks.js'
import type { OpenFiles } from '../../../src/versions/opener.js'
import { openFiles as openRealFiles } from '../../engine/fixtures/open-file.js'
import { MovingClock } from '../../support/moving-clock.js'
import { startOfTest } from '../../support/world.js'
import { datasetOf, makeCatalogFolder, versionOf } from './fixtures/catalog-folder.js'
import { machineClock } from '../../../src/clock.js'

const files = { 'data/1.parquet': "SELECT 1 AS x, 'a' AS y" }

/** Looks until nothing is being written any more, as the watcher does. */
async function settle(live: LiveCatalog): Promise<void> {
  while ((await live.update()) === 'unsettled');
}

const now = (live: LiveCatalog, name?: string) => datasetOf(live.serving.catalog, name)
const folderOf = (live: LiveCatalog) =>
  dirname(versionOf(live.serving.catalog).files[0]?.path ?? '')

function orderOf({ toPack }: LiveCatalog): FormsOrder {
  if (!toPack) throw new Error('nothing waits to be packed')
  return toPack
}

const pack = (order: FormsOrder) =>
  makeForms(order, { signal: new AbortController().signal, report: () => undefined })

await t.test('a read-only state folder is a reason, and the update is retried', async (t) => {
  const clock = { ms: 0 }
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live({ clock: { ...machineClock, now: () => clock.ms } })
  const obstacle = join(folderOf(live), 'manifest.json.draft')
  mkdirSync(obstacle)
  const more = '  more: {title: More, files: data/1.parquet}'
  fixture.writeRegistry(`    columns: {y: {name: z}}\n${more}`)
  await settle(live)
  t.match(now(live).reason, /^the versions folder can't be used \(open: EISDIR\)$/)
  t.ok(now(live).version, 'what was served is served')
  t.ok(now(live, 'more').version, 'the others are none the worse')
  rmdirSync(obstacle)
  clock.ms += 61_000
  await settle(live)
  t.match(now(live), { reason: null, version: { columns: [{ name: 'x' }, { name: 'z' }] } })
})

await t.test('a registry that could not be checked is checked again', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  let isLocked = false
  const live = await fixture.live({
    sold: async () => {
      if (isLocked) throw new Error('database is locked')
      return []
    },
  })
  fixture.writeRegistry('    description: said since')
  await live.update()
  isLocked = true
  await t.rejects(live.update(), /locked/)
  isLocked = false
  await settle(live)
  t.equal(now(live).description, 'said since')
})

await t.test('a withdrawn version does not wait to be packed', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files,
    registry: '    key: x\n    pack: auto',
  })
  const live = await fixture.live()
  const order = orderOf(live)
  live.withdraw(versionOf(live.serving.catalog), 'it broke the query engine')
  await settle(live)
  t.match(now(live), { version: null, reason: /crash the query engine/ })
  t.notOk(live.isWanted(order))
  t.equal(live.toPack, null)
})

await t.test('a file overwritten before packing has no forms', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files,
    registry: '    key: x\n    pack: auto',
  })
  await fixture.writeFiles({ 'other.parquet': "SELECT 2 AS x, 'b' AS y" })
  const live = await fixture.live()
  const order = orderOf(live)
  const { id } = versionOf(live.serving.catalog)
  const other = readFileSync(join(fixture.folder, 'other.parquet'))
  writeFileSync(join(fixture.folder, 'data/1.parquet'), other)
  await t.rejects(pack(order), /was replaced/)
  await live.notPacked(order, new Error('was replaced'))
  t.equal(now(live).version, null, 'its files hold the rows of another version')
  t.equal(live.toPack, null, 'nor tried again before the files are looked at')
  await settle(live)
  t.not(now(live).version?.id, id)
  const next = orderOf(live)
  await pack(next)
  await settle(live)
  t.ok(now(live).version?.files[0]?.rowCopy)
  await fixture.writeFiles(files)
  await settle(live)
  t.equal(now(live).version?.id, id, 'the first content again is the first version again')
})

await t.test('a form, and a file that has pages, are withdrawn alone', async (t) => {
  const rows = { 'data/1.parquet': 'SELECT i AS x, i % 7 AS y FROM range(30000) t(i)' }
  const fixture = await makeCatalogFolder(t, {
    files: rows,
    registry: '    key: x\n    pack: auto',
  })
  const first = await fixture.live()
  const { id } = versionOf(first.serving.catalog)
  await pack(orderOf(first))
  await settle(first)
  const checks = new FileChecks(hashFile, machineClock)
  const losses: LostVersion[] = []
  const live = await fixture.live({ checks, onLostVersion: (loss) => losses.push(loss) })
  const served = () => {
    const { id: now, files } = versionOf(live.serving.catalog)
    const [file] = files
    if (!file) throw new Error('no file')
    return { now, file, has: [file.rowCopy !== null, file.pages !== null] }
  }
  t.match(served(), { now: id, has: [true, true] }, 'a restart serves all forms')
  const { rowCopy, pages } = served().file
  if (!rowCopy || !pages) throw new Error('not packed')
  rmSync(rowCopy.path)
  t.equal(await checks.verify(rowCopy), 'gone')
  t.match(served(), { now: id, has: [false, true] })
  t.match(losses, [{ version: id, verdict: 'gone', lost: 'form' }])
  await settle(live)
  t.same(
    orderOf(live).forms.map(({ kind }) => kind),
    ['rows'],
    'only this one is made again',
  )
  await pack(orderOf(live))
  await settle(live)
  t.match(served(), { now: id, has: [true, true] })

  const path = join(fixture.folder, 'data/1.parquet')
  const bytes = readFileSync(path)
  writeFileSync(
    path,
    bytes.map((byte, at) => (at === 9 ? byte ^ 1 : byte)),
  )
  t.equal(await checks.verify(served().file), 'replaced')
  t.match(served(), { now: id, file: { path: pages.path } }, 'the pages have the same rows')
  t.match(now(live), { reason: /was overwritten in place/ })
  writeFileSync(path, bytes)
  await settle(live)
  t.match(now(live), { version: { id }, reason: null })
  t.not(served().file.path, pages.path, 'published again')
})

await t.test('a late reader of replaced files withdraws only their version', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const checks = new FileChecks(hashFile, machineClock)
  const live = await fixture.live({ checks })
  const first = versionOf(live.serving.catalog)
  const path = join(fixture.folder, 'data/1.parquet')
  writeFileSync(path, readFileSync(path))
  await settle(live)
  const second = versionOf(live.serving.catalog)
  t.equal(second.id, first.id, 'the same content, written again')
  for (const file of first.files) t.equal(await checks.verify(file), 'intact')
  t.equal(now(live).version, second)
})

await t.test('a demo subset uses the same columns in earlier versions', async (t) => {
  const swap = '    columns: {x: {name: y}, y: {name: x}}\n    demo: {y: [1]}'
  const fixture = await makeCatalogFolder(t, { files, registry: '    demo: {x: [1]}' })
  const live = await fixture.live()
  fixture.writeRegistry(swap)
  await settle(live)
  const [earlier] = now(live).earlier
  t.match(earlier?.demo, [{ column: { source: 'x', name: 'x' } }])
})

await t.test(
  'columns that a new entry hides are hidden, even if it does not fit the files',
  async (t) => {
    const fixture = await makeCatalogFolder(t, {
      files: { 'data/1.parquet': 'SELECT 1 AS x, 2 AS secret' },
    })
    const live = await fixture.live()
    const before = datasetOf(live.serving.catalog).version
    fixture.writeRegistry('    columns: {secret: {hidden: true}, gone: {description: not there}}')
    while ((await live.update()) === 'unsettled');
    const { version, reason } = datasetOf(live.serving.catalog)
    t.match(reason, /no column "gone"/)
    t.same(
      version?.columns.filter(({ hidden }) => !hidden).map(({ name }) => name),
      ['x'],
    )
    t.not(version?.id, before?.id, 'what was cached of the other is not taken for this')
  },
)

await t.test('the duration of an update does not include waiting times', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const clock = new MovingClock(startOfTest)
  const openFiles: OpenFiles = async (...order) => {
    clock.pass(60_000)
    return await openRealFiles(...order)
  }
  const live = await fixture.live({ clock, openFiles })
  await fixture.writeFiles({ 'data/1.parquet': 'SELECT 7 AS x, 2 AS y' })
  t.equal(await live.update(), 'unsettled')
  t.same(await Promise.all([live.update(), live.update()]), ['changed', 'unchanged'])
  t.equal(live.checkMs, 0, 'or the watcher would pause for as long as versions are opened')
})

await t.test(
  'a file that is written to in place is not opened, however long it takes',
  async (t) => {
    const folder = await makeCatalogFolder(t, { files })
    const clock = { ms: 0 }
    const live = await folder.live({ clock: { ...machineClock, now: () => clock.ms } })
    const before = versionOf(live.serving.catalog).id
    await folder.writeFiles({
      'a.parquet': "SELECT 7 AS x, '8' AS y",
      'b.parquet': "SELECT 9 AS x, '8' AS y",
    })
    const halves = ['a.parquet', 'b.parquet'].map((name) => readFileSync(join(folder.folder, name)))
    const results = new Set<string>()
    for (let looks = 0; looks < 40; looks++) {
      folder.write('data/1.parquet', halves[looks % 2] ?? '')
      results.add(await live.update())
      clock.ms += 1000
    }
    t.equal(now(live).version?.id, before)
    t.match(now(live).reason, /^data\/1\.parquet is being written to all the time\. Write files/)
    t.same([...results], ['unsettled', 'changed'], 'the reason is news but once')
    await settle(live)
    t.not(now(live).version?.id, before)
    t.equal(now(live).reason, null)
  },
)

await t.test('whole files that come without end are served all the same', async (t) => {
  const folder = await makeCatalogFolder(t, { files })
  const clock = { ms: 0 }
  const live = await folder.live({ clock: { ...machineClock, now: () => clock.ms } })
  for (let looks = 0; looks < 15; looks++) {
    await folder.writeFiles({ [`data/${looks + 2}.parquet`]: `SELECT ${looks + 2} AS x, 'a' AS y` })
    await live.update()
    clock.ms += 1000
  }
  t.ok((now(live).version?.files.length ?? 0) > 10)
  t.equal(now(live).reason, null)
})
