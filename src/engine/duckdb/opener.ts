import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { plainColumn } from '../../catalog/column.js'
import { FileError } from '../../catalog/opener.js'
import type { FileColumn, OpenFiles, OpenedFile, TextBounds } from '../../catalog/opener.js'
import { typeText } from '../../catalog/data-type.js'
import { bindBigint, bindText, bindTexts } from './bind.js'
import type { Statement } from './compile.js'
import { encodeRow } from './encode.js'
import { readFailure } from './failure.js'
import { createInstance } from './instance.js'
import { runStatement } from './run.js'
import { identifier } from './sql.js'
import { dataTypeOf } from './types.js'

const probeRows = 3
const probeTimeoutMs = 60_000

/** The catalog's opener over DuckDB: a sandboxed instance for this call alone. */
export function duckDbOpener(memoryLimitBytes: number): OpenFiles {
  return async (paths, boundsOf) => {
    const tempFolder = await mkdtemp(join(tmpdir(), 'das-open-'))
    const folders = [...new Set(paths.map((path) => dirname(path)))]
    const instance = await createInstance({ folders, tempFolder, memoryLimitBytes, threads: 1 })
    try {
      const opened: OpenedFile[] = []
      for (const path of paths) {
        const connection = await instance.connect()
        try {
          opened.push(await openFile(connection, path, boundsOf))
        } catch (cause) {
          throw cause instanceof FileError
            ? cause
            : new FileError(path, reasonOf(cause, path), cause)
        } finally {
          connection.disconnectSync()
        }
      }
      return opened
    } finally {
      instance.closeSync()
      await rm(tempFolder, { recursive: true, force: true })
    }
  }
}

/** DuckDB's own words without the path, which the catalog names in its own way. */
function reasonOf(cause: unknown, path: string): string {
  const { type, text } = readFailure(cause)
  const words = text.replaceAll(`'${path}'`, 'it').replaceAll(`"${path}"`, 'it')
  return `can't be read: ${words.replaceAll(path, 'it').split('\n')[0]} (${type})`
}

async function openFile(
  connection: DuckDBConnection,
  path: string,
  boundsOf: readonly string[],
): Promise<OpenedFile> {
  const signal = AbortSignal.timeout(probeTimeoutMs)
  const ask = (sql: string, ...values: Statement['values']) =>
    runStatement(connection, { sql, values }, signal)
  const file = bindTexts([path])
  const top = await topLevelColumns(ask, path)
  const columns = await readColumns(connection, path, top)
  const [rows = []] = await ask('SELECT num_rows FROM parquet_file_metadata($1)', file)
  await probe(ask, path, columns)
  const bounds = new Map<string, TextBounds | null>()
  for (const column of columns) {
    if (!boundsOf.includes(column.name)) continue
    const known = await footerBounds(ask, path, column)
    bounds.set(column.name, known === undefined ? await scanBounds(ask, path, column) : known)
  }
  return { rows: Number(rows[0] ?? 0), columns, bounds }
}

type Ask = (sql: string, ...values: Statement['values']) => Promise<unknown[][]>

/** The schema is a tree in depth-first order: a child's children are passed over. */
async function topLevelColumns(
  ask: Ask,
  path: string,
): Promise<readonly { name: string; required: boolean }[]> {
  const [names = [], children = [], repetitions = []] = await ask(
    'SELECT name, coalesce(num_children, 0), repetition_type FROM parquet_schema($1)',
    bindTexts([path]),
  )
  const top: { name: string; required: boolean }[] = []
  let index = 1
  const skip = (): void => {
    const count = Number(children[index])
    index += 1
    for (let child = 0; child < count; child++) skip()
  }
  while (index < names.length) {
    top.push({ name: String(names[index]), required: repetitions[index] === 'REQUIRED' })
    skip()
  }
  return top
}

async function readColumns(
  connection: DuckDBConnection,
  path: string,
  top: readonly { name: string; required: boolean }[],
): Promise<readonly FileColumn[]> {
  const seen = new Map<string, string>()
  for (const { name } of top) {
    const twin = seen.get(name.toLowerCase())
    if (twin !== undefined) {
      const both = twin === name ? `twice a column "${name}"` : `columns "${twin}" and "${name}"`
      throw new FileError(path, `has ${both}; names must differ in more than case`)
    }
    seen.set(name.toLowerCase(), name)
  }
  const prepared = await connection.prepare(
    'SELECT * FROM read_parquet($1, hive_partitioning = false, union_by_name = false) LIMIT 0',
  )
  try {
    const { value, type } = bindTexts([path])
    prepared.bindValue(1, value, type)
    const result = await prepared.run()
    return result.columnNames().map((name, index) => ({
      name,
      type: dataTypeOf(result.columnType(index)),
      required: top[index]?.required ?? false,
    }))
  } finally {
    prepared.destroySync()
  }
}

/** Reads and encodes a few rows of every column, as a caller would have them. */
async function probe(ask: Ask, path: string, columns: readonly FileColumn[]): Promise<void> {
  if (columns.length === 0) throw new FileError(path, 'has no columns')
  const row = encodeRow(
    columns.map(({ name, type }) => ({ column: plainColumn(name, type), sql: identifier(name) })),
  )
  const from = 'FROM read_parquet($1, hive_partitioning = false, union_by_name = false)'
  await ask(`SELECT ${row} ${from} LIMIT $2`, bindTexts([path]), bindBigint(probeRows))
}

/** Bounds from the footer's statistics; undefined where a row group has none. */
async function footerBounds(
  ask: Ask,
  path: string,
  { name, type }: FileColumn,
): Promise<TextBounds | null | undefined> {
  const [min = [], max = [], known = []] = await ask(
    `SELECT
       CAST(min(CAST(stats_min_value AS ${typeText(type)})) AS VARCHAR),
       CAST(max(CAST(stats_max_value AS ${typeText(type)})) AS VARCHAR),
       count(*) = count(DISTINCT row_group_id) AND bool_and(
         coalesce(stats_null_count = num_values, false)
         OR (stats_min_value IS NOT NULL AND stats_max_value IS NOT NULL))
     FROM parquet_metadata($1) WHERE path_in_schema = $2`,
    bindTexts([path]),
    bindText(name),
  )
  return known[0] === true ? textBounds(min[0], max[0]) : undefined
}

function textBounds(min: unknown, max: unknown): TextBounds | null {
  return min === null ? null : { min: String(min), max: String(max) }
}

/** Bounds from the column itself, for files whose writer left no statistics. */
async function scanBounds(
  ask: Ask,
  path: string,
  { name }: FileColumn,
): Promise<TextBounds | null> {
  const column = identifier(name)
  const [min = [], max = []] = await ask(
    `SELECT CAST(min(${column}) AS VARCHAR), CAST(max(${column}) AS VARCHAR)
     FROM read_parquet($1, hive_partitioning = false, union_by_name = false)`,
    bindTexts([path]),
  )
  return textBounds(min[0] ?? null, max[0] ?? null)
}
