import { mkdirSync } from 'node:fs'
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
