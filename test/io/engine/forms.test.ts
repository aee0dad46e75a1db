import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { filterPredicates } from '../../../src/columns/predicate.js'
import type { Predicate } from '../../../src/columns/predicate.js'
import { areInOrder, chooseDropped } from '../../../src/engine/duckdb/choice.js'
import type { DuckDbEngine } from '../../../src/engine/duckdb/duckdb-engine.js'
import type { FilePosition } from '../../../src/query/question.js'
import { canContinue } from '../../../src/versions/choose-files.js'
import type { Version } from '../../../src/versions/version.js'
import { never, openFolder, openVersion } from '../../engine/fixtures/open-engine.js'
import { writeParquet } from '../../support/world.js'

// Guarantee: every form of a version gives the same rows, in the same order, once each.

const rowsPerYear = 12_000
const kinds = 7

/** Rows of one year by their key, except in 2023, whose file has them in another order. */
function yearOf(year: number): string {
  const order = year === 2023 ? 'hash(id)' : 'id'
  return `SELECT id, ${year} AS year, id % ${kinds} AS kind,
    CASE WHEN id % 11 > 0 THEN 'n' || id % 500 END AS name,
    (id % 4000 * 0.25)::DECIMAL(10,${year === 2021 ? 2 : 4}) AS price
    FROM (SELECT i * 3 AS id FROM range(${rowsPerYear}) t(i)) ORDER BY ${order}`
}

const years = [2020, 2021, 2022, 2023]
const entry = '    key: [id, year]\n    history: year\n'

interface Forms {
  readonly engine: DuckDbEngine
  readonly dropped: Version
  readonly packed: Version
}

/** The same rows as they were dropped, and with a packed copy. */
async function openForms(t: Test): Promise<Forms> {
  const folder = t.testdir({})
  const files = Object.fromEntries(years.map((year) => [`${year}.parquet`, yearOf(year)]))
  await writeParquet(join(folder, 'data'), files, ', ROW_GROUP_SIZE 4096')
  const dropped = await openVersion(folder, { entry, form: 'dropped' })
  const { engine, version } = await openFolder(t, folder, { entry, form: 'both' })
  return { engine, dropped, packed: version }
}

function predicatesOf(version: Version, filters: readonly Filter[]): readonly Predicate[] {
  return filters.flatMap(([name, operator, ...values]) => {
    const column = version.columns.find((each) => each.name === name)
    if (!column) throw new Error(`no column ${name}`)
    return filterPredicates(column, operator, values)
  })
}

type Filter = readonly [name: string, operator: 'eq' | 'gte' | 'lt' | 'like', ...values: string[]]

interface Walk {
  readonly rows: readonly string[]
  readonly files: ReadonlySet<number>
  readonly pages: number
}

async function walk(
  engine: DuckDbEngine,
  version: Version,
  filters: readonly Filter[],
  limit: number,
  start: FilePosition | null = null,
): Promise<Walk> {
  const predicates = predicatesOf(version, filters)
  const rows: string[] = []
  const files = new Set<number>()
  let [after, pages] = [start, 0]
  for (let hasMore = true; hasMore; pages += 1) {
    const question = { version, predicates, columns: version.columns, after, limit }
    const page = await engine.read(question, { signal: never, client: 'a' })
    for (const { encoded, position } of page.rows) {
      rows.push(String(encoded))
      files.add(position.file)
      after = position
    }
    hasMore = page.hasMore
  }
  return { rows, files, pages }
}

const questions: readonly (readonly Filter[])[] = [
  [],
  [['year', 'eq', '2021']],
  [['year', 'gte', '2022']],
  [
    ['year', 'eq', '2023'],
    ['kind', 'eq', '3'],
  ],
  [
    ['year', 'eq', '2020'],
    ['kind', 'eq', '5'],
    ['name', 'like', 'n4*'],
  ],
  [['id', 'eq', '300']],
  [
    ['id', 'lt', '700'],
    ['year', 'eq', '2022'],
  ],
  [['kind', 'eq', '2']],
]

