import { stat } from 'node:fs/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import { hasBounds, plainColumn } from '../../../columns/column.js'
import { withTypes } from '../../../columns/data-type.js'
import { FileError } from '../../../versions/opener.js'
import type {
  FileColumn,
  FitQuestion,
  OpenFiles,
  OpenedFile,
  TextBounds,
} from '../../../versions/opener.js'
import { abortAfter, machineClock } from '../../../clock.js'
import { bindBigint } from '../bind.js'
import { readFailure } from '../duckdb-failure.js'
import { encodeRow } from '../../sql/encode.js'
import { duckdb } from '../dialect.js'
import { bindPaths, boundFilesSql, foldersOf } from '../paths.js'
import type { PlainPaths } from '../plain-paths.js'
import { runnerOn, runStatement } from '../run-statement.js'
import type { RunStatement } from '../run-statement.js'
import { inSandboxes, valueOf, withTempFolder } from '../sandbox.js'
import type { RunPiece } from '../sandbox.js'
import { identifier } from '../../sql/quote.js'
import { checkStatistics, isCompared } from './check-statistics.js'
import { fitColumns } from './fit-columns.js'
import { groupFiles, readLayout } from './parquet-schemas.js'
import type { FileGroup } from './file-group.js'
import { readBounds } from './read-bounds.js'
import { findUnreadable, readValues, slices } from './read-values.js'
import { isEncrypted, unreadableReason } from './unreadable.js'

/** What reading every value of a file may take, for each byte of it. */
const bytesPerMs = 5000
/** Files that the same statements open: enough to share their cost, few enough to stay small. */
const batchFilesMax = 128
const probeRows = 3
/** Longer files are probed one by one: a condition on row numbers decodes a whole row group. */
const togetherRowsMax = 10_000
const fileTimeoutMs = 60_000

interface OpenOptions {
  readonly memoryLimitBytes: number
  readonly tempFolder: string
  readonly boundsOf: readonly string[]
  readonly fits: readonly FitQuestion[]
  readonly plain: PlainPaths
}

/**
 * Opens new files before they are served, in separate sandboxes: a file that DuckDB can't read, or
 * that crashes it, never reaches the serving instance.
 */
export function duckDbOpener(memoryLimitBytes: number): OpenFiles {
  return (paths, boundsOf, fits = []) =>
    withTempFolder('das-open-', async (tempFolder, plain) => {
      const options = { memoryLimitBytes, tempFolder, boundsOf, fits, plain }
      const distinct = [...new Set(paths)]
      const opened = new Map<string, OpenedFile>()
      for (let start = 0; start < distinct.length; start += batchFilesMax) {
        const batch = distinct.slice(start, start + batchFilesMax)
        const files = await openBatch(batch, options)
        for (const [index, path] of batch.entries()) opened.set(path, required(files[index]))
      }
      return paths.map((path) => required(opened.get(path)))
    })
}

/** Opens files in one sandbox, and after a fatal error in a new one. */
function openBatch(paths: readonly string[], options: OpenOptions): Promise<readonly OpenedFile[]> {
  const { memoryLimitBytes, tempFolder, plain } = options
  const folders = foldersOf(paths)
  const sandbox = { folders, tempFolder, memoryLimitBytes, threads: 1, trustsFooters: false }
  const readable = paths.map((path) => plain.of(path))
  return inSandboxes(sandbox, (runPiece) => openPart(runPiece, readable, options))
}

/**
 * Opens files together. After a failure it opens each half separately, the first one first, until
 * only the first bad file fails.
 */
async function openPart(
  runPiece: RunPiece,
  paths: readonly string[],
  options: OpenOptions,
): Promise<readonly OpenedFile[]> {
  const outcome = await runPiece((connection) => openTogether(connection, paths, options))
  if ('value' in outcome) return outcome.value
  const [path] = paths
  if (path !== undefined && paths.length === 1) throw await fileError(runPiece, outcome.cause, path)
  const middle = Math.ceil(paths.length / 2)
  const first = await openPart(runPiece, paths.slice(0, middle), options)
  return [...first, ...(await openPart(runPiece, paths.slice(middle), options))]
}

