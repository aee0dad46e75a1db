import t from 'tap'
import type { Access } from '../../src/access/access.js'
import type { Catalog } from '../../src/catalog.js'
import { registryDataset } from '../../src/catalog/dataset.js'
import type { Dataset } from '../../src/catalog/dataset.js'
import type { Engine } from '../../src/engine/engine.js'
import { AccessCache } from '../../src/service/access-cache.js'
import { Descriptions } from '../../src/service/descriptions.js'
import { Guides } from '../../src/service/guides.js'
import type { Version } from '../../src/versions/version.js'
import { never, openEngine } from '../engine/fixtures/open-engine.js'
import { machineClock } from '../../src/clock.js'

const manyDatasets = 65
const planNames = [1, 2, 3, 'all'] as const
const plans = Object.fromEntries(
  planNames.map((history) => [`of_${history}`, { rows_per_month: 1, history, price_rub: 0 }]),
)

/** Many datasets of one version, with four windows each. */
function catalogOf(version: Version): Catalog {
  const dataset = (name: string): Dataset => ({
    ...registryDataset(name, { title: name, files: 'data/*.parquet', plans }),
    version,
  })
  const names = Array.from({ length: manyDatasets }, (_, at) => `set_${at}`)
  return { datasets: new Map(names.map((name) => [name, dataset(name)])), demo: null, prompts: [] }
}

const failed = ({ cause }: { readonly cause: unknown }) => {
  throw cause
}

await t.test('a round makes each guide once, however many there are', async (t) => {
  const world = await openEngine(t, {
    files: { 'a.parquet': 'SELECT i AS id, 2020 + i % 5 AS year FROM range(20) t(i)' },
    entry: '    history: year',
  })
  let profiles = 0
  const engine: Engine = {
    read: (...question) => world.engine.read(...question),
    count: (...question) => world.engine.count(...question),
    profile: (...question) => {
      profiles += 1
      return world.engine.profile(...question)
    },
    summarize: (...question) => world.engine.summarize(...question),
    top: (...question) => world.engine.top(...question),
    close: () => world.engine.close(),
  }
  const guides = new Guides(engine, new Descriptions(engine), machineClock)
  const catalog = catalogOf(world.version)
  const made = async (round: Catalog) => {
    const before = profiles
    await guides.prepare(round, never, failed)
    return profiles - before
  }
  t.equal(await made(catalog), manyDatasets * planNames.length)
  t.equal(await made(catalog), 0, 'a second round makes none')
  const changed = new Map(catalog.datasets)
  const one = [...changed.values()][1]
  if (!one) throw new Error('no dataset')
  changed.set(one.name, { ...one, title: 'Another title' })
  t.equal(await made({ ...catalog, datasets: changed }), 0, 'nor does a new title')
  changed.set(one.name, { ...one, version: { ...world.version, id: 'another' } })
  t.equal(await made({ ...catalog, datasets: changed }), planNames.length, 'only its own')
})

await t.test('a full cache drops what was used the longest time ago', async (t) => {
  const access = (name: string) =>
    ({ dataset: { name }, version: { id: 'v' }, key: '' }) as unknown as Access
  const keyLetters = 'a v '.length
  const cache = new AccessCache<string>(2 * (keyLetters + 3), (text) => text.length)
  const made: string[] = []
  const get = (name: string) =>
    cache.get(access(name), async () => {
      made.push(name)
      return 'abc'
    })
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await get(name)
  t.same(made, ['a', 'b', 'c', 'b'])
  t.equal(cache.isFull, true)
  cache.retain([access('a'), access('b')])
  t.equal(cache.isFull, true, 'nothing was dropped')
  cache.retain([access('a')])
  t.equal(cache.isFull, false)
  await get('a')
  t.same(made, ['a', 'b', 'c', 'b'], 'what is retained is there')
})

await t.test('a round that fills the cache says that it did not try all', async (t) => {
  const { engine, version } = await openEngine(t, {
    files: { 'a.parquet': "SELECT 1 AS id, repeat('long ', 1_000_000) AS text" },
  })
  const guides = new Guides(engine, new Descriptions(engine), machineClock)
  const { datasets, ...rest } = catalogOf(version)
  const isWhole = (count: number) =>
    guides.prepare({ ...rest, datasets: new Map([...datasets].slice(0, count)) }, never, failed)
  t.equal(await isWhole(1), true)
  t.equal(await isWhole(9), false)
  t.equal(await isWhole(9), false, 'nor does the next one')
  t.equal(await isWhole(1), true, 'there is room again')
})
