import type { DuckDBConnection } from '@duckdb/node-api'
import { mapLeaves, noType } from '../../../columns/data-type.js'
import type { DataType } from '../../../columns/data-type.js'
import { quoted } from '../../../text.js'
import { FileError } from '../../../versions/opener.js'
import type { FileColumn } from '../../../versions/opener.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import type { RunStatement } from '../run-statement.js'
import { identifier } from '../../sql/quote.js'
import { checkRanges } from './check-ranges.js'
import { checkTimes } from './check-times.js'
import type { FileGroup } from './file-group.js'
import { isCut, markColumns, readTexts, readWriters } from './mark-columns.js'
import { dataTypeOf } from './parquet-columns.js'
import { slices } from './read-values.js'
import { readSchemaTree } from './schema-tree.js'
import type { SchemaColumn } from './schema-tree.js'

/** Wider rows than these are tables on their side. */
const columnsMax = 10_000

/**
 * Groups files by Parquet schema, with the columns of each group; every file is in one group.
 * @throws FileError for columns whose names differ only in case or are empty, for a file without
 *   columns, and for decimals of too many digits
 */
export async function groupFiles(
  connection: DuckDBConnection,
  run: RunStatement,
  paths: readonly string[],
): Promise<readonly FileGroup[]> {
  await requireNarrowDecimals(run, paths)
  const schemas = await readTexts(run, schemaTexts, paths)
  const geometries = await readTexts(run, geometryTexts, paths)
  const groups = Map.groupBy(paths, (path) =>
    JSON.stringify([schemas.get(path), geometries.get(path)]),
  )
  const grouped: FileGroup[] = []
  for (const group of groups.values()) {
    const layout = await readLayout(connection, run, group)
    await checkRanges(run, layout)
    await checkTimes(layout)
    grouped.push(...(await byWriter(run, layout)))
  }
  return grouped
}

/** Files of one schema with its columns, by names and types alone. */
export async function readLayout(
  connection: DuckDBConnection,
  run: RunStatement,
  paths: readonly string[],
): Promise<FileGroup> {
  const columns = await readColumns(connection, run, paths[0] ?? '')
  return { files: await countRows(run, paths), columns }
}

async function byWriter(
  run: RunStatement,
  { files, columns }: FileGroup,
): Promise<readonly FileGroup[]> {
  const writers = await readWriters(
    run,
    files.map(({ path }) => path),
  )
  const groups = Map.groupBy(files, ({ path }) => JSON.stringify(writers.get(path)))
  const marked: FileGroup[] = []
  for (const group of groups.values()) {
    const paths = group.map(({ path }) => path)
    const writer = writers.get(paths[0] ?? '')
    marked.push({ files: group, columns: await markColumns(run, paths, columns, writer) })
  }
  return marked
}

/** A hash of everything that determines the types in which DuckDB reads a file's columns. */
const schemaTexts = `SELECT file_name, md5(CAST(to_json(list([name, type, type_length,
    repetition_type, CAST(num_children AS VARCHAR), converted_type, CAST(scale AS VARCHAR),
    CAST(precision AS VARCHAR), logical_type])) AS VARCHAR))
  FROM parquet_schema($1) GROUP BY file_name`
/** GeoParquet metadata beside the schema makes DuckDB read bytes as geometries. */
const geometryTexts = `SELECT file_name, md5(string_agg(CAST(value AS VARCHAR)))
  FROM parquet_kv_metadata($1) WHERE key = 'geo' GROUP BY file_name`

/** The most digits of DuckDB's decimals; it reads wider ones as doubles, and wrong. */
const digitsMax = 38

/** @throws FileError */
async function requireNarrowDecimals(run: RunStatement, paths: readonly string[]): Promise<void> {
  const [files = [], names = [], digits = [], scales = []] = await run({
    sql: `SELECT file_name, name, precision, scale FROM parquet_schema($1)
      WHERE precision > ${digitsMax} LIMIT 1`,
    values: [bindPaths(paths)],
  })
  if (files.length === 0) return
  const reason =
    `has a column of more than ${digitsMax} digits, ${quoted(String(names[0]))} ` +
    `(DECIMAL(${Number(digits[0])},${Number(scales[0])})), which can't be read exactly; write it ` +
    `with at most ${digitsMax} digits, or as text`
  throw new FileError(String(files[0]), reason)
}

