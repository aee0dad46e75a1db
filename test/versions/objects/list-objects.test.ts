import t from 'tap'
import { listObjects } from '../../../src/versions/objects/list-objects.js'
import type { ObjectStore } from '../../../src/versions/objects/object-store.js'
import { never } from '../../engine/fixtures/open-engine.js'

// Guarantee: objects of a table whose own records say which of them count are never taken.

/** A bucket with these keys. */
function storeOf(keys: readonly string[]): ObjectStore {
  return {
    list: async function* (_bucket, prefix) {
      for (const key of [...keys].sort()) {
        if (key.startsWith(prefix)) yield await Promise.resolve({ key, etag: 'e', sizeBytes: 1 })
      }
    },
    read: () => Promise.reject(new Error('not for listings')),
  }
}

async function list(keys: readonly string[], pattern: string): Promise<string> {
  const found = listObjects(storeOf(keys), '/objects', `s3://bucket/${pattern}`, never)
  return await found.then(
    (objects) => objects.map(({ object }) => object.key).join(' '),
    (cause: unknown) => String((cause as { reason?: string }).reason),
  )
}

await t.test('objects of Delta, Iceberg and Hudi tables are refused at any level', async (t) => {
  for (const [mark, format] of [
    ['_delta_log/00000000000000000000.json', 'a Delta'],
    ['metadata/00001-9c.metadata.json', 'an Iceberg'],
    ['.hoodie/hoodie.properties', 'a Hudi'],
  ]) {
    const keys = [`lake/sales/${mark}`, 'lake/sales/year=2024/a.parquet', 'lake/plain/b.parquet']
    for (const pattern of [
      '**/*.parquet',
      'lake/*/*/*.parquet',
      'lake/sales/year=2024/*.parquet',
    ]) {
      const found = await list(keys, pattern)
      t.ok(found.startsWith(`is ${format} table: `), `${pattern} ${found}`)
    }
    t.equal(await list(keys, 'lake/plain/*.parquet'), 'lake/plain/b.parquet')
    t.equal(
      await list(keys, 'lake/sales/year=2024/a.parquet'),
      'lake/sales/year=2024/a.parquet',
      'a whole key is taken',
    )
  }
})

await t.test('many keys in a folder of such a name are no table', async (t) => {
  const keys = Array.from({ length: 1500 }, (_, index) => `a/metadata/${index}.txt`)
  t.equal(await list([...keys, 'a/b/c.parquet'], 'a/b/*.parquet'), 'a/b/c.parquet')
})
