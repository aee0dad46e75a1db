import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { DiskSpace } from '../../../src/versions/disk-space.js'
import type { EarlierVersion } from '../../../src/versions/disk-space.js'
import { ObjectFiles } from '../../../src/versions/objects/object-files.js'
import { folderStore } from './fixtures/folder-store.js'
import { machineClock } from '../../../src/clock.js'
import { machineRandom } from '../../../src/random.js'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** A bucket `data` with objects of so many bytes, and the files that are kept of it. */
function makeBucket(t: Test, limitBytes: number | null = null) {
  const home = t.testdir({ buckets: { data: {}, other: {} }, objects: {}, versions: {} })
  const store = folderStore(join(home, 'buckets'))
  const folder = join(home, 'objects')
  const versions = join(home, 'versions')
  const clock = { ms: Date.now() }
  const space = new DiskSpace({ folders: [folder, versions], limitBytes })
  const changes: number[] = []
  const objects = new ObjectFiles({
    folder,
    store,
    space,
    waitMaxMs: Infinity,
    clock: { ...machineClock, now: () => clock.ms },
    random: machineRandom,
    onChange: () => changes.push(1),
  })
  t.teardown(() => objects.close())
  return {
    store,
    space,
    objects,
    clock,
    changes,
    put: (key: string, sizeBytes: number, letter = 'a') => {
      writeFileSync(join(home, 'buckets', key), letter.repeat(sizeBytes))
    },
    remove: (key: string) => rmSync(join(home, 'buckets', key)),
    /** Links what a pattern names into the folder of a version. */
    publish: async (pattern: string, version: string) => {
      const to = join(versions, version)
      mkdirSync(to)
      for (const [at, { path }] of (await objects.files(pattern)).entries()) {
        linkSync(path, join(to, String(at)))
      }
      return to
    },
    stored: () => readdirSync(folder).map((name) => join(folder, name)),
  }
}

async function reasonOf(objects: ObjectFiles, pattern: string): Promise<string | null> {
  try {
    await objects.files(pattern)
    return null
  } catch (cause) {
    return (cause as { reason?: string }).reason ?? String(cause)
  }
}

await t.test('an object is fetched once, and again when it changes', async (t) => {
  const { objects, store, put, changes } = makeBucket(t)
  put('data/1', 10)
  put('data/2', 20)
  const files = await objects.files('s3://data/*')
  t.same(
    files.map(({ name }) => name),
    ['s3://data/1', 's3://data/2'],
  )
  t.same(store.reads, ['1', '2'])
  const before = changes.length
  await objects.refresh()
  t.same(store.reads, ['1', '2'])
  t.equal(changes.length, before)
  put('data/2', 20, 'b')
  await objects.refresh()
  t.same(store.reads, ['1', '2', '2'])
  t.equal(changes.length, before + 1)
})

await t.test('a pattern that the registry names no more is not listed again', async (t) => {
  const { objects, store, put } = makeBucket(t)
  put('data/1', 10)
  put('other/1', 10)
  await objects.files('s3://data/*')
  await objects.files('s3://other/*')
  objects.retain(new Set(['s3://other/*']))
  store.listings.length = 0
  await objects.refresh()
  await objects.refresh()
  t.same(store.listings, ['other', 'other'])
  await objects.files('s3://data/*')
  t.same(store.listings, ['other', 'other', 'data'], 'asked for again, it is followed again')
})

await t.test('what is being fetched of such a pattern is given up', async (t) => {
  const { objects, store, put, stored, changes } = makeBucket(t)
  put('data/1', 10)
  store.held = new Promise(() => undefined)
  const asked = reasonOf(objects, 's3://data/*')
  while (store.reads.length === 0) await new Promise(setImmediate)
  objects.retain(new Set())
  t.equal(await asked, 'is being fetched')
  t.same(stored(), [])
  t.same(changes, [])
})

