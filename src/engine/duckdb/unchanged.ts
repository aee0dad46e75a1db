import { statSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { identityOf } from '../../catalog/source-files.js'
import type { DataFile } from '../../catalog/version.js'

/** A file that is not what its version was published with: what was read of it may be torn. */
export class ChangedFileError extends Error {
  constructor({ name }: DataFile, what: string) {
    super(`${name} ${what}`)
    this.name = 'ChangedFileError'
  }
}

/** Looks in a row, about a millisecond; then others have their turn. */
const atOnce = 200

/**
 * Asked after each read: files that are still what was published were so during the read, too.
 * Files that only this server can write to are not looked at. On this thread: a way to the thread
 * pool and back takes fifty times as long as a look, and control.db, which lies beside the versions
 * folder, is written to on it as well.
 * @throws ChangedFileError for the first that is not, or is gone
 */
export async function requireUnchanged(files: readonly DataFile[]): Promise<void> {
  const guarded = files.filter(({ guard }) => guard !== null)
  for (const [index, file] of guarded.entries()) {
    if (index > 0 && index % atOnce === 0) await setImmediate()
    requireSame(file)
  }
}

function requireSame(file: DataFile): void {
  const found = lookAt(file.path)
  if (!found) throw new ChangedFileError(file, 'is gone from the versions folder')
  if (identityOf(found) === file.guard) return
  const advice = 'write files whole, then rename them'
  throw new ChangedFileError(file, `was overwritten in place; ${advice}`)
}

function lookAt(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true })
  } catch {
    return undefined
  }
}
