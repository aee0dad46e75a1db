import { DuckDBInstance } from '@duckdb/node-api'
import { foldersSql } from './paths.js'

export interface SandboxOptions {
  /** The only folders that statements can read. */
  readonly folders: readonly string[]
  /** Where sorts spill, and what is written goes; null = memory only. */
  readonly tempFolder: string | null
  readonly memoryLimitBytes: number
  readonly threads: number
  /** How far they may spill. */
  readonly tempSizeMaxBytes?: number
}

const tempSizeMaxBytes = 8 * 1024 ** 3

/**
 * A DuckDB in a sandbox: it reads the given folders and nothing else, loads no extension, and no
 * later statement can change a setting. DuckDB itself adds the temp folder, where pages are made.
 * GLOBAL matters: a plain SET holds for one connection only.
 */
export async function startInstance(options: SandboxOptions): Promise<DuckDBInstance> {
  const tempSize = options.tempSizeMaxBytes ?? tempSizeMaxBytes
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(options.threads),
    memory_limit: kibibytes(options.memoryLimitBytes),
    temp_directory: options.tempFolder ?? '',
    ...(options.tempFolder === null ? {} : { max_temp_directory_size: kibibytes(tempSize) }),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    allow_unsigned_extensions: 'false',
    errors_as_json: 'true',
  })
  try {
    const connection = await instance.connect()
    try {
      for (const setting of settings(options.folders)) await connection.run(setting)
    } finally {
      connection.disconnectSync()
    }
    return instance
  } catch (cause) {
    instance.closeSync()
    throw cause
  }
}

function kibibytes(bytes: number): string {
  return `${Math.floor(bytes / 1024)}KiB`
}

/** In this order: the last two shut the door behind the others. */
function settings(folders: readonly string[]): readonly string[] {
  return [
    "SET GLOBAL TimeZone = 'UTC'",
    'SET GLOBAL errors_as_json = true',
    'SET GLOBAL parquet_metadata_cache = true',
    // One read for a column instead of one for each number in its page headers.
    'SET GLOBAL prefetch_all_parquet_files = true',
    `SET GLOBAL allowed_directories = ${foldersSql(folders)}`,
    'SET GLOBAL enable_external_access = false',
    'SET GLOBAL lock_configuration = true',
  ]
}