await t.test('every form gives the same rows in the same order', async (t) => {
  const { engine, dropped, packed } = await openForms(t)
  const alone = { ...packed, dropped: [] }
  t.match(packed, { rows: dropped.rows, dropped: { length: years.length } })
  t.same(
    packed.dropped.map(({ keepsOrder }) => keepsOrder),
    [true, true, true, false],
  )
  t.same(
    packed.columns.map(({ name, nullable }) => [name, nullable]),
    dropped.columns.map(({ name, nullable }) => [name, nullable]),
  )
  for (const filters of questions) {
    const what = filters.map((each) => each.join(' ')).join(', ') || 'no filter'
    const expected = await walk(engine, alone, filters, 1000)
    const both = await walk(engine, packed, filters, 777)
    t.equal(both.rows.join('\n'), expected.rows.join('\n'), `${what}: both forms`)
    const asDropped = await walk(engine, dropped, filters, 1000)
    const sorted = (rows: readonly string[]) => [...rows].sort().join('\n')
    t.equal(sorted(asDropped.rows), sorted(expected.rows), `${what}: as dropped`)
    const options = { signal: never, client: 'a' }
    const counts = [alone, packed, dropped].map((version) =>
      engine.count(version, predicatesOf(version, filters), options),
    )
    t.same(await Promise.all(counts), Array(3).fill(expected.rows.length), `${what}: counts`)
  }
})

await t.test('500 pages of a walk on each form: every row once', async (t) => {
  const { engine, dropped, packed } = await openForms(t)
  const filters: readonly Filter[] = [['year', 'eq', '2021']]
  const limit = rowsPerYear / 500
  const alone = await walk(engine, { ...packed, dropped: [] }, filters, limit)
  t.equal(alone.pages, 500)
  t.equal(new Set(alone.rows).size, rowsPerYear)
  const first = packed.files.length
  const start = { file: first + 1, row: -1 }
  const inDropped = await walk(engine, packed, filters, limit, start)
  t.same([...inDropped.files], [first + 1], 'a walk stays in the form of its cursor')
  t.equal(inDropped.pages, 500)
  t.equal(inDropped.rows.join('\n'), alone.rows.join('\n'))
  const asDropped = await walk(engine, dropped, filters, limit)
  t.equal(asDropped.rows.join('\n'), alone.rows.join('\n'))
})

await t.test('a page reads dropped files only where their order is the same', async (t) => {
  const { engine, packed } = await openForms(t)
  const filters = (...list: readonly Filter[]) => predicatesOf(packed, list)
  t.equal(areInOrder(chooseDropped(packed, filters(['year', 'eq', '2021']))), true)
  t.equal(
    areInOrder(chooseDropped(packed, filters(['year', 'eq', '2023']))),
    false,
    'in another order',
  )
  t.equal(
    areInOrder(chooseDropped(packed, filters(['year', 'gte', '2022']))),
    false,
    'of two files',
  )
  t.equal(areInOrder(chooseDropped(packed, [])), false)
  const place = packed.files.length + 1
  const canGoOn = (version: Version, file: number, ...list: readonly Filter[]) =>
    canContinue(version, filters(...list), file)
  t.equal(canGoOn(packed, 0), true)
  t.equal(canGoOn(packed, place, ['year', 'eq', '2021']), true)
  t.equal(canGoOn(packed, place, ['year', 'eq', '2022']), false, 'another file')
  t.equal(canGoOn(packed, place), false, 'a plan that shows more years now')
  t.equal(canGoOn({ ...packed, dropped: [] }, place, ['year', 'eq', '2021']), false, 'withdrawn')
  // A rare value: the file of one year has a quarter of the rows.
  const rare: readonly Filter[] = [
    ['year', 'eq', '2022'],
    ['kind', 'eq', '1'],
    ['name', 'eq', 'n7'],
    ['price', 'eq', '1.75'],
  ]
  const found = await walk(engine, packed, rare, 100)
  t.ok(
    [...found.files].every((file) => file >= packed.files.length),
    'the cheaper form',
  )
})
