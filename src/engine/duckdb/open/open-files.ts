import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { plainColumn } from '../../../columns/column.js'
import { FileError } from '../../../versions/opener.js'
import type { FileColumn, OpenFiles, OpenedFile, TextBounds } from '../../../versions/opener.js'
import { bindBigint } from '../bind.js'
import { encodeRow } from '../encode/encode.js'
import { bindPaths } from '../paths.js'
import { PlainPaths } from '../plain-paths.js'
import { runStatement } from '../run-statement.js'
import { startInstance } from '../sandbox.js'
import { identifier } from '../sql.js'
import { groupFiles } from './parquet-schemas.js'
import type { FileGroup } from './parquet-schemas.js'
import { hasBounds, readBounds } from './read-bounds.js'
import type { Ask } from './read-bounds.js'
import { isEncrypted, unreadableWords } from './unreadable.js'

/** Files opened by the same statements: enough to share their cost, few enough to stay small. */
const batchFilesMax = 128
const probeRows = 3
/** Longer files are probed one by one: a condition on row numbers decodes a whole row group. */
const togetherRowsMax = 10_000
const fileTimeoutMs = 60_000

interface Engine {
  readonly memoryLimitBytes: number
  readonly tempFolder: string
  readonly boundsOf: readonly string[]
  readonly plain: PlainPaths
}

/** The catalog's opener over DuckDB: sandboxed instances for this call alone. */
export function duckDbOpener(memoryLimitBytes: number): OpenFiles {
  return async (paths, boundsOf) => {
    const tempFolder = await mkdtemp(join(tmpdir(), 'das-open-'))
    const plain = new PlainPaths()
    try {
      const engine = { memoryLimitBytes, tempFolder, boundsOf, plain }
      const distinct = [...new Set(paths)]
      const opened = new Map<string, OpenedFile>()
      for (let start = 0; start < distinct.length; start += batchFilesMax) {
        const batch = distinct.slice(start, start + batchFilesMax)
        const files = await openBatch(batch, engine)
        for (const [index, path] of batch.entries()) opened.set(path, fileAt(files, index))
      }
      return paths.map((path) => found(opened.get(path)))
    } catch (cause) {
      throw plain.inOwnNames(cause)
    } finally {
      plain.close()
      await rm(tempFolder, { recursive: true, force: true })
    }
  }
}

/**
 * Opens files together, in an instance of their own. When that fails, each half is opened by
 * itself, the first one first, until the failure is that of the first bad file alone.
 */
async function openBatch(paths: readonly string[], engine: Engine): Promise<readonly OpenedFile[]> {
  const { memoryLimitBytes, tempFolder, plain } = engine
  const folders = [...new Set(paths.map((path) => dirname(path)))]
  const instance = await startInstance({ folders, tempFolder, memoryLimitBytes, threads: 1 })
  try {
    const connection = await instance.connect()
    const readable = paths.map((path) => plain.of(path))
    try {
      return await openTogether(connection, readable, engine.boundsOf)
    } catch (cause) {
      const [path] = readable
      if (path !== undefined && readable.length === 1) {
        throw await fileError(connection, cause, path)
      }
    } finally {
      connection.disconnectSync()
    }
  } finally {
    instance.closeSync()
  }
  const middle = Math.ceil(paths.length / 2)
  const first = await openBatch(paths.slice(0, middle), engine)
  return [...first, ...(await openBatch(paths.slice(middle), engine))]
}

async function fileError(
  connection: DuckDBConnection,
  cause: unknown,
  path: string,
): Promise<FileError> {
  if (cause instanceof FileError) return cause
  if (await isEncrypted(askOf(connection, AbortSignal.timeout(fileTimeoutMs)), path)) {
    return new FileError(path, 'is encrypted Parquet, which is not supported', cause)
  }
  return new FileError(path, `can't be read: ${unreadableWords(cause, path)}`, cause)
}

function askOf(connection: DuckDBConnection, signal: AbortSignal): Ask {
  return (sql, ...values) => runStatement(connection, { sql, values }, signal)
}

async function openTogether(
  connection: DuckDBConnection,
  paths: readonly string[],
  boundsOf: readonly string[],
): Promise<readonly OpenedFile[]> {
  const ask = askOf(connection, AbortSignal.timeout(fileTimeoutMs * paths.length))
  const opened = new Map<string, OpenedFile>()
  for (const group of await groupFiles(connection, ask, paths)) {
    await probe(ask, group)
    const bounds = await groupBounds(ask, group, boundsOf)
    for (const { path, rows } of group.files) {
      const own = [...bounds].map(([name, each]) => [name, each.get(path) ?? null] as const)
      opened.set(path, { rows, columns: group.columns, bounds: new Map(own) })
    }
  }
  return paths.map((path) => found(opened.get(path)))
}

/** Reads and encodes a few rows of every column of each file, as a caller would have them. */
async function probe(ask: Ask, { files, columns }: FileGroup): Promise<void> {
  const row = encodeRow(
    columns.map(({ name, type }) => ({ column: plainColumn(name, type), sql: identifier(name) })),
  )
  const from = 'FROM read_parquet($1, hive_partitioning = false, union_by_name = false)'
  const short = files.length === 1 ? [] : files.filter(({ rows }) => rows <= togetherRowsMax)
  if (short.length > 0) {
    const rows = `SELECT ${row} AS row ${from} WHERE file_row_number < $2`
    const paths = bindPaths(short.map(({ path }) => path))
    await ask(`SELECT sum(strlen(row)) FROM (${rows})`, paths, bindBigint(probeRows))
  }
  for (const { path } of files.filter((file) => !short.includes(file))) {
    await ask(`SELECT ${row} ${from} LIMIT $2`, bindPaths([path]), bindBigint(probeRows))
  }
}

/** Column → path → bounds. */
async function groupBounds(
  ask: Ask,
  { files, columns }: FileGroup,
  boundsOf: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, TextBounds>>> {
  const wanted = (column: FileColumn) => boundsOf.includes(column.name) && hasBounds(column)
  const paths = files.filter(({ rows }) => rows > 0).map(({ path }) => path)
  const bounds = new Map<string, ReadonlyMap<string, TextBounds>>()
  for (const column of columns.filter(wanted)) {
    bounds.set(column.name, await readBounds(ask, paths, column))
  }
  return bounds
}

function fileAt(files: readonly OpenedFile[], index: number): OpenedFile {
  return found(files[index])
}

function found(file: OpenedFile | undefined): OpenedFile {
  if (!file) throw new Error('the engine left out a file')
  return file
}
