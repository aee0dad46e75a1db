import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { plainColumn } from '../../catalog/column.js'
import { FileError } from '../../catalog/opener.js'
import type { FileColumn, OpenFiles, OpenedFile, TextBounds } from '../../catalog/opener.js'
import { bindBigint, bindTexts } from './bind.js'
import { hasBounds, readBounds } from './bounds.js'
import type { Ask } from './bounds.js'
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
    try {
      const folders = [...new Set(paths.map((path) => dirname(path)))]
      const instance = await createInstance({ folders, tempFolder, memoryLimitBytes, threads: 1 })
      try {
        const opened: OpenedFile[] = []
        for (const path of paths) opened.push(await openPath(instance, path, boundsOf))
        return opened
      } finally {
        instance.closeSync()
      }
    } finally {
      await rm(tempFolder, { recursive: true, force: true })
    }
  }
}

async function openPath(
  instance: DuckDBInstance,
  path: string,
  boundsOf: readonly string[],
): Promise<OpenedFile> {
  const connection = await instance.connect()
  try {
    return await openFile(connection, path, boundsOf)
  } catch (cause) {
    throw cause instanceof FileError ? cause : new FileError(path, reasonOf(cause, path), cause)
  } finally {
    connection.disconnectSync()
  }
}

/** DuckDB's own words without the path, which the catalog names in its own way. */
function reasonOf(cause: unknown, path: string): string {
  const { type, text } = readFailure(cause)
  const [words = ''] = text.split('\n')
  const names = [`file '${path}'`, `file "${path}"`, `'${path}'`, `"${path}"`, path]
  const plain = names.reduce((rest, name) => rest.replaceAll(name, 'the file'), words)
  return `can't be read: ${plain}${type === null ? '' : ` (${type})`}`
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
    if (!boundsOf.includes(column.name) || !hasBounds(column)) continue
    bounds.set(column.name, await readBounds(ask, path, column))
  }
  return { rows: Number(rows[0] ?? 0), columns, bounds }
}

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
