import { CommanderError } from 'commander'
import { ServiceError } from '../errors.js'
import { RegistryError } from '../registry/registry.js'
import { TableError } from '../versions/tables/table.js'

export interface ExitFailure {
  readonly exitCode: number
  /** Lines for stderr; empty if commander has printed the error. */
  readonly lines: readonly string[]
}

const failed = 1
const wrongUsage = 2

/**
 * The exit code and error lines for a command that threw: 2 for a mistake in the command line, 1
 * for everything else.
 */
export function exitFailureOf(cause: unknown): ExitFailure {
  if (cause instanceof CommanderError) {
    return { exitCode: cause.exitCode === 0 ? 0 : wrongUsage, lines: [] }
  }
  if (cause instanceof RegistryError || cause instanceof TableError) {
    return { exitCode: failed, lines: cause.problems }
  }
  if (cause instanceof ServiceError) {
    const exitCode = cause.code === 'bad_request' ? wrongUsage : failed
    const why = cause.cause instanceof Error ? ` (${cause.cause.message})` : ''
    return { exitCode, lines: [`error: ${cause.detail}${why}`] }
  }
  if (isWithoutBinary(cause)) return { exitCode: failed, lines: [withoutBinaryText] }
  const message = cause instanceof Error ? cause.message : String(cause)
  return { exitCode: failed, lines: [`error: ${message.split('\n')[0]}`] }
}

/** SQLite or DuckDB without a binary for this system: Node.js finds no file, or can't load it. */
function isWithoutBinary(cause: unknown): boolean {
  if (!(cause instanceof Error) || !('code' in cause)) return false
  const isMissing = cause.code === 'MODULE_NOT_FOUND' && /node-bindings|\.node'/.test(cause.message)
  return isMissing || cause.code === 'ERR_DLOPEN_FAILED'
}

const withoutBinaryText =
  `error: There is no binary of SQLite or DuckDB for this system (${process.platform}, ` +
  `${process.arch}) here. Install the program again on this machine (in a clone: npm ci). ` +
  'docs/installing.md lists the systems that have one.'
