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
  if (isForeignBuild(cause)) return { exitCode: failed, lines: [foreignBuildText(cause)] }
  if (isWithoutBinary(cause)) return { exitCode: failed, lines: [withoutBinaryText] }
  const message = cause instanceof Error ? cause.message : String(cause)
  return { exitCode: failed, lines: [`error: ${message.split('\n')[0]}`] }
}

/** A native module for another Node.js version. Its message spans several lines. */
function isForeignBuild(cause: unknown): cause is Error {
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_DLOPEN_FAILED'
}

function foreignBuildText({ message }: Error): string {
  const whole = message.split(/\s*\n\s*/).join(' ')
  return `error: ${whole.trim()} ${reinstallText}`
}

/** better-sqlite3 without its binary: the package `bindings` lists the paths that it tried. */
function isWithoutBinary(cause: unknown): boolean {
  return cause instanceof Error && 'tries' in cause
}

const reinstallText =
  `Install the program again with this Node.js, ${process.version} (in a clone: npm ci). ` +
  'docs/installing.md, "Without a prebuilt binary", says what that needs.'

const withoutBinaryText =
  'error: The binary of better-sqlite3 is missing: its installer did not run, or it failed. ' +
  reinstallText