async function fileError(runPiece: RunPiece, cause: unknown, path: string): Promise<FileError> {
  if (cause instanceof FileError) return cause
  const timeout = () => abortAfter(machineClock, fileTimeoutMs)
  const isSecret = await runPiece((connection) =>
    isEncrypted(runnerOn(connection, timeout()), path),
  )
  if (valueOf(isSecret)) {
    return new FileError(path, 'is encrypted Parquet, which is not supported', cause)
  }
  const whole = new FileError(path, `can't be read: ${unreadableReason(cause, path)}`, cause)
  const { type } = readFailure(cause)
  if (type === null || type === 'Out of Memory') return whole
  try {
    const layout = await runPiece((connection) =>
      readLayout(connection, runnerOn(connection, timeout()), [path]),
    )
    const run: RunStatement = async (statement) =>
      valueOf(await runPiece((connection) => runStatement(connection, statement, timeout())))
    return (await findUnreadable(run, path, valueOf(layout))) ?? whole
  } catch {
    // Its schema can't be read.
    return whole
  }
}

async function openTogether(
  connection: DuckDBConnection,
  paths: readonly string[],
  { boundsOf, fits }: OpenOptions,
): Promise<readonly OpenedFile[]> {
  const sizeOf = (path: string) =>
    stat(path).then(
      ({ size }) => size,
      () => 0,
    )
  const sizes = await Promise.all(paths.map(sizeOf))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  const timeoutMs = fileTimeoutMs * paths.length + bytes / bytesPerMs
  const run = runnerOn(connection, abortAfter(machineClock, timeoutMs))
  const opened = new Map<string, OpenedFile>()
  for (const group of await groupFiles(connection, run, paths)) {
    for (const columns of slices(group.columns)) await probe(run, { ...group, columns })
    await checkStatistics(run, group)
    await readValues(run, { ...group, columns: group.columns.filter((each) => !isCompared(each)) })
    const bounds = await groupBounds(run, group, boundsOf)
    const answers = await fitColumns(run, group, fits, boundsOf)
    for (const { path, rows } of group.files) {
      const own = [...bounds].map(([name, each]) => [name, each.get(path) ?? null] as const)
      const facts = { rows, columns: group.columns, bounds: new Map(own) }
      const found = answers.get(path)
      opened.set(path, found ? { ...facts, fits: found } : facts)
    }
  }
  return paths.map((path) => required(opened.get(path)))
}

/** Reads and encodes a few rows of these columns of each file, like a served page. */
async function probe(run: RunStatement, { files, columns }: FileGroup): Promise<void> {
  const row = encodeRow(
    duckdb,
    columns.map(({ name, type }) => ({
      column: plainColumn(name, withTypes(type)),
      sql: identifier(name),
    })),
  )
  const from = `FROM ${boundFilesSql('$1')}`
  const valuesOf = (paths: readonly string[]) => [bindPaths(paths), bindBigint(probeRows)]
  const short = files.length === 1 ? [] : files.filter(({ rows }) => rows <= togetherRowsMax)
  if (short.length > 0) {
    const rows = `SELECT ${row} AS row ${from} WHERE file_row_number < $2`
    const values = valuesOf(short.map(({ path }) => path))
    await run({ sql: `SELECT sum(strlen(row)) FROM (${rows})`, values })
  }
  for (const { path } of files.filter((file) => !short.includes(file))) {
    await run({ sql: `SELECT ${row} ${from} LIMIT $2`, values: valuesOf([path]) })
  }
}

/** The bounds by column, then by path. */
async function groupBounds(
  run: RunStatement,
  { files, columns }: FileGroup,
  boundsOf: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, TextBounds>>> {
  const isWanted = (column: FileColumn) => boundsOf.includes(column.name) && hasBounds(column)
  const paths = files.filter(({ rows }) => rows > 0).map(({ path }) => path)
  return readBounds(run, paths, columns.filter(isWanted))
}

function required(file: OpenedFile | undefined): OpenedFile {
  if (!file) throw new Error('DuckDB did not return every file that it was given')
  return file
}
