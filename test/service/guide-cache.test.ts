import t from 'tap'
import type { Catalog } from '../../src/catalog.js'
import { registryDataset } from '../../src/catalog/dataset.js'
import type { Dataset } from '../../src/catalog/dataset.js'
import type { Engine, ProfileQuestion } from '../../src/engine/engine.js'
import type { Question } from '../../src/query/question.js'
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
  return {
    datasets: new Map(names.map((name) => [name, dataset(name)])),
    demo: null,
    prompts: [],
    title: '',
  }
}

const asked = { signal: never, client: 'a test' }

/** Asks each question once: all datasets have the same rows. */
function once<Q extends object, A>(ask: (question: Q) => Promise<A>): (question: Q) => Promise<A> {
  const known = new Map<string, Promise<A>>()
  return (question) => {
    const key = JSON.stringify({ ...question, version: null }, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    const answer = known.get(key) ?? ask(question)
    known.set(key, answer)
    return answer
  }
}

const failed = ({ cause }: { readonly cause: unknown }) => {
  throw cause
}

await t.test('a round makes each guide once, for any number of guides', async (t) => {
  const world = await openEngine(t, {
    files: { 'a.parquet': 'SELECT i AS id, 2020 + i % 5 AS year FROM range(20) t(i)' },
    entry: '    history: year',
  })
  let profiles = 0
  const read = once((question: Question) => world.engine.read(question, asked))
  const profile = once((question: ProfileQuestion) => world.engine.profile(question, asked))
  const engine: Engine = {
    read,
    count: (...question) => world.engine.count(...question),
    profile: (question) => {
      profiles += 1
      return profile(question)
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
