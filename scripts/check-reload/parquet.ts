import { DuckDBInstance } from '@duckdb/node-api'
import { rename } from 'node:fs/promises'
import { rowsSql } from './rows.js'

/** Writes Parquet files. */
export interface Writer {
  /** One year's rows in one generation, whole beside the path, then renamed over it. */
  readonly write: (path: string, rows: number, year: number, generation: number) => Promise<void>
  /** What a SELECT returns, straight to the path. */
  readonly copy: (path: string, select: string) => Promise<void>
  readonly close: () => void
}

/**
 * Files of the same rows are equally long in every generation, are not compressed and have two row
 * groups: what half an overwrite leaves can be read, and is wrong.
 */
const form = '(FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE 2048)'

/** Opens DuckDB to write files with; `close` ends it. */
export async function openWriter(): Promise<Writer> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await instance.connect()
  const copy = async (path: string, select: string) => {
    await connection.run(`COPY (${select}) TO '${path}' ${form}`)
  }
  const write = async (path: string, rows: number, year: number, generation: number) => {
    await copy(`${path}.new`, rowsSql(rows, year, generation))
    await rename(`${path}.new`, path)
  }
  const close = () => {
    connection.closeSync()
    instance.closeSync()
  }
  return { write, copy, close }
}
