import { statSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { identityOf } from '../../../versions/files/source-files.js'
import type { FileChecks } from '../../../versions/store/file-checks.js'
import type { DataFile } from '../../../versions/version.js'

/** A file that is not what its version was published with: what was read of it may be torn. */
export class ChangedFileError extends Error {
  constructor({ name }: DataFile, what: string) {
    super(`${name} ${what}`)
    this.name = 'ChangedFileError'
  }
}

/** Files to verify: before they are read, or before what was read of them is believed. */
export class UnverifiedError extends Error {
  readonly files: readonly DataFile[]

  constructor(files: readonly DataFile[]) {
    super(`${files.length} files are not verified`)
    this.name = 'UnverifiedError'
    this.files = files
  }
}

/** Looks in a row, about a millisecond; then others have their turn. */
const atOnce = 200

/**
 * Asked before each read. Costs no look at the disk.
 * @throws UnverifiedError with the files whose content was not verified by this process
 */
export function requireVerified(files: readonly DataFile[], checks: FileChecks | null): void {
  const unverified = checks ? files.filter((file) => !checks.isVerified(file)) : []
  if (unverified.length > 0) throw new UnverifiedError(unverified)
}

/**
 * Asked after each read: files that are still what was verified were so during the read, too. Files
 * that only this server can write to are not looked at. On this thread: a way to the thread pool
 * and back takes fifty times as long as a look, and control.db, which lies beside the versions
 * folder, is written to on it as well.
 * @throws UnverifiedError with the files that something was done to; without checks,
 *   ChangedFileError for the first that was written to
 */
export async function requireUnchanged(
  files: readonly DataFile[],
  checks: FileChecks | null,
): Promise<void> {
  requireVerified(files, checks)
  const touched: DataFile[] = []
  const guarded = files.filter(({ guard }) => guard !== null)
  for (const [index, file] of guarded.entries()) {
    if (index > 0 && index % atOnce === 0) await setImmediate()
    if (!checks) requireSame(file)
    else if (!checks.isUntouched(file)) touched.push(file)
  }
  if (touched.length > 0) throw new UnverifiedError(touched)
}

function requireSame(file: DataFile): void {
  const found = lookAt(file.path)
  if (!found) throw new ChangedFileError(file, 'is gone from the versions folder')
  if (identityOf(found) === file.guard) return
  throw new ChangedFileError(file, 'was overwritten in place; write files whole, then rename them')
}

function lookAt(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true })
  } catch {
    return undefined
  }
}
