import t from 'tap'
import { chooseFiles } from '../../../src/engine/duckdb/choice.js'
import {
  planOfScan,
  sizeOfCount,
  sizeOfPage,
  sizeOfProfile,
} from '../../../src/engine/duckdb/turns/size.js'
import type { Version } from '../../../src/versions/version.js'
import { openEngine } from '../fixtures/open-engine.js'

// Guarantee: what may take the place of look-ups is known by its cost before it runs, not by the
// name of a filter's column (contract 1.5).

await t.test('the size of a query depends on rows, comparisons and key', async (t) => {
  const world = await openEngine(t, {
    files: {
      'a.parquet': "SELECT i AS id, i % 7 AS kind, 'w' || i AS text FROM range(10) t(i)",
      'b.parquet': "SELECT 10 + i AS id, i % 7 AS kind, 'w' || i AS text FROM range(10) t(i)",
    },
    entry: '    key: [id]\n',
  })
  const { filter } = world
  const withRows = (...rows: readonly number[]): Version => ({
    ...world.version,
    files: world.version.files.map((file, index) => ({ ...file, rows: rows[index] ?? 0 })),
  })
  const little = withRows(100_000, 5_000_000)
  const much = withRows(5_000_000, 5_000_000)
  const numbers = (length: number) => Array.from({ length }, (_, index) => String(index))
  const key = filter('id', 'eq', '3')
  const keys = filter('id', 'in', ...numbers(1000))
  const rare = filter('kind', 'eq', '3')
  const heavy = Array.from({ length: 36 }, () => filter('kind', 'not_in', ...numbers(700))).flat()

  await t.test('a page', (t) => {
    t.equal(sizeOfPage(chooseFiles(little, key)), 'lookUp', 'its one file has few rows')
    t.equal(sizeOfPage(chooseFiles(much, key)), 'byKey')
    t.equal(sizeOfPage(chooseFiles(much, keys)), 'byKey')
    t.equal(sizeOfPage(chooseFiles(much, rare)), 'small', 'until it has read many rows')
    t.equal(sizeOfPage(chooseFiles(much, [])), 'small')
    t.equal(
      sizeOfPage(chooseFiles(much, [...key, ...heavy])),
      'large',
      'a key makes no look-up of it',
    )
    t.equal(sizeOfPage(chooseFiles(little, [...key, ...heavy])), 'large')
    t.equal(sizeOfPage(chooseFiles(little, heavy)), 'large')
    const short = Array.from({ length: 5 }, () => filter('kind', 'not_in', ...numbers(16))).flat()
    t.equal(sizeOfPage(chooseFiles(much, short)), 'large')
    t.equal(sizeOfPage(chooseFiles(much, short.slice(1))), 'small')
    const search = filter('text', 'contains', 'word')
    t.equal(sizeOfPage(chooseFiles(much, search)), 'large', 'a search is large from the start')
    t.equal(sizeOfPage(chooseFiles(withRows(100, 100), search)), 'small')
    t.equal(sizeOfPage(chooseFiles(much, [...key, ...search])), 'byKey')
    t.end()
  })

  await t.test('a summary of few rows needs no threads of low priority', (t) => {
    const few = withRows(60_000, 60_000)
    t.equal(planOfScan(chooseFiles(few, []), 1), 'solo')
    t.equal(planOfScan(chooseFiles(few, []), 2), 'together', 'of many cells')
    t.equal(planOfScan(chooseFiles(withRows(60_000, 70_000), []), 1), 'together')
    t.equal(planOfScan(chooseFiles(little, key), 0), 'solo', 'its one file has few rows')
    t.equal(planOfScan(chooseFiles(withRows(100_000, 10), heavy), 1), 'together')
    t.end()
  })

  await t.test('a count reads every row of its files', (t) => {
    t.equal(sizeOfCount(chooseFiles(little, key)), 'lookUp')
    t.equal(sizeOfCount(chooseFiles(much, key)), 'byKey')
    t.equal(sizeOfCount(chooseFiles(much, rare)), 'large')
    t.equal(sizeOfCount(chooseFiles(withRows(100, 100), rare)), 'small')
    t.equal(sizeOfCount(chooseFiles(much, [])), 'small', 'the files say it')
    t.end()
  })

  await t.test('a profile reads as many cells', (t) => {
    const of = (version: Version, rowsMax: number | null, columns = world.version.columns) =>
      sizeOfProfile(chooseFiles(version, []), { columns, rowsMax })
    t.equal(of(withRows(100, 100), null), 'small')
    t.equal(of(much, null), 'large')
    t.equal(of(much, 1000), 'small')
    t.equal(of(much, 100_000), 'large')
    t.end()
  })
})
