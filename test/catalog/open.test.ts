import { closeSync, ftruncateSync, openSync, utimesSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openCatalog } from '../../src/catalog.js'
import { buildDataset } from '../../src/catalog/dataset.js'
import type { DataType } from '../../src/columns/data-type.js'
import { parseRegistry } from '../../src/registry/registry.js'
import { filesThatMayHold } from '../../src/versions/choose-files.js'
import { findSourceFiles } from '../../src/versions/files/source-files.js'
import { FileError } from '../../src/versions/opener.js'
import type { OpenFiles } from '../../src/versions/opener.js'
import { datasetOf, makeCatalogFolder, versionOf } from './live/fixtures/catalog-folder.js'
import { machineClock } from '../../src/clock.js'

await t.test(
  'a catalog has every dataset of the registry, in order, and its demo token',
  async (t) => {
    const fixture = await makeCatalogFolder(t, {
      files: { 'a.parquet': 'SELECT 1 AS x', 'b/1.parquet': 'SELECT 2 AS x' },
      registry: `demo: {token: das_demo_open}
datasets:
  b: {title: B, files: "b/*.parquet"}
  nothing: {title: Nothing, files: nothing.parquet}
  a: {title: A, files: [a.parquet]}
`,
    })
    const catalog = await fixture.open()
    t.same([...catalog.datasets.keys()], ['b', 'nothing', 'a'])
    t.same(catalog.demo, { token: 'das_demo_open', ratePerMinute: 30 })
    t.equal(datasetOf(catalog, 'nothing').reason, 'nothing.parquet is not there')
    t.equal(datasetOf(catalog, 'nothing').title, 'Nothing', 'the settings of the registry apply')
    t.equal(versionOf(catalog, 'a').rows, 1)
    t.ok(Object.isFrozen(catalog) && Object.isFrozen(versionOf(catalog, 'a')))
  },
)

await t.test('a dataset with an unexpected error does not affect the others', async (t) => {
  const fixture = await makeCatalogFolder(t, { files: { 'data/1.parquet': 'SELECT 1 AS x' } })
  const registry = parseRegistry(
    'datasets:\n  things: {title: x, files: data/1.parquet}\n',
    join(fixture.folder, 'registry.yaml'),
  )
  const reasonWith = async (openFiles: OpenFiles) => {
    const catalog = await openCatalog(registry, {
      clock: machineClock,
      openFiles,
      versionsFolder: fixture.versionsFolder,
    })
    return datasetOf(catalog).reason
  }
  t.equal(
    await reasonWith(([path = '']) => Promise.reject(new FileError(path, 'is odd'))),
    'data/1.parquet is odd',
    'the file is named as the registry names it, not where it is published',
  )
  t.equal(
    await reasonWith(() => Promise.reject(new Error('the engine is gone'))),
    'the engine is gone',
  )
  t.equal(await reasonWith(() => Promise.resolve([])), 'the engine left out a file')
})

await t.test('a file that changes while it is read is refused', async (t) => {
  const folder = t.testdir({ 'big.parquet': '' })
  const path = join(folder, 'big.parquet')
  const file = openSync(path, 'r+')
  const size = 64 * 2 ** 20
  ftruncateSync(file, size)
  writeSync(file, Buffer.from('\0\0\0\0PAR1', 'latin1'), 0, 8, size - 8)
  closeSync(file)
  let seconds = 1
  const writing = setInterval(() => utimesSync(path, seconds, seconds++), 1)
  try {
    await t.rejects(findSourceFiles(folder, ['big.parquet'], new Map()), {
      name: 'FileError',
      reason: 'was written to while it was read; write it whole, then rename it',
    })
  } finally {
    clearInterval(writing)
  }
})

await t.test('the largest allowed number of files is joined in one pass', (t) => {
  const count = 100_000
  const registry = parseRegistry(
    'datasets:\n  things: {title: x, files: "*.parquet", key: id, history: year}\n',
    '/srv/registry.yaml',
  )
  const entry = registry.datasets.get('things')
  if (!entry) throw new Error('no entry')
  const type: DataType = { kind: 'scalar', name: 'INTEGER' }
  const files = Array.from({ length: count }, (_, index) => {
    const name = `${index}.parquet`
    const bounds = { min: String(index), max: String(index) }
    return {
      source: {
        path: name,
        name,
        realPath: name,
        sizeBytes: 1,
        modifiedMs: index,
        identity: name,
        contentHash: name,
      },
      path: name,
      guard: null,
      hash: null,
      opened: {
        rows: 1,
        columns: ['id', 'year'].map((column) => ({ name: column, type, required: false })),
        bounds: new Map([
          ['id', bounds],
          ['year', bounds],
        ]),
      },
    }
  })
  const texts = { dictionary: new Map(), labels: new Map(), aliases: [] }
  const content = { files, dropped: null, search: [] }
  const { dataset, problems } = buildDataset('things', registry, entry, content, texts)
  const { version } = dataset
  t.same(problems, [])
  t.match(version, {
    rows: count,
    bytes: count,
    modifiedMs: count - 1,
    newestHistory: BigInt(count - 1),
  })
  const [id] = version?.key ?? []
  if (!version || !id) throw new Error('no key')
  const values = Array.from({ length: 1000 }, (_, index) => BigInt(index * 90))
  t.same(
    filesThatMayHold(version.files, [{ kind: 'in', column: id, values }]),
    values.map(Number),
    'a long list over many files finds each its file',
  )
  t.equal(
    new Set(version.files.map((file) => file.types)).size,
    1,
    'files laid out alike share that',
  )
  t.end()
})
