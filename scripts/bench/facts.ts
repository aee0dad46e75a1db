import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { bindTexts } from '../../src/engine/duckdb/bind.js'
import type { BoundValue } from '../../src/engine/duckdb/bind.js'
import { openDuckDb, Statements } from '../harness/duckdb.js'
import type { Fixture } from '../harness/fixture.js'
import { sum } from '../harness/statistics.js'

/** One folder of Parquet files. */
export interface Layout {
  readonly name: 'yearly' | 'packed'
  readonly folder: string
  /** Paths in stored order. */
  readonly files: readonly string[]
  readonly sizeBytes: number
}

/** What the data hold. */
export interface Facts {
  /** The registry and state that serve both layouts. */
  readonly fixture: Fixture
  readonly rows: number
  readonly columns: readonly string[]
  readonly years: readonly number[]
  /** Some companies from all over the data, in no order; the same in every run. */
  readonly companies: readonly string[]
  readonly yearly: Layout
  readonly packed: Layout
}

const companiesMax = 20_000
const seed = 7

/** The Parquet files of a folder. */
export async function layoutOf(name: Layout['name'], folder: string): Promise<Layout> {
  const names = (await readdir(folder)).filter((file) => file.endsWith('.parquet')).sort()
  if (names.length === 0) throw new Error(`no Parquet file in ${folder}`)
  const files = names.map((file) => join(folder, file))
  const sizes = await Promise.all(files.map(async (path) => (await stat(path)).size))
  return { name, folder, files, sizeBytes: sum(sizes) }
}

/** Reads what both layouts hold; they must hold the same number of rows. */
export async function readFacts(fixture: Fixture, yearly: Layout, packed: Layout): Promise<Facts> {
  // A sample's seed repeats it only with one thread, which is what this opens.
  using duckdb = await openDuckDb()
  const statements = new Statements(duckdb.connection)
  const [rows, packedRows] = [await rowsOf(statements, yearly), await rowsOf(statements, packed)]
  if (rows !== packedRows) throw new Error(`${rows} rows became ${packedRows} by packing`)
  return { fixture, rows, ...(await sampleFiles(statements, yearly.files)), yearly, packed }
}

/** Columns, years, and some companies from all over the files; the same in every run. */
export async function sampleFiles(
  statements: Statements,
  paths: readonly string[],
): Promise<Pick<Facts, 'columns' | 'years' | 'companies'>> {
  const files = bindTexts(paths)
  const table = 'FROM read_parquet($1::VARCHAR[])'
  const columns = await column(statements, `SELECT column_name FROM (DESCRIBE ${table})`, files)
  const years = await column(statements, `SELECT DISTINCT year ${table} ORDER BY 1`, files)
  const sample = `reservoir(${companiesMax} ROWS) REPEATABLE (${seed})`
  const found = `SELECT inn FROM (SELECT inn ${table} USING SAMPLE ${sample}) ORDER BY hash(inn)`
  const inns = await column(statements, found, files)
  return {
    columns: columns.map(String),
    years: years.map(Number),
    companies: [...new Set(inns.map(String))],
  }
}

async function rowsOf(statements: Statements, { files }: Layout): Promise<number> {
  const sql = 'SELECT sum(num_rows) FROM parquet_file_metadata($1::VARCHAR[])'
  return Number((await column(statements, sql, bindTexts(files)))[0])
}

async function column(statements: Statements, sql: string, ...values: readonly BoundValue[]) {
  return (await statements.run(sql, values))[0] ?? []
}
