import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Operator } from '../../../src/columns/operators.js'
import { filesThatMayHold } from '../../../src/versions/choose-files.js'
import { withDuckDb } from '../../support/parquet.js'
import { rankOf } from '../fixtures/forms.js'
import { never, openEngine } from '../fixtures/open-engine.js'
import type { EngineWorld } from '../fixtures/open-engine.js'

// Guarantee: a value in a file's path is a column like any other. What is expected comes from
// the files read one by one on one thread, and from the paths that the test itself wrote.

interface Stored {
  readonly id: bigint
  readonly num: number
  readonly year: string | null
  readonly region: string
  readonly day: string
}

const years = ['2021', '2022', '__HIVE_DEFAULT_PARTITION__', '2024']
const regions = ['01', '77', 'Тверь & co/1']
const days = ['2024-01-31', '2024-02-29']

/** Folders in the order of their names, as a dataset's files stand; some hold no row. */
const folders = years
  .flatMap((year) => regions.flatMap((region) => days.map((day) => ({ year, region, day }))))
  .map((each) => ({
    ...each,
    path: `year=${each.year}/region=${encodeURIComponent(each.region)}/day=${each.day}/a.parquet`,
  }))
  .sort((left, right) => (left.path < right.path ? -1 : 1))
  .map((each, index) => ({ ...each, rows: index % 5 === 3 ? 0 : 200 + index * 100 }))

function filesOf(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    folders.map(({ path, rows }, index) => {
      const id = index % 2 === 0 ? 'i' : 'i::INTEGER'
      return [path, `SELECT ${id} AS id, (i % 97)::TINYINT AS num FROM range(${rows}) t(i)`]
    }),
  )
}

async function readStored(world: EngineWorld): Promise<readonly Stored[]> {
  const stored: Stored[] = []
  await withDuckDb(async (connection) => {
    for (const [index, { path, year, region, day }] of folders.entries()) {
      const from = join(world.folder, 'data', path)
      const sql = `SELECT id::BIGINT, num FROM read_parquet($1, hive_partitioning = false)`
      const rows = (await connection.runAndReadAll(sql, [from])).getRows().map((row): Stored => {
        const own = year.startsWith('_') ? null : year
        return { id: BigInt(row[0] as bigint), num: Number(row[1]), year: own, region, day }
      })
      t.equal(rows.length, folders[index]?.rows)
      stored.push(...rows)
    }
  })
  return stored
}

type Question = readonly [column: string, operator: Operator, ...values: string[]]

interface Asked {
  readonly filters: readonly Question[]
  readonly keeps: (row: Stored) => boolean
}

const questions: readonly Asked[] = [
  { filters: [], keeps: () => true },
  { filters: [['num', 'lt', '3']], keeps: ({ num }) => num < 3 },
  { filters: [['year', 'eq', '2022']], keeps: ({ year }) => year === '2022' },
  { filters: [['year', 'gte', '2022']], keeps: ({ year }) => year !== null && year >= '2022' },
  { filters: [['year', 'is_null']], keeps: ({ year }) => year === null },
  { filters: [['year', 'not_null']], keeps: ({ year }) => year !== null },
  { filters: [['year', 'ne', '2022']], keeps: ({ year }) => year !== null && year !== '2022' },
  { filters: [['year', 'isdistinct', '2022']], keeps: ({ year }) => year !== '2022' },
  { filters: [['region', 'eq', '01']], keeps: ({ region }) => region === '01' },
  { filters: [['region', 'like', 'Тверь*']], keeps: ({ region }) => region.startsWith('Т') },
  { filters: [['region', 'in', '01', '77']], keeps: ({ region }) => /\d\d/.test(region) },
  { filters: [['day', 'gt', '2024-02-01']], keeps: ({ day }) => day > '2024-02-01' },
  {
    filters: [
      ['day', 'eq', '2024-02-29'],
      ['year', 'not_in', '2021', '2023'],
      ['num', 'gt', '90'],
    ],
    keeps: ({ day, year, num }) => day > '2024-02' && year !== null && year !== '2021' && num > 90,
  },
  {
    // So long a list that it becomes a join.
    filters: [['year', 'in', ...Array.from({ length: 40 }, (_, index) => `${1990 + index}`)]],
    keeps: ({ year }) => year !== null,
  },
]

