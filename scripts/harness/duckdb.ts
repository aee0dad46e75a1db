import { DuckDBInstance } from '@duckdb/node-api'
import type { DuckDBConnection } from '@duckdb/node-api'

/** A DuckDB of a script's own. */
export interface DuckDb extends Disposable {
  readonly connection: DuckDBConnection
}

/** Opens a DuckDB in memory; with one thread, the same statements give the same bytes. */
export async function openDuckDb(settings: Record<string, string> = {}): Promise<DuckDb> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', ...settings })
  const connection = await instance.connect()
  const close = () => {
    connection.closeSync()
    instance.closeSync()
  }
  return { connection, [Symbol.dispose]: close }
}

/** Writes what a SELECT returns to a Parquet file. */
export async function writeParquet(
  { connection }: DuckDb,
  path: string,
  select: string,
  options = '',
): Promise<void> {
  await connection.run(`COPY (${select}) TO '${path}' (FORMAT parquet${options})`)
}
