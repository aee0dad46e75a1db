import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { startBucket } from '../../scripts/harness/object-gateway.js'
import { logged } from '../support/logged.js'
import { startWorld, writeParquet } from '../support/world.js'
import type { World } from '../support/world.js'
import { linesOf, rowsOf } from './fixtures/things-world.js'

// Guarantee: a packed copy from a bucket is served only if every cell is that of the files.

const bucket = await startBucket({
  add: (close) => {
    t.teardown(() => close('passed'))
    return () => undefined
  },
})

const rowsMax = 50_000
/** Three packed files; many rows share a key. */
const rows = `SELECT (i * 7919) % 20000 AS id, i AS n, md5(i::VARCHAR) AS text
  FROM range(${rowsMax}) t(i)`

interface Given {
  readonly select?: string
  readonly settings?: Readonly<Record<string, string>>
}

/** A server with a state folder of its own, which packs. */
async function serve(t: Test, name: string, folder: string, given: Given = {}): Promise<World> {
  const at = join(folder, name)
  mkdirSync(at, { recursive: true })
  const { select = rows, settings = {} } = given
  const world = await startWorld(t, {
    at,
    files: { 'data/1.parquet': select },
    settings: { objectEndpoint: bucket.endpoint, ...settings },
    registry: `
datasets:
  things:
    title: Things
    files: data/*.parquet
    key: id
    pack: auto
    pack_to: s3://data/${folderName(folder)}/
    require_filter: false
    limit: {max: 10000}
    plans: {all: {rows_per_month: 10000000, history: all, price_rub: 0, rate_per_minute: 100000}}
`,
  })
  void world.app.prepare()
  return world
}

/** A folder of the bucket for each test. */
function folderName(folder: string): string {
  return folder.slice(folder.lastIndexOf('/') + 1)
}

const versionOf = (world: World) => world.app.catalog().datasets.get('things')?.version
const isPacked = (world: World) => versionOf(world)?.files[0]?.name.startsWith('packed/') === true

/** The keys of a test's copies. */
async function copiesOf(folder: string): Promise<readonly string[]> {
  return (await bucket.keys()).filter((key) => key.startsWith(`${folderName(folder)}/`))
}

async function recordKey(folder: string): Promise<string> {
  return (await copiesOf(folder)).find((key) => key.endsWith('/copy.json')) ?? ''
}

interface Uploaded {
  readonly files: { name: string; rows: number; sha256: string; checksum: string }[]
  readonly [key: string]: unknown
}

async function recordOf(folder: string): Promise<Uploaded> {
  return JSON.parse(String(await bucket.get(await recordKey(folder)))) as Uploaded
}

/** The first server: it has packed and uploaded. */
async function uploaded(t: Test, folder: string, given: Given = {}): Promise<World> {
  const first = await serve(t, 'first', folder, given)
  await logged(first, 'packed copy uploaded')
  return first
}

await t.test('a second server takes the copy of the first without packing', async (t) => {
  const folder = t.testdir({})
  const first = await uploaded(t, folder)
  t.match(linesOf(first, 'packed'), [{ files: 3 }])
  t.equal(linesOf(first, 'packed copy fetched').length, 0)
  const keys = await copiesOf(folder)
  t.equal(keys.length, 4)
  t.equal(keys.filter((key) => key.endsWith('.packed')).length, 3)
  const second = await serve(t, 'second', folder)
  await logged(second, '"packed"')
  t.match(linesOf(second, 'packed'), [{ files: 3, fetched: 3 }])
  t.equal(linesOf(second, 'packing').length, 0)
  t.equal(linesOf(second, 'packed copy uploaded').length, 0)
  t.ok(isPacked(second))
  t.equal(versionOf(second)?.id, versionOf(first)?.id)
  t.equal(await rowsOf(second), await rowsOf(first))
  const versions = readdirSync(dirname(dirname(versionOf(second)?.files[0]?.path ?? '')))
  t.same(
    versions.filter((name) => /fetched|draft/.test(name)),
    [],
  )
  t.same(await copiesOf(folder), keys)
})

