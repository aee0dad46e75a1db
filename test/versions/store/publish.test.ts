import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { findSourceFiles } from '../../../src/versions/files/source-files.js'
import { writeManifest } from '../../../src/versions/store/manifest.js'
import { publishFiles } from '../../../src/versions/store/publish.js'
import type { Version } from '../../../src/versions/version.js'
import {
  datasetOf,
  makeCatalogFolder,
  openThings,
  versionOf,
} from '../../catalog/live/fixtures/catalog-folder.js'
import { writeParquet } from '../../support/parquet.js'
import { machineClock } from '../../../src/clock.js'
import { FileChecks } from '../../../src/versions/store/file-checks.js'
import { hashFile } from '../../../src/versions/hash-file.js'

const files = {
  'data/1.parquet': 'SELECT 1 AS x, 2 AS y',
  'data/2.parquet': 'SELECT 3 AS x, 4 AS y',
}

/** The folder that a version is served from. */
function folderOf(version: Version): string {
  return dirname(version.files[0]?.path ?? '')
}

function sourcesIn(folder: string, pattern = '*.parquet') {
  return findSourceFiles(folder, [pattern], new Map())
}

await t.test('equal content has an equal version id, whatever its folder and time', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const first = versionOf(await fixture.open())
  t.match(first.id, /^[0-9a-f]{16}$/)
  t.equal(versionOf(await fixture.open()).id, first.id, 'opened again')
  t.equal(versionOf(await fixture.check()).id, first.id, 'checked in place')
  await t.test('in another folder', async (t) => {
    t.equal((await openThings(t, files)).id, first.id)
  })
  utimesSync(join(fixture.folder, 'data/1.parquet'), 1_000_000_000, 1_000_000_000)
  const touched = versionOf(await fixture.open())
  t.equal(touched.id, first.id, 'written at another time')
  t.equal(folderOf(touched), folderOf(first), 'so nothing is linked again')
  t.ok(touched.modifiedMs <= first.modifiedMs)
})

await t.test('other content, another order or other columns are another version', async (t) => {
  const ids = new Set<string>()
  const add = async (t: Test, changed: Readonly<Record<string, string>>, lines = '') => {
    ids.add((await openThings(t, changed, lines)).id)
  }
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, string?])[] = [
    ['as it is', files],
    ['a value differs', { ...files, 'data/2.parquet': 'SELECT 3 AS x, 5 AS y' }],
    ['a row more', { ...files, 'data/2.parquet': 'SELECT 3 AS x, 4 AS y FROM range(2)' }],
    ['a file more', { ...files, 'data/3.parquet': 'SELECT 5 AS x, 6 AS y' }],
    [
      'the other way round',
      { 'data/1.parquet': files['data/2.parquet'], 'data/2.parquet': files['data/1.parquet'] },
    ],
    ['a column renamed', files, '    columns: {y: {name: z}}'],
    ['a column hidden', files, '    columns: {y: {hidden: true}}'],
    ['a column as text', files, '    columns: {y: {json: string}}'],
    ['a type widened', { ...files, 'data/2.parquet': 'SELECT 3::BIGINT AS x, 4 AS y' }],
  ]
  for (const [name, changed, lines] of cases) await t.test(name, (t) => add(t, changed, lines))
  t.equal(ids.size, cases.length)
})

await t.test('descriptions and plans do not change the version', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const { id } = versionOf(await fixture.open())
  fixture.writeRegistry(
    `    description: new
    limit: {max: 5}
    columns: {x: {description: new, unit: new}}
    plans: {free: {rows_per_month: 1, history: all, price_rub: 0}}`,
  )
  t.equal(versionOf(await fixture.open()).id, id)
})

await t.test(
  'a corrected value is a new version, even with equal file size and statistics',
  async (t) => {
    const fixture = await makeCatalogFolder(t, {})
    const rows = (...values: readonly number[]) => ({
      'data/1.parquet': `SELECT unnest([${values.join()}]::BIGINT[]) AS x`,
    })
    const write = async (...values: readonly number[]) => {
      mkdirSync(join(fixture.folder, 'data'), { recursive: true })
      await writeParquet(fixture.folder, rows(...values), ', COMPRESSION uncompressed')
      const path = join(fixture.folder, 'data/1.parquet')
      const version = versionOf(await fixture.open())
      return {
        version,
        content: readFileSync(path),
        served: readFileSync(version.files[0]?.path ?? ''),
      }
    }
    const before = await write(1, 5, 3, 9)
    const after = await write(1, 3, 5, 9)
    t.equal(after.content.length, before.content.length)
    const footer = (content: Buffer) =>
      content.subarray(-content.readUInt32LE(content.length - 8) - 8)
    t.same(footer(after.content), footer(before.content), 'the footers are the same')
    t.not(after.version.id, before.version.id)
    t.same(after.served, after.content, 'the corrected file is served')
  },
)

