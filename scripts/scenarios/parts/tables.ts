import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { openDuckDb, writeParquet } from '../../harness/duckdb.js'
import { makeFixture, makeFolder, unlimited, writeRegistry } from '../../harness/fixture.js'
import type { Fixture } from '../../harness/fixture.js'
import type { Run } from '../../harness/script.js'
import { rowsSql } from './rows.js'
import type { Table } from './rows.js'

/** Writes Parquet files. */
export interface Writer extends Disposable {
  /** One year's rows in one generation, to a file beside the path that is then renamed over it. */
  readonly write: (path: string, table: Table, year: number, generation: number) => Promise<void>
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
  const write = async (path: string, table: Table, year: number, generation: number) => {
    await copy(`${path}.new`, rowsSql(table, year, generation))
    await rename(`${path}.new`, path)
  }
  return { write, copy, [Symbol.dispose]: () => duckdb[Symbol.dispose]() }
}

/** The registry's entry of a table, whose files are `data/NAME/YEAR.parquet`. */
export function entryOf({ name }: Pick<Table, 'name'>) {
  return {
    title: name,
    files: `data/${name}/*.parquet`,
    require_filter: false,
    plans: { all: unlimited },
  }
}

/** Makes a folder with the files of tables and their registry; a failed run keeps it. */
export async function makeTables(
  run: Run,
  name: string,
  tables: readonly Table[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<Fixture> {
  const fixture = await makeFixture(await makeFolder(run, `check-${name}`, { isKept: true }))
  const { folder } = fixture
  using writer = await openWriter()
  for (const table of tables) {
    await mkdir(join(folder, 'data', table.name))
    for (const year of table.years) {
      await writer.write(join(folder, 'data', table.name, `${year}.parquet`), table, year, 0)
    }
  }
  const entries = tables.map((table) => [table.name, { ...entryOf(table), ...more }])
  await writeRegistry(folder, Object.fromEntries(entries))
  return fixture
}
