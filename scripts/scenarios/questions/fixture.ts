import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { columnOperators } from '../../../src/columns/column.js'
import { typedColumns } from '../../../test/engine/fixtures/typed-values.js'
import { summaryRows } from '../../../test/engine/fixtures/summary-questions.js'
import { openDuckDb, writeParquet } from '../../harness/duckdb.js'
import {
  das,
  makeFixture,
  makeFolder,
  serve,
  subscribe,
  unlimited,
  writeRegistry,
} from '../../harness/fixture.js'
import type { Fixture, Sold } from '../../harness/fixture.js'
import type { Run } from '../../harness/script.js'
import type { Server } from '../../harness/process.js'
import { readTable } from './table.js'
import type { Table } from './table.js'

/** A running server and what its datasets hold. */
export interface QuestionsFixture extends Fixture {
  readonly server: Server
  /** Columns of every type, from the files as dropped and with forms, looked up by every column. */
  readonly typed: readonly Table[]
  /** Columns to group and to count, likewise. */
  readonly sums: readonly Table[]
  readonly sold: readonly Sold[]
  /** Asks what may be wrong; its rows are not counted. */
  readonly odd: Sold
}

/** Rows of a page at most. */
export const limitMax = 300

/** Few: the model reads all of them for every question. */
const tableRows = 240
const columnsOfTable = 11
/** Values of each column; every seventh cell is empty. */
const valuesOfColumn = 60
const subscriptions = 8
/** Types of a history column. */
const yearTypes: readonly string[] = ['integer', 'date', 'timestamp']
/** Values beside the finite ones, which are served as empty. */
const infinite: Readonly<Record<string, readonly string[]>> = {
  FLOAT: [`'nan'`, `'inf'`],
  DOUBLE: [`'nan'`, `'-inf'`],
  DATE: [`'infinity'`, `'-infinity'`],
  TIMESTAMP: [`'infinity'`],
  TIMESTAMPTZ: [`'-infinity'`],
}

/** Columns of kinds that have few operators, and of names that need quotes. */
const others: readonly string[] = [
  `['a', 'b', 'Ёж'][(1 + hash(i) % 4)::BIGINT]::ENUM('Ёж', 'b', 'a') AS kind`,
  `CASE WHEN i % 5 > 0 THEN encode('b' || i % 9) END AS bytes`,
  `CASE WHEN i % 6 > 0 THEN [i % 3, i % 7] END AS list`,
  `CASE WHEN i % 7 > 0 THEN {'a': i % 4, 'b': 'x' || i % 3} END AS struct`,
  `CASE WHEN i % 8 > 0 THEN MAP {'k' || i % 2: i % 5} END AS map`,
  `CASE WHEN i % 9 > 0 THEN ('{"a":' || i % 10 || '}')::JSON END AS json`,
  `(hash(i + 5) % 1000)::INTEGER AS "2110"`,
  `'name ' || hash(i + 6) % 40 AS "имя, ""x"" (y)"`,
]

/** Makes data from the seed, packs half of it and starts the built server. */
export async function startQuestionsFixture(seed: number, run: Run): Promise<QuestionsFixture> {
  const fixture = await makeFixture(await makeFolder(run, 'check-questions', { isKept: true }))
  const { folder } = fixture
  using duckdb = await openDuckDb()
  const paths = new Map<string, readonly string[]>()
  const tables: Table[] = []
  for (const [at, columns] of typedTables(seed).entries()) {
    const name = `typed${at + 1}`
    const select = (from: number, to: number, list: readonly string[]) =>
      `SELECT (i * 7919 % ${tableRows})::INTEGER AS id, ${list.join()} FROM range(${from}, ${to}) t(i)`
    const halves = [
      select(0, tableRows / 2, columns),
      // A column that a file lacks is empty there. In one table: it costs a statement more a page.
      select(tableRows / 2, tableRows, at === 0 ? columns.slice(0, -1) : columns),
    ]
    paths.set(name, await writeFiles(duckdb, join(folder, 'data', name), halves))
  }
  const halves = [summaryRows(0, tableRows / 2), summaryRows(tableRows / 2, tableRows)]
  paths.set('sums', await writeFiles(duckdb, join(folder, 'data', 'sums'), halves))
  const entries: ReturnType<typeof entryOf>[] = []
  for (const [name, files] of paths) {
    const table = await readTable(duckdb, name, files)
    tables.push(table, { ...table, dataset: `${name}_packed` })
    const packed = formsOf(table)
    const { history } = packed
    // Questions for groups look at values of the history.
    const plain = name === 'sums' && history !== undefined ? { history } : {}
    entries.push(entryOf(name, name, plain), entryOf(name, `${name}_packed`, packed))
  }
  await writeRegistry(folder, Object.fromEntries(entries))
  for (const name of paths.keys()) {
    await das(fixture, ['dataset', 'pack', `${name}_packed`])
  }
  const sell = () =>
    subscribe(
      fixture,
      entries.map(([name]) => `${name}:all`),
    )
  const odd = await sell()
  const sold: Sold[] = []
  while (sold.length < subscriptions) sold.push(await sell())
  const isSums = ({ dataset }: Table) => dataset.startsWith('sums')
  return {
    ...fixture,
    server: await serve(fixture, run.cleanup),
    typed: tables.filter((table) => !isSums(table)),
    sums: tables.filter(isSums),
    sold,
    odd,
  }
}

function entryOf(title: string, name: string, more: object) {
  const entry = {
    title,
    files: `data/${title}/*.parquet`,
    require_filter: false,
    limit: { default: 100, max: limitMax },
    plans: { all: unlimited },
    ...more,
  }
  return [name, entry] as const
}

/** The keys of the registry by which row copies find rows by every column that can be asked for. */
function formsOf({ columns }: Table) {
  const found = columns.filter(({ column }) => columnOperators(column).includes('eq'))
  // The model of groups looks at the values of a column of this name.
  const history =
    found.find(({ name }) => name === 'year') ??
    found.find(({ column }) => yearTypes.includes(column.rules.shown))
  const lookups = found.map(({ name }) => name)
  return { key: 'id', lookups, history: history?.name }
}

async function writeFiles(
  duckdb: Parameters<typeof writeParquet>[0],
  folder: string,
  selects: readonly string[],
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  const paths = selects.map((_, index) => join(folder, `${index + 1}.parquet`))
  for (const [index, path] of paths.entries()) {
    await writeParquet(duckdb, path, selects[index] ?? '')
  }
  return paths
}

/**
 * The columns of each table as SQL: few, because each costs the server time to plan. A cell is one
 * of its column's values, or empty.
 */
function typedTables(seed: number): readonly (readonly string[])[] {
  const columns = typedColumns.map(({ name, type, value }, at) => {
    const drawn = fc.sample(value, { numRuns: valuesOfColumn, seed: seed + at })
    const values = [...drawn, ...(infinite[name] ?? [])].map((sql) => castSql(sql, type))
    const place = `1 + hash(i * 31 + ${at}) % ${Math.ceil((values.length * 7) / 6)}`
    return `[${values.join()}][(${place})::BIGINT] AS "${name}"`
  })
  const all = [...columns, ...others]
  const count = Math.ceil(all.length / columnsOfTable)
  return Array.from({ length: count }, (_, table) => all.filter((_, at) => at % count === table))
}

/** Without -0, which DuckDB's dictionaries do not tell from 0. */
function castSql(sql: string, type: string): string {
  const cast = `CAST(${sql} AS ${type})`
  return type === 'FLOAT' || type === 'DOUBLE' ? `(${cast} + 0::${type})` : cast
}
