import { DuckDBInstance } from '@duckdb/node-api'
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import type { BoundValue } from '../../src/engine/duckdb/bind.js'

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

/** A connection with the statements that it has prepared. */
export class Statements {
  readonly #connection: DuckDBConnection
  readonly #prepared = new Map<string, DuckDBPreparedStatement>()

  constructor(connection: DuckDBConnection) {
    this.#connection = connection
  }

  /** Runs a statement, prepared once; returns the result's columns. */
  async run(sql: string, values: readonly BoundValue[]): Promise<readonly (readonly unknown[])[]> {
    const prepared = this.#prepared.get(sql) ?? (await this.#connection.prepare(sql))
    this.#prepared.set(sql, prepared)
    for (const [at, { value, type }] of values.entries()) prepared.bindValue(at + 1, value, type)
    return (await prepared.run()).getColumns()
  }
}
