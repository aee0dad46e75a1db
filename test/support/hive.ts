import { copyFile, mkdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { readCells, writeParquet } from './parquet.js'

/** The catalog `hive` of a cluster of Trino. */
export interface Hive {
  /** Tables are made of files in folders below it. */
  readonly folder: string
  readonly sql: (text: string) => Promise<readonly (readonly (string | null)[])[]>
}

/** The types of Hive for DuckDB's, of those that both have. */
const hiveTypes: Readonly<Record<string, string>> = {
  BOOLEAN: 'boolean',
  TINYINT: 'tinyint',
  SMALLINT: 'smallint',
  INTEGER: 'integer',
  BIGINT: 'bigint',
  FLOAT: 'real',
  DOUBLE: 'double',
  VARCHAR: 'varchar',
  DATE: 'date',
  TIMESTAMP: 'timestamp(6)',
  BLOB: 'varbinary',
}

/** Types that Trino has and Hive lacks: a view makes them of texts. */
const viewTypes: Readonly<Record<string, string>> = {
  TIME: 'time(6)',
  'TIMESTAMP WITH TIME ZONE': 'timestamp(6) with time zone',
  UUID: 'uuid',
}

interface Column {
  readonly name: string
  readonly type: string
}

/** Writes the rows of a SELECT as Parquet, and makes a table of them: `hive.das.<name>`. */
export async function hiveTable(hive: Hive, name: string, select: string): Promise<string> {
  const path = join(hive.folder, name, 'rows.parquet')
  await writeParquet(hive.folder, { [`${name}/rows.parquet`]: select })
  await makeTable(hive, name, await columnsOf([path]))
  return path
}

/** Makes a table, or a view, of the rows of Parquet files: `hive.das.<name>`. */
export async function hiveTableOf(
  hive: Hive,
  name: string,
  paths: readonly string[],
): Promise<void> {
  const columns = await columnsOf(paths)
  const viewed = columns.filter(({ type }) => viewTypes[type] !== undefined)
  const stored = viewed.length === 0 ? name : `${name}_stored`
  const folder = join(hive.folder, stored)
  await mkdir(folder, { recursive: true })
  for (const [index, path] of paths.entries()) {
    const own = viewed.map((column) => `${quoted(column.name)}::VARCHAR AS ${quoted(column.name)}`)
    const select = `SELECT * REPLACE (${own.join(', ')}) FROM read_parquet('${path}')`
    const file = `${index}.parquet`
    if (own.length === 0) await copyFile(path, join(folder, file))
    else await writeParquet(folder, { [file]: select })
    const { atime, mtime } = await stat(path)
    await utimes(join(folder, file), atime, mtime)
  }
  const types = columns.map((column) => (viewed.includes(column) ? 'VARCHAR' : column.type))
  await makeTable(
    hive,
    stored,
    columns.map(({ name }, index) => ({ name, type: types[index] ?? '' })),
  )
  if (viewed.length === 0) return
  const cells = columns.map(({ name, type }) => {
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

async function columnsOf(paths: readonly string[]): Promise<readonly Column[]> {
  const [first = ''] = paths
  const list = paths.map((path) => `'${path.replaceAll("'", "''")}'`).join(', ')
  const described = `FROM (DESCRIBE FROM read_parquet([${list}], union_by_name = true))
    WHERE $1 IS NOT NULL`
  const { rows } = await readCells(first, described)
  return rows.map(([name, type]) => ({ name: String(name), type: String(type) }))
}

async function makeTable(hive: Hive, name: string, columns: readonly Column[]): Promise<void> {
  const each = columns.map(({ name, type }) => `${quoted(name)} ${hiveType(type)}`)
  await hive.sql(`CREATE TABLE hive.das."${name}" (${each.join(', ')}) WITH (
    external_location = 'file://${join(hive.folder, name)}', format = 'PARQUET')`)
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function hiveType(type: string): string {
  if (type.endsWith('[]')) return `array(${hiveType(type.slice(0, -2))})`
  const fields = /^STRUCT\((.*)\)$/.exec(type)?.[1]
  if (fields !== undefined) {
    const each = fields.split(', ').map((field) => field.split(' '))
    return `row(${each.map(([name, of = '']) => `${name} ${hiveType(of)}`).join(', ')})`
  }
  const [, key, value] = /^MAP\((\w+), (.*)\)$/.exec(type) ?? []
  if (key !== undefined && value !== undefined) return `map(${hiveType(key)}, ${hiveType(value)})`
  return hiveTypes[type] ?? type.toLowerCase()
}
