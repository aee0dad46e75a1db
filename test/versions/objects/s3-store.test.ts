import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ObjectChanged } from '../../../src/versions/objects/object-store.js'
import type { ListedObject } from '../../../src/versions/objects/object-store.js'
import { s3Store } from '../../../src/versions/objects/s3-store.js'
import { startWorld, writeParquet } from '../../support/world.js'
import { startS3Server } from './fixtures/s3-server.js'

// The protocol of S3 as far as it is used, without a server that must be built first: `test/scale`
// asks a real one.

const { signal } = new AbortController()
const server = await startS3Server(t)
const store = s3Store({ endpoint: server.endpoint, region: null })

async function listed(prefix: string): Promise<readonly string[]> {
  const keys: string[] = []
  for await (const { key } of store.list('data', prefix, signal)) keys.push(key)
  return keys
}

async function objectAt(wanted: string): Promise<ListedObject> {
  const { value } = await store.list('data', wanted, signal)[Symbol.asyncIterator]().next()
  if (value === undefined) throw new Error(`no object ${wanted}`)
  // The rest of a listing is not an object.
  return value as ListedObject
}

await t.test('all pages of a listing are read, by prefix', async (t) => {
  for (const key of ['a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'b/1']) {
    server.objects.set(key, Buffer.from(key))
  }
  t.same(await listed('a/'), ['a/1', 'a/2', 'a/3', 'a/4', 'a/5'])
  t.same(await listed('c/'), [])
})

await t.test('an object is read as it was listed, with its MD5', async (t) => {
  server.objects.set('read/1', Buffer.from('first'))
  const object = await objectAt('read/1')
  const { stream, md5 } = await store.read('data', object, signal)
  t.equal(String(await buffer(stream)), 'first')
  t.equal(md5, createHash('md5').update('first').digest('hex'))
})

await t.test('an object that changed or went after its listing is not read', async (t) => {
  server.objects.set('changed/1', Buffer.from('first'))
  const object = await objectAt('changed/1')
  server.objects.set('changed/1', Buffer.from('other'))
  await t.rejects(store.read('data', object, signal), ObjectChanged)
  server.objects.delete('changed/1')
  await t.rejects(store.read('data', object, signal), ObjectChanged)
})

await t.test('a line that breaks in the middle of an object fails its stream', async (t) => {
  server.objects.set('cut/1', Buffer.alloc(1_000_000))
  const object = await objectAt('cut/1')
  server.cut.add('cut/1')
  const { stream } = await store.read('data', object, signal)
  await t.rejects(buffer(stream))
})

await t.test('a dataset of objects is served, and follows them', async (t) => {
  const folder = t.testdir({})
  const put = async (key: string, id: number) => {
    await writeParquet(folder, { 'one.parquet': `SELECT ${id} AS id` })
    server.objects.set(key, readFileSync(join(folder, 'one.parquet')))
  }
  for (const id of [1, 2, 3]) await put(`things/part=${id}/1.parquet`, id)
  const world = await startWorld(t, {
    files: {},
    settings: { objectEndpoint: server.endpoint },
    registry: `
datasets:
  things:
    title: Things
    files: s3://data/things/**/*.parquet
    key: id
    require_filter: false
    plans: {all: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 1000}}
`,
  })
  const { token } = await world.subscribe(['things:all'])
  const rows = async () => (await world.get('/v1/things?limit=10', token)).body.data
  t.same(
    await rows(),
    [1, 2, 3].map((id) => ({ id, part: id })),
  )
  await put('things/part=2/1.parquet', 7)
  await world.app.reload()
  t.same(
    (await rows()).map(({ id }) => id),
    [1, 7, 3],
  )
  server.objects.set('things/part=4/1.parquet', Buffer.from('PAR1 and no more'))
  await world.app.reload()
  t.equal((await rows()).length, 3)
  t.match(
    world.app.catalog().datasets.get('things')?.reason,
    /^s3:\/\/data\/things\/part=4\/1\.parquet is not a whole Parquet file/,
  )
})
