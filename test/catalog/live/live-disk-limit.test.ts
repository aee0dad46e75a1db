import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { LiveCatalog } from '../../../src/catalog/live/live-catalog.js'
import { DiskSpace } from '../../../src/versions/disk-space.js'
import { ObjectFiles } from '../../../src/versions/objects/object-files.js'
import { folderStore } from '../../versions/objects/fixtures/folder-store.js'
import { datasetOf, makeCatalogFolder, versionOf } from './fixtures/catalog-folder.js'
import { machineClock } from '../../../src/clock.js'
import { machineRandom } from '../../../src/random.js'

// Guarantee: what a server stores stays within the disk limit, and the served version stays.

const minuteMs = 60_000
/** Each file takes between 725 and 966 kB. */
const rows = 65_000
const generation = (number: number) =>
  `SELECT i AS x, hash(i + ${number * rows}) AS y FROM range(${rows}) t(i)`

async function settle(live: LiveCatalog): Promise<void> {
  while ((await live.update()) === 'unsettled');
}

const now = (live: LiveCatalog) => datasetOf(live.serving.catalog)
const foldersOf = (live: LiveCatalog) =>
  [now(live).version, ...now(live).earlier.map(({ version }) => version)].map((version) =>
    dirname(version?.files[0]?.path ?? ''),
  )

/** A catalog over objects, which keeps what it stores below some megabytes. */
async function makeObjects(t: Test, limitBytes: number) {
  const clock = { ms: Date.now() }
  const fixture = await makeCatalogFolder(t, {
    files: { 'buckets/data/1.parquet': generation(1) },
    registry: 'datasets: {things: {title: Things, files: "s3://data/*.parquet"}}',
  })
  const folder = join(fixture.folder, 'var/objects')
  const open = async (limit = limitBytes) => {
    const folders = [folder, fixture.versionsFolder]
    const removed: string[] = []
    const onRemoved = ({ version }: { readonly version: string }) => removed.push(version)
    const space = new DiskSpace({ folders, limitBytes: limit, onRemoved })
    const store = folderStore(join(fixture.folder, 'buckets'))
    const time = { clock: { ...machineClock, now: () => clock.ms }, random: machineRandom }
    const options = { folder, store, space, waitMaxMs: Infinity, ...time }
    const objects = new ObjectFiles(options)
    t.teardown(() => objects.close())
    const live = await fixture.live({
      objects,
      space,
      clock: { ...machineClock, now: () => clock.ms },
    })
    return { live, objects, space, removed }
  }
  return {
    ...fixture,
    clock,
    open,
    put: (number: number) => fixture.writeFiles({ 'buckets/data/1.parquet': generation(number) }),
    sizeBytes: statSync(join(fixture.folder, 'buckets/data/1.parquet')).size,
  }
}

await t.test('a fetch has the oldest version go, and waits for its space', async (t) => {
  const { open, put, clock, sizeBytes } = await makeObjects(t, 2_900_000)
  t.ok(sizeBytes > 725_000 && sizeBytes < 966_000, 'three fit, four do not')
  const { live, objects, removed } = await open()
  const ids = [versionOf(live.serving.catalog).id]
  for (const number of [2, 3]) {
    await put(number)
    await objects.refresh()
    await settle(live)
    t.equal(now(live).reason, null)
    ids.push(versionOf(live.serving.catalog).id)
    clock.ms += minuteMs
  }
  t.equal(now(live).earlier.length, 2)
  const oldest = foldersOf(live)[1]
  await put(4)
  await objects.refresh()
  await settle(live)
  t.same(removed, [ids[0]])
  t.match(now(live), {
    version: { id: ids[2] },
    reason: /^s3:\S+ needs [\d,]+ bytes of disk, and waits/,
  })
  t.same(
    now(live).earlier.map(({ version }) => version.id),
    [ids[1]],
  )
  await live.expire()
  t.ok(existsSync(oldest ?? ''), 'a request that began before may still read it')
  clock.ms += 11 * minuteMs
  await live.expire()
  t.notOk(existsSync(oldest ?? ''))
  await objects.refresh()
  await settle(live)
  t.equal(now(live).reason, null)
  t.equal(now(live).earlier.length, 2)
  t.same(removed, [ids[0]])
})

await t.test('where only the served version is left, the fetch is refused', async (t) => {
  const { open, put } = await makeObjects(t, 1_200_000)
  const first = await open()
  const { id } = versionOf(first.live.serving.catalog)
  await put(2)
  const refused =
    /^s3:\/\/data\/\*\.parquet needs [\d,]+ bytes of disk, but only [\d,]+ of --disk-limit are left beside what is served$/
  await first.objects.refresh()
  await settle(first.live)
  t.match(now(first.live), { version: { id }, reason: refused })
  const second = await open()
  t.match(now(second.live), { version: { id }, reason: /^s3:\S+ needs [\d,]+ bytes of disk/ })
  t.same(second.removed, [])
})

await t.test('a smaller limit than what is kept has earlier versions go', async (t) => {
  const { open, put } = await makeObjects(t, 5_000_000)
  const first = await open()
  await put(2)
  await first.objects.refresh()
  await settle(first.live)
  const { id } = versionOf(first.live.serving.catalog)
  const { live, space, removed } = await open(1_000_000)
  t.equal(now(live).earlier.length, 1)
  t.equal(await space.trim(), 0)
  t.equal(removed.length, 1)
  t.match(now(live), { version: { id }, earlier: [], reason: null })
})

await t.test('copies of files that can not be linked are refused beyond the limit', async (t) => {
  const shared = '/dev/shm'
  const fixture = await makeCatalogFolder(t, { files: { 'data/1.parquet': generation(1) } })
  const elsewhere = existsSync(shared) && statSync(shared).dev !== statSync(fixture.folder).dev
  const versionsFolder = elsewhere ? mkdtempSync(join(shared, 'das-test-')) : fixture.versionsFolder
  t.teardown(() => rmSync(versionsFolder, { recursive: true, force: true }))
  t.ok(elsewhere, 'this machine has a second file system')
  const space = new DiskSpace({ folders: [versionsFolder], limitBytes: 1_000_000 })
  const live = await fixture.live({ versionsFolder, space })
  const { id } = versionOf(live.serving.catalog)
  await fixture.writeFiles({ 'data/1.parquet': generation(2) })
  await settle(live)
  t.match(now(live), {
    version: { id },
    reason:
      /^data\/1\.parquet can't be linked, and its version needs [\d,]+ bytes of disk, but only/,
  })
})
