import { join } from 'node:path'
import t from 'tap'
import { dirtyQuestions } from './fixtures/dirty-questions.js'
import { prepared, readings, score } from './fixtures/score.js'
import { openDuckDb } from '../../scripts/harness/duckdb.js'
import { randomOf } from '../../scripts/harness/random.js'
import { NameIndex } from '../../src/names/find-names.js'
import { writeNameIndex } from '../../src/names/write-names.js'
import { isNight } from '../support/runs.js'

const seed = 43
const shareMin = 0.98

const select = `SELECT inn, name, max("year") AS newest, max("2110")::DOUBLE AS revenue
  FROM 'data/financials/*.parquet' GROUP BY inn, name ORDER BY inn, name`

await t.test('dirty questions find the right company among the first three', async (t) => {
  using duckdb = await openDuckDb()
  const rows = (await duckdb.connection.runAndReadAll(select)).getRows() as [string, string][]
  const path = join(t.testdir({}), 'names.db')
  const facts = { periods: 1, demoPeriods: 0, rank: null, facts: '{}' }
  await writeNameIndex(
    path,
    rows.map(([key, name]) => ({ key, name, ...facts })),
    [],
  )
  const index = NameIndex.open(path)
  t.teardown(() => index.close())
  const names = rows.map(([key, name]) => ({ key, scored: prepared(name) }))
  const missed: string[] = []
  const counts = new Map<string, number>()
  // One name of each company is asked for, of every second each day; all of its names are there.
  const asked = rows.filter(([key], at) => rows[at - 1]?.[0] !== key)
  for (const [at, [, name]] of asked.entries()) {
    if (!isNight && at % 2 === 1) continue
    for (const { kind, q } of dirtyQuestions(name, randomOf(seed, at))) {
      const question = readings(q)
      const scores = names.map(({ key, scored }) => ({ key, points: score(question, scored) }))
      const best = Math.max(...scores.map(({ points }) => points))
      const right = new Set(scores.filter(({ points }) => points === best).map(({ key }) => key))
      if (best === 0 || right.size > 3) continue
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      const found = index.find({ q, limit: 3, window: 1, isDemo: false })
      if (!found.some(({ key }) => right.has(key))) missed.push(`${kind}: ${q} (${name})`)
    }
  }
  const count = [...counts.values()].reduce((total, each) => total + each, 0)
  t.ok(count >= 1000, `${count} questions`)
  t.ok(counts.size >= 13, `of every kind: ${JSON.stringify(Object.fromEntries(counts))}`)
  const share = 1 - missed.length / count
  t.ok(share >= shareMin, `${share} found; missed: ${missed.join('; ')}`)
  t.comment(`${count} questions, ${share} found`)
})
