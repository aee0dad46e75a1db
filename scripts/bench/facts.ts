import { DuckDBInstance } from '@duckdb/node-api'
import type { DuckDBConnection } from '@duckdb/node-api'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { bindTexts } from '../../src/engine/duckdb/bind.js'
import type { BoundValue } from '../../src/engine/duckdb/bind.js'

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
  readonly rows: number
  readonly columns: readonly string[]
  readonly years: readonly number[]
  /** Some that are there, from all over the data, in no order; the same in every run. */
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
  return { name, folder, files, sizeBytes: sizes.reduce((sum, size) => sum + size, 0) }
}

/** Reads what both layouts hold; they must hold the same number of rows. */
export async function readFacts(yearly: Layout, packed: Layout): Promise<Facts> {
  // One thread: a sample's seed repeats it for one thread only.
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await instance.connect()
  try {
    const [rows, packedRows] = [await rowsOf(connection, yearly), await rowsOf(connection, packed)]
    if (rows !== packedRows) throw new Error(`${rows} rows became ${packedRows} by packing`)
    const files = bindTexts(yearly.files)
    const table = 'FROM read_parquet($1::VARCHAR[])'
    const columns = await column(connection, `SELECT column_name FROM (DESCRIBE ${table})`, files)
    const years = await column(connection, `SELECT DISTINCT year ${table} ORDER BY 1`, files)
    const sample = `SELECT inn ${table} USING SAMPLE reservoir(${companiesMax} ROWS) REPEATABLE (${seed})`
    const inns = await column(connection, `SELECT inn FROM (${sample}) ORDER BY hash(inn)`, files)
    return {
      rows,
      columns: columns.map(String),
      years: years.map(Number),
      companies: [...new Set(inns.map(String))],
      yearly,
      packed,
    }
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

async function rowsOf(connection: DuckDBConnection, { files }: Layout): Promise<number> {
  const sql = 'SELECT sum(num_rows) FROM parquet_file_metadata($1::VARCHAR[])'
  return Number((await column(connection, sql, bindTexts(files)))[0])
}

async function column(
  connection: DuckDBConnection,
  sql: string,
  ...values: readonly BoundValue[]
): Promise<readonly unknown[]> {
  const prepared = await connection.prepare(sql)
  for (const [at, { value, type }] of values.entries()) prepared.bindValue(at + 1, value, type)
  return (await (await prepared.run()).getColumns())[0] ?? []
}
