import { copyFile, mkdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { createHiveTable, quoted } from './trino-server.js'
import type { DescribedColumn, Hive } from './trino-server.js'
import { readCells, writeParquet } from './parquet.js'

/** Types that Trino has and Hive lacks: a view makes them of texts. */
const viewTypes: Readonly<Record<string, string>> = {
  TIME: 'time(6)',
  'TIMESTAMP WITH TIME ZONE': 'timestamp(6) with time zone',
  UUID: 'uuid',
}

/** Writes the rows of a SELECT as Parquet, and makes a table of them: `hive.das.<name>`. */
export async function hiveTable(hive: Hive, name: string, select: string): Promise<string> {
  const folder = join(hive.folder, name)
  const path = join(folder, 'rows.parquet')
  await writeParquet(folder, { 'rows.parquet': select })
  await createHiveTable(hive, name, folder, await columnsOf([path]))
  return path
}

/** Makes a table, or a view, of the rows of Parquet files: `hive.das.<name>`. */
export async function hiveTableOf(
  hive: Hive,
  name: string,
  paths: readonly string[],
): Promise<void> {
  const columns = await columnsOf(paths)
  const viewed = columns.filter(([, type]) => viewTypes[type] !== undefined)
  const stored = viewed.length === 0 ? name : `${name}_stored`
  const folder = join(hive.folder, stored)
  await mkdir(folder, { recursive: true })
  for (const [index, path] of paths.entries()) {
    const own = viewed.map(([name]) => `${quoted(name)}::VARCHAR AS ${quoted(name)}`)
    const select = `SELECT * REPLACE (${own.join(', ')}) FROM read_parquet('${path}')`
    const file = `${index}.parquet`
    if (own.length === 0) await copyFile(path, join(folder, file))
    else await writeParquet(folder, { [file]: select })
    const { atime, mtime } = await stat(path)
    await utimes(join(folder, file), atime, mtime)
  }
  const storedColumns = columns.map(
    ([name, type]) => [name, viewTypes[type] === undefined ? type : 'VARCHAR'] as const,
  )
  await createHiveTable(hive, stored, folder, storedColumns)
  if (viewed.length === 0) return
  const cells = columns.map(([name, type]) => {
    const own = viewTypes[type]
    return own === undefined ? quoted(name) : `CAST(${quoted(name)} AS ${own}) AS ${quoted(name)}`
  })
  await hive.sql(`CREATE VIEW hive.das."${name}" AS
    SELECT ${cells.join(', ')} FROM hive.das."${stored}"`)
}

/** Adds a file to a table of Hive. */
export async function addRows(hive: Hive, name: string, select: string): Promise<void> {
  await writeParquet(hive.folder, { [`${name}/more.parquet`]: select })
}

async function columnsOf(paths: readonly string[]): Promise<readonly DescribedColumn[]> {
  const [first = ''] = paths
  const list = paths.map((path) => `'${path.replaceAll("'", "''")}'`).join(', ')
  const described = `FROM (DESCRIBE FROM read_parquet([${list}], union_by_name = true))
    WHERE $1 IS NOT NULL`
  const { rows } = await readCells(first, described)
  return rows.map(([name, type]) => [String(name), String(type)] as const)
}
