import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { Test } from 'tap'

/** Starting one takes longer than most of what tests ask it: all tests of a process share it. */
let duckDb: Promise<DuckDBInstance> | undefined

/** A plain DuckDB with one thread and without a cache of files, over a connection of its own. */
export async function withDuckDb<T>(
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const settings = { threads: '1', enable_external_file_cache: 'false' }
  duckDb ??= DuckDBInstance.create(':memory:', settings)
  const connection = await (await duckDb).connect()
  try {
    await connection.run("SET TimeZone = 'UTC'")
    return await work(connection)
  } finally {
    connection.disconnectSync()
  }
}

/** The bytes of files that were written, by their SQL: most tests of a file write the same again. */
const written = new Map<string, Buffer>()
/** What gives other rows next time. */
const changeable = /read_|random|uuid|now\(|current_|glob|\.(?:parquet|csv|json)/i
const keptBytesMax = 2 * 1024 ** 2

/** Writes Parquet files with DuckDB: path → SELECT. */
export async function writeParquet(
  folder: string,
  files: Readonly<Record<string, string>>,
  options = '',
): Promise<void> {
  for (const [name, select] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    const sql = `COPY (${select}) TO $path (FORMAT parquet${options})`
    const bytes = written.get(sql)
    if (bytes && !existsSync(path)) writeFileSync(path, bytes)
    else await copyTo(path, sql)
  }
}

async function copyTo(path: string, sql: string): Promise<void> {
  await withDuckDb((connection) => connection.run(sql.replace('$path', () => `'${path}'`)))
  if (changeable.test(sql) || statSync(path).size > keptBytesMax) return
  written.set(sql, readFileSync(path))
}

/** What a plain DuckDB reads from a Parquet file: names, types, and every cell as text. */
export interface Cells {
  readonly names: readonly string[]
  readonly types: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  /** How many rows each row group has. */
  readonly rowGroups: readonly number[]
  /** Notes beside the schema, by key. */
  readonly notes: readonly unknown[]
}

/** Reads a file, or the rows of a SELECT from it: `$1` is its path. */
export async function readCells(path: string, select = 'FROM read_parquet($1)'): Promise<Cells> {
  return withDuckDb(async (connection) => {
    const ask = async (sql: string) => (await connection.runAndReadAll(sql, [path])).getRowsJS()
    const source = await connection.run(`SELECT * FROM (${select}) LIMIT 0`, [path])
    const rows = await ask(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (${select})`)
    const groups = await ask(
      `SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata($1) ORDER BY 1`,
    )
    const notes = await ask('SELECT key FROM parquet_kv_metadata($1)')
    return {
      names: source.columnNames(),
      types: source.columnTypes().map((type) => type.alias ?? type.toString()),
      rows,
      rowGroups: groups.map(([, count]) => Number(count)),
      notes: notes.flat(),
    }
  })
}

/** The same of a file's bytes. */
export async function readBytes(t: Test, bytes: Uint8Array, select?: string): Promise<Cells> {
  const path = join(t.testdirName, `page-${randomUUID()}.parquet`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
  return readCells(path, select)
}

/** Overwrites the middle of a column's data in one row group, as a bad disk would. */
export async function damagePage(path: string, column: string, rowGroup: number): Promise<void> {
  const found = await withDuckDb((connection) =>
    connection.runAndReadAll(
      `SELECT coalesce(least(dictionary_page_offset, data_page_offset), data_page_offset),
         total_compressed_size
       FROM parquet_metadata('${path}')
       WHERE path_in_schema = '${column}' AND row_group_id = ${rowGroup}`,
    ),
  )
  const [start, size] = (found.getRowsJS()[0] ?? []).map(Number)
  if (start === undefined || size === undefined) throw new Error(`no ${column} in ${path}`)
  const bytes = readFileSync(path)
  bytes.fill(0xff, start + Math.floor(size / 4), start + Math.floor(size / 2))
  writeFileSync(path, bytes)
}
