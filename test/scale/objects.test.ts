import { readFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { age, rot } from '../support/damage.js'
import { startWorld, writeParquet } from '../support/world.js'
import type { World } from '../support/world.js'
import { startBucket } from '../../scripts/harness/object-gateway.js'

const bucket = await startBucket({
  add: (close) => {
    t.teardown(() => close('passed'))
    return () => undefined
  },
})
const files = t.testdir({})

/** The rows of a Parquet file, all of one generation. */
function rowsFrom(first: number, rows: number, generation: number): string {
  return `SELECT ${first} + i AS id, ${generation} AS generation FROM range(${rows}) t(i)`
}

async function bytesOf(first: number, rows: number, generation: number): Promise<Buffer> {
  await writeParquet(files, { 'one.parquet': rowsFrom(first, rows, generation) })
  return readFileSync(join(files, 'one.parquet'))
}

/** A server over the objects of a folder in the bucket; no file of its own. */
async function serve(
  t: Test,
  folder: string,
  at?: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<World> {
  return startWorld(t, {
    files: {},
    settings: { objectEndpoint: bucket.endpoint, ...settings },
    ...(at !== undefined && { at }),
    registry: `
datasets:
  things:
    title: Things
    files: s3://data/${folder}/**/*.parquet
    key: id
    require_filter: false
    allow_shrinking: true
    plans: {all: {rows_per_month: 10000000, history: all, price_rub: 0, rate_per_minute: 100000}}
`,
  })
}

async function idsOf(world: World, token: string): Promise<unknown[]> {
  const { status, body } = await world.get('/v1/things?select=id&limit=100', token)
  return status === 200 ? body.data.map(({ id }) => id) : [status]
}

/** Why the dataset's newest files are not served; null if they are. */
function reasonOf(world: World): string | null | undefined {
  return world.app.catalog().datasets.get('things')?.reason
}

await t.test(
  'objects are served, in the order of their keys, with columns of folders',
  async (t) => {
    await bucket.put('plain/part=b/1.parquet', await bytesOf(20, 2, 1))
    await bucket.put('plain/part=a/1.parquet', await bytesOf(10, 2, 1))
    await bucket.put('plain/readme.txt', Buffer.from('no table'))
    const world = await serve(t, 'plain')
    const { token } = await world.subscribe(['things:all'])
    const { body } = await world.get('/v1/things?limit=10', token)
    t.same(
      body.data.map(({ id, part }) => [id, part]),
      [
        [10, 'a'],
        [11, 'a'],
        [20, 'b'],
        [21, 'b'],
      ],
    )
    const before = bucket.sentBytes()
    await world.app.reload()
    t.ok(bucket.sentBytes() - before < 10_000, 'what is here is not fetched again')
  },
)

await t.test('a new, a changed and a removed object are followed', async (t) => {
  await bucket.put('live/1.parquet', await bytesOf(1, 1, 1))
  const world = await serve(t, 'live')
  const { token } = await world.subscribe(['things:all'])
  t.same(await idsOf(world, token), [1])
  await bucket.put('live/2.parquet', await bytesOf(2, 1, 1))
  await world.app.reload()
  t.same(await idsOf(world, token), [1, 2])
  await bucket.put('live/1.parquet', await bytesOf(7, 1, 1))
  await world.app.reload()
  t.same(await idsOf(world, token), [7, 2])
  await bucket.remove('live/1.parquet')
  await world.app.reload()
  t.same(await idsOf(world, token), [2])
})

await t.test('a bad object changes nothing but the reason, which names it', async (t) => {
  await bucket.put('bad/1.parquet', await bytesOf(1, 1, 1))
  const world = await serve(t, 'bad')
  const { token } = await world.subscribe(['things:all'])
  await bucket.put('bad/2.parquet', Buffer.from('PAR1 and no more'))
  await world.app.reload()
  t.same(await idsOf(world, token), [1])
  t.match(reasonOf(world), /^s3:\/\/data\/bad\/2\.parquet is not a whole Parquet file/)
  await bucket.remove('bad/2.parquet')
  await world.app.reload()
  t.equal(reasonOf(world), null)
})

await t.test('what is missing is said, and no address or path of the server', async (t) => {
  const world = await serve(t, 'nothing')
  const { token } = await world.subscribe(['things:all'])
  t.same(await idsOf(world, token), [503])
  t.equal(reasonOf(world), 's3://data/nothing/**/*.parquet matches no object')
})

await t.test('a line that breaks in the middle of an object does no harm', async (t) => {
  await bucket.put('cut/1.parquet', await bytesOf(1, 1, 1))
  const world = await serve(t, 'cut')
  const { token } = await world.subscribe(['things:all'])
  await bucket.put('cut/2.parquet', await bytesOf(2, 200_000, 1))
  for (const bytes of [0, 100, 5000, 100_000]) {
    bucket.cutAfter(bytes)
    await world.app.reload()
    t.same(await idsOf(world, token), [1], `cut after ${bytes} bytes`)
    t.match(reasonOf(world), /^s3:\/\/data\/cut\/\*\*\/\*\.parquet can't be fetched \(\w+\)$/)
    const parts = readdirSync(join(world.folder, 'var/objects')).filter((name) => /part/.test(name))
    t.same(parts, [], 'no part of a file stays')
  }
  bucket.cutAfter(null)
  await world.app.reload()
  t.equal(reasonOf(world), null)
  const { body } = await world.get('/v1/things?id=eq.200001&limit=2', token)
  t.equal(body.data.length, 1)
})

await t.test('a start without the store serves the last good version', async (t) => {
  await bucket.put('again/1.parquet', await bytesOf(1, 1, 1))
  const first = await serve(t, 'again')
  await first.app.close()
  bucket.cutAfter(0)
  const world = await serve(t, 'again', first.folder)
  const { token } = await world.subscribe(['things:all'])
  t.same(await idsOf(world, token), [1])
  t.match(reasonOf(world), /can't be fetched/)
  bucket.cutAfter(null)
  await world.app.reload()
  t.equal(reasonOf(world), null)
})

await t.test('what the disk limit does not allow is not fetched', async (t) => {
  await bucket.put('limit/1.parquet', await bytesOf(1, 1, 1))
  const world = await serve(t, 'limit', undefined, { diskLimit: '1MB' })
  const { token } = await world.subscribe(['things:all'])
  await bucket.put('limit/2.parquet', await bytesOf(2, 500_000, 1))
  const before = bucket.sentBytes()
  await world.app.reload()
  t.match(
    reasonOf(world),
    /^s3:\/\/data\/limit\/\S+ needs [\d,]+ bytes of disk, but only [\d,]+ of/,
  )
  t.ok(bucket.sentBytes() - before < 10_000)
  t.same(await idsOf(world, token), [1])
  await bucket.put('limit/2.parquet', await bytesOf(2, 1, 1))
  await world.app.reload()
  t.equal(reasonOf(world), null)
  t.same(await idsOf(world, token), [1, 2])
})

await t.test('a pattern that left the registry is not listed any more', async (t) => {
  await bucket.put('left/1.parquet', await bytesOf(1, 1, 1))
  const world = await serve(t, 'left')
  await writeParquet(world.folder, { 'local.parquet': rowsFrom(1, 1, 1) })
  const path = join(world.folder, 'registry.yaml')
  writeFileSync(path, readFileSync(path, 'utf8').replace(/s3:.*/, 'local.parquet'))
  await world.app.reload()
  const before = bucket.sentBytes()
  await world.app.reload()
  t.equal(bucket.sentBytes(), before)
})

const rots = [
  ['a cut', (path: string) => truncateSync(path, 100)],
  ['a changed bit', (path: string) => rot(path, 0.5)],
] as const
for (const [what, damage] of rots) {
  await t.test(`the file of an object that rots is fetched again: ${what}`, async (t) => {
    await testRot(t, `rot/${what.replaceAll(' ', '-')}`, damage)
  })
}

async function testRot(t: Test, key: string, damage: (path: string) => void): Promise<void> {
  await bucket.put(`${key}/1.parquet`, await bytesOf(1, 1000, 1))
  const first = await serve(t, key)
  await first.app.close()
  const folder = join(first.folder, 'var/objects')
  const path = join(folder, readdirSync(folder)[0] ?? '')
  age(path)
  const second = await serve(t, key, first.folder)
  await second.app.close()
  damage(path)
  const world = await serve(t, key, first.folder)
  const { token } = await world.subscribe(['things:all'])
  const ask = () => world.get('/v1/things?select=id&limit=1000', token)
  // The first answers may wait for the new file.
  for (let tries = 0; tries < 100 && (await ask()).status === 503; tries++) {
    await world.app.reload()
  }
  const { status, text, body } = await ask()
  t.equal(status, 200, text)
  t.strictSame(
    body.data.map(({ id }) => id),
    Array.from({ length: 1000 }, (_, at) => at + 1),
  )
  t.equal(reasonOf(world), null)
}

await t.test('200 objects are replaced under load: every walk is of one version', async (t) => {
  const objects = 200
  const keys = Array.from({ length: objects }, (_, at) => `${String(at).padStart(3, '0')}.parquet`)
  const put = async (generation: number, from = 0, to = objects) => {
    const some = keys.slice(from, to)
    const rows = some.map((key) => [key, rowsFrom(Number.parseInt(key) * 10, 10, generation)])
    await writeParquet(files, Object.fromEntries(rows) as Record<string, string>)
    for (const key of some) await bucket.put(`many/${key}`, readFileSync(join(files, key)))
  }
  await put(1)
  const world = await serve(t, 'many')
  const { token } = await world.subscribe(['things:all'])
  const over = new AbortController()
  let walks = 0
  const walk = async () => {
    while (!over.signal.aborted) {
      const generations: unknown[] = []
      const ids: unknown[] = []
      let cursor: string | null = ''
      do {
        const more: string = cursor === '' ? '' : `&cursor=${cursor}`
        const { status, body } = await world.get(`/v1/things?limit=500${more}`, token)
        t.equal(status, 200)
        if (status !== 200) return
        ids.push(...body.data.map(({ id }) => id))
        generations.push(...body.data.map(({ generation }) => generation))
        cursor = body.next_cursor
      } while (cursor !== null)
      walks += 1
      t.strictSame(
        ids,
        Array.from({ length: objects * 10 }, (_, at) => at),
      )
      // Whole objects are old or new.
      const mixed = generations.filter((each, at) => at % 10 > 0 && each !== generations[at - 1])
      t.same(mixed, [])
    }
  }
  const walking = [walk(), walk()]
  // Object by object, with listings in between.
  for (let at = 0; at < objects; at += 50) {
    await put(2, at, at + 50)
    await world.app.reload()
  }
  const { text } = await world.get('/v1/things?generation=eq.1&limit=1', token)
  t.equal(text, '{"data":[],"next_cursor":null}')
  // At once.
  await put(3)
  await world.app.reload()
  over.abort()
  await Promise.all(walking)
  t.ok(walks > 2)
  const old = await world.get('/v1/things?generation=lt.3&limit=1', token)
  t.equal(old.text, '{"data":[],"next_cursor":null}')
})
