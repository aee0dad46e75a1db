import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'

/** Writes Parquet files with DuckDB: path → SELECT. */
export async function writeParquet(
  folder: string,
  files: Readonly<Record<string, string>>,
  options = '',
): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  for (const [name, select] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    await connection.run(`COPY (${select}) TO '${path}' (FORMAT parquet${options})`)
  }
  connection.disconnectSync()
  instance.closeSync()
}

/** Overwrites the middle of a column's data in one row group, as a bad disk would. */
export async function damagePage(path: string, column: string, rowGroup: number): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const found = await connection.runAndReadAll(
    `SELECT coalesce(least(dictionary_page_offset, data_page_offset), data_page_offset),
       total_compressed_size
     FROM parquet_metadata('${path}')
     WHERE path_in_schema = '${column}' AND row_group_id = ${rowGroup}`,
  )
  connection.disconnectSync()
  instance.closeSync()
  const [start, size] = (found.getRowsJS()[0] ?? []).map(Number)
  if (start === undefined || size === undefined) throw new Error(`no ${column} in ${path}`)
  const bytes = readFileSync(path)
  bytes.fill(0xff, start + Math.floor(size / 4), start + Math.floor(size / 2))
  writeFileSync(path, bytes)
}
