import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { DiskSpace, NoSpaceError } from '../../src/versions/disk-space.js'

/** A folder of versions with earlier ones, whose names are the times when they were superseded. */
function makeVersions(t: Test, limitBytes: number | null, files: Readonly<Record<string, number>>) {
  const folder = t.testdir({ versions: {}, objects: {} })
  const pathOf = (name: string) => join(folder, name)
  const write = (name: string, sizeBytes: number) => {
    mkdirSync(dirname(pathOf(name)), { recursive: true })
    writeFileSync(pathOf(name), Buffer.alloc(sizeBytes))
  }
  for (const [name, sizeBytes] of Object.entries(files)) write(name, sizeBytes)
  let kept = [...new Set(Object.keys(files).map((name) => name.split('/')[1] ?? ''))]
  const removed: string[] = []
  const folders = [pathOf('versions'), pathOf('objects')]
  const onRemoved = ({ version }: { readonly version: string }) => removed.push(version)
  const space = new DiskSpace({ folders, limitBytes, onRemoved })
  const follow = () => {
    space.followVersions(() => ({
      folders: new Set([pathOf('versions/now')]),
      earlier: kept
        .filter((name) => /^\d+$/.test(name))
        .map((version) => ({
          dataset: 'things',
          version,
          folders: [pathOf(`versions/${version}`)],
          supersededAt: Number(version),
          remove: () => {
            kept = kept.filter((each) => each !== version)
          },
        })),
    }))
  }
  const link = (from: string, to: string) => linkSync(pathOf(from), pathOf(to))
  const remove = (name: string) => rmSync(pathOf(name), { recursive: true })
  const reserve = async (bytes: number) => {
    try {
      return await space.reserve(bytes)
    } catch (cause) {
      if (cause instanceof NoSpaceError) return cause.message
      throw cause
    }
  }
  return { space, follow, removed, write, link, remove, reserve, pathOf }
}

const files = {
  'versions/1/a': 100,
  'versions/2/a': 100,
  'versions/3/a': 100,
  'versions/now/a': 100,
}

await t.test('without a limit everything fits', async (t) => {
  const { reserve, space, follow, removed } = makeVersions(t, null, files)
  follow()
  t.not(typeof (await reserve(1e15)), 'string')
  t.equal(await space.trim(), 0)
  t.same(removed, [])
})

await t.test('what fits takes no version away', async (t) => {
  const { reserve, space, follow, removed } = makeVersions(t, 500, files)
  follow()
  t.not(typeof (await reserve(100)), 'string')
  t.equal(await space.trim(), 0)
  t.same(removed, [])
})

await t.test('earlier versions go, the oldest first, and no more than needed', async (t) => {
  const { reserve, follow, removed, remove } = makeVersions(t, 500, files)
  follow()
  t.match(await reserve(201), /^needs 201 bytes of disk, and waits until files .* are removed/)
  t.same(removed, ['1', '2'])
  t.match(await reserve(201), /waits/)
  t.same(removed, ['1', '2'], 'waiting takes nothing more')
  remove('versions/1')
  t.match(await reserve(201), /waits/)
  remove('versions/2')
  t.not(typeof (await reserve(201)), 'string')
  t.same(removed, ['1', '2'])
})

await t.test('what can not fit beside the served version takes nothing away', async (t) => {
  const { reserve, follow, removed } = makeVersions(t, 500, files)
  follow()
  t.equal(
    await reserve(1401),
    'needs 1,401 bytes of disk, but only 400 of --disk-limit are left beside what is served',
  )
  t.same(removed, [])
})

await t.test('a limit below what is kept has earlier versions go, never the served', async (t) => {
  for (const [limit, beyond, gone] of [
    [399, 0, ['1']],
    [250, 0, ['1', '2']],
    [100, 0, ['1', '2', '3']],
    [99, 1, ['1', '2', '3']],
  ] as const) {
    const { space, follow, removed } = makeVersions(t, limit, files)
    follow()
    t.equal(await space.trim(), beyond)
    t.same(removed, gone, String(limit))
  }
})

await t.test('a file counts once, and not while it has a name elsewhere', async (t) => {
  const { space, follow, removed, link, remove, reserve } = makeVersions(t, 400, {
    'versions/1/a': 100,
    'versions/2/a': 100,
    'versions/now/a': 100,
    'sources/b': 1000,
  })
  follow()
  link('versions/now/a', 'objects/a')
  link('versions/now/a', 'versions/2/b')
  link('sources/b', 'versions/1/b')
  t.equal(await space.trim(), 0)
  t.not(typeof (await reserve(100)), 'string')
  t.same(removed, [])
  remove('sources/b')
  t.equal(await space.trim(), 0)
  t.same(removed, ['1'], 'the source is gone, so that the version takes its space')
})

await t.test('a version without a file of its own stays, because it makes no room', async (t) => {
  const { space, follow, removed, link } = makeVersions(t, 350, {
    'versions/1/a': 0,
    'versions/2/a': 100,
    'versions/3/a': 100,
    'versions/now/a': 200,
  })
  follow()
  link('versions/now/a', 'versions/1/b')
  rmSync(join(t.testdirName, 'versions/1/a'))
  await space.trim()
  t.same(removed, ['2'])
})

await t.test('reservations count until they are written or released', async (t) => {
  const { reserve, space, follow, write, pathOf } = makeVersions(t, 300, { 'versions/now/a': 100 })
  follow()
  const first = await reserve(200)
  if (typeof first === 'string') throw new Error(first)
  t.match(await reserve(1), /only 0 of --disk-limit are left/)
  write('objects/1.part', 150)
  first.note(150)
  t.match(await reserve(1), /^needs 1 bytes of disk, and waits/, 'written bytes count once')
  write('objects/1.part', 0)
  first[Symbol.dispose]()
  await space.during(200, pathOf('versions/new.draft'), async () => {
    write('versions/new.draft/a', 120)
    t.match(await reserve(1), /only 0 of --disk-limit are left/, 'nor does a draft count twice')
  })
  t.not(typeof (await reserve(80)), 'string', 'then it counts as what it is')
})

await t.test('a command, which follows no version, takes none away', async (t) => {
  const { reserve, removed } = makeVersions(t, 500, files)
  t.match(await reserve(101), /but only 100 of --disk-limit are left beside what is stored$/)
  t.not(typeof (await reserve(100)), 'string')
  t.same(removed, [])
})
