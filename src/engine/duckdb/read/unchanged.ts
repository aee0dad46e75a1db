import { setImmediate } from 'node:timers/promises'
import { identityOf } from '../../../versions/files/find-files.js'
import { statOrNull } from '../../../versions/store/file-checks.js'
import type { FileChecks } from '../../../versions/store/file-checks.js'
import type { StoredFile } from '../../../versions/version.js'

/** A file differs from the published one: rows read from it may be torn. */
export class ChangedFileError extends Error {
  /** Private, because a log writes what is public. */
  readonly #path: string

  constructor({ name, path }: StoredFile, what: string) {
    super(`${name} ${what}`)
    this.name = 'ChangedFileError'
    this.#path = path
  }

  isOf({ path }: StoredFile): boolean {
    return path === this.#path
  }
}

/** These files must be verified before they are read, or before the rows read are used. */
export class UnverifiedError extends Error {
  readonly files: readonly StoredFile[]

  constructor(files: readonly StoredFile[]) {
    super(`${files.length} files are not verified`)
    this.name = 'UnverifiedError'
    this.files = files
  }
}

/** This many checks take about a millisecond; the event loop does other work in between. */
const checksAtOnce = 200

/**
 * Call it before each read. It does not touch the disk.
 * @throws UnverifiedError with the files whose content was not verified by this process
 */
export function requireVerified(files: readonly StoredFile[], checks: FileChecks | null): void {
  const unverified = checks ? files.filter((file) => !checks.isVerified(file)) : []
  if (unverified.length > 0) throw new UnverifiedError(unverified)
}

/**
 * Call it after each read: files that are unchanged now were unchanged during the read. It skips
 * files that only this server can write to. It runs on this thread, because the thread pool takes
 * fifty times as long as a check.
 * @throws UnverifiedError with the modified files; without checks, ChangedFileError for the first
 *   file that was written to
 */
export async function requireUnchanged(
  files: readonly StoredFile[],
  checks: FileChecks | null,
): Promise<void> {
  requireVerified(files, checks)
  const touched: StoredFile[] = []
  const guarded = files.filter(({ guard }) => guard !== null)
  for (const [index, file] of guarded.entries()) {
    if (index > 0 && index % checksAtOnce === 0) await setImmediate()
    if (!checks) requireSame(file)
    else if (!checks.isUntouched(file)) touched.push(file)
  }
  if (touched.length > 0) throw new UnverifiedError(touched)
}

/** Runs a read of files that must be verified before, and must not change meanwhile. */
export async function readUnchanged<T>(
  files: readonly StoredFile[],
  checks: FileChecks | null,
  read: () => Promise<T>,
): Promise<T> {
  requireVerified(files, checks)
  const found = await read()
  await requireUnchanged(files, checks)
  return found
}

function requireSame(file: StoredFile): void {
  const found = statOrNull(file.path)
  if (!found) throw new ChangedFileError(file, 'is gone from the versions folder')
  if (identityOf(found) === file.guard) return
  throw new ChangedFileError(file, 'was overwritten in place; write files whole, then rename them')
}