const predicatesOf = (world: EngineWorld, filters: readonly Question[]) =>
  filters.flatMap(([column, operator, ...values]) => world.filter(column, operator, ...values))

async function openTree(t: Test): Promise<EngineWorld> {
  const files = Object.entries(filesOf()).map(([path, select]) => [path, select] as const)
  return openEngine(t, {
    files: Object.fromEntries(files),
    patterns: 'data/**/*.parquet',
    writing: ', ROW_GROUP_SIZE 2048',
    entry: '    key: [region, id]\n    history: year\n',
  })
}

await t.test('a walk over folders is a full read in stored order', async (t) => {
  const world = await openTree(t)
  const stored = await readStored(world)
  t.ok(stored.length > 20_000)
  for (const { filters, keeps } of questions) {
    const predicates = predicatesOf(world, filters)
    const expected = stored.filter(keeps)
    for (const limit of [997, expected.length || 1]) {
      const rows = await world.walk(predicates, limit)
      const lines = rows.map(({ json }) => json)
      const ranks = rows.map(({ position }) => rankOf(world.version, position))
      const wanted = expected.map(lineOf)
      const first = wanted.findIndex((line, index) => line !== lines[index])
      t.equal(lines[first], wanted[first], `${filters.join(' and ')}, by ${limit}`)
      t.equal(lines.length, wanted.length)
      const places = expected.map((row) => stored.indexOf(row))
      t.equal(ranks.join(), places.join(), 'each at its place')
    }
    const options = { signal: never, client: 'a client' }
    t.equal(await world.engine.count(world.version, predicates, options), expected.length)
  }
})

function lineOf({ id, num, year, region, day }: Stored): string {
  return `{"id":${id},"num":${num},"year":${year},"region":"${region}","day":"${day}"}`
}

await t.test('files are chosen by the values in their paths', async (t) => {
  const world = await openTree(t)
  for (const { filters, keeps } of questions) {
    const { version } = world
    const chosen = filesThatMayHold(version.files, predicatesOf(world, filters))
    const needed = folders.flatMap(({ year, region, day, rows }, index) => {
      const own = year.startsWith('_') ? null : year
      const nums = [0, 95].map((num) => ({ num, id: 0n, year: own, region, day }))
      return rows > 0 && nums.some(keeps) ? [index] : []
    })
    const isLoose = filters.some(([, operator]) => /^n|^isd|^like/.test(operator))
    if (!isLoose) t.strictSame(chosen, needed, filters.join(' and '))
    t.strictSame(
      needed.filter((index) => !chosen.includes(index)),
      [],
    )
  }
})

await t.test('values in paths are profiled like other columns', async (t) => {
  const world = await openTree(t)
  for (const rowsMax of [null, 5000]) {
    const { columns, rows } = await world.engine.profile(
      {
        version: world.version,
        predicates: world.filter('day', 'eq', '2024-02-29'),
        columns: ['year', 'region', 'day'].map((name) => world.column(name)),
        valuesMax: 10,
        rowsMax,
      },
      { signal: never, client: 'a client' },
    )
    t.ok(rows > 0)
    const [year, region, day] = columns
    t.ok(year && year.emptyRows > 0)
    t.same(day?.values, ['"2024-02-29"'])
    if (rowsMax !== null) continue
    t.same([year?.min, year?.max, year?.values], ['2021', '2024', ['2021', '2022', '2024']])
    t.same(region?.values, ['"01"', '"77"', '"Тверь & co/1"'])
  }
})