/** Changes what the bucket has, given its record. */
type Harm = (folder: string, record: Uploaded, prefix: string) => Promise<void>

const harms: Readonly<Record<string, readonly [reason: RegExp, harm: Harm]>> = {
  'a damaged file': [
    /^00000\d\.parquet is damaged$/,
    async (_folder, { files }, prefix) => {
      const key = `${prefix}${files[1]?.sha256}.packed`
      const content = await bucket.get(key)
      content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 0x10
      await bucket.put(key, content)
    },
  ],
  'a truncated file': [
    /^000001\.parquet is damaged$/,
    async (_folder, { files }, prefix) => {
      const key = `${prefix}${files[1]?.sha256}.packed`
      await bucket.put(key, (await bucket.get(key)).subarray(0, 1000))
    },
  ],
  'a missing file': [
    /^000002\.parquet is missing$/,
    (_folder, { files }, prefix) => bucket.remove(`${prefix}${files[2]?.sha256}.packed`),
  ],
  'a truncated description': [
    /^copy\.json is not valid$/,
    async (_folder, _record, prefix) => {
      const key = `${prefix}copy.json`
      await bucket.put(key, (await bucket.get(key)).subarray(0, 200))
    },
  ],
  'a description that names a path': [
    /^copy\.json is not valid$/,
    async (_folder, record, prefix) => {
      const files = record.files.map((file) => ({ ...file, name: '../../../000000.parquet' }))
      await putRecord(prefix, { ...record, files })
    },
  ],
  'a description of another release': [
    /^was packed by another release$/,
    (_folder, record, prefix) => putRecord(prefix, { ...record, format: 99 }),
  ],
  'a description with fewer rows': [
    /^has another number of rows$/,
    (_folder, record, prefix) => putRecord(prefix, { ...record, files: record.files.slice(0, 2) }),
  ],
  'a description with wrong checksums of cells': [
    /^3 of its files are not those of the dataset$/,
    async (_folder, record, prefix) => {
      const files = record.files.map((file) => ({ ...file, checksum: '1' }))
      await putRecord(prefix, { ...record, files })
    },
  ],
  'a description of other files': [
    /^3 of its files are not those of the dataset$/,
    (_folder, record, prefix) => putRecord(prefix, { ...record, identity: 'another' }),
  ],
}

async function putRecord(prefix: string, record: Uploaded): Promise<void> {
  await bucket.put(`${prefix}copy.json`, Buffer.from(JSON.stringify(record)))
}

const packedAlone = { files: 3, fetched: undefined }

for (const [what, [reason, harm]] of Object.entries(harms)) {
  await t.test(`${what} is refused, and the server packs for itself`, async (t) => {
    const folder = t.testdir({})
    const first = await uploaded(t, folder)
    const record = await recordOf(folder)
    await harm(folder, record, (await recordKey(folder)).replace('copy.json', ''))
    const second = await serve(t, 'second', folder)
    await logged(second, 'packed copy uploaded')
    t.match(linesOf(second, 'packed copy of the bucket refused'), [{ reason }])
    t.match(linesOf(second, 'packed'), [packedAlone])
    t.equal(await rowsOf(second), await rowsOf(first))
    t.equal(existsSync(join(folder, '000000.parquet')), false)
    const third = await serve(t, 'third', folder)
    await logged(third, '"packed"')
    t.match(linesOf(third, 'packed'), [{ fetched: 3 }], 'the upload has repaired the copy')
    t.equal(await rowsOf(third), await rowsOf(first))
  })
}