await t.test('a published file is a link to its source, and outlives it', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const version = versionOf(await fixture.open())
  const source = join(fixture.folder, 'data/1.parquet')
  const [served = ''] = version.files.map((file) => file.path)
  t.equal(statSync(served).ino, statSync(source).ino)
  t.equal(statSync(folderOf(version)).mode & 0o777, 0o700, 'no other user can read it')
  const content = readFileSync(source)
  rmSync(source)
  t.same(readFileSync(served), content)
})

await t.test('publishing the same content again keeps the links', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const inodes = (version: Version) => version.files.map(({ path }) => statSync(path).ino)
  const before = versionOf(await fixture.open())
  const folderInode = statSync(folderOf(before)).ino
  const copy = readFileSync(join(fixture.folder, 'data/1.parquet'))
  rmSync(join(fixture.folder, 'data/1.parquet'))
  fixture.write('data/1.parquet', copy)
  const after = versionOf(await fixture.open())
  t.same(inodes(after), inodes(before), 'the first file stays linked')
  t.equal(statSync(folderOf(after)).ino, folderInode)
})

await t.test('drafts and removed datasets are deleted, superseded versions kept', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const first = versionOf(await fixture.open())
  const list = (...path: readonly string[]) => readdirSync(join(fixture.versionsFolder, ...path))
  t.same(list(), ['things'])
  mkdirSync(join(fixture.versionsFolder, 'things', 'ffff.draft'))
  mkdirSync(join(fixture.versionsFolder, 'gone', 'abcd'), { recursive: true })
  await fixture.writeFiles({ 'data/2.parquet': 'SELECT 30 AS x, 40 AS y' })
  const second = versionOf(await fixture.open())
  t.not(second.id, first.id)
  t.same(list(), ['things'])
  const kept = [first, second].map((version) => basename(folderOf(version)))
  t.same(list('things').sort(), kept.sort())
  t.same(list('things', basename(folderOf(second))).sort(), [
    '000000.parquet',
    '000001.parquet',
    'manifest.json',
  ])
})

await t.test('a refused version leaves the last good one in place', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const good = folderOf(versionOf(await fixture.open()))
  await fixture.writeFiles({ 'data/2.parquet': "SELECT 'text' AS x" })
  t.type(datasetOf(await fixture.open()).reason, 'string')
  t.ok(existsSync(join(good, '000001.parquet')))
})

await t.test('checking in place publishes nothing', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const version = versionOf(await fixture.check())
  t.same(
    version.files.map(({ path }) => path),
    ['data/1.parquet', 'data/2.parquet'].map((name) => join(fixture.folder, name)),
  )
  t.notOk(existsSync(fixture.versionsFolder))
})

await t.test('an incomplete copy or link is published again', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const [served = ''] = versionOf(await fixture.open()).files.map((file) => file.path)
  const content = readFileSync(served)
  rmSync(served)
  t.same(readFileSync(versionOf(await fixture.open()).files[0]?.path ?? ''), content, 'missing')
  rmSync(served)
  writeFileSync(served, content)
  truncateSync(served, content.length - 1)
  t.same(readFileSync(versionOf(await fixture.open()).files[0]?.path ?? ''), content, 'cut short')
})

await t.test('files with wrong or missing known hashes are read again', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const { id } = versionOf(await fixture.open())
  for (const text of ['', 'no JSON', 'null', '[1]', '{"a": "b"}', '"x"']) {
    const folder = folderOf(versionOf(await fixture.open()))
    writeFileSync(join(folder, 'manifest.json'), text)
    t.equal(versionOf(await fixture.open()).id, id, text)
  }
  writeFileSync(join(fixture.versionsFolder, 'things', 'stray'), 'a file where folders are')
  t.equal(versionOf(await fixture.open()).id, id)
})