/** Counts rows by reading them: the total in the footer may be too small. */
async function countRows(run: RunStatement, paths: readonly string[]): Promise<FileGroup['files']> {
  const [indexes = [], counts = []] = await run({
    sql: `SELECT file_index, count(*) FROM ${boundFilesSql('$1')} GROUP BY file_index`,
    values: [bindPaths(paths)],
  })
  const rows = new Map(indexes.map((index, at) => [Number(index), Number(counts[at])]))
  return paths.map((path, index) => ({ path, rows: rows.get(index) ?? 0 }))
}

async function readColumns(
  connection: DuckDBConnection,
  run: RunStatement,
  path: string,
): Promise<readonly FileColumn[]> {
  const top = await readSchemaTree(run, path)
  if (top.length > columnsMax) {
    const reason =
      `has ${top.length} columns, and at most ${columnsMax} are served; write rows of ` +
      '(key, name, value), or several files of fewer columns as datasets of their own'
    throw new FileError(path, reason)
  }
  const names = top.map(({ name }) => name)
  requireDistinct(names, path)
  requireNamed(names, path)
  for (const { name, siblings } of top) {
    for (const each of siblings) requireDistinct(each, path, ` inside ${quoted(name)}`)
  }
  const columns: FileColumn[] = []
  for (const slice of slices(top)) {
    const types = await readTypes(connection, path, slice)
    for (const [index, { name, required, logicalTypes, leafTypes }] of slice.entries()) {
      const type = withoutTypes(types[index] ?? noType, leafTypes)
      const marks = logicalTypes.some(isCut) && { marks: ['cut nanoseconds'] as const }
      columns.push({ name, type, required, ...marks })
    }
  }
  return columns
}

/** Of a few columns: DuckDB takes memory for some thousand rows of each, though it reads none. */
async function readTypes(
  connection: DuckDBConnection,
  path: string,
  columns: readonly SchemaColumn[],
): Promise<readonly DataType[]> {
  const names = columns.map(({ name }) => identifier(name))
  const sql = `SELECT ${names.join(', ')} FROM ${boundFilesSql('$1')} LIMIT 0`
  const prepared = await connection.prepare(sql)
  try {
    const { value, type } = bindPaths([path])
    prepared.bindValue(1, value, type)
    const result = await prepared.run()
    return columns.map((_, index) => dataTypeOf(result.columnType(index)))
  } finally {
    prepared.destroySync()
  }
}

/** Marks the parts of a type that the file gives none: writers mark so what is always empty. */
function withoutTypes(type: DataType, leafTypes: readonly (string | null)[]): DataType {
  const leaves = leafTypes.map((each) => each?.startsWith('NullType') === true)
  if (!leaves.includes(true)) return type
  let leaf = 0
  const marked = mapLeaves(type, (part) => (leaves[leaf++] ? noType : part))
  // A type of several leaves, as VARIANT has, is not taken apart.
  return leaf === leaves.length ? marked : type
}

function requireDistinct(names: readonly string[], path: string, place = ''): void {
  const seen = new Map<string, string>()
  for (const name of names) {
    const twin = seen.get(name.toLowerCase())
    if (twin !== undefined) {
      const kind = place === '' ? 'column' : 'field'
      const both = twin === name ? `twice a ${kind} "${name}"` : `${kind}s "${twin}" and "${name}"`
      throw new FileError(
        path,
        `has ${both}${place}; names must differ in more than case: rename one`,
      )
    }
    seen.set(name.toLowerCase(), name)
  }
}

/**
 * DuckDB gives a nameless column a name of its own, and no statement can have a NUL. Tools that
 * read "UTF-8 with signature" as UTF-8 leave a U+FEFF, which nobody sees: `id` would not be `id`.
 */
function requireNamed(names: readonly string[], path: string): void {
  const place = names.findIndex((name) => /^$|^\ufeff|\0/.test(name))
  if (place === -1) return
  const name = names[place] ?? ''
  const fault = name.includes('\0') ? 'with a NUL in its name' : 'without a name'
  const marked = `whose name begins with a byte order mark, U+FEFF: "${name.slice(1)}"`
  const what = name.startsWith('\ufeff') ? marked : fault
  const way = name === '' ? 'name it' : 'rename it'
  throw new FileError(path, `has a column ${what}, number ${place + 1}: ${way}`)
}