await t.test('planted rows are refused, also with checksums that fit them', async (t) => {
  const folder = t.testdir({})
  const other = join(folder, 'other')
  mkdirSync(other)
  // The same numbers of rows and columns; one cell is another.
  const planted = `SELECT id, CASE WHEN n = 4711 THEN 1 ELSE n END AS n, text FROM (${rows})`
  await uploaded(t, other, { select: planted })
  const first = await uploaded(t, folder)
  const prefix = (await recordKey(folder)).replace('copy.json', '')
  const wrong = await recordOf(other)
  const right = await recordOf(folder)
  const wrongPrefix = (await recordKey(other)).replace('copy.json', '')
  for (const { sha256 } of wrong.files) {
    await bucket.put(
      `${prefix}${sha256}.packed`,
      await bucket.get(`${wrongPrefix}${sha256}.packed`),
    )
  }
  await putRecord(prefix, { ...right, files: wrong.files })
  const second = await serve(t, 'second', folder)
  await logged(second, 'packed copy uploaded')
  const reason = /^The packed rows differ from those of the files/
  t.match(linesOf(second, 'packed copy of the bucket refused'), [{ reason }])
  t.match(linesOf(second, 'packed'), [packedAlone])
  t.equal(await rowsOf(second), await rowsOf(first))
})

await t.test('a server that may not write serves its copy, and the log says so', async (t) => {
  const folder = t.testdir({})
  const settings = { objectEndpoint: await bucket.startReadOnly() }
  const world = await serve(t, 'first', folder, { settings })
  await logged(world, 'packed copy not uploaded')
  t.match(linesOf(world, 'packed copy not uploaded'), [
    { reason: "can't be written (AccessDenied)", dataset: 'things' },
  ])
  t.ok(isPacked(world))
  t.same(await copiesOf(folder), [])
  const next = await serve(t, 'next', folder)
  await logged(next, 'packed copy uploaded')
  t.equal(await rowsOf(world), await rowsOf(next))
})

await t.test('a line that breaks in the middle of an upload does no harm', async (t) => {
  const folder = t.testdir({})
  for (const bytes of [100_000, 200_000]) {
    bucket.cutRequestsAfter(bytes)
    const world = await serve(t, `cut-${bytes}`, folder)
    await logged(world, 'packed copy not uploaded')
    t.match(linesOf(world, 'packed copy not uploaded')[0]?.['reason'], /^can't be written \(\w+\)$/)
    t.ok(isPacked(world))
    t.equal(await recordKey(folder), '', 'without a description there is no copy')
  }
  bucket.cutRequestsAfter(null)
  const next = await uploaded(t, folder)
  t.match(linesOf(next, 'packed'), [packedAlone])
  const last = await serve(t, 'last', folder)
  await logged(last, '"packed"')
  t.match(linesOf(last, 'packed'), [{ fetched: 3 }])
  t.equal(await rowsOf(last), await rowsOf(next))
})

await t.test('a line that breaks in the middle of a fetch does no harm', async (t) => {
  const folder = t.testdir({})
  const first = await uploaded(t, folder)
  bucket.cutAfter(50_000)
  const second = await serve(t, 'second', folder)
  await logged(second, '"packed"')
  bucket.cutAfter(null)
  t.match(linesOf(second, 'packed copy of the bucket refused'), [
    { reason: /^can't be fetched \(\w+\)$/ },
  ])
  t.equal(await rowsOf(second), await rowsOf(first))
})

await t.test('what the disk limit does not allow is not fetched', async (t) => {
  const folder = t.testdir({})
  await uploaded(t, folder)
  const world = await serve(t, 'small', folder, { settings: { diskLimit: '1MB' } })
  await logged(world, 'packing failed')
  t.match(linesOf(world, 'packed copy of the bucket refused'), [{ reason: /of disk, but only/ }])
  t.equal(isPacked(world), false)
})

await t.test('a new version has a copy of its own', async (t) => {
  const folder = t.testdir({})
  const first = await uploaded(t, folder)
  const second = await serve(t, 'second', folder)
  await logged(second, '"packed"')
  for (const { folder: at } of [first, second]) {
    await writeParquet(at, { 'data/1.parquet': `SELECT id, n + 1 AS n, text FROM (${rows})` })
  }
  await logged(first, '"packed"', 2)
  await logged(second, '"packed"', 2)
  t.equal(versionOf(second)?.id, versionOf(first)?.id)
  t.equal(await rowsOf(second), await rowsOf(first))
  await logged(first, 'packed copy uploaded', 2)
  t.equal((await copiesOf(folder)).filter((key) => key.endsWith('/copy.json')).length, 2)
})