await t.test('a file that is replaced between reading and linking is refused', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, { 'a.parquet': 'SELECT 1 AS x', 'b/b.parquet': 'SELECT 2 AS x' })
  const sources = await sourcesIn(folder)
  renameSync(join(folder, 'b/b.parquet'), join(folder, 'a.parquet'))
  await t.rejects(
    publishFiles(join(folder, 'versions'), 'things', sources, {
      checks: new FileChecks(hashFile, machineClock),
    }),
    {
      name: 'FileError',
      path: join(folder, 'a.parquet'),
      reason: 'was replaced while it was read',
    },
  )
  rmSync(join(folder, 'a.parquet'))
  await t.rejects(
    publishFiles(join(folder, 'versions'), 'things', sources, {
      checks: new FileChecks(hashFile, machineClock),
    }),
    {
      name: 'FileError',
      reason: "can't be linked or copied (ENOENT)",
    },
  )
  t.same(
    readdirSync(join(folder, 'versions/things')).filter((name) => !name.endsWith('.draft')),
    [],
    'an incomplete version is not used',
  )
})

await t.test('a file is copied completely if the file system refuses a link', async (t) => {
  const { source, versionsFolder } = await refusedLink(t)
  const sources = await sourcesIn(dirname(source), basename(source))
  const published = await publishFiles(versionsFolder, 'things', sources, {
    checks: new FileChecks(hashFile, machineClock),
  })
  const copy = published.files[0]?.path ?? ''
  t.equal(published.files[0]?.guard, null, 'only the server writes to it')
  t.not(statSync(copy).ino, statSync(source).ino)
  t.same(readFileSync(copy), readFileSync(source))
  const opened = { rows: 1, columns: [], bounds: new Map() }
  const read = sources.map((each) => ({
    source: each,
    path: copy,
    guard: null,
    hash: null,
    opened,
  }))
  await writeManifest(published.folder, {
    publishedAt: 0,
    isCurrent: true,
    files: read,
    boundsOf: [],
  })
  const written = statSync(copy).mtimeMs
  await publishFiles(versionsFolder, 'things', sources, {
    checks: new FileChecks(hashFile, machineClock),
  })
  t.equal(statSync(copy).mtimeMs, written, 'and not copied again')
  truncateSync(copy, 10)
  await publishFiles(versionsFolder, 'things', sources, {
    checks: new FileChecks(hashFile, machineClock),
  })
  t.same(readFileSync(copy), readFileSync(source), 'a copy cut off by a power failure is completed')
})

await t.test('a dataset is served from copies as from links', async (t) => {
  const { versionsFolder } = await refusedLink(t)
  const fixture = await makeCatalogFolder(t, { files, versionsFolder })
  const version = versionOf(await fixture.open())
  t.equal(version.rows, 2)
  t.equal(versionOf(await fixture.open()).id, version.id)
})

await t.test('an unusable versions folder is a reason, without its path', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  await fixture.open()
  rmSync(join(fixture.versionsFolder, 'things'), { recursive: true })
  writeFileSync(join(fixture.versionsFolder, 'things'), 'a file in the way')
  const { reason } = datasetOf(await fixture.open())
  t.equal(reason, "the versions folder can't be used (mkdir: EEXIST)")
})

/** A Parquet file and a folder for versions between which the file system refuses hard links. */
async function refusedLink(t: Test): Promise<{ source: string; versionsFolder: string }> {
  const folder = t.testdir({ sources: {}, versions: {} })
  const source = join(folder, 'sources', 'a.parquet')
  await writeParquet(folder, { 'sources/a.parquet': 'SELECT 1 AS x' })
  const elsewhere = ['/dev/shm', '/run/shm', tmpdir()].find(
    (path) => existsSync(path) && statSync(path).dev !== statSync(folder).dev,
  )
  if (elsewhere !== undefined) {
    const versionsFolder = mkdtempSync(join(elsewhere, 'das-test-'))
    t.teardown(() => rmSync(versionsFolder, { recursive: true, force: true }))
    return { source, versionsFolder }
  }
  // One file system only: a file that has as many links as it can.
  for (let count = 0; ; count++) {
    try {
      linkSync(source, join(folder, 'versions', String(count)))
    } catch {
      return { source, versionsFolder: join(folder, 'more-versions') }
    }
  }
}