await t.test('a file goes ten minutes after the last pattern that named it', async (t) => {
  const { objects, put, stored, publish, clock } = makeBucket(t)
  put('data/1', 10)
  const [first] = await objects.files('s3://data/*')
  const version = await publish('s3://data/*', 'first')
  put('data/1', 10, 'b')
  await objects.refresh()
  await objects.refresh()
  clock.ms += 10 * minuteMs - 1
  await objects.refresh()
  t.ok(existsSync(first?.path ?? ''), 'it may be being linked just now')
  clock.ms += 1
  await objects.refresh()
  t.notOk(existsSync(first?.path ?? ''))
  t.equal(stored().length, 1)
  t.equal(readdirSync(version).length, 1, 'a published version has a link of its own')
  objects.retain(new Set())
  await objects.refresh()
  clock.ms += 10 * minuteMs
  await objects.refresh()
  t.same(stored(), [])
})

await t.test('files stay while newer ones can not be fetched', async (t) => {
  const { objects, store, put, remove, stored, clock } = makeBucket(t)
  put('data/1', 10)
  put('data/2', 10)
  await objects.files('s3://data/*')
  put('data/1', 10, 'b')
  put('data/2', 10, 'b')
  store.held = Promise.reject(new Error('the line is cut'))
  store.held.catch(() => undefined)
  for (let count = 0; count < 3; count++) {
    clock.ms += hourMs
    await objects.refresh()
  }
  t.equal(await reasonOf(objects, 's3://data/*'), "can't be fetched (the line is cut)")
  t.equal(stored().length, 2)
  store.held = null
  remove('data/2')
  for (let count = 0; count < 2; count++) {
    await objects.refresh()
    clock.ms += hourMs
  }
  await objects.refresh()
  t.equal((await objects.files('s3://data/*')).length, 1)
  t.equal(stored().length, 1)
})

await t.test('what another process fetched stays for an hour', async (t) => {
  const { objects, put, stored, clock } = makeBucket(t)
  put('data/1', 10)
  const [{ path } = { path: '' }] = await objects.files('s3://data/*')
  const foreign = join(dirname(path), 'foreign.parquet')
  writeFileSync(foreign, 'x')
  utimesSync(foreign, clock.ms / 1000, clock.ms / 1000)
  clock.ms += hourMs - 1000
  await objects.refresh()
  t.equal(stored().length, 2)
  clock.ms += 2000
  await objects.refresh()
  t.same(stored(), [path])
})

await t.test('what the disk limit does not allow is not fetched, and said', async (t) => {
  const { objects, store, space, put, stored } = makeBucket(t, 100)
  space.followVersions(() => ({ folders: new Set(), earlier: [] }))
  put('data/1', 60)
  await objects.files('s3://data/*')
  put('data/2', 41)
  await objects.refresh()
  t.equal(
    await reasonOf(objects, 's3://data/*'),
    'needs 41 bytes of disk, but only 40 of --disk-limit are left beside what is served',
  )
  t.same(store.reads, ['1'])
  put('data/2', 40)
  await objects.refresh()
  t.equal((await objects.files('s3://data/*')).length, 2)
  t.equal(stored().length, 2)
})

await t.test('an earlier version makes room for newer objects', async (t) => {
  const { objects, space, put, publish, stored, clock } = makeBucket(t, 100)
  let earlier: EarlierVersion[] = []
  const served = new Set<string>()
  space.followVersions(() => ({ folders: served, earlier }))
  put('data/1', 40)
  await objects.files('s3://data/*')
  const first = await publish('s3://data/*', 'first')
  put('data/1', 41)
  await objects.refresh()
  served.add(await publish('s3://data/*', 'second'))
  const remove = () => {
    earlier = []
  }
  earlier = [{ dataset: 'd', version: 'first', folders: [first], supersededAt: 1, remove }]
  put('data/1', 42)
  await objects.refresh()
  t.same(earlier, [])
  t.match(await reasonOf(objects, 's3://data/*'), /^needs 42 bytes of disk, and waits until/)
  await objects.refresh()
  t.match(await reasonOf(objects, 's3://data/*'), /waits/, 'its files are still there')
  rmSync(first, { recursive: true })
  clock.ms += 10 * minuteMs
  await objects.refresh()
  await objects.refresh()
  t.equal(await reasonOf(objects, 's3://data/*'), null)
  t.equal(stored().length, 2, 'the served version and the next one')
})
