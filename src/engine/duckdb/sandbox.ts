import { mkdtemp, open, rm } from 'node:fs/promises'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { DuckDBConnection } from '@duckdb/node-api'
import { isFatal, readFailure } from './duckdb-failure.js'
import { foldersSql } from './paths.js'
import { withPlainPaths } from './plain-paths.js'
import type { PlainPaths } from './plain-paths.js'

export interface SandboxOptions {
  /** The only folders that statements can read. */
  readonly folders: readonly string[]
  /** Queries spill to this folder, and files are written below it; null = memory only. */
  readonly tempFolder: string | null
  /** False: queries use memory only, also where there is a temp folder. */
  readonly spills?: boolean
  readonly memoryLimitBytes: number
  readonly threads: number
  /** Settings that later statements may change; none by default. */
  readonly changeable?: readonly string[]
  /** False: values are read even where statistics in the footers would answer. */
  readonly trustsFooters?: boolean
  /** The most bytes that queries may spill. */
  readonly tempSizeMaxBytes?: number
  /** Called before the settings are locked. */
  readonly prepare?: (connection: DuckDBConnection) => Promise<void>
}

const tempSizeMaxBytes = 8 * 1024 ** 3
/** What a start opens, with some to spare for what else opens files meanwhile. */
const descriptorsMin = 16

/**
 * The only code that starts a DuckDB. The instance reads only the given folders and the temp
 * folder. It loads no extension, and later statements can change only the settings that the options
 * name. The caller closes it; `inSandbox` does that for one piece of work.
 * @throws the system's error if the process may open no more files
 */
export async function startInstance(options: SandboxOptions): Promise<DuckDBInstance> {
  const tempSize = options.tempSizeMaxBytes ?? tempSizeMaxBytes
  const spillFolder = options.spills === false ? null : options.tempFolder
  await requireDescriptors()
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(options.threads),
    memory_limit: kibibytes(options.memoryLimitBytes),
    temp_directory: spillFolder ?? '',
    ...(spillFolder === null ? {} : { max_temp_directory_size: kibibytes(tempSize) }),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    allow_unsigned_extensions: 'false',
    errors_as_json: 'true',
  })
  try {
    await withConnection(instance, async (connection) => {
      await options.prepare?.(connection)
      for (const setting of settings(options)) await connection.run(setting)
    })
    return instance
  } catch (cause) {
    instance.closeSync()
    throw cause
  }
}

/** Runs `work` on its own instance and closes everything when it ends, also after a failure. */
export async function inSandbox<T>(
  options: SandboxOptions,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const instance = await startInstance(options)
  try {
    return await withConnection(instance, work)
  } finally {
    instance.closeSync()
  }
}

/** What a piece of work returned, or why it failed. */
export type Outcome<T> = { readonly value: T } | { readonly cause: unknown }

/** Rejects only if no instance can be started. Pieces run one after the other. */
export type RunPiece = <T>(
  piece: (connection: DuckDBConnection) => Promise<T>,
) => Promise<Outcome<T>>

/** Like `inSandbox`, for pieces of work: after a fatal error the next one has a new instance. */
export async function inSandboxes<T>(
  options: SandboxOptions,
  work: (runPiece: RunPiece) => Promise<T>,
): Promise<T> {
  let instance: DuckDBInstance | null = null
  const close = () => {
    instance?.closeSync()
    instance = null
  }
  try {
    return await work(async (piece) => {
      instance ??= await startInstance(options)
      try {
        return { value: await withConnection(instance, piece) }
      } catch (cause) {
        if (isFatal(readFailure(cause))) close()
        return { cause }
      }
    })
  } finally {
    close()
  }
}

/** @throws the failure of the piece of work */
export function valueOf<T>(outcome: Outcome<T>): T {
  if ('cause' in outcome) throw outcome.cause
  return outcome.value
}

/**
 * Runs `work` with a new temp folder and with paths that DuckDB can read, and removes both when it
 * ends, also after a failure. The failure names files by their original paths.
 */
export async function withTempFolder<T>(
  prefix: string,
  work: (folder: string, paths: PlainPaths) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  try {
    return await withPlainPaths((paths) => work(folder, paths))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** DuckDB ends the whole process if it can open no file while an instance starts. */
async function requireDescriptors(): Promise<void> {
  const opening = Array.from({ length: descriptorsMin }, () => open(devNull))
  const opened = await Promise.allSettled(opening)
  for (const each of opened) if (each.status === 'fulfilled') await each.value.close()
  for (const each of opened) if (each.status === 'rejected') throw each.reason
}

async function withConnection<T>(
  instance: DuckDBInstance,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const connection = await instance.connect()
  try {
    return await work(connection)
  } finally {
    connection.disconnectSync()
  }
}

function kibibytes(bytes: number): string {
  return `${Math.floor(bytes / 1024)}KiB`
}

/**
 * The order matters: the last ones forbid later changes. GLOBAL matters: a plain SET holds for one
 * connection only.
 */
function settings(options: SandboxOptions): readonly string[] {
  const { folders, tempFolder, changeable = [] } = options
  const allowed = tempFolder === null ? folders : [...folders, tempFolder]
  const names = changeable.map((name) => `'${name}'`).join(', ')
  return [
    "SET GLOBAL TimeZone = 'UTC'",
    'SET GLOBAL errors_as_json = true',
    'SET GLOBAL parquet_metadata_cache = true',
    // One read for a column instead of one for each number in its page headers.
    'SET GLOBAL prefetch_all_parquet_files = true',
    `SET GLOBAL allowed_directories = ${foldersSql(allowed)}`,
    'SET GLOBAL enable_external_access = false',
    ...(options.trustsFooters === false
      ? ["SET GLOBAL disabled_optimizers = 'statistics_propagation'"]
      : []),
    ...(changeable.length > 0 ? [`SET GLOBAL allowed_configs = [${names}]`] : []),
    'SET GLOBAL lock_configuration = true',
  ]
}
