import { rename } from 'node:fs/promises'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import { rowsSql } from './rows.js'

/** Writes Parquet files. */
export interface Writer extends Disposable {
  /** One year's rows in one generation, to a file beside the path that is then renamed over it. */
  readonly write: (path: string, rows: number, year: number, generation: number) => Promise<void>
  /** What a SELECT returns, straight to the path. */
  readonly copy: (path: string, select: string) => Promise<void>
}

/**
 * Files of the same rows are equally long in every generation, are not compressed and have two row
 * groups: what half an overwrite leaves can be read, and is wrong.
 */
const form = ', COMPRESSION uncompressed, ROW_GROUP_SIZE 2048'

/** Opens DuckDB to write files with. */
export async function openWriter(): Promise<Writer> {
  const duckdb = await openDuckDb()
  const copy = (path: string, select: string) => writeParquet(duckdb, path, select, form)
  const write = async (path: string, rows: number, year: number, generation: number) => {
    await copy(`${path}.new`, rowsSql(rows, year, generation))
    await rename(`${path}.new`, path)
  }
  return { write, copy, [Symbol.dispose]: () => duckdb[Symbol.dispose]() }
}
