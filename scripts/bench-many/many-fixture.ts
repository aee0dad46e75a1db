import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import { makeFixture, makeFolder, unlimited, writeRegistry } from '../harness/fixture.js'
import type { Fixture } from '../harness/fixture.js'
import type { Run } from '../harness/script.js'

export interface ManyOptions {
  readonly datasets: number
  /** How many of them have a file that can't be opened. */
  readonly refused: number
  readonly folder: string
}

export const demoToken = 'das_demo_many'

/** What the files hold: few and many columns of all kinds, short and long. */
const shapes = [
  `i AS id, 2015 + i % 10 AS year, 'name ' || i AS name FROM range(300) t(i)`,
  `'k' || lpad(i::VARCHAR, 6, '0') AS id, 2015 + i % 10 AS year, i * 0.01::DECIMAL(12, 2) AS price,
    i % 7 AS kind, DATE '2020-01-01' + i::INTEGER AS day FROM range(5000) t(i)`,
  `i AS id, 2015 + i % 10 AS year, TIMESTAMP '2024-01-01' + to_hours(i) AS at, md5(i::VARCHAR) AS hash,
    [i, i + 1] AS pair, {'a': i, 'b': 'x' || i} AS both, i % 3 = 0 AS flag FROM range(1000) t(i)`,
  `i AS id, 2015 + i % 10 AS year,
    ${Array.from({ length: 40 }, (_, at) => `(hash(i + ${at}) % 100000) AS n${at}`).join()}
    FROM range(2000) t(i)`,
  `i AS id, 2015 + i % 10 AS year, ('e' || i % 4)::ENUM('e0', 'e1', 'e2', 'e3') AS kind,
    i / 3 AS share FROM range(20000) t(i)`,
] as const

/** Two years, three, five, and all of them: with the demo, each has rows of its own. */
const plans = Object.fromEntries(
  [2, 3, 5, 'all'].map((history) => [`years_${history}`, { ...unlimited, history }]),
)

/** Makes a folder with so many datasets, of a file each, with four plans and a demo subset. */
export async function makeManyFixture(
  { datasets, refused, folder: parent }: ManyOptions,
  run: Run,
): Promise<Fixture> {
  const fixture = await makeFixture(await makeFolder(run, 'bench-many', { parent }))
  const { folder } = fixture
  const models = await writeModels(folder)
  const entries: [string, Readonly<Record<string, unknown>>][] = []
  for (let at = 0; at < datasets; at += 1) {
    const name = `set_${String(at).padStart(4, '0')}`
    const isRefused = at >= datasets - refused
    const model = isRefused ? join(folder, 'registry.yaml') : (models[at % models.length] ?? '')
    await copyFile(model, join(folder, 'data', `${name}.parquet`))
    const demo = { year: [2020] }
    const files = `data/${name}.parquet`
    const more = { key: 'id', history: 'year', listed: true, demo, plans }
    entries.push([name, { title: `Dataset ${at}`, files, ...more }])
  }
  const demo = { token: demoToken, rate_per_minute: 100_000 }
  await writeRegistry(folder, Object.fromEntries(entries), { demo })
  return fixture
}

async function writeModels(folder: string): Promise<readonly string[]> {
  const paths = shapes.map((_, at) => join(folder, `model-${at}`))
  using duckdb = await openDuckDb()
  for (const [at, shape] of shapes.entries()) {
    await writeParquet(duckdb, paths[at] ?? '', `SELECT ${shape}`)
  }
  // What is copied in the place of a file that can't be opened.
  await writeRegistry(folder, {})
  return paths
}
